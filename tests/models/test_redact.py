"""Keys stay out of what we write; what a model said stays as it is."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest

from ideagora.config import Settings
from ideagora.errors import SettingsError
from ideagora.models.redact import one_line, redact_keys
from ideagora.models.request import build_request
from ideagora.report.run.write import write_file
from tests.support.clients import call, client_harness
from tests.support.loopback import Loopback

LOGIN = "somebody:pass-word"
KEY = 'sk-Ab/9"x0123456789'


async def test_a_common_word_as_a_password_changes_no_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {"POSTGRES_PASSWORD": "postgres", "HF_TOKEN": "none", "MY_SECRET": "retrieval-augmented"}
    for name, word in words.items():
        monkeypatch.setenv(name, word)
    reply = json.dumps({"label": "related", "why": f"uses {' and '.join(words.values())}"})
    with Loopback([reply]) as server:
        async with client_harness(tmp_path, server) as b:
            answer = await b.client.ask(call())
            stored = b.client.cache.get(build_request(call(), b.client.settings).key)
    assert answer.why == "uses postgres and none and retrieval-augmented"
    assert stored is not None
    assert stored.text == reply


def test_a_key_is_found_however_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    escaped = "".join(f"\\u{ord(character):04x}" for character in KEY)
    for written in (
        KEY, escaped, escaped.upper().replace("\\U", "\\u"), json.dumps(KEY), json.dumps({"a": escaped}),
        json.dumps(json.dumps(KEY)), html.escape(KEY), "".join(f"&#{ord(c)};" for c in KEY),
    ):  # fmt: skip
        assert "0123456789" not in redact_keys(f"before {written} after"), written
        assert redact_keys(f"before {written} after").startswith("before "), written
    for harmless in ("\\" * 100_000, "\\u0073" * 30_000):
        assert redact_keys(harmless) == harmless


def test_what_an_address_carries_is_left_out_of_messages() -> None:
    message = one_line(f"http://{LOGIN}@host:1/v1?tok=abc123&q=planning&api-key=zzz is down")
    assert message == "http://host:1/v1?tok=[key removed]&q=planning&api-key=[key removed] is down"


async def test_an_address_with_a_login_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"http://{LOGIN}@127.0.0.1:9/v1"
    cases: list[tuple[dict[str, Any], str | None]] = [({"api_base": address}, None), ({}, "OPENAI_BASE_URL")]
    for settings, variable in cases:
        if variable is not None:
            monkeypatch.setenv(variable, address)
        async with client_harness(tmp_path, **settings) as b:
            with pytest.raises(
                SettingsError, match=r"(--api-base|in the environment).*contains a login"
            ) as caught:
                await b.client.models.check()
        assert "pass-word" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_the_server_is_part_of_a_question_wherever_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path, model="openai/test")
    plain = build_request(call(), settings).key
    keys = {plain}
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        with monkeypatch.context() as patched:
            patched.setenv(variable, f"http://127.0.0.1:9/{variable}")
            keys.add(build_request(call(), settings).key)
            patched.setenv("ANTHROPIC_API_BASE", "http://127.0.0.1:8")
            keys.add(build_request(call(), settings).key)
    assert len(keys) == 3
    assert build_request(call(), settings).key == plain
    named = settings.model_copy(update={"api_base": "http://127.0.0.1:9/OPENAI_BASE_URL"})
    assert build_request(call(), named).key in keys


def test_a_key_that_somebody_echoes_is_in_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    write_file(tmp_path / "report.md", f"An idea about {KEY}, or {html.escape(KEY)}.")
    assert (tmp_path / "report.md").read_text() == "An idea about [key removed], or [key removed]."
