"""The fields of ``run.json``. Any may be missing in a file that is read: earlier versions wrote fewer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ideagora.graphs.agent import Failure
    from ideagora.graphs.portfolio.records import PortfolioRecord
    from ideagora.models.usage import UsageSummary
    from ideagora.schema import Serialized, Topic


class TopicText(TypedDict):
    """The topic of an arena or a benchmark, which has several."""

    text: str


class HeldBack(TypedDict):
    """A paper that the library withheld, and why."""

    id: str
    title: str
    why: str


class RunFields(TypedDict, total=False):
    """The fields of any run; arenas and benchmarks have further ones."""

    id: str
    topic: Serialized[Topic] | TopicText
    agent: str
    settings: Mapping[str, Any]
    """Those of ``IDENTITY_FIELDS``."""
    seed: int
    versions: Mapping[str, str]
    prompts: Mapping[str, str]
    """Hashes by role."""
    code: str
    offline: bool
    """Whether the offline model was called."""
    status: str
    error: str | None
    failures: list[Failure]
    outages: list[str]
    held_back: list[HeldBack]
    notes: list[str]
    started: str
    finished: str | None
    usage: UsageSummary
    ideas_sha256: str | None
    """The hash of a finished run's ``ideas.jsonl``, to detect later changes."""


class TaskFields(RunFields, total=False):
    """The fields of an agent's run on a topic."""

    options: Mapping[str, Any]
    papers: list[str]
    """Ids of the papers of a benchmark's sample."""
    full_texts: list[str]
    with_sources: bool
    portfolio: Serialized[PortfolioRecord]
