"""What tests need of the field's agents, one module per agent.

Each module has ``SAMPLES`` (inputs and a valid answer by role), ``ANSWERS`` (the stand-in's reply to a
prompt, by the name of the answer's schema) and ``ROLES`` (the name of the answer's schema, by role).
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from ideagora.models.call import Inputs
from tests.support import standin

SAMPLES: dict[str, tuple[Inputs, dict[str, Any]]] = {}

for _module in pkgutil.iter_modules(__path__):
    _agent = import_module(f"{__name__}.{_module.name}")
    SAMPLES.update(_agent.SAMPLES)
    standin.ANSWERS.update(_agent.ANSWERS)
    standin.PLAIN_ROLES.update(_agent.ROLES)
