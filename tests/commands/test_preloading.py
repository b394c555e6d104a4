"""What a command needs at its end is imported while its first request is being answered."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import Any

import pytest

from ideagora.commands.shared import preloading as module
from ideagora.commands.shared.preloading import preloading
from ideagora.models.transport.openai_resources import PACKAGE


def test_imports_start_once_after_the_first_request_to_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.0)
    starts: list[str] = []
    started = threading.Event()

    def load() -> None:
        starts.append(threading.current_thread().name)
        started.set()
        raise ImportError("raised again by whoever needs the library")

    async def send(*models: str) -> list[Any]:
        events: list[Any] = []
        listener = preloading(events.append, load)
        for model in models:
            event: Any = {"event": "request", "model": model}
            listener(event)
        assert starts == []  # not before the loop is free: the request has not been sent
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return events

    assert len(asyncio.run(send("offline"))) == 1
    assert starts == []
    assert len(asyncio.run(send("openai/a", "openai/b"))) == 2
    assert started.wait(5)
    assert starts == ["preloading"]


def test_chat_requests_import_no_other_resource_of_the_openai_library() -> None:
    program = (
        "import sys; from ideagora.models.transport.openai_resources import import_resources_when_used as f; "
        "f(); import openai; openai.AsyncOpenAI(api_key='none').chat.completions; "
        f"assert '{PACKAGE}.beta' not in sys.modules; "
        f"from {PACKAGE} import Beta; assert Beta.__module__ == '{PACKAGE}.beta.beta'; "
        "assert openai.AsyncOpenAI(api_key='none').files"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
