"""Runs ``ideagora doctor``: checks the installation without loading a model or using the network."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.text import Text

from ideagora import __version__
from ideagora.config import SettingOverrides, Settings, load_settings
from ideagora.errors import IdeagoraError


@dataclass(frozen=True)
class Finding:
    """The result of one check. ``missing`` prevents a run, ``note`` does not."""

    what: str
    state: Literal["ok", "note", "missing"]
    message: str


def run(as_json: bool, flags: SettingOverrides) -> int:
    """Check everything that a run needs; return 0 if a run can start, else 1."""
    console = Console()
    try:
        settings = load_settings(**flags)
    except IdeagoraError as error:
        findings = [Finding("settings", "missing", str(error))]
    else:
        checks: list[Callable[[Settings], Finding]] = [_python, _home, _disk, _weights, _store, _models]
        findings = [check(settings) for check in checks]
    healthy = all(finding.state != "missing" for finding in findings)
    if as_json:
        print(
            json.dumps(
                {"ok": healthy, "findings": [asdict(finding) for finding in findings]}, ensure_ascii=False
            )
        )
    else:
        _print_findings(console, findings, healthy)
    return 0 if healthy else 1


def _print_findings(console: Console, findings: list[Finding], healthy: bool) -> None:
    marks = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "missing": ("miss", "red")}
    for finding in findings:
        mark, style = marks[finding.state]
        console.print(Text.assemble((mark, style), f"  {finding.what}: {finding.message}"), soft_wrap=True)
    end = (
        'Ready: ideagora generate "your topic"'
        if healthy
        else "Fix what is marked “miss”, then run ideagora doctor again."
    )
    console.print(Text(end, style="bold"))


def _python(settings: Settings) -> Finding:
    return Finding("ideagora", "ok", f"{__version__} on Python {sys.version.split()[0]}")


def _home(settings: Settings) -> Finding:
    nearest = next(path for path in [settings.home, *settings.home.parents] if path.exists())
    if os.access(nearest, os.W_OK) and nearest.is_dir():
        return Finding("home", "ok", f"{settings.home} (change it with IDEAGORA_HOME or --home)")
    return Finding(
        "home",
        "missing",
        f"{settings.home} is not writable. Set IDEAGORA_HOME to a folder that you can write to.",
    )


def _disk(settings: Settings) -> Finding:
    nearest = next(path for path in [settings.home, *settings.home.parents] if path.exists())
    free = shutil.disk_usage(nearest).free / 2**20
    if free < 200:
        return Finding(
            "disk",
            "missing",
            f"{free:.0f} MiB free at {nearest}; a first run needs 200. Free some, or set IDEAGORA_HOME.",
        )
    return Finding("disk", "ok", f"{free / 1024:.0f} GiB free")


def _weights(settings: Settings) -> Finding:
    from ideagora.models.embeddings.hash_embedder import HASH
    from ideagora.models.embeddings.weights import find_weights, hub_disabled

    if settings.embedder == HASH:
        return Finding("embedder", "note", "hash: for tests only, its vectors have no meaning")
    try:
        with hub_disabled():
            weights = find_weights(settings.embedder)
    except IdeagoraError as error:
        return Finding("embedder", "missing", str(error))
    return Finding("embedder", "ok", f"{weights.name}, from the {weights.origin} {weights.folder}")


def _store(settings: Settings) -> Finding:
    from ideagora.models.embeddings.embedder import load_embedder
    from ideagora.retrieval.store.store import Store

    folder = settings.store_url or settings.store_folder
    if isinstance(folder, Path) and not folder.exists():
        return Finding(
            "store", "note", f"{folder} does not exist yet; the first run creates it (about half a minute)."
        )
    try:
        with Store.from_settings(
            settings, load_embedder(settings.embedder, None), copy_if_read_only=True
        ) as store:
            return Finding("store", "ok", f"{store.count()} papers in {folder}")
    except IdeagoraError as error:
        return Finding("store", "missing", str(error))


def _models(settings: Settings) -> Finding:
    if settings.models == ["offline"]:
        return Finding(
            "model",
            "note",
            (
                "offline (no language model). To use one: --model openai/gpt-4o, with its key in "
                "the environment."
            ),
        )
    from ideagora.models.transport.providers import LOCAL_MODELS, resolve_provider

    try:
        for model in settings.models:
            if model not in LOCAL_MODELS:
                resolve_provider(model, settings)
    except IdeagoraError as error:
        return Finding("model", "missing", str(error))
    return Finding("model", "ok", ", ".join(settings.models))
