"""Downloads the files of a listing, continuing where an earlier download stopped.

``hf_hub_download`` deletes what it has when it fails (huggingface_hub 1.33), so the bytes are requested here.
All files are of one commit, and each is compared with its checksum before it gets its name. No token is read
or sent, since the data sets are public.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from ideagora import __version__
from ideagora.benchmarks.fetch.hub import TIMEOUT, hub_errors
from ideagora.benchmarks.fetch.listing import Listing, RemoteFile, megabytes
from ideagora.errors import FolderUnusable, RunBusy, SourceRejected, SourceUnavailable
from ideagora.graphs.files import make_private

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 5
"""Consecutive attempts without a new byte after which a download stops."""
_BLOCK = 1 << 20
ProgressCallback = Callable[[str, int, int], None]
"""Receives the file, the bytes there (all files), and the bytes of all files."""


def fetch(
    listing: Listing,
    folder: Path,
    on_progress: ProgressCallback = lambda file, done, total: None,
    wait: Callable[[float], None] = time.sleep,
) -> Path:
    """Download the files that the folder does not have yet; returns the folder.

    Raises:
        SourceUnavailable: the server stopped responding, or a file arrived damaged. What arrived is kept
            (but not a damaged file), and the next call continues there.
        SourceRejected: the server refused a file.
        FolderUnusable: the folder cannot be written, is too small, or has another file of that name.
        RunBusy: another process downloads to the folder.
    """
    try:
        make_private(folder)
        with FileLock(folder / ".fetch.lock", timeout=0):
            _Download(listing, folder, on_progress, wait).run()
    except Timeout:
        raise RunBusy(f"another process downloads to {folder}. Wait for it, or stop it.") from None
    except OSError as error:
        raise _folder_error(folder, error) from None
    return folder


class _Download:
    """One call of ``fetch``."""

    def __init__(
        self, listing: Listing, folder: Path, on_progress: ProgressCallback, wait: Callable[[float], None]
    ) -> None:
        self._listing, self._folder = listing, folder
        self._on_progress, self._wait = on_progress, wait
        self._done = 0
        """Bytes of the files that are there."""

    def run(self) -> None:
        missing = [file for file in self._listing.files if not self._is_there(file)]
        self._check_space(missing)
        for file in missing:
            self._fetch(file)
            self._done += file.size

    def _is_there(self, file: RemoteFile) -> bool:
        """Whether the folder has the file."""
        path = self._folder / file.path
        if not path.exists():
            return False
        if path.stat().st_size != file.size or digest_of(path, is_lfs=file.is_lfs) != file.digest:
            raise FolderUnusable(
                f"{path} is not the published file. Move it away, or choose another folder (--folder)."
            )
        self._done += file.size
        self._on_progress(file.path, self._done, self._listing.size)
        return True

    def _check_space(self, missing: Sequence[RemoteFile]) -> None:
        needed = sum(file.size - _size(self._part(file)) for file in missing)
        free = shutil.disk_usage(self._folder).free
        if needed > free:
            raise FolderUnusable(
                f"{self._folder} has {megabytes(free)} free, but the download needs {megabytes(needed)} more."
                " Free some space, or choose another folder (--folder)."
            )

    def _part(self, file: RemoteFile) -> Path:
        """Where an incomplete file is; the name changes with the content, so that no two are mixed."""
        path = self._folder / file.path
        return path.with_name(f".{path.name}.{file.digest[:16]}.part")

    def _fetch(self, file: RemoteFile) -> None:
        path, part = self._folder / file.path, self._part(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
            if old != part:  # of an earlier version
                old.unlink()
        part.touch()
        self._receive_all(file, part)
        digest = digest_of(part, is_lfs=file.is_lfs)
        if digest != file.digest:
            part.unlink()
            raise SourceUnavailable(
                f"{file.path} arrived damaged from {self._listing.server}: its checksum is {digest}, not "
                f"{file.digest}. It was deleted; run the command again to download it once more."
            )
        part.replace(path)

    def _receive_all(self, file: RemoteFile, part: Path) -> None:
        failures = 0
        while (before := _size(part)) < file.size:
            try:
                self._receive(file, part, before)
            except SourceRejected:
                raise
            except SourceUnavailable as error:
                failures = 1 if _size(part) > before else failures + 1
                if failures >= ATTEMPTS:
                    raise SourceUnavailable(
                        f"{error} {megabytes(_size(part))} of {megabytes(file.size)} of {file.path} are "
                        "saved; run the command again to continue."
                    ) from None
                self._wait(2.0**failures)

    def _receive(self, file: RemoteFile, part: Path, start: int) -> None:
        """Append what the server sends in one response."""
        import httpx
        from huggingface_hub import get_session, hf_hub_url, hf_raise_for_status

        listing = self._listing
        url = hf_hub_url(
            listing.repository,
            file.path,
            repo_type="dataset",
            revision=listing.commit,
            endpoint=listing.server,
        )
        with hub_errors(listing.server, listing.repository):
            headers = {"User-Agent": f"ideagora/{__version__}", "Accept-Encoding": "identity"}
            headers |= {"Range": f"bytes={start}-"} if start else {}
            with get_session().stream(
                "GET", url, headers=headers, timeout=httpx.Timeout(TIMEOUT)
            ) as response:
                hf_raise_for_status(response)
                self._append(response, file, part, start if response.status_code == 206 else 0)

    def _append(self, response: httpx.Response, file: RemoteFile, part: Path, start: int) -> None:
        size = start
        with part.open("ab") as out:
            out.truncate(start)  # 0 if the server sends the whole file again
            for chunk in response.iter_raw():
                size += len(chunk)
                if size > file.size:
                    raise SourceRejected(
                        f"{self._listing.server} sends more than the {file.size:,} bytes of {file.path}."
                    )
                out.write(chunk)
                self._on_progress(file.path, self._done + size, self._listing.size)
            out.flush()
            os.fsync(out.fileno())
        if size == start:
            raise SourceUnavailable(f"{self._listing.server} sent nothing.")


def digest_of(path: Path, *, is_lfs: bool) -> str:
    """The digest by which the hub knows a content: SHA-256, or git's SHA-1 for a small file."""
    header = b"" if is_lfs else f"blob {path.stat().st_size}\0".encode()
    digest = hashlib.sha256() if is_lfs else hashlib.sha1(header, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _folder_error(folder: Path, error: OSError) -> FolderUnusable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return FolderUnusable(
            f"the disk of {folder} is full ({error.strerror}). Free space, and run the command again to "
            "continue."
        )
    return FolderUnusable(
        f"{folder} cannot be written: {error.strerror or error}. Choose another folder (--folder)."
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
