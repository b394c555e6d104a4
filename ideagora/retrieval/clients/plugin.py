"""Sources of literature from outside: found by name, and made to fit.

A source of yours is an object, a class or a function without arguments that makes one. It has
``search(query, k)`` and, as far as it can, ``paper(paper_id)``, ``references(paper_id)``,
``citations(paper_id)``, ``recommended(paper_id, k)``, ``citations_per_year(paper_id)`` and
``disconnect()``; plain functions or coroutines. Papers are ``ideagora.schema.Paper`` or dicts with the
same fields. What it raises counts as "did not answer".
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
from ideagora.retrieval.clients.normalize import paper_of
from ideagora.retrieval.http.client import SYSTEM_CLOCK, Clock
from ideagora.retrieval.process_guard import ProcessExit, guard_process
from ideagora.retrieval.protocols import Neighbors
from ideagora.schema import Paper, stable_id

ENTRY_POINT_GROUP = "ideagora.sources"
"""Of entry points, by which an installed distribution brings sources."""
EXIT_ERRORS = (SystemExit, ProcessExit)
"""How code of a source tries to end the process."""
_HOW = "See docs/literature.md, “A source of your own”; ideagora library check tells what is missing."


def is_import_path(name: str) -> bool:
    """Whether a name says where a source is: ``module:object`` or ``path.py:object``."""
    place, colon, attribute = name.rpartition(":")
    return bool(colon and place and attribute.isidentifier())


@cache
def installed_sources() -> tuple[str, ...]:
    """Names of the sources that installed distributions bring, ascending."""
    return tuple(sorted(metadata.entry_points(group=ENTRY_POINT_GROUP).names))


def load_plugin(name: str, time: Clock = SYSTEM_CLOCK) -> PluginSource:
    """The source of this name, ready to stand beside the others.

    Raises:
        SettingsError: it cannot be found, made or used.
    """
    found = _found(name)
    try:
        with guard_process():
            thing = found() if inspect.isclass(found) or inspect.isfunction(found) else found
    except IdeagoraError:
        raise
    except (Exception, *EXIT_ERRORS) as error:
        raise SettingsError(f"--source {name}: it cannot be made ({_told(error)}). {_HOW}") from error
    return PluginSource(name, thing, time)


class PluginSource:
    """A thing from outside as a source (see ``RemoteSource``).

    Raises:
        SettingsError: it has no ``search``.
    """

    def __init__(self, spec: str, thing: Any, time: Clock = SYSTEM_CLOCK) -> None:
        if not callable(getattr(thing, "search", None)):
            raise SettingsError(f"--source {spec}: {_kind(thing)} has no search(query, k). {_HOW}")
        said = getattr(thing, "name", None) or spec.rpartition(":")[2]
        self.name = one_line(str(said), 60).replace(",", " ")
        self.thing = thing
        self._time = time
        prefixes = getattr(thing, "prefixes", ())
        self.prefixes: tuple[str, ...] = (*(str(one) for one in prefixes), "")
        self.has_citations = self.offers("references") or self.offers("citations")

    def offers(self, method: str) -> bool:
        """Whether the thing can be asked this."""
        return callable(getattr(self.thing, method, None))

    async def search(self, query: str, k: int) -> list[Paper]:
        """Up to k papers, best first."""
        return (await self.found(query, k))[:k]

    async def found(self, query: str, k: int) -> list[Paper]:
        """What its search gives, as many as it likes."""
        return self._papers(await self._asked("search", query, k))

    async def paper(self, paper_id: str) -> Paper | None:
        """The paper with an id."""
        found = await self._asked("paper", paper_id)
        return None if found is None else self._paper(found)

    async def batch(self, ids: Sequence[str]) -> dict[str, Paper]:
        """The papers with these ids, one question each."""
        found = [(one, await self.paper(one)) for one in dict.fromkeys(ids)]
        return {one: paper for one, paper in found if paper}

    async def references(self, paper_id: str) -> Neighbors:
        """The papers that one cites."""
        return Neighbors(self._papers(await self._asked("references", paper_id)))

    async def citations(self, paper_id: str) -> Neighbors:
        """The papers that cite one."""
        return Neighbors(self._papers(await self._asked("citations", paper_id)))

    async def recommended(self, paper_id: str, k: int) -> list[Paper] | None:
        """Papers for readers of one; ``None``: it cannot tell."""
        found = await self._asked("recommended", paper_id, k)
        return None if found is None else self._papers(found)[:k]

    async def citations_per_year(self, paper_id: str) -> dict[int, int] | None:
        """Citations by year; ``None``: it cannot tell."""
        found = await self._asked("citations_per_year", paper_id)
        if found is None:
            return None
        try:
            return {int(year): int(count) for year, count in dict(found).items()}
        except (TypeError, ValueError):
            raise self._unusable(f"citations_per_year gave {_kind(found)}, not counts by year") from None

    async def disconnect(self) -> None:
        """Tell it that connections may be closed."""
        await self._asked("disconnect")

    async def _asked(self, method: str, *arguments: Any) -> Any:
        """What it answers; ``None`` where it cannot be asked that. Whatever it raises is no answer."""
        if not self.offers(method):
            return None
        call = getattr(self.thing, method)
        try:
            with guard_process():
                if inspect.iscoroutinefunction(call):
                    return await call(*arguments)
                answer = await asyncio.to_thread(call, *arguments)
                return await answer if inspect.isawaitable(answer) else answer
        except IdeagoraError:
            raise
        except (Exception, *EXIT_ERRORS) as error:
            raise SourceUnavailable(
                f"{self.name} did not answer {method} ({_told(error)}). Mend it, or leave it out of --source."
            ) from error

    def _papers(self, found: Any) -> list[Paper]:
        if found is None:
            return []
        if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
            raise self._unusable(f"gave {_kind(found)}, not a list of papers")
        return [self._paper(one) for one in found]

    def _paper(self, found: Any) -> Paper:
        if isinstance(found, Paper):
            paper = Paper.model_validate_json(redact_keys(found.model_dump_json()))
            return paper if paper.source != "unknown" else paper.model_copy(update={"source": self.name})
        if not isinstance(found, Mapping):
            raise self._unusable(f"gave {_kind(found)}, not a paper")
        unknown = sorted(str(name) for name in set(found) - set(Paper.model_fields))
        if unknown:
            known = ", ".join(Paper.model_fields)
            raise self._unusable(f"gave a paper with an unknown field {unknown[0]!r} (known: {known})")
        try:
            return self._of_fields(redact_values(found))
        except (ValidationError, TypeError) as error:
            raise self._unusable(f"gave a paper that cannot be read ({_told(error)})") from None

    def _of_fields(self, fields: Mapping[str, Any]) -> Paper:
        """A record of a dict: the id may be missing where an arXiv id, a DOI or a title tells the paper."""
        told = {name: value for name, value in fields.items() if value is not None}
        made = paper_of(
            source=self.name,
            day=self._time.now().date().isoformat(),
            own_id=told.get("id"),
            title=told.get("title"),
            dated=[told.get("date")],
            arxiv=told.get("arxiv_id"),
            doi=told.get("doi"),
        )
        whole = {
            "id": made.id, "source": self.name, "title": made.title, "arxiv_id": made.arxiv_id,
            "doi": made.doi, "date": made.date,
            "other_ids": tuple(dict.fromkeys([*made.other_ids, *told.get("other_ids", ())])),
        }  # fmt: skip
        return Paper.model_validate({**told, **whole})

    def _unusable(self, what: str) -> SourceRejected:
        return SourceRejected(one_line(f"{self.name} {what}. Mend it, or leave it out of --source.", 600))


def _found(name: str) -> Any:
    if not is_import_path(name):
        return _of_entry_point(name)
    place, _, attribute = name.rpartition(":")
    try:
        with guard_process():
            module = _of_file(Path(place).expanduser()) if place.endswith(".py") else import_module(place)
    except (Exception, *EXIT_ERRORS) as error:
        raise SettingsError(
            f"--source {name}: {place} cannot be imported ({_told(error)}). "
            f"A file is named as path.py:object. {_HOW}"
        ) from error
    if not hasattr(module, attribute):
        raise SettingsError(f"--source {name}: {place} has no {attribute!r}. {_HOW}")
    return getattr(module, attribute)


def _of_entry_point(name: str) -> Any:
    (point, *_) = metadata.entry_points(group=ENTRY_POINT_GROUP, name=name)
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise SettingsError(f"--source {name}: {point.value} cannot be loaded ({_told(error)}).") from error


def _of_file(path: Path) -> Any:
    """The module in a file, imported once a process; beside it, it finds its own modules."""
    if not path.is_file():
        raise ImportError(f"there is no file {path}")
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


def _kind(thing: Any) -> str:
    return one_line(f"{thing!r} ({type(thing).__name__})", 120)


def _told(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}", 200)
