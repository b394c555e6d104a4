"""The way to a service: its pace, Retry-After, retries that end, the cache, bounds and redirects."""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ideagora.errors import FolderUnusable, SettingsError, SourceUnavailable
from ideagora.models.transport.retry import MAX_WAIT
from ideagora.retrieval.current_run import CurrentRun, current_run
from ideagora.retrieval.http.cache import CachedHttpResponse, HttpCache, NotCached, cache_only
from ideagora.retrieval.http.client import HttpClient
from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.http.origin import may_follow, origin_of
from ideagora.retrieval.http.rate_limit import Limiter, SharedRateLimit
from ideagora.retrieval.http.service import Credentials, HttpRequest, RateLimitPolicy, Service
from ideagora.retrieval.run_notes import RunNotes
from tests.support.literature_server import FakeTime, Fault, LiteratureServer, Work

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORKS = (Work("w1", "A title"),)
PAPER = HttpRequest("/graph/v1/paper/w1", {"fields": "title"})
LOGIN = "user:s3cr3tvalue"
KEY = "s2key-" + "9f8e7d6c" * 3


@pytest.fixture
def server() -> Iterator[LiteratureServer]:
    with LiteratureServer(WORKS) as running:
        yield running


@pytest.fixture
def fake() -> FakeTime:
    return FakeTime()


def a_time(fake: FakeTime) -> Clock:
    return Clock(fake.clock, fake.sleep, lambda: NOW)


def make_client(
    server: LiteratureServer, fake: FakeTime, cache: HttpCache | None = None, **policy: Any
) -> HttpClient:
    return HttpClient(
        Service(
            "semantic-scholar",
            server.url("semantic-scholar"),
            RateLimitPolicy(**{"interval": 1.0, **policy}),
            Credentials("SEMANTIC_SCHOLAR_API_KEY", headers={"x-api-key": KEY}),
        ),
        cache,
        a_time(fake),
    )


@pytest.fixture
async def client(server: LiteratureServer, fake: FakeTime) -> AsyncIterator[HttpClient]:
    made = make_client(server, fake)
    yield made
    await made.disconnect()


async def title(client: HttpClient, question: HttpRequest = PAPER) -> str | None:
    answer = await client.fetch(question, json.loads)
    return None if answer is None else str(answer.value["title"])


async def test_an_answer_comes_with_its_day_and_the_request_with_its_key(
    server: LiteratureServer, client: HttpClient
) -> None:
    answer = await client.fetch(PAPER, json.loads)
    assert answer is not None
    assert (answer.value["title"], answer.day) == ("A title", "2026-03-01")
    [asked] = server.requests
    assert asked.headers["x-api-key"] == KEY
    assert asked.headers["user-agent"].startswith("ideagora/")
    assert asked.query == {"fields": "title"}


async def test_what_is_not_there_is_no_failure(server: LiteratureServer, client: HttpClient) -> None:
    assert await title(client, HttpRequest("/graph/v1/paper/none")) is None
    assert len(server.requests) == 1


async def test_branches_share_the_rate(server: LiteratureServer, client: HttpClient, fake: FakeTime) -> None:
    questions = [HttpRequest("/graph/v1/paper/w1", {"fields": str(number)}) for number in range(5)]
    await asyncio.gather(*(title(client, question) for question in questions))
    assert len(server.requests) == 5
    assert fake.seconds >= 1_004.0


async def test_the_limiter_keeps_starts_apart() -> None:
    fake = FakeTime()
    limiter = Limiter(3.0, a_time(fake))
    starts = []
    for _ in range(4):
        await limiter.acquire()
        starts.append(fake.seconds)
    assert starts == [1_000.0, 1_003.0, 1_006.0, 1_009.0]
    await limiter.pause(60.0)
    await limiter.acquire()
    assert fake.seconds == 1_069.0


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429),
        Fault(500),
        Fault(503),
        Fault(408),
        Fault(200, body=b'{"title": "A ti', cut=True),
        Fault(200, body=b'{"title": "A ti'),
        Fault(200, headers={"Content-Encoding": "gzip"}, body=b"no gzip"),
    ],
)
async def test_what_may_pass_is_tried_again(
    server: LiteratureServer, client: HttpClient, fake: FakeTime, fault: Fault
) -> None:
    server.faults += [fault, fault]
    assert await title(client) == "A title"
    assert len(server.requests) == 3
    assert fake.seconds > 1_001.0


