"""What is noted of the literature before a stop is still told after it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ideagora.commands.generate import Request, run
from ideagora.config import SettingOverrides
from ideagora.errors import SourceUnavailable
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.library import Library
from ideagora.retrieval.run_notes import RunNotes
from ideagora.schema import Paper, ScoredPaper, Topic
from ideagora.schema.events import Event
from tests.retrieval.test_network_library import a_field
from tests.support import standin
from tests.support.literature_server import Fault, LiteratureServer, Work, hurry
from tests.support.loopback import Loopback

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EMBEDDER = HashEmbedder()
LATE = Paper(id="p:late", title="Late", date="2025")


class Flaky:
    """A source that finds a late paper, and is down for references."""

    name = "flaky"

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        return [ScoredPaper(paper=LATE, similarity=0.5)]

    async def paper(self, paper_id: str) -> Paper | None:
        return LATE if paper_id == LATE.id else None

    async def references(self, paper_id: str) -> list[Paper]:
        raise SourceUnavailable("down")

    async def citations(self, paper_id: str) -> list[Paper]:
        return []

    async def disconnect(self) -> None:
        """Nothing is connected."""


async def a_run(run_notes: RunNotes, earlier: list[Event], notes: list[tuple[str, str, str]]) -> Any:
    """A restricted library, and the events that it told."""
    events: list[Mapping[str, Any]] = []
    library = Library(Flaky(), EMBEDDER, run_notes=run_notes).for_topic(Topic(text="x", before="2024"))
    library.begin_run(lambda event: events.append(json.loads(json.dumps(event))), earlier)
    for kind, about, detail in notes:
        run_notes.note(kind, about, detail)  # type: ignore[arg-type]
    await library.search("late", 3)
    library.end_run()
    run_notes.note("down", "after the run")
    return library, events


async def test_events_carry_notes_and_withheld_papers_to_the_next_process() -> None:
    down = ("down", "openalex", "HTTP 503")
    first, events = await a_run(
        RunNotes(), [], [down, ("nothing", "a query", ""), ("nothing", "a query", "")]
    )
    assert [event.get("kind", event["event"]) for event in events] == [
        "begin",
        "down",
        "nothing",
        "held back",
    ]
    again, more = await a_run(RunNotes(), events, [down])
    assert [event.get("kind") for event in more] == ["down"]
    assert any("openalex, 2 requests" in note for note in again.notes)
    assert "Nothing found for “a query”." in again.notes
    assert again.held_back == first.held_back != []
    anew, _ = await a_run(RunNotes(), [*events, {"event": "literature", "kind": "begin"}], [])
    assert not any("openalex" in note for note in anew.notes)


def test_a_source_that_was_down_before_the_stop_is_in_the_report_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hurry(monkeypatch, NOW)
    late = Work("late", "Language model agents of tomorrow", "Agents.", "2025-01-01", cites=("p0",))
    with Loopback(standin.Model()) as model, LiteratureServer([*a_field(), late]) as server:
        for name in ("semantic-scholar", "openalex"):
            monkeypatch.setenv(f"IDEAGORA_{name.upper().replace('-', '_')}_URL", server.url(name))

        def ended(budget: float) -> int:
            settings: SettingOverrides = {
                "source": "semantic-scholar,openalex", "embedder": "hash", "home": tmp_path,
                "model": "openai/standin", "api_base": model.base, "budget": budget,
                "price_prompt": 100.0, "price_completion": 100.0, "retries": 0,
            }  # fmt: skip
            options = {"branches": 1, "length": 3, "allow_thin": True}
            out = Path("run")
            return run(
                Request("language model agents", settings=settings, options=options, before="2025", out=out,
                        as_json=True, quiet=True)
            )  # fmt: skip

        server.faults.append(Fault(503, service="openalex", forever=True))
        assert ended(3.7) == 3
        stopped = json.loads(Path("run/run.json").read_text())
        server.faults.clear()
        assert ended(1_000.0) == 4, "what was made before the stop lacks what openalex knows"
        record = json.loads(Path("run/run.json").read_text())
        report = Path("run/report.md").read_text()
        assert ended(1_000.0) == 0
    capsys.readouterr()
    assert "Source down" not in Path("run/report.md").read_text()
    assert any(note.startswith("Source down: openalex") for note in stopped["notes"])
    assert any(note.startswith("Source down: openalex") for note in record["notes"])
    assert late.title in {one["title"] for one in stopped["held_back"]}
    assert late.title in {one["title"] for one in record["held_back"]}
    assert "Source down: openalex" in report
