"""Damaged responses of literature services, and checks of how the clients read them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ideagora.errors import SourceUnavailable
from ideagora.retrieval.clients import arxiv
from ideagora.retrieval.clients.arxiv import Arxiv
from ideagora.retrieval.clients.openalex import OpenAlex
from ideagora.retrieval.clients.semantic_scholar import SemanticScholar
from ideagora.retrieval.http.cache import HttpCache
from ideagora.retrieval.http.client import HttpClient
from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.http.sender import RequestSender
from ideagora.retrieval.http.service import HttpRequest, RateLimitPolicy, Service
from ideagora.retrieval.protocols import RemoteSource
from ideagora.retrieval.untrusted_json import parse_pruned_json
from ideagora.schema import Paper
from tests.support.literature_server import FakeTime, LiteratureServer, ReceivedRequest, Work
from tests.support.mutations import damaged, rewritten

WORKS = (
    Work("w1", "Chain of thought", "Thoughts help.", "2022-01-28", "2201.11903", "10.1/abc", 9, ("w2",)),
    Work("w2", "Trees of thought", "Thoughts branch.", "2023-05-17", "2305.10601", None, 7, ("w1",)),
)
SOURCES: dict[str, Callable[[HttpClient], RemoteSource]] = {
    "semantic-scholar": SemanticScholar, "openalex": OpenAlex, "arxiv": Arxiv,
}  # fmt: skip


class FixedBodySender(RequestSender):
    body = b""

    async def send(self, request: HttpRequest) -> tuple[int, bytes]:
        return 200, self.body


class FixedBodyClient(HttpClient):
    """An HTTP client that returns the same body for every request."""

    def __init__(self, service: Service, cache: HttpCache, clock: Clock) -> None:
        super().__init__(service, cache, clock)
        self._sender = self.sender = FixedBodySender(service, clock)


def fixed_body_client(name: str, folder: Path) -> tuple[FixedBodyClient, HttpCache]:
    fake = FakeTime()
    time = Clock(fake.clock, fake.sleep)
    cache = HttpCache(folder / "literature.sqlite", 30, lambda: time.now().date())
    policy = RateLimitPolicy(0.0, retries=0, cooldown=0.0, max_bytes=2**24)
    return FixedBodyClient(Service(name, "http://127.0.0.1:9", policy), cache, time), cache


def check_storable(value: Any) -> list[Paper]:
    """The papers in an answer; raises if one cannot be encoded as UTF-8."""
    papers = value if isinstance(value, list) else list(getattr(value, "papers", ())) or [value]
    for paper in papers:
        if isinstance(paper, BaseModel):
            paper.model_dump_json().encode("utf-8")
    return [paper for paper in papers if isinstance(paper, Paper)]


def bodies(server: LiteratureServer, name: str) -> dict[str, bytes]:
    """A response of each kind from a service."""
    graph, offset, page = "/graph/v1/paper", {"offset": "0", "limit": "9"}, {"cursor": "*", "per-page": "9"}
    requests: dict[str, dict[str, tuple[str, dict[str, str]]]] = {
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
        kind: server.answer(ReceivedRequest(name, path, query, {}, None))[1]
        for kind, (path, query) in requests[name].items()
    }


def queries(source: RemoteSource) -> dict[str, Callable[[], Awaitable[Any]]]:
    known = {"semantic-scholar": "s2:w1", "openalex": "openalex:w1", "arxiv": "arxiv:2201.11903"}[source.name]
    return {
        "search": lambda: source.search("thought", 5),
        "paper": lambda: source.paper(known),
        "citations": lambda: source.citations(known),
    }


def stored_bodies(cache: HttpCache) -> list[bytes]:
    rows = cache._do(lambda db: db.execute("SELECT body FROM pages").fetchall())
    return [zlib.decompress(row[0]) for row in rows]


def is_readable(body: bytes) -> bool:
    with suppress(ValueError):
        return bool(parse_pruned_json(body)) or True
    with suppress(ValueError):
        return arxiv.parse_feed(body) is not None
    return False


def clear(cache: HttpCache) -> None:
    cache._do(lambda db: db.execute("DELETE FROM pages").close())


def samples(name: str) -> dict[str, bytes]:
    """A response of each kind from a service with ``WORKS``."""
    with LiteratureServer(WORKS) as server:
        return bodies(server, name)


def damaged_bodies(name: str, sample: bytes, seed: int, count: int) -> list[list[bytes]]:
    """The sample with damaged bytes, and if it is JSON, with unexpected values."""
    changed = [list(damaged(sample, seed, count))]
    if name != "arxiv":
        changed.append([text.encode() for text in rewritten(json.loads(sample), seed + 1, count)])
    return changed


async def reading_errors(name: str, kind: str, changed: Iterable[bytes], folder: Path) -> list[str]:
    """Errors in how a source reads these bodies; each is requested twice, the second time from the cache."""
    client, cache = fixed_body_client(name, folder)
    source, errors = SOURCES[name](client), []
    for body in changed:
        answers = []
        try:
            for response in (body, b"not from the cache"):
                client.sender.body = response
                with suppress(SourceUnavailable):
                    answers.append(await queries(source)[kind]())
            for answer in answers:
                check_storable(answer)
        except Exception as error:  # noqa: BLE001  # any exception is an error in the reader
            errors.append(f"{type(error).__name__}: {error}"[:200])
        if len(answers) == 2 and answers[0] != answers[1]:
            errors.append("the cached answer differs")
        if not all(map(is_readable, stored_bodies(cache))):
            errors.append("an unreadable body was stored")
        clear(cache)
    await client.disconnect()
    cache.close()
    return errors