async def test_retry_after_holds_for_all_branches(
    server: LiteratureServer, client: HttpClient, fake: FakeTime
) -> None:
    server.faults.append(Fault(429, headers={"Retry-After": "17"}))
    assert await title(client) == "A title"
    assert 1_017.0 <= fake.seconds < 1_019.0


async def test_retry_after_is_capped(server: LiteratureServer, client: HttpClient, fake: FakeTime) -> None:
    server.faults.append(Fault(503, headers={"Retry-After": "86400"}))
    assert await title(client) == "A title"
    assert MAX_WAIT <= fake.seconds - 1_000.0 < MAX_WAIT + 2


async def test_retries_end_and_then_the_source_is_left_alone_for_a_while(
    server: LiteratureServer, client: HttpClient, fake: FakeTime
) -> None:
    server.faults.append(Fault(503, forever=True))
    with pytest.raises(SourceUnavailable, match=r"semantic-scholar did not respond \(HTTP 503.*--source"):
        await title(client)
    assert len(server.requests) == 5
    with pytest.raises(SourceUnavailable, match="HTTP 503"):
        await title(client, HttpRequest("/graph/v1/paper/w1", {"fields": "other"}))
    assert len(server.requests) == 5
    server.faults.clear()
    fake.seconds += 61
    assert await title(client) == "A title"


async def test_a_silent_server_is_given_up(server: LiteratureServer, fake: FakeTime) -> None:
    client = make_client(server, fake, timeout=0.05, retries=1)
    server.faults.append(Fault(hang=True, forever=True))
    with pytest.raises(SourceUnavailable, match="ReadTimeout"):
        await title(client)
    assert len(server.requests) == 2
    await client.disconnect()


async def test_nobody_at_home(fake: FakeTime) -> None:
    with LiteratureServer(WORKS) as gone:
        client = make_client(gone, fake)
    with pytest.raises(SourceUnavailable, match="ConnectError"):
        await title(client)
    await client.disconnect()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(400, body=b'{"error":"Unrecognized or unsupported fields: [unknown]"}'), "Unrecognized"),
        (Fault(403), "Check SEMANTIC_SCHOLAR_API_KEY"),
        (Fault(401), "Check SEMANTIC_SCHOLAR_API_KEY"),
        (Fault(200, body=b"x" * 3_000_000), "sent more than 2 MiB"),
    ],
)
async def test_permanent_failures_are_reported_at_once(
    server: LiteratureServer, fake: FakeTime, fault: Fault, message: str
) -> None:
    client = make_client(server, fake, max_bytes=2 * 2**20)
    server.faults.append(fault)
    with pytest.raises(SourceUnavailable, match=message):
        await title(client)
    assert len(server.requests) == 1
    assert await title(client) == "A title"
    await client.disconnect()


