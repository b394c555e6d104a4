"""``ideagora bench --export``: what is missing is said before the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ideagora.commands.bench import Request, run, score


def test_an_export_without_its_library_ends_the_command_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ideagora.report.export.LIBRARIES", {"inspect": "no_such_library", "hf": "no_other"})
    for name in ("inspect", "hf"):
        request = Request("ai-idea-bench", agents=("direct",), out=tmp_path / "run", exports=(name,))
        for command in (run, score):
            assert command(request) == 2
            assert f'--export {name} requires: pip install "ideagora[{name}]".' in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
