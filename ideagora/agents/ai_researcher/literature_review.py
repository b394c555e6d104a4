"""Roles of the literature review: the next search action, and scores of the papers found.

Source: Si et al. (arXiv 2409.04109), section 3.1. A model searches by three actions (keyword query, similar
papers, references); the papers found are then scored from 1 to 10.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from ideagora.models.offline.relevance import COVERAGE_THRESHOLD, coverage

PROMPTS = Path(__file__).parent / "prompts"
MAX_SCORE = 10
FULL_SCORE = 0.6
"""Cosine to the topic at which the offline model gives the highest score."""

ActionKind = Literal["keyword_query", "similar_papers", "references"]


class FoundPaper(Inputs):
    """A paper found so far."""

    title: str
    year: str


class PastAction(Inputs):
    """An earlier action and the number of new papers that it found."""

    text: str
    new_papers: int


class ActionInputs(Inputs):
    """The topic, the papers found so far and the actions that found them."""

    topic: str
    papers: tuple[FoundPaper, ...]
    actions: tuple[PastAction, ...]


class SearchAction(Answer):
    """The next search."""

    reason: str = Field(description="one sentence: what the review still lacks and why this action finds it")
    action: ActionKind
    query: str | None = Field(description="search query of 3 to 10 words; null unless keyword_query")
    paper: int | None = Field(description="number of a paper found; null for keyword_query")


def describe_action(action: SearchAction, titles: list[str]) -> str:
    """Return an action in words, as the report and later prompts show it."""
    if action.paper is None:
        return f"keyword query: {action.query}"
    kind = "papers similar to" if action.action == "similar_papers" else "references of"
    return f"{kind}: {titles[action.paper]}"


def _choose_action(engine: ExtractiveModel, inputs: ActionInputs) -> SearchAction:
    """Return in turn the references, the neighbours and an aspect of the topic, of the nearest paper left."""
    done = {action.text for action in inputs.actions}
    titles = [paper.title for paper in inputs.papers]
    candidates = [
        SearchAction(reason="", action=kind, query=None, paper=number)
        for number, _ in engine.rank(inputs.topic, titles)
        for kind in ("references", "similar_papers")
    ]
    aspects = [phrase for phrase in texts.phrases(inputs.topic) if not texts.is_generic(phrase)]
    queries = [
        SearchAction(reason="", action="keyword_query", query=query, paper=None)
        for query in [*aspects, *(f"{aspect} evaluation" for aspect in aspects), f"{inputs.topic} survey"]
    ]
    pools = (candidates, queries) if len(inputs.actions) % 3 else (queries, candidates)
    new = [one for pool in pools for one in pool if describe_action(one, titles) not in done]
    chosen = new[0] if new else queries[-1]
    why = "a part of the topic" if chosen.paper is None else "the nearest paper whose surroundings are unread"
    return chosen.model_copy(update={"reason": f"The offline model takes {why}."})


def _check_action(inputs: ActionInputs, answer: SearchAction) -> str | None:
    if answer.action == "keyword_query":
        if not (answer.query or "").strip():
            return "query is empty: a keyword_query needs one"
        if answer.paper is not None:
            return "paper is set, but a keyword_query has no paper"
    elif answer.paper is None:
        return f"paper is null: {answer.action} needs the number of a paper"
    titles = [paper.title for paper in inputs.papers]
    if answer.paper is not None and (wrong := check_paper_numbers("paper", [answer.paper], titles)):
        return wrong
    if describe_action(answer, titles) in {action.text for action in inputs.actions}:
        return "this action was already taken; choose another one"
    return None


LITERATURE_ACTION = Role(
    name="literature_action",
    group="reader",
    inputs=ActionInputs,
    answer=SearchAction,
    offline=_choose_action,
    check=_check_action,
    prompts=PROMPTS,
)


class ScoreInputs(Inputs):
    """A topic and the papers to score."""

    topic: str
    papers: tuple[PaperBrief, ...]


class PaperScore(Answer):
    """The score of one paper."""

    paper: int = Field(description="number of the paper")
    reason: str = Field(description="one sentence: what decides the score")
    score: int = Field(description=f"1 (other subject) to {MAX_SCORE} (must be read)")


class PaperScores(Answer):
    """One score for each paper."""

    scores: tuple[PaperScore, ...]


def _score_papers(engine: ExtractiveModel, inputs: ScoreInputs) -> PaperScores:
    """Return each paper's similarity to the topic on the scale; 1 if the papers do not cover it."""
    papers = [f"{paper.title}. {paper.abstract or ''}" for paper in inputs.papers]
    covered = coverage(engine, inputs.topic, papers)
    if not covered.is_enough:
        figures = f"score {covered.score:.2f}, minimum {COVERAGE_THRESHOLD:.2f}"
        reason = f"The papers do not cover the topic ({figures})."
        return PaperScores(
            scores=tuple(PaperScore(paper=i, reason=reason, score=1) for i in range(len(papers)))
        )
    return PaperScores(
        scores=tuple(
            PaperScore(
                paper=number,
                reason=f"Its similarity to the topic is {cosine:.2f}.",
                score=max(1, min(MAX_SCORE, round(MAX_SCORE * cosine / FULL_SCORE))),
            )
            for number, cosine in enumerate(engine.similarity(inputs.topic, papers))
        )
    )


def _check_scores(inputs: ScoreInputs, answer: PaperScores) -> str | None:
    numbers = sorted(score.paper for score in answer.scores)
    if numbers != list(range(len(inputs.papers))):
        return f"each paper 0 to {len(inputs.papers) - 1} needs exactly one score, got {numbers}"
    wrong = [score.score for score in answer.scores if not 1 <= score.score <= MAX_SCORE]
    return f"score is {wrong[0]}; scores are 1 to {MAX_SCORE}" if wrong else None


PAPER_SCORER = Role(
    name="paper_scorer",
    group="judge",
    inputs=ScoreInputs,
    answer=PaperScores,
    offline=_score_papers,
    temperature=0.0,
    check=_check_scores,
    prompts=PROMPTS,
)
