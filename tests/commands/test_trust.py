"""A stranger's directory: its ideagora.toml redirects no key and loads no code without a yes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ideagora.commands.trust import run as trust
from ideagora.config import load_settings
from ideagora.errors import SettingsError
from ideagora.trust import TRUSTED_FILE
from tests.support import command

SENSITIVE = {
    "api_base": "http://127.0.0.1:9/v1",
    "source": "starter,spy.py:Spy",
    "store": "http://127.0.0.1:9",
    "semantic_scholar_url": "http://127.0.0.1:9",
    "openalex_url": "http://127.0.0.1:9",
    "arxiv_url": "http://127.0.0.1:9",
    "embedder": "./weights",
    "agent_env": "OPENAI_API_KEY",
}

LOGIN = "user:secret"


def told(name: str, value: str) -> None:
    Path("ideagora.toml").write_text(f'{name} = "{value}"\n', encoding="utf-8")


def test_what_redirects_or_loads_is_refused_until_it_is_trusted_and_again_when_it_changes() -> None:
    for name, value in SENSITIVE.items():
        told(name, value)
        with pytest.raises(SettingsError, match=f"sets {name} = .*run ideagora trust once") as caught:
            load_settings()
        assert "\n" not in str(caught.value)
        assert trust(None, yes=True) == 0
        assert str(getattr(load_settings(), name)) == value
        told(name, f"{value}2")
        with pytest.raises(SettingsError, match="ideagora trust"):
            load_settings()
    assert (Path(os.environ["IDEAGORA_HOME"]) / TRUSTED_FILE).stat().st_mode & 0o777 == 0o600


def test_the_file_does_not_determine_where_trust_is_stored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("IDEAGORA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    told("home", "elsewhere")
    with pytest.raises(SettingsError, match="ideagora trust"):
        load_settings()
    assert trust(None, yes=True) == 0
    assert load_settings().home.name == "elsewhere"
    assert not Path("elsewhere").exists()


def test_a_flag_or_the_environment_decides_before_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    told("api_base", SENSITIVE["api_base"])
    assert load_settings(api_base="http://127.0.0.1:1/v1").api_base == "http://127.0.0.1:1/v1"
    monkeypatch.setenv("IDEAGORA_API_BASE", "http://127.0.0.1:2/v1")
    assert load_settings().api_base == "http://127.0.0.1:2/v1"


def test_what_is_harmless_is_obeyed_and_announced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ideagora.toml").write_text('source = "starter, openalex"\nseed = 7\nembedder = "hash"\n')
    assert load_settings().seed == 7
    shown = capsys.readouterr()
    assert shown.out == ""
    assert 'embedder = "hash", seed = 7, source = "starter, openalex"' in shown.err
    assert load_settings().seed == 7
    assert capsys.readouterr().err == "", "it is announced once"


def test_without_a_terminal_it_is_one_line_and_no_yes() -> None:
    told("api_base", f"http://{LOGIN}@127.0.0.1:9/v1")
    refused = command.run(["generate", "tool use", "--model", "openai/x"])
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.count("\n") == 1
    assert "secret" not in refused.err
    asked = command.run(["trust"])
    assert asked.code == 2
    assert "--yes" in asked.err
    assert command.run(["generate", "tool use", "--model", "openai/x"]).code == 2
