"""Read Python literals in files made elsewhere without executing code."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from ideagora.retrieval.untrusted_json import UnreadableJSON, clean_value, parse_json

MAX_LITERAL = 1_000_000
"""Maximum characters of a Python literal."""


def python_literal(text: str) -> Any:
    """Return the value of a Python literal, as pandas writes lists into cells. No code is executed.

    Raises:
        UnreadableJSON: it is not a literal, too long or malformed.
    """
    if len(text) > MAX_LITERAL:
        raise UnreadableJSON(f"longer than {MAX_LITERAL:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in third-party text
            tree = ast.parse(text.strip(), mode="eval")
        return clean_value(ast.literal_eval(_NonFiniteNumbers().visit(tree)))
    except UnreadableJSON:
        raise
    except SyntaxError:
        raise UnreadableJSON("not a Python literal") from None
    except (ValueError, TypeError):
        raise UnreadableJSON("a Python expression, not a literal") from None
    except (RecursionError, MemoryError):
        raise UnreadableJSON("nested too deeply") from None


class _NonFiniteNumbers(ast.NodeTransformer):
    """Replaces ``nan`` and ``inf``, which pandas writes bare, by ``None``."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(None) if node.id in ("nan", "inf") else node


def json_or_literal(text: str) -> Any:
    """Return the value of a string that holds JSON or a Python literal.

    Raises:
        UnreadableJSON: it is neither.
    """
    try:
        return parse_json(text)
    except UnreadableJSON:
        return python_literal(text)
