"""A loopback server that speaks as Semantic Scholar, OpenAlex and arXiv do, over a small corpus.

    with LiteratureServer(WORKS) as server:
        client = HttpClient("semantic-scholar", server.url("semantic-scholar"), …)

What was asked stands in ``requests``. ``faults`` are served first, one a request, in order; a fault
for one service lets requests to the others through.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

SERVICES = ("semantic-scholar", "openalex", "arxiv")


@dataclass(frozen=True)
class Work:
    """A paper as the world has it; ``None`` is null in the services' answers."""

    name: str
    """Letters and digits; ids of the services are made from it."""
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
    """Year and citations in it."""
    recommends: tuple[str, ...] | None = None
    """Works that Semantic Scholar recommends; ``None``: it has none for this one."""

    @property
    def words(self) -> set[str]:
        """For search."""
        return set(re.findall(r"\w+", f"{self.title} {self.abstract}".lower()))


@dataclass(frozen=True)
class Fault:
    """One failure."""

    status: int = 500
    service: str | None = None
    """``None``: whoever is asked next."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b'{"error": "told to fail"}'
    cut: bool = False
    """Announce more bytes than are sent."""
    hang: bool = False
    """Say nothing until the server is closed."""
    forever: bool = False
    """Stay for all further requests."""


@dataclass(frozen=True)
class File:
    """What lies under a path of the server, outside of the services."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    announced: int | None = None
    """Length that is announced instead of the true one."""
    endless: bool = False
    """The body again and again, until nobody listens; ``LiteratureServer.sent`` tells how much went out."""


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    service: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class LiteratureServer:
    """The server; a context manager."""

    works: Sequence[Work]
    faults: list[Fault] = field(default_factory=list)
    requests: list[Asked] = field(default_factory=list)
    page: int | None = None
    """Items on a page at most, whatever is asked for."""
    files: dict[str, File] = field(default_factory=dict)
    """By path: ``/arxiv/pdf/2201.11903`` is where arXiv's PDFs lie, ``/files/…`` any other place."""
    sent: int = 0
    """Bytes of endless files that went out."""
    recorded: dict[str, bytes] = field(default_factory=dict)
    """Bodies by path and query, served instead of the corpus."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closing: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> LiteratureServer:
        self._server = _Server(("127.0.0.1", 0), _Connection)
        self._server.literature = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def url(self, service: str) -> str:
        """A service's base URL."""
        return f"http://127.0.0.1:{self.port}/{service}"

    def asked(self, service: str) -> list[Asked]:
        """The requests to one service."""
        return [one for one in self.requests if one.service == service]

    def take(self, asked: Asked) -> Fault | None:
        """Note a request; the fault that it meets."""
        with self._lock:
            self.requests.append(asked)
            fault = next((one for one in self.faults if one.service in (None, asked.service)), None)
            if fault and not fault.forever:
                self.faults.remove(fault)
        return fault

    def wait_until_closed(self) -> None:
        """Block as a server that hangs does."""
        self._closing.wait()

    def answer(self, asked: Asked) -> tuple[int, bytes]:
        """Status and body from the corpus."""
        if asked.service == "files" or asked.path.startswith("/pdf/"):
            return 404, b"no such file"
        if asked.service == "arxiv":
            return 200, self._atom(asked.query)
        speak = self._semantic_scholar if asked.service == "semantic-scholar" else self._openalex
        found = speak(asked)
        return (404, b'{"error": "not found"}') if found is None else (200, json.dumps(found).encode())

    def found(self, service: str, query: str) -> list[Work]:
        """By the number of words in common, then in the order of the corpus."""
        words = set(re.findall(r"\w+", query.lower()))
        known = [work for work in self.works if service in work.known_to and work.words & words]
        return sorted(known, key=lambda work: -len(work.words & words))

    def named(self, service: str, name: str) -> Work | None:
        """A work by any of its ids."""
        bare = re.sub(r"^(arxiv:|doi:10\.48550/arxiv\.|doi:)", "", name, flags=re.I).lower()
        known = [work for work in self.works if service in work.known_to]
        return next((w for w in known if bare in (w.name.lower(), w.arxiv, (w.doi or "").lower())), None)

    def citing(self, service: str, cited: Work) -> list[Work]:
        """Who cites a work."""
        return [work for work in self.works if cited.name in work.cites and service in work.known_to]

    def cited(self, service: str, citing: Work) -> list[Work]:
        """Whom a work cites."""
        by_name = {work.name: work for work in self.works if service in work.known_to}
        return [by_name[name] for name in citing.cites if name in by_name]

    def _semantic_scholar(self, asked: Asked) -> Any:
        if asked.path.startswith("/recommendations/v1/papers/forpaper/"):
            return self._recommended(asked)
        path = asked.path.removeprefix("/graph/v1/paper/")
        if path == "search":
            found = [self._s2(work) for work in self.found(asked.service, asked.query["query"])]
            return {"total": len(found), **self._offset(found, asked.query)}
        if path == "batch":
            works = [self.named(asked.service, name) for name in asked.body["ids"]]
            return [self._s2(work) if work else None for work in works]
        name = path.removesuffix("/references").removesuffix("/citations")
        work = self.named(asked.service, name)
        if work is None or not path.endswith(("/references", "/citations")):
            return self._s2(work) if work else None
        both = (self.cited, "citedPaper") if path.endswith("/references") else (self.citing, "citingPaper")
        items = [{both[1]: self._s2(other)} for other in both[0](asked.service, work)]
        return self._offset(items, asked.query)

    def _recommended(self, asked: Asked) -> Any:
        work = self.named(asked.service, asked.path.removeprefix("/recommendations/v1/papers/forpaper/"))
        if work is None or work.recommends is None:
            return None
        found = [self.named(asked.service, name) for name in work.recommends]
        return {"recommendedPapers": [self._s2(one) for one in found if one][: int(asked.query["limit"])]}

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

    def _openalex(self, asked: Asked) -> Any:
        if asked.path != "/works":
            work = self.named(asked.service, asked.path.removeprefix("/works/"))
            return self._work(work) if work else None
        wanted = asked.query.get("filter", "")
        kind, _, values = wanted.partition(":")
        if kind == "cites":
            cited = self.named(asked.service, values)
            found = self.citing(asked.service, cited) if cited else []
        elif kind in ("openalex", "doi"):
            prefix = "doi:" if kind == "doi" else ""
            some = [self.named(asked.service, prefix + value) for value in values.split("|")]
            found = [work for work in some if work]
        else:
            found = self.found(asked.service, asked.query["search"])
        cursor = asked.query["cursor"]
        start, limit = int(cursor.strip("*") or 0), min(int(asked.query["per-page"]), self.page or 200)
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
            some = [self.named("arxiv", name) for name in query["id_list"].split(",")]
            found = [work for work in some if work]
        else:
            found = self.found("arxiv", query["search_query"].replace("all:", " "))
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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    literature: LiteratureServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news here."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        address = urlsplit(self.path)
        service, _, path = address.path.lstrip("/").partition("/")
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(service, f"/{unquote(path)}", query, headers, body)
        fault = self.server.literature.take(asked)
        if fault:
            self._fail(fault)
            return
        file = self.server.literature.files.get(address.path)
        if file:
            self._send_file(file)
            return
        recorded = self.server.literature.recorded.get(asked.path + "?" + query.get("offset", ""))
        status, content = (200, recorded) if recorded else self.server.literature.answer(asked)
        self._send(status, content, {})

    do_POST = do_GET

    def _fail(self, fault: Fault) -> None:
        if fault.hang:
            self.server.literature.wait_until_closed()
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
            self.server.literature.sent += len(file.body)

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


class FakeTime:
    """Seconds that pass only by sleeping; ``slept`` tells how long each sleep was."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


def hurry(patch: Any, now: datetime) -> None:
    """Give the command line a clock on which waiting for a service takes no time."""
    from ideagora.retrieval import factory
    from ideagora.retrieval.http.client import Clock

    fake = FakeTime()
    defaults = factory.open_library.__defaults__
    assert defaults is not None
    time = Clock(fake.clock, fake.sleep, lambda: now)
    patch.setattr(factory.open_library, "__defaults__", (*defaults[:-1], time))
