"""Downloading a published data set: what is said before, what survives a fault, and what is refused."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from ideagora.benchmarks.fetch.download import ATTEMPTS, fetch
from ideagora.benchmarks.fetch.listing import Listing, PublishedData, look_up, published_data
from ideagora.errors import FolderUnusable, RunBusy, SourceRejected, SourceUnavailable, UsageError
from tests.support.hub_server import REPOSITORY, Fault, HubServer, cuts, statuses

TARGETS = json.dumps([{"index": number} for number in range(20_000)]).encode()
ARCHIVE = bytes(range(256)) * 400
FILES = {
    "README.md": b"A card.",
    "target_paper_data.json": TARGETS,
    "papers_data/a b.pdf": b"%PDF-1.4",
    "Idea_bench_data.zip": ARCHIVE,
}
LFS = frozenset({"target_paper_data.json", "Idea_bench_data.zip"})
DATA = PublishedData(
    REPOSITORY, "Apache-2.0; ask the authors", ("target_paper_data.json",), ("papers_data/*", "*.zip")
)
TOKEN = "hf_" + "abcdefghijklmnop" * 2


@pytest.fixture(autouse=True)
def _hub_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", False)
    monkeypatch.setenv("HF_TOKEN", TOKEN)


def listed(hub: HubServer, **options: Any) -> Listing:
    return look_up(DATA, endpoint=hub.url, **options)


def parts(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.part"))


def test_size_and_licence_are_known_before_and_only_the_json_is_downloaded(tmp_path: Path) -> None:
    reports: list[tuple[str, int, int]] = []
    folder = tmp_path / "new" / "data"
    with HubServer(FILES, LFS) as hub:
        listing = listed(hub)
        assert str(listing) == f"{REPOSITORY} ({hub.url}): 1 file, 0.3 MB. Licence: {DATA.license}."
        assert hub.ranges == []
        fetch(listing, folder, lambda *progress: reports.append(progress))
        assert (folder / "target_paper_data.json").read_bytes() == TARGETS
        assert [path.name for path in folder.glob("[!.]*")] == ["target_paper_data.json"]
        assert reports[-1] == ("target_paper_data.json", len(TARGETS), len(TARGETS))
        requested = len(hub.requests)
        fetch(listing, folder)
        assert len(hub.requests) == requested, "a file that is there is not downloaded again"
        assert not any("authorization" in headers or TOKEN in str(headers) for _, _, headers in hub.requests)
        assert not any("torch" in headers["user-agent"] for _, _, headers in hub.requests), "telemetry"


def test_the_papers_come_on_request(tmp_path: Path) -> None:
    with HubServer(FILES, LFS, license="other") as hub:
        listing = listed(hub, papers=True)
        assert "3 files" in str(listing)
        assert "the repository states other" in str(listing)
        fetch(listing, tmp_path)
        assert (tmp_path / "papers_data" / "a b.pdf").read_bytes() == b"%PDF-1.4"
        assert (tmp_path / "Idea_bench_data.zip").read_bytes() == ARCHIVE


def test_a_download_continues_after_cuts_and_failures(tmp_path: Path) -> None:
    waits: list[float] = []
    third = len(TARGETS) // 3
    with HubServer(FILES, LFS, [*cuts(third), *statuses(503), *cuts(third)]) as hub:
        fetch(listed(hub), tmp_path, wait=waits.append)
        assert (tmp_path / "target_paper_data.json").read_bytes() == TARGETS
        assert hub.ranges == [None, f"bytes={third}-", f"bytes={third}-", f"bytes={2 * third}-"]
        assert len(waits) == 3


def test_the_part_received_is_saved_when_the_server_stays_down(tmp_path: Path) -> None:
    half = len(TARGETS) // 2
    with HubServer(FILES, LFS, [*cuts(half), *statuses(*[500] * ATTEMPTS)]) as hub:
        with pytest.raises(
            SourceUnavailable, match=r"status 500\. 0\.2 MB of 0\.3 MB .* run the command again"
        ):
            fetch(listed(hub), tmp_path, wait=lambda seconds: None)
        assert [path.stat().st_size for path in parts(tmp_path)] == [half]
        hub.faults.clear()
        fetch(listed(hub), tmp_path)
        assert hub.ranges[-1] == f"bytes={half}-"
    assert (tmp_path / "target_paper_data.json").read_bytes() == TARGETS
    assert parts(tmp_path) == []


def test_a_server_that_cannot_continue_sends_the_file_again(tmp_path: Path) -> None:
    with HubServer(FILES, LFS, [Fault(cut_after=1000), Fault(ignores_range=True)]) as hub:
        fetch(listed(hub), tmp_path, wait=lambda seconds: None)
    assert (tmp_path / "target_paper_data.json").read_bytes() == TARGETS


def test_a_damaged_file_never_gets_its_name(tmp_path: Path) -> None:
    for name, lfs in (("sha256", LFS), ("git blob", frozenset[str]())):
        with HubServer(FILES, lfs, served={"target_paper_data.json": TARGETS[::-1]}) as hub:
            with pytest.raises(SourceUnavailable, match="arrived damaged"):
                fetch(listed(hub), tmp_path)
            assert parts(tmp_path) == [], name
            assert not (tmp_path / "target_paper_data.json").exists(), name
    longer = HubServer(FILES, LFS, served={"target_paper_data.json": TARGETS * 2})
    with longer as hub, pytest.raises(SourceRejected, match="sends more than"):
        fetch(listed(hub), tmp_path)


def test_the_part_of_another_version_is_not_continued(tmp_path: Path) -> None:
    older = HubServer(FILES, LFS, [*cuts(1000), *statuses(*[500] * ATTEMPTS)])
    with older as hub, pytest.raises(SourceUnavailable):
        fetch(listed(hub), tmp_path, wait=lambda seconds: None)
    assert len(parts(tmp_path)) == 1
    newer = {**FILES, "target_paper_data.json": TARGETS[::-1]}
    with HubServer(newer, LFS) as hub:
        fetch(listed(hub), tmp_path)
        assert hub.ranges == [None]
    assert (tmp_path / "target_paper_data.json").read_bytes() == TARGETS[::-1]


def test_a_full_disk_is_one_line_and_the_download_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ = Path.open
    half = len(TARGETS) // 2

    def open_on_small_disk(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        file = open_(path, mode, *arguments, **options)
        if path.suffix == ".part" and mode == "ab":
            return _SmallDisk(file, half)
        return file

    with HubServer(FILES, LFS) as hub:
        monkeypatch.setattr(Path, "open", open_on_small_disk)
        with pytest.raises(FolderUnusable, match=r"is full .* run the command again to continue"):
            fetch(listed(hub), tmp_path)
        monkeypatch.setattr(Path, "open", open_)
        saved = parts(tmp_path)[0].stat().st_size
        assert 0 < saved <= half
        fetch(listed(hub), tmp_path)
        assert hub.ranges == [None, f"bytes={saved}-"]
    assert (tmp_path / "target_paper_data.json").read_bytes() == TARGETS


class _SmallDisk:
    """A file on a disk with room for some bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def __enter__(self) -> _SmallDisk:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        if len(data) > self._room:
            raise OSError(errno.ENOSPC, "No space left on device")
        self._room -= len(data)
        return int(self._file.write(data))


