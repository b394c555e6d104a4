"""``ideagora bench fetch``: what is printed, and the exit codes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ideagora.commands.bench_data import FetchRequest, fetch
from tests.support.hub_server import REPOSITORY, HubServer, statuses


def test_a_data_set_is_described_saved_below_the_home(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with HubServer({"target_paper_data.json": b"[]"}) as hub:
        request = FetchRequest("ai-idea-bench", repository=REPOSITORY, endpoint=hub.url, yes=True)
        assert fetch(request, {}) == 0
    folder = Path(os.environ["IDEAGORA_HOME"]) / "data" / "ai-idea-bench"
    assert (folder / "target_paper_data.json").read_bytes() == b"[]"
    printed = capsys.readouterr()
    assert f"--data {folder}" in printed.out
    assert "Licence: Apache-2.0; for commercial use, the authors ask to be contacted." in printed.err


def test_failures_are_one_line_with_the_exit_code_of_their_kind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("ideagora.benchmarks.fetch.download.ATTEMPTS", 1)
    with HubServer({"target_paper_data.json": b"[]"}, faults=statuses(500)) as hub:
        cases = (("ideabench", REPOSITORY, 2), ("ai-idea-bench", "a/b", 1), ("ai-idea-bench", REPOSITORY, 4))
        for benchmark, repository, code in cases:
            request = FetchRequest(benchmark, repository=repository, endpoint=hub.url, yes=True)
            assert fetch(request, {}) == code, request
            printed = capsys.readouterr()
            assert printed.out == ""
            assert len([line for line in printed.err.splitlines() if line.startswith("error:")]) == 1
