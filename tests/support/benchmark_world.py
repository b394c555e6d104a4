"""A benchmark's questions, asked without a run: a library in memory, an idea, verdicts as a list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from ideagora.benchmarks.benchmark import Question, Unscored
from ideagora.config import Settings
from ideagora.errors import UnreadableAnswer
from ideagora.graphs.services import Services
from ideagora.models.client import LLMClient
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.model_registry import ModelRegistry
from ideagora.models.recorder import CallLog
from ideagora.retrieval.library import Library
from ideagora.retrieval.similarity import rank_by_similarity
from ideagora.schema import Idea, Paper, ScoredPaper, Verdict, stable_id

EMBEDDER = HashEmbedder()


class MemorySource:
    """A source with these papers and no citations."""

    name = "memory"

    def __init__(self, papers: Iterable[Paper]) -> None:
        self.papers = {paper.id: paper for paper in papers}

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        return rank_by_similarity(EMBEDDER, list(self.papers.values()), query)[:k]

    async def paper(self, paper_id: str) -> Paper | None:
        return self.papers.get(paper_id)

    async def references(self, paper_id: str) -> list[Paper]:
        return []

    async def citations(self, paper_id: str) -> list[Paper]:
        return []

    async def disconnect(self) -> None:
        return None


@asynccontextmanager
async def services_with(
    home: Path, papers: Iterable[Paper], chats: Mapping[str, BaseChatModel] | None = None
) -> AsyncIterator[Services]:
    """Services with a library of these papers; the offline model uses the hash embedder."""
    settings = Settings(home=home, model="offline" if chats is None else next(iter(chats)), embedder="hash")
    client = LLMClient(ModelRegistry(settings, lambda: EMBEDDER, chats), CallLog("run"))
    library = Library(MemorySource(papers), EMBEDDER)
    try:
        yield Services(client, library, None, lambda text: None)
    finally:
        await client.aclose()


async def verdicts_of(services: Services, questions: Iterable[Question]) -> list[Verdict]:
    """The verdicts on these questions, asked one after the other."""
    return [await _verdict(services, question) for question in questions]


async def _verdict(services: Services, question: Question) -> Verdict:
    fields: dict[str, Any]
    try:
        judgement = await question.answer(services)
    except (Unscored, UnreadableAnswer) as error:
        fields = {"criteria": None, "status": "unscored", "reason": str(error)}
    else:
        fields = {
            "criteria": dict(judgement.criteria),
            "status": "scored",
            "details": dict(judgement.details),
            "rationale": judgement.rationale,
        }
    ids = [one.id for one in question.subject]
    return Verdict(
        id=stable_id(question.measure, question.sample, question.judge, question.variant, *ids),
        evaluator="benchmark",
        protocol="",
        topic="",
        subject=tuple(ids),
        judge=question.judge,
        kind=question.measure,
        sample=question.sample,
        variant=question.variant,
        agents=tuple(one.agent for one in question.subject),
        **fields,
    )


def scored(kind: str, agent: str, sample: str, value: float | None, **fields: Any) -> Verdict:
    """A verdict on one idea with one criterion; ``None``: unscored."""
    plain: dict[str, Any] = {
        "id": stable_id(kind, agent, sample, str(sorted(fields.items()))),
        "evaluator": "benchmark",
        "protocol": "default",
        "topic": "",
        "subject": ("idea",),
        "criteria": None if value is None else {"correct": value, "score": value},
        "status": "unscored" if value is None else "scored",
        "judge": "offline",
        "kind": kind,
        "sample": sample,
        "agents": (agent,),
    }
    return Verdict(**{**plain, **fields})


def idea(agent: str, number: int = 0, **fields: Any) -> Idea:
    """An idea on bridges."""
    plain: dict[str, Any] = {
        "id": stable_id(agent, str(number), str(sorted(fields.items()))),
        "topic": "bridges",
        "agent": agent,
        "title": "Bridges",
        "motivation": "Bridges sway in the wind.",
        "method": "Hang a mass on springs.",
    }
    return Idea(**{**plain, **fields})


def by_agent(ideas: Sequence[Idea]) -> dict[str, list[Idea]]:
    """Ideas by agent, in order."""
    ideas_of_agent: dict[str, list[Idea]] = {}
    for one in ideas:
        ideas_of_agent.setdefault(one.agent, []).append(one)
    return ideas_of_agent