def test_a_folder_that_cannot_take_the_files_is_said_before_the_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    other = tmp_path / "other"
    other.mkdir()
    (other / "target_paper_data.json").write_text("mine")
    with HubServer(FILES, LFS) as hub:
        for folder, message in (
            (tmp_path / "file", "cannot be written"),
            (other, "is not the published file"),
        ):
            with pytest.raises(FolderUnusable, match=message):
                fetch(listed(hub), folder)
        usage = type("Usage", (), {"free": 10})
        monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
        with pytest.raises(FolderUnusable, match=r"0\.0 MB free, but the download needs 0\.3 MB more"):
            fetch(listed(hub), tmp_path / "new")
        assert hub.ranges == []
    assert (other / "target_paper_data.json").read_text() == "mine"


def test_two_downloads_to_one_folder_do_not_mix(tmp_path: Path) -> None:
    from filelock import FileLock

    busy = pytest.raises(RunBusy, match="another process downloads")
    with HubServer(FILES, LFS) as hub, FileLock(tmp_path / ".fetch.lock"), busy:
        fetch(listed(hub), tmp_path)


def test_what_the_hub_refuses_or_invents_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    with HubServer({"../out.json": b"", "x": b""}) as hub:
        away = PublishedData(REPOSITORY, "x", ("../out.json",))
        cases: list[tuple[type[Exception], str, PublishedData, dict[str, Any]]] = [
            (SourceRejected, "outside the folder", away, {}),
            (SourceRejected, r"has no target_paper_data\.json", DATA, {}),
            (SourceRejected, "or requires a login", DATA, {"repository": "owner/other"}),
            (UsageError, "Write owner/name", DATA, {"repository": "a/b/c"}),
            (UsageError, "Write https://host", DATA, {"endpoint": "ftp://host"}),
            (UsageError, r"'https://host'", DATA, {"endpoint": "https://" + "me:secret" + "@host"}),
            (SourceUnavailable, "does not respond", DATA, {"endpoint": "http://127.0.0.1:9"}),
        ]
        for kind, message, data, options in cases:
            with pytest.raises(kind, match=message) as caught:
                look_up(data, **{"endpoint": hub.url, **options})
            assert "\n" not in str(caught.value), message
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        with pytest.raises(SourceRejected, match="HF_HUB_OFFLINE is set"):
            look_up(DATA, endpoint=hub.url)


def test_a_server_that_is_no_hub_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with HubServer(FILES) as hub:
        monkeypatch.setattr(hub, "info", lambda: ["no", "hub"])
        monkeypatch.setenv("HF_ENDPOINT", f"{hub.url}/")
        with pytest.raises(SourceRejected, match="does not answer like the Hugging Face hub"):
            look_up(DATA)


def test_a_benchmark_without_a_download_says_how_to_get_its_data() -> None:
    assert published_data("ai-idea-bench").files == ("target_paper_data.json",)
    with pytest.raises(UsageError, match=r"Clone https://github\.com/.*--data"):
        published_data("ideabench")
    with pytest.raises(UsageError, match="'x' has no data set to download"):
        published_data("x")