async def test_no_error_shows_the_key(
    server: LiteratureServer, client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMANTIC_SCHOLAR_API_KEY", KEY)
    server.faults.append(Fault(400, body=f"bad key {KEY}".encode()))
    with pytest.raises(SourceUnavailable) as caught:
        await title(client)
    assert KEY not in str(caught.value)


async def test_redirects_on_the_same_host_are_followed(server: LiteratureServer, client: HttpClient) -> None:
    server.faults.append(Fault(301, headers={"Location": "/semantic-scholar/graph/v1/paper/w1"}))
    assert await title(client, HttpRequest("/graph/v1/paper/old")) == "A title"


@pytest.mark.parametrize(
    "target",
    [
        "http://10.0.0.1/x",
        "http://169.254.169.254/latest",
        "http://127.0.0.1:1/x",
        "file:///etc/hosts",
        "//[::1]/",
    ],
)
async def test_redirects_elsewhere_are_refused(
    server: LiteratureServer, client: HttpClient, target: str
) -> None:
    server.faults.append(Fault(302, headers={"Location": target}))
    with pytest.raises(SourceUnavailable, match="redirected to another origin"):
        await title(client)
    assert len(server.requests) == 1


async def test_redirects_for_ever_end(server: LiteratureServer, client: HttpClient) -> None:
    server.faults.append(Fault(302, headers={"Location": "?again"}, forever=True))
    with pytest.raises(SourceUnavailable, match="redirected"):
        await title(client)
    assert len(server.requests) == 6


@pytest.mark.parametrize("base", ["", "nonsense", "ftp://host/x", "http://"])
def test_a_base_that_is_no_url_is_refused(base: str, fake: FakeTime) -> None:
    with pytest.raises(SettingsError, match="IDEAGORA_SEMANTIC_SCHOLAR_URL"):
        HttpClient(Service("semantic-scholar", base, RateLimitPolicy(1.0)), None, a_time(fake))


# --- the cache ----------------------------------------------------------------------------------


def a_cache(folder: Path, later: timedelta = timedelta(), days: int = 30) -> HttpCache:
    return HttpCache(folder / "cache" / "literature.sqlite", days, lambda: (NOW + later).date())


async def test_a_question_is_asked_once(server: LiteratureServer, fake: FakeTime, tmp_path: Path) -> None:
    for _ in range(2):  # two processes
        client = make_client(server, fake, a_cache(tmp_path))
        assert (
            await asyncio.gather(*[title(client)] * 1, *(title(client) for _ in range(3))) == ["A title"] * 4
        )
        assert await title(client, HttpRequest("/graph/v1/paper/none")) is None
        await client.disconnect()
    assert len(server.requests) == 2


async def test_an_old_answer_is_asked_for_again(
    server: LiteratureServer, fake: FakeTime, tmp_path: Path
) -> None:
    for later, requests in [(timedelta(), 1), (timedelta(days=29), 1), (timedelta(days=30), 2)]:
        client = make_client(server, fake, a_cache(tmp_path, later))
        await title(client)
        assert len(server.requests) == requests
        await client.disconnect()


async def test_failures_are_not_cached(server: LiteratureServer, fake: FakeTime, tmp_path: Path) -> None:
    client = make_client(server, fake, a_cache(tmp_path), retries=0)
    server.faults += [Fault(200, body=b"{"), Fault(400)]
    for _ in range(2):
        with pytest.raises(SourceUnavailable):
            await title(client)
        fake.seconds += 61
    assert await title(client) == "A title"
    await client.disconnect()


async def test_only_cached_answers_on_request(
    server: LiteratureServer, fake: FakeTime, tmp_path: Path
) -> None:
    client = make_client(server, fake, a_cache(tmp_path))
    with cache_only(), pytest.raises(NotCached):
        await title(client)
    assert server.requests == []
    await title(client)
    with cache_only():
        assert await title(client) == "A title"
    await client.disconnect()


async def test_no_key_is_written_to_disk(server: LiteratureServer, fake: FakeTime, tmp_path: Path) -> None:
    cache = a_cache(tmp_path)
    client = make_client(server, fake, cache)
    await title(client)
    await client.disconnect()
    cache.close()
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_damaged_cache_begins_anew(tmp_path: Path) -> None:
    cache = a_cache(tmp_path)
    cache.put("one", CachedHttpResponse(200, b"body", "2026-03-01"))
    assert cache.get("one") == CachedHttpResponse(200, b"body", "2026-03-01")
    cache.close()
    cache.path.write_bytes(b"no database" * 500)
    assert cache.get("one") is None
    cache.put("one", CachedHttpResponse(404, b"", "2026-03-01"))
    assert cache.get("one") == CachedHttpResponse(404, b"", "2026-03-01")
    cache.close()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(FolderUnusable, match=r"literature\.sqlite.*IDEAGORA_HOME"):
        a_cache(tmp_path).get("one")


# --- shared by processes ------------------------------------------------------------------------


def test_processes_take_turns(tmp_path: Path) -> None:
    """Each starts an interval after the other; a process's own pace is its own business."""
    ours, theirs = (SharedRateLimit(tmp_path / "cache" / "pace", lambda: 50.0, me) for me in (1, 2))
    assert [ours.reserve(1.0), theirs.reserve(1.0), ours.reserve(1.0), ours.reserve(1.0)] == [0, 1, 2, 0]
    theirs.pause(30.0)
    assert ours.reserve(1.0) == 30.0
    written_back = SharedRateLimit(tmp_path / "cache" / "pace", lambda: -10_000.0, 3)
    assert written_back.reserve(1.0) == 60.0


def test_a_pace_that_cannot_be_read_or_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "rubbish").write_text("x y z")
    assert SharedRateLimit(tmp_path / "rubbish").reserve(1.0) == 0.0
    (tmp_path / "file").write_text("")
    assert SharedRateLimit(tmp_path / "file" / "pace").reserve(1.0) == 0.0


