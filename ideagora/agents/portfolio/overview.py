"""The overview of a portfolio: what its ideas have in common, and which question each one answers."""

from __future__ import annotations

from collections import Counter

from pydantic import Field

from ideagora.agents.portfolio.variation import PROMPTS
from ideagora.agents.role import Role
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

SHARED_PHRASES = 5
"""Maximum number of phrases that the offline model names as common."""


class ListedIdea(Inputs):
    """An idea of the portfolio."""

    title: str
    summary: str
    purpose: str
    mechanism: str
    evaluation: str
    made_from: tuple[str, ...] = ()
    """Titles of the ideas that it was made from, whether they are listed or not."""


class OverviewInputs(Inputs):
    """The ideas, best first, numbered from 0."""

    topic: str
    ideas: tuple[ListedIdea, ...]


class IdeaQuestion(Answer):
    """The question that one idea answers."""

    idea: int = Field(description="number of the idea")
    question: str = Field(description="one question, which an experiment can answer with yes or no")


class Overview(Answer):
    """What the ideas have in common, where they differ, and their questions."""

    common: str = Field(description="2 to 4 sentences: the problems and assumptions that the ideas share")
    differences: str = Field(
        description="3 to 5 sentences: the choices on which they part, and which exclude or need each other"
    )
    questions: tuple[IdeaQuestion, ...] = Field(description="one entry for each idea, in their order")


def _extract_overview(engine: ExtractiveModel, inputs: OverviewInputs) -> Overview:
    """Return phrases that several ideas have, the two most distant ideas, and each idea's own words."""
    counts = Counter(
        phrase
        for idea in inputs.ideas
        for phrase in {
            phrase.casefold()
            for phrase in texts.phrases(f"{idea.purpose} {idea.mechanism}")
            if not texts.is_generic(phrase)
        }
    )
    shared = [f"“{phrase}” ({count})" for phrase, count in _most_common(counts) if count > 1]
    named = texts.listed(shared[:SHARED_PHRASES])
    common = (
        f"Phrases in several of the {len(inputs.ideas)} ideas, with their number: {named}."
        if shared
        else f"The {len(inputs.ideas)} ideas have no phrase in common."
    )
    return Overview(
        common=common,
        differences=_most_distant(engine, inputs),
        questions=tuple(
            IdeaQuestion(
                idea=number,
                question=f"Does “{texts.without_stop(texts.clip(idea.mechanism, 24))}” help against "
                f"“{texts.without_stop(texts.clip(idea.purpose, 24))}”?",
            )
            for number, idea in enumerate(inputs.ideas)
        ),
    )


def _most_common(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def _most_distant(engine: ExtractiveModel, inputs: OverviewInputs) -> str:
    mechanisms = [idea.mechanism for idea in inputs.ideas]
    if len(mechanisms) < 2:
        return "There is one idea."
    pairs = [
        (similarity, first, second)
        for first, mechanism in enumerate(mechanisms)
        for second, similarity in enumerate(engine.similarity(mechanism, mechanisms))
        if first < second
    ]
    similarity, first, second = min(pairs)
    titles = [inputs.ideas[number].title for number in (first, second)]
    named = f"“{titles[0]}” and “{titles[1]}”"
    return f"The mechanisms of {named} are the least similar (similarity {similarity:.2f})."


def _check_overview(inputs: OverviewInputs, answer: Overview) -> str | None:
    numbers = [entry.idea for entry in answer.questions]
    if sorted(numbers) != list(range(len(inputs.ideas))):
        return f"each idea 0 to {len(inputs.ideas) - 1} needs exactly one question, got {numbers}"
    return None


OVERVIEW_WRITER = Role(
    name="overview_writer",
    group="main",
    inputs=OverviewInputs,
    answer=Overview,
    offline=_extract_overview,
    check=_check_overview,
    prompts=PROMPTS,
)
