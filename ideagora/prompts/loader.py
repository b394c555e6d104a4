"""Load and render prompts: one Markdown file per role, as a jinja2 template.

A file has two parts, ``# System`` and ``# User``. A line ``{% include "NAME" %}`` stands for the text of
``parts/NAME.md``, which several prompts have in common. ``check_prompt`` rejects a prompt that uses a
variable its role does not have, or leaves an input of its role unused, which would change the cache key but
not the answer.

Text by papers, models and users goes through the ``fence`` filter (``fence.py``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.prompts.fence import fence, insert_code

if TYPE_CHECKING:
    import jinja2

_INCLUDE = re.compile(r'^\{% include "(\w+)" %\}$', re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
_PARTS = re.compile(r"\A\s*# System\n(?P<system>.*?)\n# User\n(?P<user>.*)\Z", re.DOTALL)


class PromptError(ValueError):
    """A prompt file does not fit its role. A programming error, raised when the role is defined."""


@dataclass(frozen=True)
class Prompt:
    """The two parts of a role's prompt, as templates."""

    name: str
    system: str
    user: str

    @property
    def hash(self) -> str:
        """First 12 hex digits of the SHA-256 of the text, recorded with each run."""
        return hashlib.sha256(f"{self.system}\n{self.user}".encode()).hexdigest()[:12]

    def variables(self) -> set[str]:
        """Return the names of the templates' variables."""
        from jinja2 import meta

        environment = _environment()
        return meta.find_undeclared_variables(
            environment.parse(self.system)
        ) | meta.find_undeclared_variables(environment.parse(self.user))

    def render(self, values: Mapping[str, Any]) -> tuple[str, str]:
        """Return the rendered (system, user) parts; a user part with fences starts with their code."""
        system = _template(self.system).render(values).strip()
        user = _BLANK_LINES.sub("\n\n", _template(self.user).render(values)).strip()
        return system, insert_code(system, user)


def strip_number(text: str) -> str:
    """Return a step without its own number or bullet."""
    return re.sub(r"^\s*+(?:(?:step\s*+)?\(?\d{1,2}[.):]|[-*•])\s+", "", text, flags=re.IGNORECASE)


@cache
def _environment() -> jinja2.Environment:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters["fence"] = fence
    environment.filters["unnumbered"] = strip_number
    return environment


@cache
def _template(text: str) -> jinja2.Template:
    """Return the compiled template; cached, because compiling is far slower than rendering."""
    return _environment().from_string(text)


@cache
def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Read ``<name>.md`` in a folder, by default the one of ideagora's own prompts.

    Raises:
        PromptError: the file does not exist or lacks a part.
    """
    file = (folder or resources.files("ideagora.prompts")) / f"{name}.md"
    if not file.is_file():
        raise PromptError(f"no prompt file {name}.md in {folder or 'ideagora/prompts'}")
    text = _INCLUDE.sub(lambda name: _included(name[1], folder), file.read_text(encoding="utf-8"))
    parts = _PARTS.match(text)
    if parts is None:
        raise PromptError(f"{name}.md needs a '# System' part followed by a '# User' part")
    return Prompt(name, parts["system"].strip(), parts["user"].strip())


def _included(name: str, folder: Path | None) -> str:
    """The text of ``parts/<name>.md``."""
    file = (folder or resources.files("ideagora.prompts")) / "parts" / f"{name}.md"
    if not file.is_file():
        raise PromptError(f"no file parts/{name}.md in {folder or 'ideagora/prompts'}")
    return file.read_text(encoding="utf-8").rstrip("\n")


def check_prompt(prompt: Prompt, inputs: set[str]) -> None:
    """Raise PromptError if the prompt's variables and the role's inputs differ."""
    used = prompt.variables()
    if unknown := used - inputs:
        raise PromptError(f"{prompt.name}.md uses {sorted(unknown)}, which are not inputs of its role")
    if unused := inputs - used:
        raise PromptError(f"{prompt.name}.md does not use {sorted(unused)}, inputs of its role")
