"""Published data sets, and what the hub says about their files."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ideagora.benchmarks.fetch.hub import dataset_info, server_url
from ideagora.errors import SourceRejected, UsageError
from ideagora.models.redact import one_line

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoSibling


@dataclass(frozen=True)
class PublishedData:
    """A data set on the hub."""

    repository: str
    license: str
    files: tuple[str, ...]
    papers: tuple[str, ...] = ()
    """Patterns of the files with the papers' PDFs, downloaded on request only."""


PUBLISHED = {
    # Names and licence: README of https://github.com/yansheng-qiu/AI_Idea_Bench_2025 and its data set's page.
    "ai-idea-bench": PublishedData(
        repository="yanshengqiu/AI_Idea_Bench_2025",
        license="Apache-2.0; for commercial use, the authors ask to be contacted",
        files=("target_paper_data.json",),
        papers=("papers_data/*.pdf", "Idea_bench_data.zip"),
    )
}
BY_HAND = {
    # Names: src/pipeline.sh of that repository (the address is in arXiv 2411.02429).
    "ideabench": "IdeaBench is not on the hub. Clone https://github.com/amir-hassan25/IdeaBench and give its "
    "folder data/dataset as --data (target_papers.csv, filtered_references.csv, raw_references.csv).",
}


@dataclass(frozen=True)
class RemoteFile:
    """A file on the hub."""

    path: str
    size: int
    """Bytes."""
    digest: str
    is_lfs: bool
    """Whether the digest is the SHA-256 of the content; otherwise it is git's SHA-1 of a blob."""


@dataclass(frozen=True)
class Listing:
    """What a download would bring."""

    data: PublishedData
    repository: str
    server: str
    commit: str
    files: tuple[RemoteFile, ...]
    stated_license: str | None = None
    """The licence in the repository's own card."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def __str__(self) -> str:
        stated = self.stated_license
        differs = stated and not self.data.license.lower().startswith(stated.lower())
        license = f"{self.data.license}; the repository states {stated}" if differs else self.data.license
        number = f"{len(self.files)} file{'s' if len(self.files) > 1 else ''}"
        return f"{self.repository} ({self.server}): {number}, {megabytes(self.size)}. Licence: {license}."


def published_data(benchmark: str) -> PublishedData:
    """The data set of a benchmark.

    Raises:
        UsageError: it cannot be downloaded by this program; the message says how to get it, if it can be had.
    """
    if benchmark in PUBLISHED:
        return PUBLISHED[benchmark]
    raise UsageError(
        BY_HAND.get(benchmark, f"{benchmark!r} has no data set to download. Known: {', '.join(PUBLISHED)}.")
    )


def look_up(
    data: PublishedData,
    *,
    papers: bool = False,
    repository: str | None = None,
    endpoint: str | None = None,
    revision: str = "main",
) -> Listing:
    """Ask the hub for the files of a data set.

    Args:
        data: the data set.
        papers: include the papers' PDFs.
        repository: ``owner/name`` of a copy of it.
        endpoint: address of the server; ``None``: ``HF_ENDPOINT``, else the hub.
        revision: branch, tag or commit.

    Raises:
        UsageError: the address or the name of the repository is malformed.
        SourceUnavailable: the server did not respond.
        SourceRejected: it has no such data set, or not all of its files.
    """
    server = server_url(endpoint)
    name = repository or data.repository
    info = dataset_info(server, name, revision)
    found = {sibling.rfilename: sibling for sibling in info.siblings or ()}
    card = info.card_data.get("license") if info.card_data else None
    absent = [path for path in data.files if path not in found]
    with_papers = [path for path in found if any(fnmatch(path, pattern) for pattern in data.papers)]
    if papers and not with_papers:
        absent.append(" or ".join(data.papers))
    if absent or not info.sha:
        raise SourceRejected(
            f"{name} at {server} has no {', '.join(absent) or 'commit'}. Check --repository."
        )
    wanted = (*data.files, *(sorted(with_papers) if papers else ()))
    files = tuple(_remote_file(found[path], server) for path in wanted)
    return Listing(data, name, server, info.sha, files, card if isinstance(card, str) else None)


def _remote_file(sibling: RepoSibling, server: str) -> RemoteFile:
    """The record of a file.

    Raises:
        SourceRejected: it has no size or digest, or a path that leads out of the folder.
    """
    path = PurePosixPath(sibling.rfilename)
    digest = sibling.lfs.sha256 if sibling.lfs else sibling.blob_id
    if path.is_absolute() or ".." in path.parts or "\\" in str(path):
        raise SourceRejected(one_line(f"{server} names a file {str(path)!r}, which is outside the folder."))
    if sibling.size is None or not digest or not digest.isalnum():
        raise SourceRejected(
            one_line(f"{server} states no size or checksum of {path}; nothing is downloaded.")
        )
    return RemoteFile(str(path), sibling.size, digest, is_lfs=sibling.lfs is not None)


def megabytes(size: int) -> str:
    """A size for messages."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"
