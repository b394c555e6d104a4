"""Known file formats. Each module here defines a tuple ``FORMATS``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ideagora.importing.records import Format

FORMATS: tuple[Format, ...] = tuple(
    form
    for name in sorted(module.name for module in iter_modules(__path__))
    for form in import_module(f"{__name__}.{name}").FORMATS
)
"""All formats, sorted by module name."""
