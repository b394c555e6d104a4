"""Read papers: each once per run, several short texts in one call.

Source: Chain of Ideas (arXiv 2410.13185), section 3.2 and Tables 10 and 11. A paper that cannot be read costs
only itself: it is recorded with the reason.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ideagora.agents.readers import ABSTRACT_READER, READER, PaperReading
from ideagora.agents.views import is_our_summary, paper_brief
from ideagora.errors import IdeagoraError, UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.models.offline import text as texts
from ideagora.retrieval.texts.reader import TextKind
from ideagora.schema import Entity, Paper, Reading, Serialized, Topic, serialize

MAX_READ_CHARACTERS = 48_000
"""About 12,000 tokens: the most of a paper that the reader is shown."""

MAX_REFERENCES = 12
"""References that the reader is shown, each with its whole abstract."""

SHORT_TEXT_WORDS = 250
"""Texts of at most this length are read several in one call."""

PAPERS_PER_CALL = 6

SUMMARY_SENTENCES = 4
"""Minimum sentences of a summary of ours: problem, method, finding, limitation."""

_RESULT = re.compile(
    r"\b(?:were|was|showed|found that|stayed|traced|ran|planned and carried|produced (?!by)|succeeds"
    r"|works well)\b"
)
"""Matches what was tested or found; of the corpus's summaries with five sentences, it decides whether the
third is about the method or the finding."""


@dataclass(frozen=True)
class Followed:
    """A reference that a reader considers important for the paper."""

    paper: Paper
    reason: str


@dataclass(frozen=True)
class Readings:
    """Readings and reasons why papers could not be read, by paper id."""

    readings: dict[str, Reading] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    followed: tuple[Followed, ...] = ()
    """References to follow, most important first, if the reader was shown references."""

    @property
    def serialized(self) -> dict[str, Serialized[Reading]]:
        """``readings`` as plain values, for a graph's state."""
        return {key: serialize(reading) for key, reading in self.readings.items()}


async def read_papers(context: Services, topic: Topic, papers: Sequence[Paper]) -> Readings:
    """Read papers; a graph keeps the readings in its state and asks for no paper twice.

    Our own summaries are split into their facets, without a call. Of a paper with neither abstract nor full
    text, the title is all there is.
    """
    unique = list({paper.id: paper for paper in papers}.values())
    found = await asyncio.gather(*(_text(context, paper) for paper in unique))
    done, short, calls = Readings(), [], []
    for paper, text in zip(unique, found, strict=True):
        if isinstance(text, Readings):
            done = _join([done, text])
        elif text.kind == "title":
            done.readings[paper.id] = Reading(method=paper.title, read_from="title")
        elif text.kind == "abstract" and is_our_summary(paper):
            done.readings[paper.id] = read_summary(paper, text.text)
        elif text.kind == "abstract" and len(text.text.split()) <= SHORT_TEXT_WORDS:
            short.append(paper.model_copy(update={"abstract": text.text}))
        else:
            calls.append(_read_text(context, topic, paper, text, ()))
    batches = [short[start : start + PAPERS_PER_CALL] for start in range(0, len(short), PAPERS_PER_CALL)]
    calls += [_read_short_texts(context, topic, batch) for batch in batches]
    return _join([done, *await asyncio.gather(*calls)])


async def has_short_text(context: Services, paper: Paper) -> bool:
    """Whether only a short text of a paper is known, and none could be fetched."""
    if context.library.fetches_texts:
        return False
    text, kind = await context.library.text(paper)
    return kind != "full text" and len(text.split()) <= SHORT_TEXT_WORDS


async def read_for_references(
    context: Services, topic: Topic, paper: Paper, references: Sequence[Paper]
) -> Readings | None:
    """Read a paper and let the reader choose among its references.

    ``None`` if only a short text is known, which does not say how the paper uses them: then read it with
    others and have the relevance judge grade the references.
    """
    text = await _text(context, paper)
    if isinstance(text, Readings):
        return text
    if text.kind != "full text" and len(text.text.split()) <= SHORT_TEXT_WORDS:
        return None
    return await _read_text(context, topic, paper, text, references)


