"""Every test that ``docs/promises.md`` names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_promise_names_tests_that_exist() -> None:
    text = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "test_" in line]
    named = re.findall(r"`(\w+/test_\w+\.py)::(test_\w+)`", text)
    assert len(rows) >= 20
    assert not [row for row in rows if not re.search(r"`\w+/test_\w+\.py::test_\w+`", row)]
    assert not [f"{file}::{test}" for file, test in named if test not in _tests(file)]


def _tests(file: str) -> set[str]:
    path = ROOT / "tests" / file
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if path.exists() else []
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
