"""A loopback server with the APIs of Semantic Scholar, OpenAlex and arXiv, on a small corpus.

    with LiteratureServer(WORKS) as server:
        client = HttpClient(Service("semantic-scholar", server.url("semantic-scholar"), …))

``requests`` lists the requests. ``faults`` are served first, one per request, in order; a fault of one
service does not affect the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.support.http_server import BackgroundServer, Connection, Server

if TYPE_CHECKING:
    from ideagora.config import Settings
    from ideagora.retrieval.library import Library

SERVICES = ("semantic-scholar", "openalex", "arxiv")


@dataclass(frozen=True)
class Work:
    """A paper; ``None`` is null in the services' responses."""

    name: str
    """Letters and digits; the services' ids are derived from it."""
    title: str | None
    abstract: str | None = None
    date: str | None = None
    arxiv: str | None = None
    doi: str | None = None
    cited: int | None = 0
    cites: tuple[str, ...] = ()
    known_to: tuple[str, ...] = SERVICES
    pdf: str | None = None
    """Link to an open-access PDF."""
    per_year: tuple[tuple[int, int], ...] = ()
    """Pairs of year and citations."""
    recommends: tuple[str, ...] | None = None
    """Works that Semantic Scholar recommends; ``None`` if it does not know any."""

    @property
    def words(self) -> set[str]:
        """Words of title and abstract, for search."""
        return set(re.findall(r"\w+", f"{self.title} {self.abstract}".lower()))


@dataclass(frozen=True)
class Fault:
    """A failure to serve instead of an answer."""

    status: int = 500
    service: str | None = None
    """``None`` for any service."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"error": "simulated failure"}'
    cut: bool = False
    """Announce more bytes than are sent."""
    hang: bool = False
    """Do not respond until the server is closed."""
    forever: bool = False
    """Apply to all further requests."""


@dataclass(frozen=True)
class File:
    """A file at a path of the server, not part of a service."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    announced: int | None = None
    """The ``Content-Length``, if it differs from the true one."""
    endless: bool = False
    """Repeat the body until the client disconnects; ``LiteratureServer.sent`` counts the bytes."""