async def test_the_limiter_waits_for_other_processes(tmp_path: Path) -> None:
    fake = FakeTime()
    other = SharedRateLimit(tmp_path / "pace", lambda: 50.0, 2)
    other.reserve(5.0)
    limiter = Limiter(1.0, a_time(fake), SharedRateLimit(tmp_path / "pace", lambda: 50.0, 1))
    await limiter.acquire()
    assert fake.slept == [5.0]
    await limiter.acquire()
    assert fake.slept == [5.0, 1.0]
    await limiter.pause(20.0)
    assert other.reserve(1.0) == 20.0


async def test_two_libraries_of_one_home_keep_to_one_pace(server: LiteratureServer, tmp_path: Path) -> None:
    fake = FakeTime()
    clients = [
        HttpClient(
            Service("semantic-scholar", server.url("semantic-scholar"), RateLimitPolicy(1.0, shared=shared)),
            clock=a_time(fake),
        )
        for me in (1, 2)
        for shared in [SharedRateLimit(tmp_path / "pace", lambda: fake.seconds, me)]
    ]
    for client in (*clients, *clients):
        await client.fetch(PAPER, json.loads)
    assert fake.seconds == 1_003.0
    for client in clients:
        await client.disconnect()


# --- keys, bounds, replay -----------------------------------------------------------------------


def test_a_key_never_leaves_the_origin_that_it_was_set_for() -> None:
    home = origin_of("https://api.test/graph")
    assert home is not None
    refused = [
        "http://api.test/x",
        "https://api.test:8443/x",
        "https://other.test/x",
        "ftp://api.test/x",
        "//[",
    ]
    for target in refused:
        assert not may_follow(home, origin_of(target), has_key=True), target
        assert not may_follow(home, origin_of(target), has_key=False), target
    assert may_follow(home, origin_of("https://API.test:443/y"), has_key=True)
    plain = origin_of("http://api.test/")
    assert plain is not None
    assert may_follow(plain, origin_of("https://api.test/"), has_key=False)
    assert not may_follow(plain, origin_of("https://api.test/"), has_key=True)


async def test_no_source_takes_its_key_along_on_a_redirect(fake: FakeTime) -> None:
    places = {
        "header": Credentials(headers={"x-api-key": KEY}),
        "query": Credentials(params={"api_key": KEY}),
        "login": Credentials(),
    }
    with LiteratureServer(WORKS) as server, LiteratureServer(WORKS) as other:
        for place, credentials in places.items():
            base = server.url("semantic-scholar")
            base = base.replace("//", f"//user:{KEY}@") if place == "login" else base
            client = HttpClient(
                Service("semantic-scholar", base, RateLimitPolicy(1.0), credentials), None, a_time(fake)
            )
            for target in (
                other.url("semantic-scholar"),
                f"https://127.0.0.1:{server.port}/",
                "https://127.0.0.1/",
            ):
                server.faults.append(Fault(302, headers={"Location": target}))
                with pytest.raises(SourceUnavailable, match="another origin") as caught:
                    await title(client)
                assert KEY not in str(caught.value)
            await client.disconnect()
        assert other.requests == []


@pytest.mark.parametrize(
    "base", ["https://host/x?tok=s3cr3tvalue", f"https://{LOGIN}@/x", f"s3cr3t://{LOGIN}@h"]
)
def test_a_base_that_is_refused_is_not_repeated_with_its_secret(base: str, fake: FakeTime) -> None:
    with pytest.raises(SettingsError, match="IDEAGORA_SEMANTIC_SCHOLAR_URL") as caught:
        HttpClient(Service("semantic-scholar", base, RateLimitPolicy(1.0)), None, a_time(fake))
    assert "s3cr3tvalue" not in str(caught.value)


