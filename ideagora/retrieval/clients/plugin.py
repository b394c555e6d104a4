"""Loads external literature sources and adapts them to ``RemoteSource``.

An external source is an object, or a class or function without arguments that returns one. It has
``search(query, k)`` and optionally ``paper(paper_id)``, ``references(paper_id)``,
``citations(paper_id)``, ``recommended(paper_id, k)``, ``citations_per_year(paper_id)`` and
``disconnect()``; plain functions or coroutines. Papers are ``ideagora.schema.Paper`` or dicts with the
same fields. Exceptions count as "did not respond".
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ideagora.errors import IdeagoraError, SettingsError, SourceRejected, SourceUnavailable
from ideagora.models.redact import one_line, redact_keys, redact_values
from ideagora.retrieval.clients.normalize import RawPaper, build_paper
from ideagora.retrieval.http.clock import SYSTEM_CLOCK, Clock
from ideagora.retrieval.process_guard import ProcessExit, guard_process
from ideagora.retrieval.protocols import Neighbors
from ideagora.schema import Paper, stable_id

ENTRY_POINT_GROUP = "ideagora.sources"
"""Entry point group under which installed distributions provide sources."""
EXIT_ERRORS = (SystemExit, ProcessExit)
"""Raised when code of a source tries to end the process."""
_HOW = "See docs/literature.md, or run ideagora library check to see what is missing."


def is_import_path(name: str) -> bool:
    """Whether a name has the form ``module:object`` or ``path.py:object``."""
    place, colon, attribute = name.rpartition(":")
    return bool(colon and place and attribute.isidentifier())


@cache
def installed_sources() -> tuple[str, ...]:
    """Names of the sources that installed distributions provide, sorted."""
    return tuple(sorted(metadata.entry_points(group=ENTRY_POINT_GROUP).names))


def load_plugin(name: str, clock: Clock = SYSTEM_CLOCK) -> PluginSource:
    """Load an external source by name.

    Raises:
        SettingsError: it cannot be found, instantiated or used.
    """
    target = _import_target(name)
    try:
        with guard_process():
            plugin = target() if inspect.isclass(target) or inspect.isfunction(target) else target
    except IdeagoraError:
        raise
    except (Exception, *EXIT_ERRORS) as error:
        raise SettingsError(
            f"--source {name}: the source cannot be created ({_reason(error)}). {_HOW}"
        ) from error
    return PluginSource(name, plugin, clock)


class PluginSource:
    """Adapts an external source to ``RemoteSource``.

    Raises:
        SettingsError: it has no ``search`` method.
    """

    def __init__(self, spec: str, plugin: Any, clock: Clock = SYSTEM_CLOCK) -> None:
        if not callable(getattr(plugin, "search", None)):
            raise SettingsError(f"--source {spec}: {_describe(plugin)} has no search(query, k). {_HOW}")
        name = getattr(plugin, "name", None) or spec.rpartition(":")[2]
        self.name = one_line(str(name), 60).replace(",", " ")
        self.plugin = plugin
        self._clock = clock
        prefixes = getattr(plugin, "prefixes", ())
        self.prefixes: tuple[str, ...] = (*map(str, prefixes), "")
        self.has_citations = self.offers("references") or self.offers("citations")

    def offers(self, method: str) -> bool:
        """Whether the source has a method."""
        return callable(getattr(self.plugin, method, None))

    async def search(self, query: str, k: int) -> list[Paper]:
        """Up to k papers, best first."""
        return (await self.search_unbounded(query, k))[:k]

    async def search_unbounded(self, query: str, k: int) -> list[Paper]:
        """All results of the source's search, even if more than k."""
        return self._parse_papers(await self._call("search", query, k))

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        record = await self._call("paper", paper_id)
        return None if record is None else self._parse_paper(record)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers with these ids, one call each."""
        papers = [(paper_id, await self.paper(paper_id)) for paper_id in dict.fromkeys(ids)]
        return {paper_id: paper for paper_id, paper in papers if paper}

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that a paper cites."""
        return Neighbors(self._parse_papers(await self._call("references", paper_id)))

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite a paper."""
        return Neighbors(self._parse_papers(await self._call("citations", paper_id)))

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Papers recommended to readers of a paper; ``None`` if not supported."""
        records = await self._call("recommended", paper_id, k)
        return None if records is None else self._parse_papers(records)[:k]

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations by year; ``None`` if not supported."""
        counts = await self._call("citations_per_year", paper_id)
        if counts is None:
            return None
        try:
            return {int(year): int(count) for year, count in dict(counts).items()}
        except (TypeError, ValueError):
            raise self._rejection(
                f"returned {_describe(counts)} from citations_per_year, not counts by year"
            ) from None

    async def disconnect(self) -> None:
        """Close connections."""
        await self._call("disconnect")

    async def _call(self, method: str, *arguments: Any) -> Any:
        """Call a method; ``None`` if the source lacks it.

        Raises:
            SourceUnavailable: the method raised an exception.
        """
        if not self.offers(method):
            return None
        function = getattr(self.plugin, method)
        try:
            with guard_process():
                if inspect.iscoroutinefunction(function):
                    return await function(*arguments)
                result = await asyncio.to_thread(function, *arguments)
                return await result if inspect.isawaitable(result) else result
        except IdeagoraError:
            raise
        except (Exception, *EXIT_ERRORS) as error:
            raise SourceUnavailable(
                f"{self.name} did not respond: {method} raised {_reason(error)}. "
                "Fix it, or remove it from --source."
            ) from error

    def _parse_papers(self, records: Any) -> list[Paper]:
        if records is None:
            return []
        if isinstance(records, str | bytes | Mapping) or not isinstance(records, Iterable):
            raise self._rejection(f"returned {_describe(records)}, not a list of papers")
        return [self._parse_paper(record) for record in records]

    def _parse_paper(self, record: Any) -> Paper:
        if isinstance(record, Paper):
            paper = Paper.model_validate_json(redact_keys(record.model_dump_json()))
            return paper if paper.source != "unknown" else paper.model_copy(update={"source": self.name})
        if not isinstance(record, Mapping):
            raise self._rejection(f"returned {_describe(record)}, not a paper")
        unknown = sorted(str(name) for name in set(record) - set(Paper.model_fields))
        if unknown:
            known = ", ".join(Paper.model_fields)
            raise self._rejection(f"returned a paper with an unknown field {unknown[0]!r} (known: {known})")
        try:
            return self._from_fields(redact_values(record))
        except (ValidationError, TypeError) as error:
            raise self._rejection(f"returned an invalid paper ({_reason(error)})") from None

    def _from_fields(self, fields: Mapping[str, Any]) -> Paper:
        """A paper from a dict; the id is optional if there is an arXiv id, a DOI or a title."""
        given = {name: value for name, value in fields.items() if value is not None}
        raw = RawPaper(
            source=self.name,
            own_id=given.get("id"),
            title=given.get("title"),
            dates=[given.get("date")],
            arxiv=given.get("arxiv_id"),
            doi=given.get("doi"),
        )
        paper = build_paper(raw, self._clock.now().date().isoformat())
        normalized = {
            "id": paper.id, "source": self.name, "title": paper.title, "arxiv_id": paper.arxiv_id,
            "doi": paper.doi, "date": paper.date,
            "other_ids": tuple(dict.fromkeys([*paper.other_ids, *given.get("other_ids", ())])),
        }  # fmt: skip
        return Paper.model_validate({**given, **normalized})

    def _rejection(self, problem: str) -> SourceRejected:
        return SourceRejected(one_line(f"{self.name} {problem}. Fix it, or remove it from --source.", 600))


def _import_target(name: str) -> Any:
    if not is_import_path(name):
        return _load_entry_point(name)
    place, _, attribute = name.rpartition(":")
    try:
        with guard_process():
            module = _import_file(Path(place).expanduser()) if place.endswith(".py") else import_module(place)
    except (Exception, *EXIT_ERRORS) as error:
        raise SettingsError(
            f"--source {name}: cannot import {place} ({_reason(error)}). "
            f"Name a file as path.py:object. {_HOW}"
        ) from error
    if not hasattr(module, attribute):
        raise SettingsError(f"--source {name}: {place} has no {attribute!r}. {_HOW}")
    return getattr(module, attribute)


def _load_entry_point(name: str) -> Any:
    (point, *_) = metadata.entry_points(group=ENTRY_POINT_GROUP, name=name)
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise SettingsError(f"--source {name}: cannot load {point.value} ({_reason(error)}).") from error


def _import_file(path: Path) -> Any:
    """Import a module from a file, once per process."""
    if not path.is_file():
        raise ImportError(f"file not found: {path}")
    name = f"ideagora_source_{stable_id(str(path.resolve()))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _describe(value: Any) -> str:
    return one_line(f"{value!r} ({type(value).__name__})", 120)


def _reason(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}", 200)