@dataclass(frozen=True)
class ReceivedRequest:
    """A request to a service."""

    service: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class LiteratureServer(BackgroundServer):
    """The server, as a context manager."""

    works: Sequence[Work]
    faults: list[Fault] = field(default_factory=list)
    requests: list[ReceivedRequest] = field(default_factory=list)
    page: int | None = None
    """Maximum number of items per page, whatever the request."""
    files: dict[str, File] = field(default_factory=dict)
    """Files by path, e.g. ``/arxiv/pdf/2201.11903`` for a PDF on arXiv, ``/files/…`` for others."""
    sent: int = 0
    """Number of bytes sent of endless files."""
    recorded: dict[str, bytes] = field(default_factory=dict)
    """Bodies by path and query, served instead of the corpus."""
    port: int = field(init=False, default=0)
    """The port it listens on."""

    def __enter__(self) -> LiteratureServer:
        self.port = self._serve(_Connection)
        return self

    def url(self, service: str) -> str:
        """A service's base URL."""
        return f"http://{self.host}:{self.port}/{service}"

    def requests_to(self, service: str) -> list[ReceivedRequest]:
        """The requests to one service."""
        return [request for request in self.requests if request.service == service]

    def record(self, request: ReceivedRequest) -> Fault | None:
        """Record a request, and return its fault, if any."""
        with self._lock:
            self.requests.append(request)
            fault = next((fault for fault in self.faults if fault.service in (None, request.service)), None)
            if fault and not fault.forever:
                self.faults.remove(fault)
        return fault

    def answer(self, request: ReceivedRequest) -> tuple[int, bytes]:
        """Return status and body from the corpus."""
        if request.service == "files" or request.path.startswith("/pdf/"):
            return 404, b"no such file"
        if request.service == "arxiv":
            return 200, self._atom(request.query)
        respond = self._semantic_scholar if request.service == "semantic-scholar" else self._openalex
        body = respond(request)
        return (404, b'{"error": "not found"}') if body is None else (200, json.dumps(body).encode())

    def search(self, service: str, query: str) -> list[Work]:
        """Works by the number of words in common with the query, then in corpus order."""
        words = set(re.findall(r"\w+", query.lower()))
        known = [work for work in self.works if service in work.known_to and work.words & words]
        return sorted(known, key=lambda work: -len(work.words & words))

    def find(self, service: str, name: str) -> Work | None:
        """A work by any of its ids."""
        bare = re.sub(r"^(arxiv:|doi:10\.48550/arxiv\.|doi:)", "", name, flags=re.I).lower()
        known = [work for work in self.works if service in work.known_to]
        return next((w for w in known if bare in (w.name.lower(), w.arxiv, (w.doi or "").lower())), None)

    def citing(self, service: str, cited: Work) -> list[Work]:
        """The works that cite a work."""
        return [work for work in self.works if cited.name in work.cites and service in work.known_to]

    def cited(self, service: str, citing: Work) -> list[Work]:
        """The works that a work cites."""
        by_name = {work.name: work for work in self.works if service in work.known_to}
        return [by_name[name] for name in citing.cites if name in by_name]

    def _semantic_scholar(self, request: ReceivedRequest) -> Any:
        if request.path.startswith("/recommendations/v1/papers/forpaper/"):
            return self._recommended(request)
        path = request.path.removeprefix("/graph/v1/paper/")
        if path == "search":
            found = [self._s2(work) for work in self.search(request.service, request.query["query"])]
            return {"total": len(found), **self._offset(found, request.query)}
        if path == "batch":
            works = [self.find(request.service, name) for name in request.body["ids"]]
            is_nested = "citations.title" in request.query["fields"]
            describe = self._s2_with_lists if is_nested else self._s2
            return [describe(work) if work else None for work in works]
        name = path.removesuffix("/references").removesuffix("/citations")
        work = self.find(request.service, name)
        if work is None or not path.endswith(("/references", "/citations")):
            return self._s2(work) if work else None
        both = (self.cited, "citedPaper") if path.endswith("/references") else (self.citing, "citingPaper")
        items = [{both[1]: self._s2(other)} for other in both[0](request.service, work)]
        return self._offset(items, request.query)

    def _s2_with_lists(self, work: Work) -> dict[str, Any]:
        """A record of Semantic Scholar with references and citations."""
        cited, citing = self.cited("semantic-scholar", work), self.citing("semantic-scholar", work)
        return {
            **self._s2(work),
            "references": [self._s2(other) for other in cited],
            "citations": [self._s2(other) for other in citing],
            "referenceCount": len(cited),
            "citationCount": len(citing),
        }

    def _recommended(self, request: ReceivedRequest) -> Any:
        work = self.find(request.service, request.path.removeprefix("/recommendations/v1/papers/forpaper/"))
        if work is None or work.recommends is None:
            return None
        found = [self.find(request.service, name) for name in work.recommends]
        papers = [self._s2(recommended) for recommended in found if recommended]
        return {"recommendedPapers": papers[: int(request.query["limit"])]}

    def _offset(self, items: list[Any], query: dict[str, str]) -> dict[str, Any]:
        start, limit = int(query["offset"]), min(int(query["limit"]), self.page or 10_000)
        following = {"next": start + limit} if start + limit < len(items) else {}
        data = items[start : start + limit]
        return {"offset": start, **following, **({"data": data} if items else {})}

    def _s2(self, work: Work) -> dict[str, Any]:
        ids = {"ArXiv": work.arxiv, "DOI": work.doi, "CorpusId": 7}
        return {
            "paperId": None if work.name.startswith("noid") else work.name,
            "externalIds": {name: value for name, value in ids.items() if value} or None,
            "title": work.title,
            "abstract": work.abstract,
            "year": int(work.date[:4]) if work.date else None,
            "publicationDate": work.date if work.date and len(work.date) == 10 else None,
            "venue": "",
            "authors": None if work.abstract is None else [{"authorId": None, "name": "A. Author"}],
            "citationCount": work.cited,
            "openAccessPdf": {"url": work.pdf, "status": "GREEN"} if work.pdf else None,
        }

    def _openalex(self, request: ReceivedRequest) -> Any:
        if request.path != "/works":
            work = self.find(request.service, request.path.removeprefix("/works/"))
            return self._work(work) if work else None
        wanted = request.query.get("filter", "")
        kind, _, values = wanted.partition(":")
        if kind == "cites":
            cited = self.find(request.service, values)
            found = self.citing(request.service, cited) if cited else []
        elif kind in ("openalex", "doi"):
            prefix = "doi:" if kind == "doi" else ""
            matches = [self.find(request.service, prefix + value) for value in values.split("|")]
            found = [work for work in matches if work]
        else:
            found = self.search(request.service, request.query["search"])
        cursor = request.query["cursor"]
        start, limit = int(cursor.strip("*") or 0), min(int(request.query["per-page"]), self.page or 200)
        following = str(start + limit) if start + limit < len(found) else None
        results = [self._work(work) for work in found[start : start + limit]]
        return {"meta": {"count": len(found), "next_cursor": following}, "results": results}

    def _work(self, work: Work) -> dict[str, Any]:
        index: dict[str, list[int]] = {}
        for place, word in enumerate((work.abstract or "").split()):
            index.setdefault(word, []).append(place)
        doi = work.doi or (f"10.48550/arXiv.{work.arxiv}" if work.arxiv else None)
        arxiv = f"https://arxiv.org/abs/{work.arxiv}" if work.arxiv else None
        return {
            "id": f"https://openalex.org/{work.name.upper()}",
            "doi": f"https://doi.org/{doi}" if doi else None,
            "title": work.title,
            "publication_date": work.date if work.date and len(work.date) == 10 else None,
            "publication_year": int(work.date[:4]) if work.date else None,
            "authorships": [{"author": {"display_name": "Ann Author"}}, {"author": None}],
            "primary_location": {"landing_page_url": arxiv, "source": None},
            "locations": None,
            "cited_by_count": work.cited,
            "abstract_inverted_index": index or None,
            "best_oa_location": {"is_oa": True, "pdf_url": work.pdf} if work.pdf else None,
            "counts_by_year": [{"year": year, "cited_by_count": count} for year, count in work.per_year],
            "referenced_works": [f"https://openalex.org/{name.upper()}" for name in work.cites],
        }

    def _atom(self, query: dict[str, str]) -> bytes:
        start, most = int(query.get("start", 0)), min(int(query["max_results"]), self.page or 2_000)
        if "id_list" in query:
            matches = [self.find("arxiv", name) for name in query["id_list"].split(",")]
            found = [work for work in matches if work]
        else:
            found = self.search("arxiv", query["search_query"].replace("all:", " "))
        entries = "".join(self._entry(work) for work in found[start : start + most] if work.arxiv)
        head = '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
        return f"{head}<title>query</title>{entries}</feed>".encode()

    def _entry(self, work: Work) -> str:
        doi = f'<a:doi xmlns:a="http://arxiv.org/schemas/atom">{work.doi}</a:doi>' if work.doi else ""
        return (
            f"<entry><id>http://arxiv.org/abs/{work.arxiv}v2</id><published>{work.date}T01:02:03Z</published>"
            f"<title>{escape(work.title or '')}</title><summary>\n {escape(work.abstract or '')}\n</summary>"
            f"<author><name>Ann Author</name></author>{doi}</entry>"
        )


