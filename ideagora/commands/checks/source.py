"""Runs ``ideagora library check``: tests a literature source, and prints what to fix."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ideagora.config import SettingOverrides, Settings, load_settings
from ideagora.errors import IdeagoraError, SettingsError
from ideagora.graphs.external.in_process.stdout_guard import stdout_guarded
from ideagora.report.console import plain, print_error

if TYPE_CHECKING:
    from ideagora.retrieval.clients.conformance import Finding
    from ideagora.retrieval.protocols import RemoteSource

_MARKS = {"passed": ("pass", "green"), "not offered": ("none", "yellow"), "failed": ("FAIL", "red")}


def check(source: str, query: str, flags: SettingOverrides, as_json: bool) -> int:
    """Test a source; return 0 if nothing failed, else 1."""
    try:
        settings = load_settings(**flags)
        with stdout_guarded():
            remote = _remote(source, settings)
            findings = asyncio.run(_findings(remote, query))
    except IdeagoraError as error:
        print_error(Console(stderr=True), str(error))
        return error.exit_code
    failed = [finding for finding in findings if finding.outcome == "failed"]
    if as_json:
        rows = [finding._asdict() for finding in findings]
        result = {"source": remote.name, "ok": not failed, "findings": rows}
        print(json.dumps(result, ensure_ascii=False))
    else:
        _print_findings(remote.name, findings)
    return 1 if failed else 0


def _remote(source: str, settings: Settings) -> RemoteSource:
    from ideagora.retrieval.clients.plugin import load_plugin
    from ideagora.retrieval.clients.web_access import CLIENT_FACTORIES, WebAccess
    from ideagora.retrieval.factory import OFFLINE_SOURCES, source_names

    names = source_names(settings.model_copy(update={"source": source}))
    if len(names) != 1 or names[0] in OFFLINE_SOURCES:
        raise SettingsError(f"{source!r}: name one source that is not {' or '.join(OFFLINE_SOURCES)}.")
    if names[0] in CLIENT_FACTORIES:
        return WebAccess.open(settings).source(names[0])
    return load_plugin(names[0])


async def _findings(remote: RemoteSource, query: str) -> list[Finding]:
    from ideagora.retrieval.clients.conformance import check_source

    return await check_source(remote, query)


def _print_findings(name: str, findings: list[Finding]) -> None:
    console = Console()
    for finding in findings:
        mark, style = _MARKS[finding.outcome]
        text = f"  {finding.requirement}" + (f": {plain(finding.message)}" if finding.message else "")
        console.print(Text.assemble((mark, style), text), soft_wrap=True)
    failed = sum(finding.outcome == "failed" for finding in findings)
    end = f"{failed} to fix." if failed else f"{plain(name)} can be used as --source."
    console.print(Text(end, style="bold"))
