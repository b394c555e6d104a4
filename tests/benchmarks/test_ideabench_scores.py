"""Scorers of IdeaBench by hand, readings of awkward replies, and what the paper's figures say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ideagora.benchmarks.benchmark import Plan
from ideagora.benchmarks.ideabench.benchmark import IdeaBench
from ideagora.benchmarks.ideabench.bertscore import Tokens, bertscore, f1
from ideagora.benchmarks.ideabench.replies import read_ranking, split_ranking
from ideagora.benchmarks.ideabench.roles import RANK, Overlap, Ranking, RankingInputs
from ideagora.benchmarks.ideabench.scores import relative_rank
from ideagora.benchmarks.replies import read_score
from ideagora.models.parsing.structured_output import UnreadableReply, parse_answer
from ideagora.schema import Verdict, stable_id

IDEAS = (
    "Springs with a mass calm a bridge in strong wind.",
    "Cables that tighten by themselves stop it from swaying.",
    "Cables of glass fibre weigh less, so the bridge sways less.",
)


def test_the_relative_rank_is_the_share_of_ideas_before_the_target() -> None:
    """Examples of sections 3.3.2 and 4.4."""
    cases = [(1, 3, 0.0), (4, 3, 1.0), (3, 3, 0.667), (5, 10, 0.4), (4, 6, 0.5), (6, 10, 0.5), (5, 6, 0.667)]
    for rank, ideas, expected in [*cases, (7, 10, 0.6)]:
        assert relative_rank(rank, ideas) == pytest.approx(expected, abs=5e-4), (rank, ideas)
    for rank, ideas in ((0, 3), (5, 3), (1, 0)):
        with pytest.raises(ValueError, match="does not exist"):
            relative_rank(rank, ideas)


def verdict(kind: str, sample: str, criteria: dict[str, float] | None, **fields: Any) -> Verdict:
    plain: dict[str, Any] = {
        "id": stable_id(kind, sample, str(criteria), str(fields)),
        "evaluator": "ideabench",
        "protocol": "default",
        "topic": "",
        "subject": ("idea",),
        "criteria": criteria,
        "status": "unscored" if criteria is None else "scored",
        "judge": "one",
        "kind": kind,
        "sample": sample,
        "agents": ("direct",),
    }
    return Verdict(**{**plain, **fields})


def test_scores_are_means_over_judges_that_answered_everything() -> None:
    log = [
        verdict("insight_novelty", "a", {"target_rank": 3, "ideas": 3}),
        verdict("insight_novelty", "a", {"target_rank": 1, "ideas": 3}, judge="two"),
        verdict("insight_novelty", "b", {"target_rank": 4, "ideas": 3}),
        verdict("insight_novelty", "b", None, judge="two"),
        verdict("insight_novelty", "c", None),
        verdict("insight_novelty", "a", {"target_rank": 2, "ideas": 2}, agents=("rag", "rag")),
        *(verdict("overlap", "a", {"rating": rating}) for rating in (2.0, 7.0, 3.0)),
        *(verdict("overlap", "a", {"rating": rating}, judge="two") for rating in (9.0, 10.0)),
        verdict("overlap", "a", None, judge="two"),
        verdict("overlap", "b", None),
        *(verdict("similarity", "a", None, judge="bertscore") for _ in range(2)),
        *(verdict("embedding", "a", {"similarity": value}, judge="embedding") for value in (0.25, 0.5)),
    ]
    scores = IdeaBench().scores(log, Plan(judges=("one", "two")))
    assert scores["insight_novelty"] == {
        "direct": {"a": pytest.approx(1 / 3), "b": 1.0, "c": None},
        "rag": {"a": 0.5},
    }
    assert scores["overlap"] == {"direct": {"a": 7.0, "b": None}}
    assert scores["overlap_mean"] == {"direct": {"a": 4.0, "b": None}}
    assert scores["semantic_similarity"] == {"direct": {"a": None}}
    assert scores["embedding_similarity"] == {"direct": {"a": 0.5}}
    assert list(IdeaBench().scores(log, Plan(judges=(), only=("overlap",)))) == ["overlap", "overlap_mean"]
    assert list(IdeaBench().scores(log, Plan(judges=(), only=("insight_novelty",)))) == ["insight_novelty"]


def test_bertscore_matches_each_token_with_its_nearest() -> None:
    """Two tokens with a start token; cosines are 1, 0.6 and 0.8 by construction."""
    start, x, y, between = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]
    counted = np.array([False, True, True])
    candidate = Tokens(np.array([start, x, between], dtype=np.float32), counted)
    reference = Tokens(np.array([start, x, y], dtype=np.float32), counted)
    precision, recall = (1.0 + 0.8) / 2, (1.0 + 0.8) / 2
    assert f1(candidate, reference) == pytest.approx(2 * precision * recall / (precision + recall))
    one = Tokens(np.array([start, x], dtype=np.float32), np.array([False, True]))
    assert f1(one, reference) == pytest.approx(2 * 1.0 * 0.5 / 1.5)  # y is matched with nothing
    with pytest.raises(Exception, match="not available: the weights of nobody/nothing are not on this"):
        bertscore("a", "b", "nobody/nothing")


def test_awkward_rankings_are_read_as_meant_or_rejected() -> None:
    cases: list[tuple[Any, tuple[int, ...] | str]] = [
        ([2, 1, 3], (2, 1, 3)),
        (["2", "1", "3"], (2, 1, 3)),
        ("Answer: 2 > 1 > 3", (2, 1, 3)),
        ("**Ranking**: Idea 2 -> Idea 1 -> Idea 3", (2, 1, 3)),
        ("2, 1, 3", (2, 1, 3)),
        ("1. Hypothesis 2: it is new\n2. Hypothesis 1: known\n3. Hypothesis 3: known", (2, 1, 3)),
        (["1. **Hypothesis 2**: newer than hypothesis 1", "Idea 1 (as idea 3)", "3"], "one idea"),
        (["1. **Hypothesis 2**: newer than hypothesis 1", "Idea 1: as idea 3", "3"], (2, 1, 3)),
        (["Hypothesis B", "a", "(C)"], (2, 1, 3)),
        (["The idea a critic would like", "1", "3"], "one idea"),
        ([{"rank": 1, "idea": 2}, {"rank": 2, "idea": 1}, {"rank": 3, "idea": 3}], (2, 1, 3)),
        (["Cables that tighten by themselves", "Springs with a mass", "Cables of glass fibre"], (2, 1, 3)),
        (["Cables that tighten by themselves…", "1", "3."], (2, 1, 3)),
        ([2, 2, 3], "idea 2 is ranked more than once"),
        ("3 > 1 > 3 > 2", "idea 3 is ranked more than once"),
        ([2, 1], "idea 3 is not ranked"),
        ([], "idea 1 is not ranked"),
        ([2, 1, 4], "there is no idea 4"),
        ([0, 1, 2], "there is no idea 0"),
        ("2 > 1 = 3", "does not identify one idea"),
        ("Idea 2 is the worst, then idea 1, idea 3 is the best", "the worst"),
        ("Idea 2 is best, then idea 1, idea 3 is the worst", (2, 1, 3)),
        ("213", "there is no idea 213"),
        (["2 or 1", "1", "3"], "does not identify one idea"),
        (["2", "1", "three"], "does not identify one idea"),
        ("2 < 1 < 3", "does not identify one idea"),
        ("3. worst, 2. best, 1. middle", "the worst"),
        (["Cables", "Springs with a mass", "Cables of glass fibre"], "does not identify one idea"),
        (["Idea 2 or idea 3", "1", "3"], "does not identify one idea"),
        (
            [{"rank": 2, "idea": 2}, {"rank": 1, "idea": 1}, {"rank": 3, "idea": 3}],
            "should be a valid string",
        ),
        ({"1": "Idea 2"}, "should be a list"),
    ]
    inputs = RankingInputs(indicator="novelty", definition="new", ideas=IDEAS)
    for said, meant in cases:
        reply = json.dumps({"reason": "Because.", "ranking": said})
        try:
            answer = parse_answer(reply, Ranking)
            complaint = RANK.check(inputs, answer) if RANK.check else None
            found: Any = complaint or read_ranking(answer.ranking, IDEAS)
        except UnreadableReply as error:
            found = str(error)
        assert (meant in found) if isinstance(meant, str) else (found == meant), (said, found)
    for bare in ("Answer: 2 > 1 > 3", "I cannot rank these.", '{"ranking": [2, 1, 3]}'):
        with pytest.raises(UnreadableReply):  # asked again
            parse_answer(bare, Ranking)


NO_NUMBER = "must be one number up to 10"


def test_awkward_ratings_are_read_as_meant_or_rejected() -> None:
    cases: list[tuple[Any, float | str]] = [
        (8, 8.0),
        ("8", 8.0),
        ("8/10", 8.0),
        ("8 out of 10.", 8.0),
        ("On a scale of 1 to 10 I rate 8", 8.0),
        ("on a scale from 1-10, the overlap is 8", 8.0),
        ("Rating: 8. Both have 2 of 3 parts.", NO_NUMBER),
        ("I rate it 8 (one part differs)", 8.0),
        ("On a scale of 1 to 5 I rate 4", NO_NUMBER),
        ("4/5", NO_NUMBER),
        ("between seven and 8", NO_NUMBER),
        ("seven or 8", NO_NUMBER),
        ("8 - nine", NO_NUMBER),
        ("less than 4", NO_NUMBER),
        ("not 4", NO_NUMBER),
        ("at most 7", NO_NUMBER),
        ("7+", NO_NUMBER),
        ("~7", NO_NUMBER),
        ("10 max", NO_NUMBER),
        ("4..5", NO_NUMBER),
        ("4\n5", NO_NUMBER),
        ("4 ± 1", NO_NUMBER),
        ("−4", NO_NUMBER),
        ("n/a 4", NO_NUMBER),
        ("10 on a scale of 1–10", 10.0),
        ("7.5", 7.5),
        ("7-8", NO_NUMBER),
        ("7 to 8", NO_NUMBER),
        ("I rate it 7 or 8", NO_NUMBER),
        ("1 to 10", NO_NUMBER),
        ("high", NO_NUMBER),
        ("eight", NO_NUMBER),
        (True, "rating"),
        (None, "rating"),
        ([8, 9], "rating"),
    ]
    for said, meant in cases:
        try:
            answer = parse_answer(json.dumps({"explanation": "Because.", "rating": said}), Overlap)
            found: Any = answer.rating
        except UnreadableReply as error:
            found = str(error)
        assert (meant in str(found)) if isinstance(meant, str) else (found == meant), (said, found)


def test_awkward_replies_are_read_in_linear_time() -> None:
    for hostile in (":" * 200_000, "1 2 " * 50_000, "idea " * 50_000, "1-2" * 70_000, "(" * 200_000):
        entries = split_ranking(hostile)
        with pytest.raises(ValueError, match="idea"):
            read_ranking([*entries, hostile], IDEAS)
        with pytest.raises(ValueError, match=NO_NUMBER):
            read_score(hostile, 10)