async def test_bodies_are_bounded_after_unpacking(server: LiteratureServer, fake: FakeTime) -> None:
    zeros = gzip.compress(bytes(40 * 2**20))
    packed = {"Content-Encoding": "gzip"}
    refused = [
        Fault(200, body=bytes(2**20 + 1)),
        Fault(200, headers=packed, body=zeros),
        Fault(200, headers=packed, body=gzip.compress(bytes(2**20 + 1))),
    ]
    client = make_client(server, fake, max_bytes=2**20, retries=0)
    for fault in refused:
        server.faults.append(fault)
        with pytest.raises(SourceUnavailable, match="sent more than 1 MiB"):
            await title(client)
    server.faults.append(Fault(200, headers=packed, body=gzip.compress(b'{"title": "packed"}')))
    assert await title(client) == "packed"
    unreadable = [
        Fault(200, headers=packed, body=gzip.compress(b'{"title": "packed"}')[:-9]),
        Fault(200, headers={"Content-Encoding": "br"}, body=b"brotli was not asked for"),
    ]
    for fault in unreadable:
        server.faults.append(fault)
        with pytest.raises(SourceUnavailable, match="did not respond"):
            await title(client)
        fake.seconds += 61
    await client.disconnect()


async def test_a_body_that_drips_for_ever_is_given_up(server: LiteratureServer, fake: FakeTime) -> None:
    server.faults.append(Fault(hang=True, forever=True))
    client = make_client(server, fake, total_timeout=0.2, retries=0)
    with pytest.raises(SourceUnavailable, match="no complete response within"):
        await title(client)
    await client.disconnect()


def test_no_days_take_no_page_from_others(tmp_path: Path) -> None:
    page = CachedHttpResponse(200, b"body", "2026-03-01")
    cache = a_cache(tmp_path)
    cache.put("one", page)
    cache.close()
    strict = a_cache(tmp_path, days=0)
    assert strict.get("one") is None
    strict.close()
    assert a_cache(tmp_path, timedelta(days=29)).get("one") == page


@contextmanager
def in_run(name: str, resumed: bool = False) -> Iterator[None]:
    token = current_run.set(CurrentRun(name, RunNotes(), resumed))
    yield
    current_run.reset(token)


def test_a_replay_sees_what_its_run_saw(tmp_path: Path) -> None:
    first, second = (
        CachedHttpResponse(200, b"first", "2026-03-01"),
        CachedHttpResponse(200, b"second", "2026-04-10"),
    )
    cache = a_cache(tmp_path)
    with in_run("run a"):
        cache.put("one", first)
    later = a_cache(tmp_path, timedelta(days=40))
    with in_run("run b"):
        assert later.get("one") is None
        later.put("one", second)
        later.put("two", first)
    replay = HttpCache(cache.path, 30, lambda: (NOW + timedelta(days=400)).date(), replay=True)
    for run, page in (("run a", first), ("run b", second), ("another run", second)):
        with in_run(run):
            assert replay.get("one") == page
    stopped = a_cache(tmp_path, timedelta(days=40))
    with in_run("run a", resumed=True):  # it goes on with what it saw before
        assert stopped.get("one") == first


def test_pages_of_an_earlier_layout_are_migrated(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "literature.sqlite"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE answers (key TEXT PRIMARY KEY, status INTEGER, body BLOB, day TEXT)")
        db.execute("INSERT INTO answers VALUES ('one', 200, ?, '2026-03-01')", (zlib.compress(b"body"),))
        db.execute("INSERT INTO answers VALUES ('bad', 200, 'no zlib', '2026-03-01')")
    for _ in range(2):
        cache = a_cache(tmp_path)
        assert cache.get("one") == CachedHttpResponse(200, b"body", "2026-03-01")
        assert cache.get("bad") is None
        cache.close()


async def test_a_replay_asks_nobody(server: LiteratureServer, fake: FakeTime, tmp_path: Path) -> None:
    client = make_client(server, fake, a_cache(tmp_path))
    await title(client)
    await client.disconnect()
    cache = HttpCache(a_cache(tmp_path).path, 0, lambda: (NOW + timedelta(days=999)).date(), replay=True)
    replay = make_client(server, fake, cache)
    assert await title(replay) == "A title"
    with pytest.raises(NotCached, match="--replay"):
        await title(replay, HttpRequest("/graph/v1/paper/other"))
    assert len(server.requests) == 1
