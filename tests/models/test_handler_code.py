"""The offline key changes with the code of every helper that a recipe reaches, and with no other code."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from ideagora.models.offline.handler_code import handler_files

RECIPE = """
from recipe_helpers import tidy, LIMIT
import recipe_words
from recipe_unused import other

def recipe(engine, inputs):
    return {"label": [tidy(word)[:LIMIT] for word in recipe_words.chosen(inputs)]}

def another():
    return other()
"""
HELPERS = "import recipe_deeper\nLIMIT = 3\ndef tidy(word):\n    return recipe_deeper.Tidy().up(word)\n"
DEEPER = "from json import dumps\nclass Tidy:\n    def up(self, word):\n        return dumps(word)\n"
FILES = {
    "recipe_main": RECIPE, "recipe_helpers": HELPERS, "recipe_deeper": DEEPER,
    "recipe_words": "def chosen(inputs):\n    return []\n", "recipe_unused": "def other():\n    return 1\n",
}  # fmt: skip


def test_helpers_are_followed_and_libraries_and_strangers_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("recipe_main")
    found = {file.stem for file in handler_files(module.handler)}
    assert found == {"recipe_main", "recipe_helpers", "recipe_deeper", "recipe_words"}
    for name in FILES:
        sys.modules.pop(name, None)


def test_our_own_recipes_reach_their_helpers() -> None:
    from ideagora.agents import ideator, style

    for role in (ideator.FORECASTER, style.RESTYLE):
        reached = {file.name for file in handler_files(role.offline)}
        assert Path(role.offline.__code__.co_filename).name in reached
        assert len(reached) > 1
        assert not reached & {"runtime.py", "door.py", "role.py"}
