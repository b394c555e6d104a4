"""Answers of the literature services, damaged, and what their readers make of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from pydantic import BaseModel

from ideagora.errors import SourceUnavailable
from ideagora.retrieval.clients import arxiv
from ideagora.retrieval.clients.arxiv import Arxiv
from ideagora.retrieval.clients.openalex import OpenAlex
from ideagora.retrieval.clients.semantic_scholar import SemanticScholar
from ideagora.retrieval.http.cache import HttpCache
from ideagora.retrieval.http.client import Clock, HttpClient, HttpRequest, RateLimitPolicy
from ideagora.retrieval.protocols import RemoteSource
from ideagora.retrieval.untrusted_json import parse_pruned_json
from ideagora.schema import Paper
from tests.support.literature_server import Asked, FakeTime, LiteratureServer, Work
from tests.support.mutations import damaged, rewritten

WORKS = (
    Work("w1", "Chain of thought", "Thoughts help.", "2022-01-28", "2201.11903", "10.1/abc", 9, ("w2",)),
    Work("w2", "Trees of thought", "Thoughts branch.", "2023-05-17", "2305.10601", None, 7, ("w1",)),
)
SOURCES: dict[str, Callable[[HttpClient], RemoteSource]] = {
    "semantic-scholar": SemanticScholar, "openalex": OpenAlex, "arxiv": Arxiv,
}  # fmt: skip


class Recited(HttpClient):
    """A way to a source that recites one body to every question."""

    body = b""

    async def _send_within_timeout(
        self, request: HttpRequest, client: httpx.AsyncClient
    ) -> tuple[int, bytes]:
        return 200, self.body


def recited(name: str, folder: Path) -> tuple[Recited, HttpCache]:
    fake = FakeTime()
    time = Clock(fake.clock, fake.sleep)
    cache = HttpCache(folder / "literature.sqlite", 30, lambda: time.now().date())
    policy = RateLimitPolicy(0.0, retries=0, cooldown=0.0, max_bytes=2**24)
    return Recited(name, "http://127.0.0.1:9", policy, cache, time), cache


def demand_storable(value: Any) -> list[Paper]:
    """The papers in an answer, each of which can be written down as UTF-8."""
    papers = value if isinstance(value, list) else list(getattr(value, "papers", ())) or [value]
    for paper in papers:
        if isinstance(paper, BaseModel):
            paper.model_dump_json().encode("utf-8")
    return [paper for paper in papers if isinstance(paper, Paper)]


def bodies(server: LiteratureServer, name: str) -> dict[str, bytes]:
    """An answer of each kind that a service gives."""
    graph, offset, page = "/graph/v1/paper", {"offset": "0", "limit": "9"}, {"cursor": "*", "per-page": "9"}
    asked: dict[str, dict[str, tuple[str, dict[str, str]]]] = {
        "semantic-scholar": {
            "search": (f"{graph}/search", {"query": "thought", **offset}),
            "paper": (f"{graph}/w1", {}),
            "citations": (f"{graph}/w1/citations", offset),
        },
        "openalex": {
            "search": ("/works", {"search": "thought", **page}),
            "paper": ("/works/w1", {}),
            "citations": ("/works", {"filter": "cites:w1", **page}),
        },
        "arxiv": {"search": ("/api/query", {"search_query": "all:thought", "max_results": "9"})},
    }
    return {
        kind: server.answer(Asked(name, path, query, {}, None))[1]
        for kind, (path, query) in asked[name].items()
    }


def questions(source: RemoteSource) -> dict[str, Callable[[], Awaitable[Any]]]:
    known = {"semantic-scholar": "s2:w1", "openalex": "openalex:w1", "arxiv": "arxiv:2201.11903"}[source.name]
    return {
        "search": lambda: source.search("thought", 5),
        "paper": lambda: source.paper(known),
        "citations": lambda: source.citations(known),
    }


def kept_bodies(cache: HttpCache) -> list[bytes]:
    rows = cache._do(lambda db: db.execute("SELECT body FROM pages").fetchall())
    return [zlib.decompress(row[0]) for row in rows]


def is_readable(body: bytes) -> bool:
    with suppress(ValueError):
        return bool(parse_pruned_json(body)) or True
    with suppress(ValueError):
        return arxiv.parse_feed(body) is not None
    return False


def emptied(cache: HttpCache) -> None:
    cache._do(lambda db: db.execute("DELETE FROM pages").close())


def samples(name: str) -> dict[str, bytes]:
    """An answer of each kind that a service gives to ``WORKS``."""
    with LiteratureServer(WORKS) as server:
        return bodies(server, name)


def damaged_bodies(name: str, sample: bytes, seed: int, count: int) -> list[list[bytes]]:
    """The sample with damaged bytes, and (where it is JSON) with values that no one expects."""
    changed = [list(damaged(sample, seed, count))]
    if name != "arxiv":
        changed.append([text.encode() for text in rewritten(json.loads(sample), seed + 1, count)])
    return changed


async def misread(name: str, kind: str, changed: Iterable[bytes], folder: Path) -> list[str]:
    """What is wrong in how a source reads these bodies; each is asked for twice, then from the cache."""
    client, cache = recited(name, folder)
    source, wrong = SOURCES[name](client), []
    for body in changed:
        answers = []
        try:
            for recitation in (body, b"the cache answers"):
                client.body = recitation
                with suppress(SourceUnavailable):
                    answers.append(await questions(source)[kind]())
            for one in answers:
                demand_storable(one)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what is wrong
            wrong.append(f"{type(error).__name__}: {error}"[:200])
        if len(answers) == 2 and answers[0] != answers[1]:
            wrong.append("the cache answers otherwise")
        if not all(map(is_readable, kept_bodies(cache))):
            wrong.append("a body that cannot be read was kept")
        emptied(cache)
    await client.disconnect()
    cache.close()
    return wrong
