"""Step events of a run, from LangGraph's stream of tasks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ideagora.schema.events import Listener, StepEvent


class StepEvents:
    """Converts LangGraph's task stream to step events, with the branch they belong to."""

    def __init__(self, on_event: Listener) -> None:
        self._on_event = on_event
        self._branch: dict[str, int] = {}
        self._started: dict[str, float] = {}

    def emit(self, namespace: tuple[str, ...], payload: Mapping[str, Any]) -> None:
        """Emit the event of one payload of ``stream_mode="tasks"``: a task that starts or has ended."""
        identity, step = str(payload["id"]), str(payload["name"])
        branch = next(
            (self._branch[part.split(":")[-1]] for part in namespace if part.split(":")[-1] in self._branch),
            None,
        )
        if "triggers" in payload:
            anchored = payload["input"].get("anchored") if isinstance(payload["input"], Mapping) else None
            if isinstance(anchored, Mapping) and {"branch", "query"} <= anchored.keys():
                branch, query = int(anchored["branch"]), str(anchored["query"])
                self._branch[identity] = branch
                event = StepEvent(event="step", step=step, branch=branch, query=query, status="started")
            else:
                event = StepEvent(event="step", step=step, branch=branch, status="started")
            self._started[identity] = time.monotonic()
        else:
            seconds = round(time.monotonic() - self._started.pop(identity, time.monotonic()), 3)
            event = StepEvent(
                event="step",
                step=step,
                branch=self._branch.get(identity, branch),
                status="failed" if payload.get("error") else "done",
                seconds=seconds,
            )
        self._on_event(event)
