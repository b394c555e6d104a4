"""Open-access PDFs: where they may be fetched from, how much of them, and what is read."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from ideagora.retrieval.http.clock import Clock
from ideagora.retrieval.http.origin import Origin, origin_of
from ideagora.retrieval.http.pdf_download import DownloadLimits, LinkRefused, PdfDownloader, is_public
from ideagora.retrieval.http.tls import tls_context
from ideagora.retrieval.ingest.documents import Document, Problem
from ideagora.retrieval.ingest.formats.pdf_subprocess import read_in_subprocess
from tests.support.each import each_case
from tests.support.literature_server import FakeTime, Fault, File, LiteratureServer
from tests.support.local_files import FIRST_TITLE, article, write_file

PDF = article()


@pytest.fixture
def server() -> Iterator[LiteratureServer]:
    with LiteratureServer([]) as running:
        yield running


def downloads(server: LiteratureServer, **options: object) -> PdfDownloader:
    fake = FakeTime()
    own = origin_of(server.url("files"))
    assert own is not None
    given = {"allowed_origins": {own}, "clock": Clock(fake.clock, fake.sleep), **options}
    return PdfDownloader(**given)  # type: ignore[arg-type]


async def fetched(server: LiteratureServer, name: str, file: File, into: Path, **options: object) -> bytes:
    server.files[f"/files/{name}"] = file
    await downloads(server, **options).fetch(server.url(f"files/{name}"), into / "got.pdf")
    return (into / "got.pdf").read_bytes()


async def test_a_pdf_is_fetched_as_it_is(server: LiteratureServer, tmp_path: Path) -> None:
    assert await fetched(server, "a.pdf", File(PDF), tmp_path) == PDF
    [asked] = server.requests
    assert asked.headers["host"] == origin_of(server.url("x")).host + f":{server.port}"  # type: ignore[union-attr]
    assert "x-api-key" not in asked.headers


async def test_the_certificates_are_read_once(
    server: LiteratureServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls_context(trust_env=False)
    monkeypatch.setattr(ssl, "create_default_context", None)
    assert await fetched(server, "a.pdf", File(PDF), tmp_path) == PDF


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (File(b"<!DOCTYPE html><html>log in"), "HTML page"),
        (File(b"x" * 5_000), "not a PDF"),
        (File(b""), "not a PDF"),
        (File(PDF, 404), "HTTP 404"),
        (File(PDF, 503), "HTTP 503"),
        (File(PDF, announced=2 * 10**9), "it has 2,000 MB; the limit is 50 MB"),
        (File(PDF, headers={"Content-Encoding": "gzip"}), "compressed"),
        (File(b"", 302, {"Location": "ftp://example.org/a.pdf"}), "unsupported scheme .ftp."),
        (File(b"", 302, {"Location": "file:///etc/passwd"}), "unsupported scheme .file."),
    ],
)
async def test_what_is_no_pdf_or_too_large_is_refused(
    server: LiteratureServer, tmp_path: Path, file: File, why: str
) -> None:
    with pytest.raises(LinkRefused, match=why):
        await fetched(server, "a.pdf", file, tmp_path)


async def test_two_gigabytes_are_not_read(server: LiteratureServer, tmp_path: Path) -> None:
    """Neither when the length is announced, nor when it is kept quiet."""
    with pytest.raises(LinkRefused, match="2,000 MB"):
        await fetched(server, "a.pdf", File(PDF, announced=2 * 10**9), tmp_path)
    assert not (tmp_path / "got.pdf").exists()
    endless = File(b"%PDF-1.4\n" + b"x" * 65_536, endless=True)
    with pytest.raises(LinkRefused, match="more than 1 MB"):
        await fetched(server, "b.pdf", endless, tmp_path, limits=DownloadLimits(max_bytes=1_000_000))
    assert (tmp_path / "got.pdf").stat().st_size <= 1_000_000


async def test_a_link_that_redirects_for_ever_is_left(server: LiteratureServer, tmp_path: Path) -> None:
    round_trip = File(b"", 302, {"Location": "/files/a.pdf"})
    with pytest.raises(LinkRefused, match="redirects"):
        await fetched(server, "a.pdf", round_trip, tmp_path)
    assert len(server.requests) == 6


async def test_a_few_redirects_are_followed(server: LiteratureServer, tmp_path: Path) -> None:
    for n in range(5):
        server.files[f"/files/{n}"] = File(b"", 302, {"Location": f"{n + 1}"})
    server.files["/files/5"] = File(PDF)
    await downloads(server).fetch(server.url("files/0"), tmp_path / "got.pdf")
    assert (tmp_path / "got.pdf").read_bytes() == PDF


PRIVATE = (
    "http://10.0.0.1/a.pdf",
    "http://169.254.169.254/latest/meta-data",
    "https://192.168.1.1/a.pdf",
    "http://[::1]/a.pdf",
    "http://[fd00::1]/a.pdf",
    "http://[::ffff:127.0.0.1]/a.pdf",
    "http://0.0.0.0/a.pdf",
    "http://100.64.0.1/a.pdf",
    "http://user:" + "word@127.0.0.1:1/a.pdf",
    "http://localhost:1/a.pdf",
)


@pytest.mark.parametrize("link", PRIVATE)
async def test_private_addresses_are_refused_before_anything_is_sent(
    server: LiteratureServer, tmp_path: Path, link: str
) -> None:
    with pytest.raises(LinkRefused, match="private network"):
        await downloads(server).fetch(link, tmp_path / "got.pdf")
    with pytest.raises(LinkRefused, match="private network"):
        await fetched(server, "a.pdf", File(b"", 302, {"Location": link}), tmp_path)
    assert len(server.requests) == 1


async def test_only_the_origin_that_the_user_named_may_be_private(
    server: LiteratureServer, tmp_path: Path
) -> None:
    with LiteratureServer([]) as other:
        other.files["/files/a.pdf"] = File(PDF)
        with pytest.raises(LinkRefused, match="private network"):
            await downloads(server).fetch(other.url("files/a.pdf"), tmp_path / "got.pdf")
        with pytest.raises(LinkRefused, match="private network"):
            await downloads(server, allowed_origins=()).fetch(server.url("files/a.pdf"), tmp_path / "got.pdf")
        assert server.requests == other.requests == []


async def test_a_name_is_judged_by_all_its_addresses_and_asked_once(
    server: LiteratureServer, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if host == "mirror.test" else ["93.184.216.34", "10.0.0.7"]

    server.files["/files/a.pdf"] = File(PDF)
    named = server.url("files/a.pdf").replace("127.0.0.1", "mirror.test")
    allowed = {Origin("http", "mirror.test", server.port)}
    await downloads(server, allowed_origins=allowed, resolve=resolve).fetch(named, tmp_path / "got.pdf")
    assert asked == ["mirror.test"]  # the connection goes to the address that was looked at
    assert server.requests[0].headers["host"] == f"mirror.test:{server.port}"
    with pytest.raises(LinkRefused, match="private network"):
        await downloads(server, resolve=resolve).fetch("http://papers.test/a.pdf", tmp_path / "got.pdf")


@each_case(
    "address, public",
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("169.254.0.1", False),
        ("224.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("64:ff9b::5db8:d822", True),
        ("2002:7f00:1::", False),
        ("64:ff9b:1::5db8:d822", False),
        ("::10.0.0.1", False),
        ("fec0::1", False),
        ("fe80::1", False),
        ("::", False),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


async def test_a_server_that_says_nothing_is_left_after_a_while(
    server: LiteratureServer, tmp_path: Path
) -> None:
    server.faults.append(Fault(hang=True))
    with pytest.raises(LinkRefused, match="no response within") as refused:
        await fetched(server, "a.pdf", File(PDF), tmp_path, limits=DownloadLimits(timeout=0.2))
    assert not refused.value.permanent


async def test_who_cannot_be_reached_is_not_asked_again_at_once(
    server: LiteratureServer, tmp_path: Path
) -> None:
    fake = FakeTime()
    gone = Origin("http", "127.0.0.1", 9)
    client = PdfDownloader({gone}, clock=Clock(fake.clock, fake.sleep))
    for _ in range(2):
        with pytest.raises(LinkRefused, match="Connect"):
            await client.fetch("http://127.0.0.1:9/a.pdf", tmp_path / "got.pdf")
    assert fake.slept == []


# --- reading apart ------------------------------------------------------------------------------


def test_a_pdf_is_read_in_its_own_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "never-seen")
    document = read_in_subprocess(write_file(tmp_path, "a.pdf", PDF))
    assert isinstance(document, Document)
    assert document.paper.title == FIRST_TITLE
    assert document.full_text is not None
    assert isinstance(read_in_subprocess(write_file(tmp_path, "b.pdf", PDF[:200])), Problem)
