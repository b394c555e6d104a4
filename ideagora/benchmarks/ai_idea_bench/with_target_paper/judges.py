"""Judges of the matching measures (section 3.2.1), and the reader of inspirations (section 3.1).

The judges get one part of an idea and nothing about its author. They give their reason first. A reply that
does not state exactly one letter or number is unreadable; nothing is guessed.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from ideagora.agents.paper_extractors import FACETS, remove_name, system_name
from ideagora.agents.text.outcomes import remove_outcomes
from ideagora.benchmarks.ai_idea_bench.parts import Part
from ideagora.benchmarks.judge_roles import Scale, judge_role, rate_similarity
from ideagora.benchmarks.replies import LETTERS, Letter, read_letter, read_score
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

PROMPTS = Path(__file__).parents[1] / "prompts"

HIGHEST = 5
"""The top of the scale of similarity; its bottom is 1, or 0 with ``--protocol paper``."""

LetterField = Annotated[Letter, BeforeValidator(read_letter)]
ScoreField = Annotated[float, BeforeValidator(partial(read_score, highest=HIGHEST))]


class ChoiceInputs(Inputs):
    """A part of an idea and four candidates, in the order shown."""

    part: Part
    idea: str
    candidates: tuple[str, ...]


class ClosestCandidate(Answer):
    """The candidate closest to an idea."""

    reason: str = Field(description="a short comparison with each candidate, before you choose")
    closest: LetterField = Field(description="the letter of the closest one")


def _choose(engine: ExtractiveModel, inputs: ChoiceInputs) -> ClosestCandidate:
    """Return the candidate with the highest cosine to the idea."""
    near = engine.similarity(inputs.idea, inputs.candidates)
    figures = ", ".join(f"{letter} {value:.2f}" for letter, value in zip(LETTERS, near, strict=True))
    best = max(range(len(near)), key=lambda place: (near[place], -place))
    return ClosestCandidate(reason=f"Similarity of the sentences' vectors: {figures}.", closest=LETTERS[best])


CHOICE_JUDGE = judge_role(
    "choice_judge",
    ChoiceInputs,
    ClosestCandidate,
    _choose,
    PROMPTS,
)


class MatchInputs(Inputs):
    """A part of an idea, and the same part of the target paper or its topic."""

    part: Part
    idea: str
    target: str
    lowest: int
    """Bottom of the scale, 0 or 1."""


class MatchScore(Answer):
    """How well two texts match."""

    reason: str = Field(description="the comparison in a short paragraph, before you decide on the score")
    score: ScoreField = Field(description="one number on the scale, in digits")


def _check_score(inputs: MatchInputs, answer: MatchScore) -> str | None:
    return Scale(inputs.lowest, HIGHEST).complaint(answer, "score")


def _match(engine: ExtractiveModel, inputs: MatchInputs) -> MatchScore:
    """Return the cosine, mapped from 0..1 to the scale; negative ones count as 0."""
    scale = Scale(inputs.lowest, HIGHEST)
    rate = rate_similarity(
        MatchScore, scale, lambda given: (given.idea, given.target), rating="score", decimals=2
    )
    return rate(engine, inputs)


IDEA_MATCH_JUDGE = judge_role(
    "idea_match_judge",
    MatchInputs,
    MatchScore,
    _match,
    PROMPTS,
    check=_check_score,
)

TOPIC_MATCH_JUDGE = judge_role(
    "topic_match_judge",
    MatchInputs,
    MatchScore,
    _match,
    PROMPTS,
    check=_check_score,
)


class InspirationInputs(Inputs):
    """An inspiration as title and abstract."""

    title: str
    abstract: str


class DesignSummary(Answer):
    """One component of a method."""

    name: str = Field(description="what it does, in 2 to 6 words; not the authors' name for it")
    description: str = Field(description="how it works, 1 or 2 sentences")


class InspirationSummary(Answer):
    """A paper in the form in which the data set describes targets."""

    motivation: str | None = Field(
        description="the problem, what earlier work lacks, and what would be needed; about 60 words if the "
        "text supports them, else fewer; null if it states none"
    )
    summary: str | None = Field(description="the method in 1 or 2 sentences; null if the text has none")
    designs: tuple[DesignSummary, ...] = Field(
        description="its 2 to 4 components; [] if the text does not name any"
    )

    @property
    def method(self) -> str:
        """The method as one text, as in ``Sample.method``."""
        parts = [
            self.summary,
            *(f"{one.name[:1].upper()}{one.name[1:]}: {one.description}" for one in self.designs),
        ]
        return "\n".join(part for part in parts if part)


def _summarise(engine: ExtractiveModel, inputs: InspirationInputs) -> InspirationSummary:
    """Return the abstract's sentences on problem and method, without results and the system's name."""
    own = system_name(inputs.title)
    facets = engine.facets(remove_name(remove_outcomes(inputs.abstract), own), FACETS)
    return InspirationSummary(motivation=facets["problem"], summary=facets["method"], designs=())


INSPIRATION_READER = judge_role(
    "inspiration_reader",
    InspirationInputs,
    InspirationSummary,
    _summarise,
    PROMPTS,
)
