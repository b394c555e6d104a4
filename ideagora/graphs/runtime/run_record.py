"""The content of ``run.json``: what identifies a run, and the versions and code it began with."""

from __future__ import annotations

import asyncio
import hashlib
import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from ideagora import __version__
from ideagora.agents.role import ROLES
from ideagora.config import Settings
from ideagora.errors import BudgetExhausted, IdeagoraError
from ideagora.graphs.run_fields import HeldBack, RunFields
from ideagora.graphs.run_folder import now
from ideagora.graphs.runtime.job import Job
from ideagora.models.request import server_address

if TYPE_CHECKING:
    from ideagora.retrieval.library import Library

RECORDED_PACKAGES = (
    "langgraph",
    "langchain-core",
    "litellm",
    "chromadb",
    "sentence-transformers",
    "pydantic",
    "torch",
)
IDENTITY_FIELDS = (
    "model",
    "reader_model",
    "judge_model",
    "temperature",
    "embedder",
    "source",
    "store",
    "full_text",
    "seed",
)
"""Settings that can change a result; they are part of a run's identity."""


def identity_parts(
    settings: Settings, models: Sequence[str] | None = None, names: Sequence[str] = IDENTITY_FIELDS
) -> list[str]:
    """The parts of a run's identity that come from the settings, with the servers of the models."""
    chosen = settings.model_dump(mode="json", include=set(names))
    servers = {model: settings.server_of(model) for model in models or settings.models}
    return [f"{name}={chosen[name]}" for name in names] + [
        f"server of {model}={server_address(place)}" for model, place in sorted(servers.items()) if place
    ]


def first_record(job: Job, previous: RunFields) -> RunFields:
    """``run.json`` at the start of a run."""
    return {
        "id": job.identity,
        **job.record,
        "settings": job.settings.model_dump(mode="json", include=set(IDENTITY_FIELDS)),
        "seed": job.settings.seed,
        "versions": {"ideagora": __version__, "python": platform.python_version(), **_versions()},
        "prompts": {name: role.prompt.hash for name, role in sorted(ROLES.items())},
        "code": code_hash(),
        "offline": "offline" in job.allowed_models,
        "status": "running",
        "error": None,
        "failures": [],
        "outages": [],
        "held_back": [],
        "notes": list(job.record.get("notes", [])),
        "started": previous.get("started") or now(),
        "finished": None,
    }


def changes(previous: RunFields, record: RunFields) -> list[str]:
    """What has changed since a run began: versions, prompts, the program's own code."""
    reasons = [
        f"{name} was {str(before)[:20]}, is {str(after)[:20]}"
        for name, before, after in _differences(previous.get("versions"), record["versions"])
    ]
    reasons += [
        f"the prompt {name} has changed"
        for name, _, _ in _differences(previous.get("prompts"), record["prompts"])
    ]
    if not reasons and previous.get("code") not in (None, record["code"]):
        reasons.append("the program's code has changed")
    return reasons


def _differences(before: object, after: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
    """The names that both have with different values, and these values."""
    if isinstance(before, Mapping):
        common = sorted(before.keys() & after.keys())
        yield from ((name, before[name], after[name]) for name in common if before[name] != after[name])


def restart_note(changed: Sequence[str]) -> str:
    """A note for the report on why a run began again."""
    reasons = "; ".join(changed[:5]) + (f"; and {len(changed) - 5} more" if len(changed) > 5 else "")
    return f"Started again from the cache, to avoid mixing versions: {reasons}."


@cache
def code_hash() -> str:
    """Return a hash of the package's code."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[2]
    for file in sorted(package.rglob("*.py")):
        digest.update(str(file.relative_to(package)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _versions() -> Mapping[str, str]:
    installed = {}
    for name in RECORDED_PACKAGES:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return installed


def hidden_papers(library: Library) -> list[HeldBack]:
    """The papers that the library withheld, each with the reason."""
    return [{"id": paper_id, "title": title, "why": why} for paper_id, title, why in library.held_back]


def failure_status(error: BaseException) -> str:
    """The status of a run that ended with an error."""
    if isinstance(error, BudgetExhausted):
        return "budget"
    return "failed" if isinstance(error, Exception) else "interrupted"


def error_text(error: BaseException) -> str:
    """The error in one line."""
    if isinstance(error, IdeagoraError):
        return str(error)
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "interrupted"
    return f"{type(error).__name__}: {error}"
