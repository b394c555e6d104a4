"""Import a resource of the OpenAI library when it is used.

The library's client does so itself, but the first import of any resource runs the ``__init__`` of their
package. That imports all of them, which takes 0.4 seconds.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from typing import Any

PACKAGE = "openai.resources"


def import_resources_when_used() -> None:
    """Postpone the package's ``__init__`` until one of its names is asked for, if it has not run yet."""
    spec = None if PACKAGE in sys.modules else find_spec(PACKAGE)
    if spec is None or spec.loader is None:
        return
    package, loader, lock = module_from_spec(spec), spec.loader, RLock()

    def load(name: str) -> Any:
        with lock:
            if vars(package).pop("__getattr__", None) is not None:
                loader.exec_module(package)
            return getattr(package, name)

    package.__getattr__ = load  # type: ignore[method-assign]
    sys.modules[PACKAGE] = package