def read_summary(paper: Paper, summary: str) -> Reading:
    """The reading of a summary of our own: one sentence on the problem, one or two on the method, one or two
    on what was found, and one on the limitation.
    """
    sentences = texts.sentences(summary)
    if len(sentences) < SUMMARY_SENTENCES:
        return Reading(method=summary, read_from="our summary")
    problem, method, *findings, limitation = sentences
    if len(findings) > 1 and not _RESULT.search(findings[0]):
        method, findings = f"{method} {findings[0]}", findings[1:]
    where = f"named in {texts.short_name(paper.title, summary)}"  # the summary is shown beside it
    return Reading(
        problem=problem,
        method=method,
        finding=" ".join(findings),
        limitation=limitation,
        experiment=" ".join(findings),
        entities=tuple(Entity(name=n.name, description=where, kind=n.kind) for n in texts.names(summary)),
        read_from="our summary",
    )


@dataclass(frozen=True)
class _Text:
    text: str
    kind: TextKind


async def _text(context: Services, paper: Paper) -> _Text | Readings:
    """The paper's text, or the reason why it cannot be had."""
    try:
        return _Text(*await context.library.read(paper))
    except IdeagoraError as error:
        return _unread(context, [paper], error)


async def _read_text(
    context: Services, topic: Topic, paper: Paper, text: _Text, references: Sequence[Paper]
) -> Readings:
    """Read one long text; the reader chooses among the references, most similar to topic and paper first."""
    if len(references) > MAX_REFERENCES:
        ranked = await context.library.similar(references, f"{topic.text}. {paper.title}")
        references = [scored.paper for scored in ranked[:MAX_REFERENCES]]
    try:
        answer = await READER(
            context.client,
            topic=topic.text,
            title=paper.title,
            kind=text.kind,
            text=text.text[:MAX_READ_CHARACTERS],
            references=tuple(paper_brief(reference) for reference in references),
        )
    except IdeagoraError as error:
        return _unread(context, [paper], error)
    reading = _reading(answer, text.kind)
    followed = tuple(Followed(references[chosen.paper], chosen.reason) for chosen in answer.references)
    return Readings({paper.id: reading}, followed=followed)


async def _read_short_texts(context: Services, topic: Topic, papers: Sequence[Paper]) -> Readings:
    """Read several abstracts in one call; those that the answer leaves out are asked for once more."""
    readings, error = await _ask_for_readings(context, topic, papers)
    missing = [paper for paper in papers if paper.id not in readings]
    if missing and len(papers) > 1:  # each alone, so that one paper cannot cost another
        again = await asyncio.gather(*(_read_short_texts(context, topic, [paper]) for paper in missing))
        return _join([Readings(readings), *again])
    if missing:
        return _unread(context, missing, error or UnreadableAnswer("the reader's answer leaves it out", []))
    return Readings(readings)


async def _ask_for_readings(
    context: Services, topic: Topic, papers: Sequence[Paper]
) -> tuple[dict[str, Reading], IdeagoraError | None]:
    try:
        answer = await ABSTRACT_READER(
            context.client, topic=topic.text, papers=tuple(paper_brief(paper) for paper in papers)
        )
    except IdeagoraError as error:
        if error.fatal:
            raise
        return {}, error
    return {papers[reading.paper].id: _reading(reading, "abstract") for reading in answer.readings}, None


def _reading(answer: PaperReading, kind: TextKind) -> Reading:
    return Reading(
        problem=answer.problem,
        method=answer.method,
        why_it_works=getattr(answer, "why_it_works", None),
        details=getattr(answer, "details", None),
        finding=answer.finding,
        limitation=answer.limitation,
        experiment=answer.experiment,
        entities=tuple(Entity(name=e.name, description=e.description, kind=e.kind) for e in answer.entities),
        read_from=kind,
    )


def _unread(context: Services, papers: Sequence[Paper], error: IdeagoraError) -> Readings:
    if error.fatal:
        raise error
    for paper in papers:
        context.say(f"not read: {paper.title} ({error})")
    return Readings(unread={paper.id: str(error) for paper in papers})


def _join(parts: Sequence[Readings]) -> Readings:
    return Readings(
        {key: reading for part in parts for key, reading in part.readings.items()},
        {key: reason for part in parts for key, reason in part.unread.items()},
    )
