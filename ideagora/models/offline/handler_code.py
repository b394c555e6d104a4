"""Find the source files that an offline handler uses, including those of its helpers."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_LIBRARIES = tuple(Path(sysconfig.get_paths()[name]) for name in ("stdlib", "purelib", "platlib"))


def handler_files(handler: Callable[..., Any]) -> list[Path]:
    """The files, sorted, without libraries (a run records their versions)."""
    function = handler.func if isinstance(handler, partial) else handler
    top = _file_of(sys.modules.get(str(getattr(function, "__module__", "")).partition(".")[0]))
    files: set[Path] = set()
    seen: set[int] = set()
    waiting: list[Any] = [handler]
    while waiting:
        value = waiting.pop()
        value = getattr(value, "__func__", getattr(value, "__wrapped__", value))
        if isinstance(value, partial):
            waiting += [value.func, *value.args, *value.keywords.values()]
            continue
        file = _file_of(value)
        if id(value) in seen or file is None or not _is_own(file, top):
            continue
        seen.add(id(value))
        files.add(file)
        if isinstance(value, type):
            waiting += vars(value).values()
        elif isinstance(value, FunctionType):
            used, constants = _references(value, file)
            waiting += used
            files |= {place for place in constants if _is_own(place, top)}
    return sorted(files)


def _references(function: FunctionType, file: Path) -> tuple[list[Any], set[Path]]:
    """The values that a function refers to, and the files of modules that it imports constants from."""
    names = set(_names(function.__code__))
    values = [cell.cell_contents for cell in function.__closure__ or () if cell != type(cell)()]
    constants: set[Path] = set()
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if isinstance(value, ModuleType):
            values += [getattr(value, other) for other in names if hasattr(value, other)]
            value_file = _file_of(value)
        else:
            values.append(value)
            value_file = _file_of(sys.modules.get(_imports(file).get(name, "")))
        constants |= {value_file} if value_file is not None else set()
    return values, constants


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _imports(file: Path) -> dict[str, str]:
    """Imported name -> module, of the ``from`` imports of a file."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level)
    return {alias.asname or alias.name: node.module or "" for node in imports for alias in node.names}


def _file_of(value: Any) -> Path | None:
    """The source file of a function, class or module; ``None``: it has none."""
    if isinstance(value, FunctionType):
        name: Any = value.__code__.co_filename
    elif isinstance(value, type):
        name = getattr(sys.modules.get(value.__module__), "__file__", None)
    else:
        name = getattr(value, "__file__", None) if isinstance(value, ModuleType) else None
    return Path(name) if isinstance(name, str) and Path(name).is_file() else None


def _is_own(file: Path, top: Path | None) -> bool:
    """Whether a file belongs to the handler's own package, or at least not to a library."""
    if top is not None and top.name == "__init__.py" and file.is_relative_to(top.parent):
        return True
    in_libraries = {"site-packages", "dist-packages"} & set(file.parts)
    return not in_libraries and not any(file.is_relative_to(place) for place in _LIBRARIES)