class _Connection(Connection):
    server: Server[LiteratureServer]

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        address = urlsplit(self.path)
        service, _, path = address.path.lstrip("/").partition("/")
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = ReceivedRequest(service, f"/{unquote(path)}", query, headers, body)
        fault = self.server.owner.record(request)
        if fault:
            self._fail(fault)
            return
        file = self.server.owner.files.get(address.path)
        if file:
            self._send_file(file)
            return
        recorded = self.server.owner.recorded.get(request.path + "?" + query.get("offset", ""))
        status, content = (200, recorded) if recorded else self.server.owner.answer(request)
        self._send(status, content, {})

    do_POST = do_GET

    def _fail(self, fault: Fault) -> None:
        if fault.hang:
            self.server.owner.wait_until_closed()
        if fault.hang or fault.cut:
            self.close_connection = True
        if not fault.hang:
            length = {"Content-Length": str(len(fault.body) + 100)} if fault.cut else {}
            self._send(fault.status, fault.body, {**fault.headers, **length})

    def _send_file(self, file: File) -> None:
        length = len(file.body) if file.announced is None else file.announced
        plain = {} if file.endless and file.announced is None else {"Content-Length": str(length)}
        self.send_response(file.status)
        for name, value in {**plain, **file.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = file.endless or length != len(file.body)
        self.wfile.write(file.body)
        while file.endless:
            self.wfile.write(file.body)
            self.server.owner.sent += len(file.body)

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


class FakeTime:
    """A clock that advances only by sleeping; ``slept`` lists the sleeps in seconds."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


def hurry(patch: Any, now: datetime) -> None:
    """Replace the command line's clock, so that waiting for a service takes no time."""
    from ideagora.retrieval import factory
    from ideagora.retrieval.http.clock import Clock

    fake = FakeTime()
    defaults = factory.open_library.__defaults__
    assert defaults is not None
    time = Clock(fake.clock, fake.sleep, lambda: now)
    patch.setattr(factory.open_library, "__defaults__", (*defaults[:-1], time))


def settings_for(server: LiteratureServer, home: Path, source: str) -> Settings:
    """Settings that take the literature from the server."""
    from ideagora.config import Settings

    return Settings(
        home=home,
        embedder="hash",
        source=source,
        semantic_scholar_url=server.url("semantic-scholar"),
        openalex_url=server.url("openalex"),
        arxiv_url=server.url("arxiv"),
    )


def open_at(now: datetime, settings: Settings) -> Library:
    """Open a library on a given day, on which waiting for a service takes no time."""
    from ideagora.retrieval.factory import open_library
    from ideagora.retrieval.http.clock import Clock

    fake = FakeTime()
    return open_library(settings, clock=Clock(fake.clock, fake.sleep, lambda: now))
