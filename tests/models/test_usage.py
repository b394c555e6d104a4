"""What a run cost is what its events say: live, per role and label, and after a restart."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ideagora.models.usage import UsageTracker, current_label, usage_label
from ideagora.schema import Usage


def event(key: str = "k", role: str = "judge", **changes: Any) -> Any:
    usage = Usage(calls=1, prompt_tokens=100, completion_tokens=10, cost_usd=0.25, seconds=1.5)
    return {
        "event": "call", "role": role, "label": None, "model": "m", "cached": False, "attempt": 1, "retry": 0,
        "status": "ok", "reason": None, "billed": True, "usage": usage.model_dump(), "key": key,
        "request": None, "worth": None, "answered": None, **changes,
    }  # fmt: skip


def cached(key: str = "k", role: str = "judge", **changes: Any) -> Any:
    return event(key, role, cached=True, billed=False, usage=Usage().model_dump(), **changes)


def failed(key: str = "k", role: str = "judge", **changes: Any) -> Any:
    return event(key, role, status="failed", usage=Usage(calls=1, seconds=0.5).model_dump(), **changes)


def test_roles_labels_and_total() -> None:
    tracker = UsageTracker()
    for one in (
        event("a", "judge", label="branch 1"),
        event("b", "judge", label="branch 2"),
        event("c", "reader", label="branch 1"),
        failed("d", "reader"),
        cached("a", "judge"),
        cached("e", "planner"),
    ):
        tracker.record(one)
    assert tracker.total == Usage(
        calls=4, prompt_tokens=300, completion_tokens=30, cost_usd=0.75, seconds=5.0
    )
    assert tracker.of_role("judge").calls == 2
    assert tracker.of_role("reader") == Usage(
        calls=2, prompt_tokens=100, completion_tokens=10, cost_usd=0.25, seconds=2.0
    )
    assert tracker.of_label("branch 1").calls == 2
    assert tracker.of_label("nobody") == Usage()
    assert tracker.cached == 2
    assert list(tracker.by_role) == ["judge", "reader"]
    summary = tracker.summary()
    assert summary["roles"]["planner"] == Usage().model_dump()
    assert summary["cached"] == 2
    assert list(summary["labels"]) == ["branch 1", "branch 2"]
    assert summary["total"]["calls"] == 4
    json.dumps(summary)


def test_an_unknown_price_makes_the_cost_unknown_and_not_zero() -> None:
    tracker = UsageTracker()
    unknown = {**Usage(calls=1, prompt_tokens=7).model_dump(), "cost_usd": None}
    tracker.record(event("a"))
    tracker.record(event("b", "reader", usage=unknown))
    assert tracker.total.cost_usd is None
    assert tracker.of_role("reader").cost_usd is None
    assert tracker.of_role("judge").cost_usd == 0.25
    assert tracker.spent == 0.25


def request(number: str, role: str = "judge", **changes: Any) -> Any:
    return {
        "event": "request", "request": number, "role": role, "label": None, "model": "m", "key": "k",
        "ceiling_usd": 0.5, **changes,
    }  # fmt: skip


def test_a_request_that_was_lost_counts_with_its_ceiling_until_its_answer_is_found() -> None:
    tracker = UsageTracker()
    events = [request("1"), event(request="1"), request("2", label="branch 1"), request("3", "reader")]
    for one in events:
        tracker.record(one)
    assert tracker.spent == 0.25, "what is in flight is not spent"
    restored = UsageTracker()
    restored.restore(events)
    assert (restored.spent, restored.total.estimated_usd, restored.total.calls) == (1.25, 1.0, 3)
    summary = restored.summary()
    assert summary["estimated_calls"] == 2
    assert summary["roles"]["reader"]["estimated_usd"] == summary["labels"]["branch 1"]["cost_usd"] == 0.5
    assert restored.is_open("2")
    restored.record(event(request="2", cached=True))
    assert (restored.spent, restored.total.estimated_usd, restored.total.calls) == (1.0, 0.5, 3)
    assert not restored.is_open("2")


def test_what_a_label_s_answers_are_worth_is_the_same_from_the_cache() -> None:
    worth: dict[str, Any] = {"worth": Usage(calls=1, cost_usd=0.5).model_dump(), "answered": "2024-01-02"}
    asked, from_cache = UsageTracker(), UsageTracker()
    for tracker, kind in ((asked, event), (from_cache, cached)):
        tracker.record(kind("a", label="branch 1", **worth))
        tracker.record(kind("b", label="branch 1", **{**worth, "answered": "2024-01-01"}))
        tracker.record(kind("a", label="branch 1", **worth))
    assert asked.answers_by_label == from_cache.answers_by_label
    assert from_cache.answers_by_label["branch 1"].usage == Usage(calls=2, cost_usd=1.0)
    assert from_cache.answers_by_label["branch 1"].latest == "2024-01-02"
    assert from_cache.total == Usage()


events = st.lists(
    st.builds(
        lambda make, key, role, branch: make(key, role, label=branch),
        st.sampled_from([event, cached, failed]),
        st.sampled_from("abcd"),
        st.sampled_from(["judge", "reader"]),
        st.sampled_from([None, "branch 1"]),
    )
)


@given(events)
def test_a_restored_tracker_continues_like_the_old_one(recorded: list[Any]) -> None:
    live, restored = UsageTracker(), UsageTracker()
    for one in recorded:
        live.record(one)
    lines = [json.dumps({"event": "step"}), *(json.dumps(one) for one in recorded)]
    restored.restore(json.loads(line) for line in lines)
    assert restored.summary() == live.summary()
    assert restored.spent == live.spent


async def test_labels_belong_to_their_task() -> None:
    async def under(name: str) -> str | None:
        with usage_label(name):
            await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))
            return current_label.get()

    assert list(await asyncio.gather(under("branch 1"), under("branch 2"))) == ["branch 1", "branch 2"]
    assert current_label.get() is None
    with usage_label("outer"), usage_label("inner"):
        assert current_label.get() == "inner"
