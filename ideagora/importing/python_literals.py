"""Python literals in cells and strings of foreign files, read without ever being executed."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from ideagora.retrieval.untrusted_json import UnreadableJSON, clean_value, parse_json

MAX_LITERAL = 1_000_000
"""Characters of a Python literal in a cell."""


def python_literal(text: str) -> Any:
    """The tidy value of a Python literal in a cell, as pandas writes lists; nothing is ever executed.

    Raises:
        Unreadable: it is more than a literal, too long or broken.
    """
    if len(text) > MAX_LITERAL:
        raise UnreadableJSON(f"it is longer than {MAX_LITERAL:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes: the text is another's
            tree = ast.parse(text.strip(), mode="eval")
        return clean_value(ast.literal_eval(_NonFiniteNumbers().visit(tree)))
    except UnreadableJSON:
        raise
    except SyntaxError:
        raise UnreadableJSON("it is no Python literal") from None
    except (ValueError, TypeError):
        raise UnreadableJSON("it is more than a Python literal, so it was not read") from None
    except (RecursionError, MemoryError):
        raise UnreadableJSON("it is nested beyond measure") from None


class _NonFiniteNumbers(ast.NodeTransformer):
    """``nan`` and ``inf``, which pandas writes bare, mean that there is no number."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(None) if node.id in ("nan", "inf") else node


def json_or_literal(text: str) -> Any:
    """The value of a cell or string that holds JSON or a Python literal.

    Raises:
        Unreadable: it is neither.
    """
    try:
        return parse_json(text)
    except UnreadableJSON:
        return python_literal(text)
