"""The scientist, the expander, the critic and the writer of ``sci-agents``.

Source: Ghafarollahi and Buehler (arXiv 2409.05556). The first scientist fills seven aspects from a path of
concepts, the second expands them one by one, the critic reviews the whole. The writer, which is ours, turns
aspects and critique into an idea in the common format.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from ideagora.agents.idea_parts import IdeaPart, IdeaSource, SearchableIdea, check_sources
from ideagora.agents.role import Role
from ideagora.agents.sci_agents.concepts import PROMPTS
from ideagora.agents.text.quotes import is_quoted
from ideagora.agents.views import PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

ASPECTS = (
    "mechanisms",
    "design_principles",
    "comparison",
    "outcome",
    "hypothesis",
    "unexpected_properties",
    "novelty",
)
"""The aspects of a proposal, in the order in which they are expanded."""
UNKNOWN = "Not known: the offline model only quotes what the papers say."


class ExplainedConcept(Inputs):
    """A concept of the path and its meaning."""

    concept: str
    meaning: str


class ExplainedPath(Inputs):
    """A path of concepts with definitions and connections."""

    topic: str
    path: tuple[str, ...]
    definitions: tuple[ExplainedConcept, ...]
    connections: tuple[str, ...]


class HasPath(Protocol):
    """Inputs with a path of concepts."""

    @property
    def path(self) -> Sequence[str]:
        """The concepts in order."""


class Aspects(Answer):
    """A research proposal in seven aspects."""

    hypothesis: str = Field(
        description="the claim that connects the first and the last concept; 2 to 4 sentences"
    )
    outcome: str = Field(description="what is expected if it holds, with quantities where possible")
    mechanisms: str = Field(description="why it should hold: what acts on what, concept by concept")
    design_principles: str = Field(description="what is built, and by which principles")
    unexpected_properties: str = Field(description="what could emerge that nobody designed")
    comparison: str = Field(description="how it compares with existing methods, and where they stay better")
    novelty: str = Field(description="which connection nobody has made, and why it matters")


def check_ends(inputs: HasPath, text: str, field: str) -> str | None:
    """Return an error if a text does not name both ends of the path, else None."""
    ends = [end for end in (inputs.path[0], inputs.path[-1]) if any(letter.isalnum() for letter in end)]
    missing = [end for end in ends if not is_quoted(end, text)]
    return f"{field} must name both ends of the path; it lacks “{missing[0]}”" if missing else None


def _propose(engine: ExtractiveModel, inputs: ExplainedPath) -> Aspects:
    """Return the aspects that the path supports, quoted; the others are stated as unknown."""
    first, last = inputs.path[0], inputs.path[-1]
    inner = texts.listed(inputs.path[1:-1])
    steps = " ".join(inputs.connections)
    return Aspects(
        hypothesis=f"“{first}” is connected with “{last}”" + (f" through {inner}." if inner else "."),
        outcome=UNKNOWN,
        mechanisms=steps or UNKNOWN,
        design_principles=f"Follow the path: {' → '.join(inputs.path)}.",
        unexpected_properties=UNKNOWN,
        comparison=UNKNOWN,
        novelty=f"The graph does not relate “{first}” to “{last}” directly; "
        f"{len(inputs.path) - 1} relations lie between them.",
    )


SCIENTIST = Role(
    name="scientist",
    group="main",
    inputs=ExplainedPath,
    answer=Aspects,
    offline=_propose,
    check=lambda inputs, answer: check_ends(inputs, answer.hypothesis, "hypothesis"),
    prompts=PROMPTS,
)


class AspectView(Inputs):
    """One aspect of the proposal."""

    name: str
    text: str


class ExpandInputs(Inputs):
    """The aspect to expand, the others, and the papers along the path."""

    topic: str
    aspect: AspectView
    others: tuple[AspectView, ...]
    papers: tuple[PaperBrief, ...]


class Expansion(Answer):
    """An aspect in detail."""

    expansion: str = Field(description="the aspect with specifics, 4 to 8 sentences")


def _expand(engine: ExtractiveModel, inputs: ExpandInputs) -> Expansion:
    """Return the aspect with the sentence of the papers nearest to it."""
    sentences = [
        (sentence, paper.title)
        for paper in inputs.papers
        for sentence in texts.sentences(paper.abstract or "")
    ]
    if not sentences:
        return Expansion(expansion=inputs.aspect.text)
    query = " ".join([inputs.aspect.text, *(other.text for other in inputs.others[:1])])
    sentence, title = sentences[engine.rank(query, [sentence for sentence, _ in sentences])[0][0]]
    return Expansion(expansion=f"{inputs.aspect.text} Nearest in the papers (“{title}”): “{sentence}”")


EXPANDER = Role(
    name="aspect_expander",
    group="main",
    inputs=ExpandInputs,
    answer=Expansion,
    offline=_expand,
    prompts=PROMPTS,
)


class CritiqueInputs(Inputs):
    """A proposal to review."""

    topic: str
    path: tuple[str, ...]
    aspects: tuple[AspectView, ...]


class Critique(Answer):
    """The critic's review."""

    strengths: tuple[str, ...] = Field(description="up to 3")
    weaknesses: tuple[str, ...] = Field(description="what is vague, wrong or untestable; up to 4")
    improvements: tuple[str, ...] = Field(description="one concrete change for each weakness")
    question: str = Field(description="the question that a first experiment must answer")


