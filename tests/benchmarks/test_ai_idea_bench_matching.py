"""AI Idea Bench 2025, matching: options, replies of judges, scores, and the benchmark as a whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ideagora.agents.role import ROLES
from ideagora.benchmarks.ai_idea_bench.benchmark import AIIdeaBench
from ideagora.benchmarks.ai_idea_bench.papers import InspirationPapers
from ideagora.benchmarks.ai_idea_bench.samples import Design, Inspiration, Sample, cutoff
from ideagora.benchmarks.ai_idea_bench.with_target_paper import matching, multiple_choice
from ideagora.benchmarks.ai_idea_bench.with_target_paper.distractors import most_central, nearest, related
from ideagora.benchmarks.ai_idea_bench.with_target_paper.judges import (
    ClosestCandidate,
    InspirationSummary,
    MatchScore,
)
from ideagora.benchmarks.ai_idea_bench.with_target_paper.options import Papers
from ideagora.benchmarks.benchmark import Benchmark, Plan, ProtocolName
from ideagora.benchmarks.registry import BENCHMARKS, find_benchmark
from ideagora.errors import UsageError
from ideagora.graphs.services import Services
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.models.parsing.structured_output import UnreadableReply, parse_answer
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.retrieval.ingest.documents import Document
from ideagora.retrieval.library import Library
from ideagora.retrieval.store.fulltext import FullText, Section
from ideagora.schema import Experiment, Paper, Verdict
from tests.support.benchmark_world import (
    EMBEDDER,
    by_agent,
    idea,
    scored,
    services_with,
    verdicts_of,
)
from tests.support.each import each_case

PLAN = Plan(judges=("offline",))
LITERAL = Plan(judges=("offline",), protocol="paper")


def sample(number: int, motivation: str, *inspirations: str, **fields: Any) -> Sample:
    plain: dict[str, Any] = {
        "id": str(number),
        "topic": f"topic {number}",
        "motivation": motivation,
        "summary": f"How to {motivation}",
        "inspirations": tuple(Inspiration(paper_id=one, title=f"Title {one}") for one in inspirations),
        "title": f"Target {number}",
        "paper_id": f"arxiv:2301.0000{number}",
    }
    return Sample(**{**plain, **fields})


def paper(name: str, abstract: str | None) -> Paper:
    return Paper(id=name, title=f"Title {name}", abstract=abstract)


# --- the paper elsewhere ------------------------------------------------------------------------


def test_the_paper_elsewhere_is_the_closest_target_that_is_neither_it_nor_an_inspiration_of_it() -> None:
    angles = np.radians([0, 10, 15, 60, 70])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    alone = [[place] for place in range(5)]
    assert nearest(vectors, alone) == [1, 2, 1, 4, 3]
    assert nearest(vectors, [[0, 1, 2], [1, 2], *alone[2:]]) == [3, 0, 1, 4, 3]
    assert nearest(vectors[:1], [[0]]) == [None]
    assert most_central(vectors, alone) == [2, 2, 1, 2, 2]
    assert most_central(vectors, [[0, 1, 2], *alone[1:]])[0] == 3

    cites = sample(3, "c", "arxiv:2301.00001", "arxiv:9")
    by_title = sample(4, "d", title=None, paper_id=None).model_copy(
        update={"inspirations": (Inspiration(title="target  1"),)}
    )
    again = sample(2, "b", title="TARGET 1.", paper_id="doi:10.1/x")
    samples = [sample(1, "a"), again, cites, by_title]
    assert list(related(samples)) == [[0, 1], [0, 1], [0, 2], [0, 1, 3]]


# --- the options --------------------------------------------------------------------------------

BRIDGE = sample(1, "keep bridges from swaying in wind", "p:1", "p:2", "p:3", "p:4")
TOWER = sample(2, "keep towers from swaying in wind", "p:9")
BOAT = sample(3, "make boats faster", "p:9")
SAMPLES = {one.id: one for one in (BRIDGE, TOWER, BOAT)}
PAPERS = (
    paper("p:1", "Bridges swaying in wind are damped."),
    paper("p:2", "Bridges swaying."),
    paper("p:3", "Painting houses in many colours."),
)


def given(papers: Sequence[Paper]) -> Papers:
    async def inspirations(one: Sample, services: Services) -> Sequence[Paper]:
        return papers

    return inspirations


def summary(text: str | None) -> dict[str, Any]:
    return {"motivation": text, "summary": text and f"Method of {text}", "designs": []}


def judge(reply: Any, retold: Any = lambda title: summary(f"About {title}")) -> ScriptedChatModel:
    """Answers judges with a reply (or a function of the call), and describes inspirations."""

    def answer(call: ScriptedCall) -> Any:
        if call.role == "inspiration_reader":
            return retold(call.inputs.title)
        return reply(call) if callable(reply) else reply

    return ScriptedChatModel(replies=answer)


async def asked(
    home: Path, chat: ScriptedChatModel, papers: Any = PAPERS, plan: Plan = PLAN, count: int = 1
) -> list[Verdict]:
    """Verdicts of the multiple choice on ideas for BRIDGE."""
    plan = Plan(judges=("scripted",), seed=plan.seed)
    prepared = multiple_choice.prepare(SAMPLES, lambda: EMBEDDER, plan, given(papers))
    ideas = by_agent([idea("agent", number) for number in range(count)])
    async with services_with(home, (), {"scripted": chat}) as services:
        return await verdicts_of(services, multiple_choice.questions(BRIDGE, ideas, plan, prepared))


async def test_four_options_are_shown_in_a_drawn_order_that_is_recorded_and_only_the_target_is_right(
    tmp_path: Path,
) -> None:
    chat = judge(lambda call: {"reason": "It is.", "closest": "B"})
    verdicts = await asked(tmp_path, chat, count=8)
    assert [verdict.kind for verdict in verdicts] == ["imcq_motivation"] * 8 + ["imcq_plan"] * 8
    orders = []
    calls = [call for call in chat.calls if call.role == "choice_judge"]
    for verdict, call in zip(verdicts, calls, strict=True):
        shown = verdict.details["options"]
        assert list(shown) == ["A", "B", "C", "D"]
        assert sorted(shown.values()) == ["inspiration p:1", "inspiration p:2", "sample 2", "target"]
        assert verdict.criteria == {"correct": float(shown["B"] == "target")}
        assert verdict.rationale == "It is."
        texts = dict(zip(shown.values(), call.inputs.candidates, strict=True))
        is_plan = verdict.kind == "imcq_plan"
        assert texts["target"] == (BRIDGE.method if is_plan else BRIDGE.motivation)
        assert texts["sample 2"] == (TOWER.method if is_plan else TOWER.motivation)
        assert texts["inspiration p:1"] == ("Method of " if is_plan else "") + "About Title p:1"
        assert call.inputs.idea == ("Hang a mass on springs." if is_plan else "Bridges sway in the wind.")
        assert "agent" not in call.messages[-1][1]
        orders.append(tuple(shown.values()))
    assert len(set(orders)) > 4
    assert {verdict.criteria["correct"] for verdict in verdicts if verdict.criteria} == {0.0, 1.0}
    again = await asked(tmp_path, chat, count=8)
    assert [one.details for one in again] == [one.details for one in verdicts]
    other = await asked(tmp_path, chat, plan=Plan(judges=(), seed=1), count=8)
    assert [one.details for one in other] != [one.details for one in verdicts]
    readings = [call for call in chat.calls if call.role == "inspiration_reader"]
    assert len(readings) == 2, "an inspiration is described once, and again only from the cache"


def test_the_components_of_an_inspiration_are_written_like_those_of_a_target() -> None:
    told = {
        "motivation": None,
        "summary": "Damp it.",
        "designs": [{"name": "a spring", "description": "Bends."}],
    }
    of_target = Design(name="A spring", description="Bends.", problems_solved=None)
    target = sample(1, "x", summary="Damp it.", designs=(of_target,))
    assert InspirationSummary.model_validate(told).method == target.method


async def test_an_inspiration_without_a_text_gives_way_to_the_next_and_too_few_are_unscored(
    tmp_path: Path,
) -> None:
    right = {"reason": "r", "closest": "A"}
    without = (PAPERS[0], paper("p:2", None), PAPERS[2])
    shown = (await asked(tmp_path / "1", judge(right), without))[0].details["options"].values()
    assert {"inspiration p:1", "inspiration p:3"} < set(shown)

    unstated = judge(right, lambda title: summary(None if title.endswith("1") else "x"))
    shown = (await asked(tmp_path / "2", unstated))[0].details["options"].values()
    assert {"inspiration p:2", "inspiration p:3"} < set(shown)

    unreadable = judge(right, lambda title: "I refuse." if title.endswith("1") else summary("x"))
    shown = (await asked(tmp_path / "3", unreadable))[0].details["options"].values()
    assert {"inspiration p:2", "inspiration p:3"} < set(shown)

    few = await asked(tmp_path / "4", judge(right), without[:2])
    assert [verdict.reason for verdict in few] == [
        f"multiple choice needs two inspirations with a {part}; of 2, 1 have an abstract and 1 state it there"
        for part in ("motivation", "plan")
    ]


async def test_the_letter_of_the_paper_takes_the_target_closest_to_all_others(tmp_path: Path) -> None:
    near = sample(4, "swaying in wind, towers and boats, faster, keep", "p:9")
    samples = {**SAMPLES, "4": near}
    prepared = multiple_choice.prepare(samples, lambda: EMBEDDER, PLAN, given(PAPERS))
    async with services_with(tmp_path, ()) as services:
        last: dict[ProtocolName, str] = {"default": "sample 2", "paper": "sample 4"}
        for protocol, source in last.items():
            options = await prepared.of(services, BRIDGE, "motivation", protocol)
            assert [option.source for option in options][::3] == ["target", source]
    found = prepared.elsewhere["motivation"]
    assert found["default"]["1"].id == "2"
    assert {found["paper"][name].id for name in ("1", "2", "3")} == {"4"}
    alone = multiple_choice.prepare({"1": BRIDGE}, lambda: EMBEDDER, PLAN, given(()))
    assert alone.elsewhere["plan"] == {"default": {}, "paper": {}}


# --- what judges reply ---------------------------------------------------------------------------


def letter_of(said: Any) -> str | None:
    try:
        reply = json.dumps({"reason": "It fits.", "closest": said})
        return parse_answer(reply, ClosestCandidate).closest
    except UnreadableReply:
        return None


@each_case(
    "wanted, replies",
    [
        ("B", ["B", "b", " B. ", "B)", "(B)", "[B]", "**B**", "`b`", ["B"], "option b", "Option **B**"]),
        ("B", ["Answer: B", "The answer is B.", "Candidate (B)", "the closest candidate is B", "Choice:B"]),
        ("B", ["B: it damps a bridge", "B) Hang a mass", "B - about wind", "b. the same"]),
        ("A", ["A", "a)", "A: both add a mass", "Answer: a"]),
        (None, ["A or B", "A/B", "A and B", "A, B", "AB", "B-C", "B) or A)", "B. or c", "A, not D"]),
        (None, [["A", "B"], "both", "none", "None of them", "E", "", None, 2, "2", "second", True, {}]),
        (
            None,
            [
                "not A",
                "A B",
                "B > A",
                "B 90 %, A 10 %",
                "1) B",
                "Neither",
                "B = A",
                "both B and C",
                "B; C second",
            ],
        ),
        (None, ["A plan that damps", "I choose the bridge", "A | B | C | D", "<letter>"]),
    ],
)
def test_a_letter_is_read_however_it_is_written_and_never_guessed(wanted: Any, replies: list[Any]) -> None:
    assert [letter_of(said) for said in replies] == [wanted] * len(replies)


def score_of(said: Any) -> float | None:
    try:
        return parse_answer(json.dumps({"reason": "It fits.", "score": said}), MatchScore).score
    except UnreadableReply:
        return None


@each_case(
    "wanted, replies",
    [
        (4, [4, 4.0, "4", "4.0", " 4. ", "4/5", "4 / 5", "4 out of 5", "**4**", [4], "[4]", "(4)"]),
        (4, ["Score: 4", "Rating: **4**", "the score is 4", "4 (same problem)", "4: most aspects"]),
        (3.5, [3.5, "3.5", "3.5/5"]),
        (None, ["at most 4", "4+", "~4", "5 max", "4 points", "not 4", "4 ± 1", "4\n5", "−4", "n/a 4"]),
        (None, ["3-4", "3 - 4", "3–4", "3 to 4", "3 or 4", "3, 4", "4 - five", "between 3 and 4", [3, 4]]),
        (None, ["four", "high", "", None, True, "4/10", "80%", "4 stars of 6", "N/A", {}, "NaN", "1e0"]),
    ],
)
def test_a_score_is_one_number_and_never_guessed(wanted: Any, replies: list[Any]) -> None:
    assert [score_of(said) for said in replies] == [wanted] * len(replies)


async def test_a_score_off_the_protocols_scale_is_unscored_after_asking_again(tmp_path: Path) -> None:
    cases = [(PLAN, 1, 1.0), (PLAN, 0, None), (PLAN, 6, None), (PLAN, "-1", None), (LITERAL, 0, 0.0)]
    for number, (plan, said, wanted) in enumerate(cases):
        chat = judge({"reason": "r", "score": said})
        judged = Plan(judges=("scripted",), protocol=plan.protocol, only=("i2t",))
        async with services_with(tmp_path / str(number), (), {"scripted": chat}) as services:
            questions = list(matching.questions(BRIDGE, {"a": [idea("a")]}, judged))
            verdict = (await verdicts_of(services, questions[:1]))[0]
        assert (verdict.criteria or {}).get("score") == wanted, (plan.protocol, said)
        if wanted is None:
            assert len(chat.calls) == 3
            assert f"but the scale is {matching.lowest_score(plan)} to 5" in (verdict.reason or "")


# --- the questions ------------------------------------------------------------------------------


async def test_a_part_is_matched_with_the_same_part_of_the_target_or_with_the_topic(tmp_path: Path) -> None:
    chat = judge({"reason": "r", "score": 3})
    plan = Plan(judges=("scripted", "second"))
    tested = idea("a", experiment=Experiment(steps=("Build it.", "Test it."), metrics=("sway",)))
    lone = idea("a", 1, motivation=None)
    built = BRIDGE.model_copy(
        update={"designs": (Design(name="Damper", description="a mass"),), "datasets": "X"}
    )
    async with services_with(tmp_path, (), {"scripted": chat, "second": chat}) as services:
        questions = list(matching.questions(built, {"a": [tested, lone, tested]}, plan))
        assert len(questions) == 2 * 2 * 2 * 2  # groups, parts, judges, ideas: the repeated one counts once
        verdicts = await verdicts_of(services, questions)
    reasons = {(one.kind, one.subject[0]): one.reason for one in verdicts if one.criteria is None}
    assert reasons == {
        ("i2i_motivation", lone.id): "the idea has no motivation",
        ("i2t_motivation", lone.id): "the idea has no motivation",
    }
    shown = {(call.role, call.inputs.part): call.inputs for call in chat.calls}
    plan_text = "Hang a mass on springs.\n1. Build it.\n2. Test it.\nMetrics: sway"
    assert plan_text in {call.inputs.idea for call in chat.calls}
    assert shown["idea_match_judge", "plan"].target == f"{BRIDGE.summary}\nDamper: a mass"
    assert shown["idea_match_judge", "motivation"].target == BRIDGE.motivation
    assert {shown["topic_match_judge", part].target for part in ("motivation", "plan")} == {"topic 1"}
    bare = BRIDGE.model_copy(update={"summary": None})
    async with services_with(tmp_path / "2", (), {"scripted": chat}) as services:
        only = Plan(judges=("scripted",), only=("i2i",))
        verdicts = await verdicts_of(services, matching.questions(bare, {"a": [tested]}, only))
    assert verdicts[1].reason == "target 1 has no plan in the data set"


def test_prompts_fence_every_text_and_ask_for_the_reason_first() -> None:
    for name in ("choice_judge", "idea_match_judge", "topic_match_judge", "inspiration_reader"):
        role = ROLES[name]
        for part in ("motivation", "plan"):
            fields: dict[str, Any] = {
                "part": part,
                "idea": "text-1",
                "candidates": ["text-2", "text-3", "text-4", "text-5"],
                "target": "text-2",
                "lowest": 0,
                "title": "text-1",
                "abstract": "text-2",
            }
            given = {key: fields[key] for key in role.inputs.model_fields}
            call = role.call(role.inputs.model_validate(given))
            count = 5 if name == "choice_judge" else 2
            for number in range(1, count + 1):
                assert f">text-{number}</material" in call.prompt, (name, part, number)
        if role.answer is not InspirationSummary:
            assert next(iter(role.answer.model_fields)) == "reason"


# --- the scores ---------------------------------------------------------------------------------


def test_the_score_is_that_of_the_best_idea_and_the_expected_one_stands_beside_it() -> None:
    def two(
        agent: str, place: str, first: float | None, second: float | None, **fields: Any
    ) -> list[Verdict]:
        values = enumerate((first, second))
        return [scored("i2i_plan", agent, place, value, order=n, **fields) for n, value in values]

    log = [
        *two("a", "1", 2.0, 4.0),
        *two("a", "2", 3.0, None),
        *two("a", "3", None, None),
        *two("b", "1", 1.0, 2.0, judge="first"),
        *two("b", "1", 4.0, 5.0, judge="other"),
        *two("b", "2", 1.0, 3.0, judge="first"),
        *two("b", "2", 5.0, None, judge="other"),
    ]
    plan = Plan(judges=("offline", "first", "other"), only=("i2i",))
    found = matching.scores(iter(log), plan)
    assert found["i2i_plan"] == {"a": {"1": 4.0, "2": None, "3": None}, "b": {"1": 3.5, "2": 3.0}}
    assert found["i2i_plan_single"] == {
        "a": {"1": 3.0, "2": 3.0, "3": None},
        "b": {"1": 3.0, "2": 3.5},
    }
    assert found["i2i_motivation"] == {}

    choices = [scored("imcq_plan", "a", "1", value, order=n) for n, value in enumerate((0.0, 1.0))]
    choices += [scored("imcq_plan", "a", "2", 0.0, order=n) for n in range(2)]
    found = multiple_choice.scores(choices, PLAN)
    assert found["imcq_plan"] == {"a": {"1": 1.0, "2": 0.0}}
    assert found["imcq_plan_single"] == {"a": {"1": 0.5, "2": 0.0}}


# --- the benchmark ------------------------------------------------------------------------------


def test_agents_get_topic_and_inspirations_but_not_the_target_and_nothing_from_its_month_on() -> None:
    bench: Benchmark[Sample] = find_benchmark("ai-idea-bench")
    papers = {one.id: one for one in starter_corpus().papers}
    found = bench.load(None)
    assert not found.problems
    for one in found.samples.values():
        topic = bench.topic(one)
        assert topic.text == one.topic
        assert set(topic.excluded) == {one.title, one.paper_id}
        assert topic.before is not None
        months = {papers[name].date for name in topic.inspirations}
        assert None not in months
        assert len(topic.inspirations) == len(one.inspirations)
        assert all(month < topic.before for month in months if month), one.title
        target = papers[one.paper_id or ""].date
        assert topic.before == target or target in months, one.title
    assert cutoff(sample(1, "x", "arxiv:2212.00001", paper_id="arxiv:2212.12345")) == "2023-01"
    assert cutoff(sample(1, "x", paper_id="doi:10.1/x")) is None
    assert bench.topic(sample(1, "x", title=None, paper_id=None)).excluded == ()


async def test_every_question_on_the_shipped_set_has_an_answer_and_scores_follow_from_verdicts_alone(
    tmp_path: Path,
) -> None:
    bench = AIIdeaBench()
    plan = Plan(judges=("offline",), only=("imcq", "i2i", "i2t"))
    samples = bench.load(None).samples
    prepared = bench.prepare(samples, lambda: EMBEDDER, plan)
    assert prepared is not None
    for elsewhere in prepared.elsewhere.values():
        assert set(elsewhere["default"]) == set(elsewhere["paper"]) == set(samples)
        for name, other in [*elsewhere["default"].items(), *elsewhere["paper"].items()]:
            cited = {one.paper_id for one in samples[name].inspirations}
            assert other.paper_id not in cited | {samples[name].paper_id}, samples[name].title
    verdicts: list[Verdict] = []
    async with services_with(tmp_path, ()) as services:
        for one in list(samples.values())[::5]:
            thief = idea("thief", motivation=one.motivation, method=one.method)
            ideas = by_agent([thief, idea("thief", 1), idea("stranger")])
            verdicts += await verdicts_of(services, bench.questions(one, ideas, plan, prepared))
    assert {verdict.reason for verdict in verdicts} == {None}
    assert len({verdict.id for verdict in verdicts}) == len(verdicts) == 6 * 3 * 6  # samples, ideas, measures
    assert verdicts[0].kind == "imcq_motivation", "its options are made while other questions are asked"
    scores = bench.scores([Verdict.model_validate_json(one.model_dump_json()) for one in verdicts], plan)
    assert set(scores) == {one.name for one in bench.measures if plan.includes(one.group)}
    for name in ("imcq_motivation", "imcq_plan"):
        assert set(scores[name]["thief"].values()) == {1.0}, name
    for name in ("i2i_motivation", "i2i_plan"):
        assert set(scores[name]["thief"].values()) == {5.0}, name
        low = scores[name]["stranger"].values()
        assert all(value is not None and 1.0 <= value < 3.0 for value in low), name


async def test_inspirations_of_published_targets_come_from_the_library_or_their_full_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["By title", "Read", "Unknown"]
    row = {
        "index": 1,
        "summary": {"topic": "t", "motivation": "m"},
        "find_cite": {"top_references": [{"title": name, "paper_local_path": None} for name in names]},
    }
    (tmp_path / "target_paper_data.json").write_text(json.dumps([row]))
    bench = AIIdeaBench()
    samples = bench.load(tmp_path).samples
    text = FullText(
        sections=(Section(kind="introduction", heading="Introduction", text="It begins like this."),)
    )
    read = Document(paper=paper("p:2", None), full_text=text)

    async def found(one: Sample, data: Path, library: Library, cache: Path) -> InspirationPapers:
        assert data == tmp_path
        records = (paper("p:1", None), read, paper("p:3", None))
        return InspirationPapers(
            tuple(r if isinstance(r, Document) else Document(paper=r) for r in records), ()
        )

    monkeypatch.setattr("ideagora.benchmarks.ai_idea_bench.benchmark.inspiration_papers", found)
    known = Paper(id="s2:9", title="title P:1!", abstract="From the library.")
    async with services_with(tmp_path, [known]) as services:
        library = services.library
        supplied, _ = await bench.papers(samples["1"], lambda: library, tmp_path)
    papers = supplied.papers
    assert [one.id for one in papers] == ["p:1", "p:2", "p:3"]
    assert papers[0].abstract == "From the library."
    assert "It begins like this." in (papers[1].abstract or "")
    assert papers[2].abstract is None
    assert bench.topic(samples["1"]).before is None


def test_scales_are_those_of_the_protocol() -> None:
    bench = AIIdeaBench()
    scales: list[tuple[ProtocolName, str, str, float, float | None]] = [
        ("default", "i2t_motivation", "1 to 5", 1.0, 5.0),
        ("paper", "i2i_plan_single", "0 to 5", 0.0, 5.0),
        ("default", "ic_score", "points per match, 0 to 3", 0.0, 3.0),
        ("paper", "ic_score", "points per target", 0.0, None),
        ("paper", "imcq_plan", "share correct; one idea by chance: 0.25", 0.0, 1.0),
    ]
    for protocol, name, unit, lowest, highest in scales:
        found = {one.name: one for one in bench.measures_of(protocol)}
        shown = [one.name for one in bench.measures if protocol == "default" or not one.detail]
        assert list(found) == shown
        assert (found[name].unit, found[name].lowest, found[name].highest) == (unit, lowest, highest)


def test_benchmarks_are_found_by_name() -> None:
    for name in BENCHMARKS:
        found = find_benchmark(name)
        assert found.name == name
        names = [measure.name for measure in found.measures]
        assert len(set(names)) == len(names)
    with pytest.raises(UsageError, match=r"no benchmark 'ai-ideabench'\. Did you mean 'ai-idea-bench'\?"):
        find_benchmark("ai-ideabench")
