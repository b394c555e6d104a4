"""Prompts: one Markdown file per role, rendered with jinja2, checked before the first use.

A file has two parts, ``# System`` and ``# User``. The loader refuses a prompt that uses a variable
its role does not offer, and one that leaves an input of its role unused: such an input would
change the cache key but not the answer.

Everything that a paper, a model or a user wrote passes through the ``fence`` filter. It marks where
foreign text begins and ends with a code that is a hash of the whole message: nobody can write a text
that contains the code of a message with that text in it, so no text can end its fence early and
address the model as its user. The same message always has the same code, so its answer is found again.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

_PARTS = re.compile(r"\A\s*# System\n(?P<system>.*?)\n# User\n(?P<user>.*)\Z", re.DOTALL)
_CODE_PLACEHOLDER = f"code-{secrets.token_hex(16)}"
"""Stands for the code until the message is whole; another one in every process, so no text holds it."""
_CODE_DIGITS = 12


class PromptError(ValueError):
    """A prompt file is not what its role needs (a programming error, found when the role is made)."""


@dataclass(frozen=True)
class Prompt:
    """The two parts of a role's prompt, as templates, and the hash that a run records."""

    name: str
    system: str
    user: str

    @property
    def hash(self) -> str:
        """First 12 hex digits of the SHA-256 of the text."""
        return hashlib.sha256(f"{self.system}\n{self.user}".encode()).hexdigest()[:12]

    def variables(self) -> set[str]:
        """The names that the templates use."""
        from jinja2 import meta

        environment = _environment()
        return meta.find_undeclared_variables(
            environment.parse(self.system)
        ) | meta.find_undeclared_variables(environment.parse(self.user))

    def render(self, values: Mapping[str, Any]) -> tuple[str, str]:
        """(system, user) with the values put in; a user part with fences begins with their code."""
        system = _template(self.system).render(values).strip()
        user = _template(self.user).render(values).strip()
        if _CODE_PLACEHOLDER not in user:
            return system, user
        code = hashlib.sha256(f"{system}\n{user}".replace(_CODE_PLACEHOLDER, "").encode()).hexdigest()[
            :_CODE_DIGITS
        ]
        return system, f"CODE of this message: {code}\n\n{user.replace(_CODE_PLACEHOLDER, code)}"


def fence(text: object) -> str:
    """Foreign text between marks that it cannot imitate; ``None`` is said to be missing.

    ``Prompt.render`` puts the message's code into the marks. Half a surrogate pair, which no request
    could carry, becomes U+FFFD.
    """
    if text is None or text == "":
        return "(not available)"
    whole = str(text).strip().encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return f"<material {_CODE_PLACEHOLDER}>{whole}</material {_CODE_PLACEHOLDER}>"


def strip_number(text: str) -> str:
    """A step without a number or bullet of its own (the prompt numbers the steps)."""
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
    """Compiled once: that takes far longer than a rendering."""
    return _environment().from_string(text)


@cache
def load_prompt(name: str) -> Prompt:
    """Read ``<name>.md``.

    Raises:
        PromptError: there is no such file, or it lacks one of its two parts.
    """
    file = resources.files("ideagora.prompts") / f"{name}.md"
    if not file.is_file():
        raise PromptError(f"no prompt file {name}.md in ideagora/prompts")
    parts = _PARTS.match(file.read_text(encoding="utf-8"))
    if parts is None:
        raise PromptError(f"{name}.md needs a '# System' part and then a '# User' part")
    return Prompt(name, parts["system"].strip(), parts["user"].strip())


def check_prompt(prompt: Prompt, offered: set[str]) -> None:
    """Raise PromptError when the prompt's variables and the role's inputs differ."""
    used = prompt.variables()
    if unknown := used - offered:
        raise PromptError(f"{prompt.name}.md uses {sorted(unknown)}, which its role does not offer")
    if unused := offered - used:
        raise PromptError(f"{prompt.name}.md never shows {sorted(unused)} to the model")
