"""Load an agent's object from ``module:object`` or ``path.py:object``."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ideagora.errors import UsageError
from ideagora.graphs.external.errors import named_error
from ideagora.graphs.external.in_process.stdout_guard import stdout_guarded


@dataclass(frozen=True)
class LoadedObject:
    """A loaded object."""

    object: Any
    known_as: str
    """Name without folders."""
    fingerprint: str
    """Changes with its file."""


def load_object(spec: str, is_entry_point: bool = False) -> LoadedObject:
    """Load the object of ``module:object``, ``path.py:object``, or an entry point's value.

    Raises:
        UsageError: there is no such file, module or object, or it cannot be loaded.
    """
    if is_entry_point:
        from importlib.metadata import EntryPoint  # a third of the time that loading takes

        point = EntryPoint(spec, spec, "ideagora.agents")
        return LoadedObject(load_safely(point.load, spec), spec, fingerprint(sys.modules[point.module]))
    place, _, name = spec.rpartition(":")
    if not place or not name:
        raise UsageError(f"{spec!r} does not name an object. Write path.py:object or module:object.")
    is_file = place.endswith(".py") or "/" in place
    module = _load_file(Path(place).expanduser()) if is_file else _load_module(place)
    known_as = f"{Path(place).name if is_file else place}:{name}"
    return LoadedObject(_find_object(module, name, place), known_as, fingerprint(module))


def fingerprint(module: ModuleType) -> str:
    """A hash of the module's file, or of its name if it has no file."""
    file = getattr(module, "__file__", None)
    content = Path(file).read_bytes() if file and Path(file).is_file() else module.__name__.encode()
    return hashlib.sha256(content).hexdigest()[:16]


def _load_file(path: Path) -> ModuleType:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    whole = path.resolve()
    name = f"ideagora_plugged_{hashlib.sha256(str(whole).encode() + content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, whole)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file. Write path.py:object.")
    module, loader = importlib.util.module_from_spec(spec), spec.loader
    sys.modules[name] = module  # dataclasses and pydantic look it up
    if str(whole.parent) not in sys.path:  # so that it can import its neighbours
        sys.path.append(str(whole.parent))
    try:
        load_safely(lambda: loader.exec_module(module), str(path))
    except UsageError:
        del sys.modules[name]
        raise
    return module


def _load_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:  # as `python -m` does
        sys.path.append(here)
    module: ModuleType = load_safely(lambda: importlib.import_module(name), name)
    return module


def load_safely(load: Callable[[], Any], name: str) -> Any:
    """Call a function that loads third-party code.

    Raises:
        UsageError: the code raised while it was loaded.
    """
    try:
        with stdout_guarded():
            return load()
    except ModuleNotFoundError as error:
        hint = (
            "Install it, or write path.py:object for a file."
            if error.name == name.partition(".")[0]
            else "Install what it imports."
        )
        raise UsageError(f"{name} cannot be loaded: there is no module {error.name!r}. {hint}") from None
    except SyntaxError as error:
        hint = " In a function with a yield, use a plain return." if "generator" in error.msg else ""
        raise UsageError(f"{name} cannot be loaded: line {error.lineno}: {error.msg}.{hint}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  (third-party code; it is named and goes on)
        raise UsageError(f"{name} cannot be loaded: {named_error(error, 'it')}") from None


def _find_object(module: ModuleType, name: str, place: str) -> Any:
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise UsageError(_no_such_object(module, name, place))
        value = getattr(value, part)
    return value


def _no_such_object(module: ModuleType, name: str, place: str) -> str:
    own = [
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value))
        if value.__module__ == module.__name__
    ]
    near = difflib.get_close_matches(name, own, n=1)
    hint = f" Did you mean {place}:{near[0]}?" if near else ""
    has = f" It has {', '.join(sorted(own))}." if own else " It defines no functions or classes."
    return f"{place} has no object {name!r}.{hint}{has}"
