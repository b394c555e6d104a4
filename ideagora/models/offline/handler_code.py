"""The files of code that an offline recipe runs: its own, and those of every helper that it reaches."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_LIBRARIES = tuple(Path(sysconfig.get_paths()[name]) for name in ("stdlib", "purelib", "platlib"))


def handler_files(handler: Callable[..., Any]) -> list[Path]:
    """The files, sorted. Libraries are left out: a run's record has their versions."""
    top = _file_of(sys.modules.get(str(getattr(handler, "__module__", "")).partition(".")[0]))
    files: set[Path] = set()
    seen: set[int] = set()
    waiting: list[Any] = [handler]
    while waiting:
        thing = waiting.pop()
        thing = getattr(thing, "__func__", getattr(thing, "__wrapped__", thing))
        file = _file_of(thing)
        if id(thing) in seen or file is None or not _is_own(file, top):
            continue
        seen.add(id(thing))
        files.add(file)
        if isinstance(thing, type):
            waiting += vars(thing).values()
        elif isinstance(thing, FunctionType):
            found, constants = _reached(thing, file)
            waiting += found
            files |= {place for place in constants if _is_own(place, top)}
    return sorted(files)


def _reached(function: FunctionType, file: Path) -> tuple[list[Any], set[Path]]:
    """What a function names, and the files of modules from which it takes something that is no code."""
    names = set(_names(function.__code__))
    things = [cell.cell_contents for cell in function.__closure__ or () if cell != type(cell)()]
    constants: set[Path] = set()
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if isinstance(value, ModuleType):
            things += [getattr(value, other) for other in names if hasattr(value, other)]
            value_file = _file_of(value)
        else:
            things.append(value)
            value_file = _file_of(sys.modules.get(_imports(file).get(name, "")))
        constants |= {value_file} if value_file is not None else set()
    return things, constants


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _imports(file: Path) -> dict[str, str]:
    """Names that a file imports from modules, and the modules."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level)
    return {one.asname or one.name: node.module or "" for node in found for one in node.names}


def _file_of(thing: Any) -> Path | None:
    """Where a function, class or module is written; ``None``: it has no file."""
    if isinstance(thing, FunctionType):
        name: Any = thing.__code__.co_filename
    elif isinstance(thing, type):
        name = getattr(sys.modules.get(thing.__module__), "__file__", None)
    else:
        name = getattr(thing, "__file__", None) if isinstance(thing, ModuleType) else None
    return Path(name) if isinstance(name, str) and Path(name).is_file() else None


def _is_own(file: Path, top: Path | None) -> bool:
    """Whether a file belongs to the recipe's own package, or at least to no library."""
    if top is not None and top.name == "__init__.py" and file.is_relative_to(top.parent):
        return True
    in_libraries = {"site-packages", "dist-packages"} & set(file.parts)
    return not in_libraries and not any(file.is_relative_to(place) for place in _LIBRARIES)
