"""A library whose search results and citation counts are told, and a target, ideas and verdicts for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ideagora.benchmarks.ai_idea_bench.samples import Inspiration, Sample
from ideagora.benchmarks.benchmark import Judgement, Question
from ideagora.errors import SourceUnavailable
from ideagora.graphs.services import Services
from ideagora.models.chat_models import ScriptedChatModel
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.library import Library
from ideagora.schema import Experiment, Idea, Paper, ScoredPaper, Verdict, stable_id
from tests.support.clients import client_harness

JUDGE = "scripted"


def paper(name: str, date: str | None = None, citations: int | None = None, **fields: Any) -> Paper:
    """A paper whose id is its title."""
    return Paper(id=name, title=name, date=date, citation_count=citations, **fields)


@dataclass
class CountedPapers:
    """A source that returns the same papers for every query, or those told for it."""

    papers: Sequence[Paper] = ()
    results: Mapping[str, Sequence[Paper]] = field(default_factory=dict)
    per_year: Mapping[str, dict[int, int]] = field(default_factory=dict)
    similarities: Mapping[str, float] = field(default_factory=dict)
    """Of a paper to any query; 0.9 without one."""
    down: SourceUnavailable | None = None
    """What the requests for counts raise."""
    queries: list[str] = field(default_factory=list)
    name: str = "counted"

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        self.queries.append(query)
        results = self.results.get(query, self.papers)
        return [ScoredPaper(paper=one, similarity=self.similarities.get(one.id, 0.9)) for one in results][:k]

    async def paper(self, paper_id: str) -> Paper | None:
        every = [*self.papers, *(one for found in self.results.values() for one in found)]
        return next((one for one in every if one.id == paper_id), None)

    async def references(self, paper_id: str) -> list[Paper]:
        return []

    async def citations(self, paper_id: str) -> list[Paper]:
        return []

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        return None

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        if self.down is not None:
            raise self.down
        return self.per_year.get(paper_id)

    async def disconnect(self) -> None:
        return None


@asynccontextmanager
async def services(home: Path, source: CountedPapers, reply: Any = None) -> AsyncIterator[Services]:
    """Services with this source, and a judge that gives these replies."""
    chats: dict[str, Any] = {JUDGE: ScriptedChatModel(replies=reply)}
    async with client_harness(home, chats=chats) as harness:
        yield Services(harness.client, Library(source, HashEmbedder()), None, lambda text: None)


def sample(keywords: Sequence[str] = (), **fields: Any) -> Sample:
    """A target."""
    values: dict[str, Any] = {
        "id": "7",
        "topic": "sway of bridges",
        "motivation": "Bridges sway.",
        "inspirations": (Inspiration(title="Dampers"),),
        "keywords": tuple(keywords),
    }
    return Sample(**{**values, **fields})


def idea(agent: str, *steps: str, number: int = 0, **fields: Any) -> Idea:
    """An idea with an experiment of these steps."""
    values: dict[str, Any] = {
        "id": stable_id(agent, str(number), *steps),
        "topic": "sway of bridges",
        "agent": agent,
        "title": f"Idea {number} of {agent[::-1]}",
        "motivation": f"Bridges sway more with {agent[::-1]}.",
        "method": f"Dampers tuned by {agent[::-1]} and {number}.",
        "experiment": Experiment(steps=steps) if steps else None,
    }
    return Idea(**{**values, **fields})


def verdict(question: Question, judgement: Judgement | None, **fields: Any) -> Verdict:
    """The verdict on a question, as the run logs it."""
    values: dict[str, Any] = {
        "id": stable_id(question.measure, question.judge, *(one.id for one in question.subject)),
        "evaluator": "ai-idea-bench",
        "protocol": "default",
        "topic": "sway of bridges",
        "subject": tuple(one.id for one in question.subject),
        "criteria": None if judgement is None else dict(judgement.criteria),
        "status": "unscored" if judgement is None else "scored",
        "reason": "unreadable answer" if judgement is None else None,
        "judge": question.judge,
        "order": question.order,
        "kind": question.measure,
        "sample": question.sample,
        "variant": question.variant,
        "agents": tuple(one.agent for one in question.subject),
        "details": {} if judgement is None else dict(judgement.details),
    }
    return Verdict(**{**values, **fields})
