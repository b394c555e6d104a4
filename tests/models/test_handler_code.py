"""The offline key changes with the code of every helper that a handler reaches, and with no other code."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from pathlib import Path

import pytest

from ideagora.models.offline.handler_code import handler_files

RECIPE = """
from handler_helpers import tidy, LIMIT
import handler_words
from handler_unused import other

def handler(engine, inputs):
    return {"label": [tidy(word)[:LIMIT] for word in handler_words.chosen(inputs)]}

def another():
    return other()
"""
HELPERS = "import handler_deeper\nLIMIT = 3\ndef tidy(word):\n    return handler_deeper.Tidy().up(word)\n"
DEEPER = "from json import dumps\nclass Tidy:\n    def up(self, word):\n        return dumps(word)\n"
FILES = {
    "handler_main": RECIPE, "handler_helpers": HELPERS, "handler_deeper": DEEPER,
    "handler_words": "def chosen(inputs):\n    return []\n", "handler_unused": "def other():\n    return 1\n",
}  # fmt: skip


def test_helpers_are_followed_and_libraries_and_strangers_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("handler_main")
    modules = {file.stem for file in handler_files(module.handler)}
    assert modules == {"handler_main", "handler_helpers", "handler_deeper", "handler_words"}
    for name in FILES:
        sys.modules.pop(name, None)


def test_our_own_handlers_reach_their_helpers() -> None:
    from ideagora.agents.arena import judges, style
    from ideagora.agents.chain_of_ideas import forecaster

    for role in (forecaster.FORECASTER, style.RESTYLE, judges.IDEA_JUDGE):
        reached = {file.name for file in handler_files(role.offline)}
        function = role.offline.func if isinstance(role.offline, partial) else role.offline
        assert Path(function.__code__.co_filename).name in reached
        assert len(reached) > 1
        assert not reached & {"run_job.py", "client.py", "role.py"}