def _criticise(engine: ExtractiveModel, inputs: CritiqueInputs) -> Critique:
    """Return what can be measured: unknown aspects, and how far apart the ends are."""
    unknown = [aspect.name.replace("_", " ") for aspect in inputs.aspects if UNKNOWN in aspect.text]
    first, last = inputs.path[0], inputs.path[-1]
    return Critique(
        strengths=(),
        weaknesses=(f"Nothing is said about {texts.listed(unknown)}.",) if unknown else (),
        improvements=(f"Find out {texts.listed(unknown)}.",) if unknown else (),
        question=f"Does a change of “{first}” change “{last}” if everything between them is kept?",
    )


CRITIC = Role(
    name="proposal_critic",
    group="judge",
    inputs=CritiqueInputs,
    answer=Critique,
    offline=_criticise,
    prompts=PROMPTS,
)


class CritiqueView(Inputs):
    """The critique as the writer sees it."""

    weaknesses: tuple[str, ...]
    improvements: tuple[str, ...]
    question: str


class WriterInputs(Inputs):
    """Aspects, critique, and the papers along the path, with the relations taken from each."""

    topic: str
    path: tuple[str, ...]
    aspects: tuple[AspectView, ...]
    critique: CritiqueView
    papers: tuple[PaperBrief, ...]
    quotes: tuple[str, ...]
    """For each paper, a sentence of it that a relation of the path comes from."""


class PathIdea(SearchableIdea):
    """An idea that connects both ends of a path."""


def _write(engine: ExtractiveModel, inputs: WriterInputs) -> PathIdea:
    """Return the path as steps, each with the sentence that it comes from."""
    by_name = {aspect.name: aspect.text for aspect in inputs.aspects}
    first, last = inputs.path[0], inputs.path[-1]
    quoted = [(paper, quote) for paper, quote in zip(inputs.papers, inputs.quotes, strict=False)]
    steps = [f"{paper.title} ({paper.year}): “{quote}”" for paper, quote in quoted]
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    hypothesis = by_name.get("hypothesis", f"“{first}” is connected with “{last}”.")
    test = f"{inputs.critique.question} Vary “{first}” in 30 cases and look for a change of “{last}”."
    parts: tuple[IdeaPart, ...] = ("motivation", "method", "novelty")
    return PathIdea(
        motivation=f"{hypothesis} The path through the concepts of the papers: {' → '.join(inputs.path)}.",
        method=f"{numbered}\n{len(steps) + 1}. {test}",
        novelty=by_name.get("novelty", UNKNOWN),
        title=f"Connecting {first} with {last}",
        summary=f"A path of {len(inputs.path)} concepts connects {first} with {last}.",
        purpose=f"Find out how “{first}” bears on “{last}”.",
        mechanism=f"The path {' → '.join(inputs.path)}.",
        evaluation=test,
        sources=tuple(
            IdeaSource(part=parts[number % len(parts)], paper=number, quote=quote)
            for number, (_, quote) in enumerate(quoted)
        ),
        queries=(),
    )


def _check_idea(inputs: WriterInputs, answer: PathIdea) -> str | None:
    text = " ".join([answer.title, answer.summary, answer.motivation, answer.method])
    return check_sources(inputs, answer) or check_ends(inputs, text, "the idea")


PATH_WRITER = Role(
    name="path_writer",
    group="main",
    inputs=WriterInputs,
    answer=PathIdea,
    offline=_write,
    check=_check_idea,
    prompts=PROMPTS,
)
