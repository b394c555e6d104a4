"""Verdicts as the probabilities of the judge's answers, where the provider reports those of its tokens."""

from __future__ import annotations

import json
import re
from math import exp, log, log10
from pathlib import Path
from typing import Any

import pytest

from ideagora.agents.arena.judges import CRITERIA
from ideagora.errors import NoTokenProbabilities
from ideagora.evaluators.judging.verdict_files import read_verdicts
from ideagora.models.parsing.token_probabilities import choice_probabilities, find_alternatives
from tests.support import command
from tests.support.arena_world import TOPICS, field
from tests.support.loopback import Body, Fault, Loopback, Reply

pytestmark = pytest.mark.usefixtures("home")

REPLY = {"reason": 'Not "novelty": "tie".', **dict.fromkeys((*CRITERIA, "overall"), "first")}
SHARES = {"first": 0.6, "second": 0.1, "tie": 0.2}


def tokens(text: str, shares: dict[str, float]) -> list[dict[str, Any]]:
    """The tokens of a JSON reply as OpenAI reports them; a choice begins in the middle of a token."""
    pieces = re.findall(r' "(?:fi|se|ti)|rst|cond|e|\W|\w+?', text, re.DOTALL)
    assert "".join(pieces) == text
    return [
        {
            "token": piece, "logprob": -0.1, "bytes": list(piece.encode()),
            "top_logprobs": [
                {"token": other, "logprob": log(share), "bytes": list(other.encode())}
                for other, share in (
                    {f' "{choice[:2]}': share for choice, share in shares.items()} | {"}": 0.05}
                    if piece in (' "fi', ' "se', ' "ti') else {piece: 0.9}
                ).items()
            ],
        }
        for piece in pieces
    ]  # fmt: skip


def answer(body: Body) -> Reply:
    """A judge that is for the idea of strength 2, as far as 0.6 against 0.1 goes."""
    shown = re.findall(r"of strength (\d)", str(body["messages"][-1]["content"]))
    is_first = shown[0] > shown[1]
    names = {"first": "first" if is_first else "second", "second": "second" if is_first else "first"}
    reply = {name: names.get(value, value) for name, value in REPLY.items()}
    text = json.dumps(reply)
    shares = {names.get(choice, choice): share for choice, share in SHARES.items()}
    return Reply(text, logprobs=tokens(text, shares) if body.get("logprobs") else None)


def test_the_share_is_the_expected_points_by_hand() -> None:
    with Loopback(answer) as server:
        shared = ["--judge", "openai/own", "--api-base", server.base, "--no-style", "--out", "arena"]
        contestants = field({"alpha": 2, "beta": 1})
        done = command.run(["arena", *contestants, *shared, "--verdict", "probabilities", "--json"])
        assert done.code == 0, done.err
        assert all(one.body["logprobs"] and one.body["top_logprobs"] == 5 for one in server.requests)
        asked = server.count
        assert command.run(["arena", *contestants, *shared, "--verdict", "probabilities"]).code == 0
        assert server.count == asked
    first = 0.6 / 0.9 + 0.5 * 0.2 / 0.9  # of what stands for a choice
    rating = {row["agent"]: row["rating"] for row in json.loads(done.out)["leaderboard"]["ranking"]}
    assert rating["alpha"] - rating["beta"] == pytest.approx(400 * log10(first / (1 - first)), abs=0.1)
    for verdict in read_verdicts(Path("arena")):
        assert verdict.criteria is not None
        assert set(verdict.criteria.values()) <= {round(first, 4), round(1 - first, 4)}
        assert verdict.details["probabilities"]["novelty"]["tie"] == pytest.approx(0.2222)
    assert "alpha (78% of the point)" in Path("arena/report.html").read_text(encoding="utf-8")


def test_a_model_without_probabilities_is_an_error_and_nothing_is_lost() -> None:
    contestants = field({"alpha": 2, "beta": 1}, TOPICS[:1])
    shared = ["arena", *contestants, "--no-style", "--concurrency", "1"]
    for judge in ("offline", "anthropic/claude-sonnet-4-5"):
        done = command.run(
            [*shared, "--judge", judge, "--verdict", "probabilities"], {"ANTHROPIC_API_KEY": "k"}
        )
        assert done.code == 2
        assert f"{judge} gives no probabilities of tokens" in done.err
        assert not Path("arena").exists()
    refusals = (
        lambda body: Reply(json.dumps(REPLY)),
        lambda body: (
            Fault(400, "logprobs is not supported by this model") if "logprobs" in body else Reply("{}")
        ),
    )
    for place, refusal in enumerate(refusals):
        with Loopback(refusal) as server:
            own = ["--judge", "openai/own", "--api-base", server.base, "--out", f"arena-{place}"]
            done = command.run([*shared, *own, "--verdict", "probabilities"])
            assert (done.code, server.count) == (2, 1), done.err
            assert "openai/own gives no probabilities of tokens" in done.err
            assert "--verdict" in done.err


def test_alternatives_are_read_where_the_value_begins() -> None:
    def token(text: str, **others: float) -> tuple[bytes, list[tuple[bytes, float]]]:
        return text.encode(), [(name.encode(), log(share)) for name, share in others.items()]

    text = '{"reason": "é \\"novelty\\": \\"tie\\"", "novelty": "second"}'
    head, tail = text.split('second"')
    reply = [token(head), token("sec", sec=0.5, f=0.3, T=0.15, x=0.05), token("ond"), token('"'), token(tail)]
    found = find_alternatives(text, reply, ["novelty", "clarity"])
    assert found is not None
    assert list(found) == ["novelty"]
    assert found["novelty"] == pytest.approx({"sec": 0.5, "f": 0.3, "T": 0.15, "x": 0.05})
    choices = ("first", "second", "tie")
    shares = choice_probabilities(found["novelty"], choices)
    assert shares == pytest.approx({"first": 0.3 / 0.95, "second": 0.5 / 0.95, "tie": 0.15 / 0.95})
    assert choice_probabilities({"x": 0.6, "second": exp(-1)}, choices) is None, "mostly something else"
    assert find_alternatives(text, reply[:-1], ["novelty"]) is None, "not the tokens of the text"
    assert find_alternatives(text, [], ["novelty"]) is None
    assert "one/model" in str(NoTokenProbabilities("one/model"))
