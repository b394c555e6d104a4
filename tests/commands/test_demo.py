"""``ideagora demo``: a real run, its answers from the recording that ships."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from ideagora.commands.demo import recording_folder
from ideagora.errors import ReplayMiss
from ideagora.models.cache.recording import Recording, RecordingHeader, answer_key
from ideagora.models.chat_models import ScriptedCall
from tests.support import command

ROOT = Path(__file__).resolve().parents[2]


class Shown(BaseModel):
    """Inputs of a role."""

    topic: str


def test_the_recorded_run_is_replayed_without_a_model_a_key_or_the_network(tmp_path: Path) -> None:
    nobody = {"IDEAGORA_HOME": str(tmp_path), "OPENAI_API_KEY": None, "HF_HUB_OFFLINE": "1"}
    shown = command.run(["demo", "--json"], nobody)
    assert shown.code == 0, shown.err
    header, answer = Recording.read(recording_folder()).header, json.loads(shown.out)
    assert header.model in shown.err
    run = Path(answer["run"])
    assert {idea["model"] for idea in answer["ideas"]} == {f"recorded/{header.model}"}
    assert answer["ideas"][0]["topic"] == header.topic
    assert answer["ideas"][0]["experiment"]["steps"]
    for page in ("report.md", "report.html"):
        assert f"Replayed from a recording: {header.model}" in (run / page).read_text(encoding="utf-8")
    title = answer["ideas"][0]["title"]
    for shown_to_readers in ("README.md", "docs/demo_report.md"):
        assert title in (ROOT / shown_to_readers).read_text(encoding="utf-8"), "made anew, but not shown anew"
    assert json.loads((run / "run.json").read_text(encoding="utf-8"))["status"] == "done"
    again = command.run(["demo", "--json"], nobody)
    assert (again.code, again.out) == (0, shown.out)


def test_an_answer_belongs_to_a_role_and_its_inputs_whatever_the_prompt_says(tmp_path: Path) -> None:
    header = RecordingHeader(topic="t", model="m", created="2026-01-01", version="1", prompts={"judge": "a"})
    Recording(header, {answer_key("judge", Shown(topic="t")): "yes"}).write(tmp_path)
    recording = Recording.read(tmp_path)
    for words in ("one wording", "another wording"):
        call = ScriptedCall("judge", (("user", words),), Shown(topic="t"), None)
        assert recording.reply(call) == "yes"
    for other in (ScriptedCall("reader", (), Shown(topic="t"), None), ScriptedCall("judge", (), None, None)):
        with pytest.raises(ReplayMiss, match="no answer for the role"):
            recording.reply(other)
    assert recording.changed_prompts({"judge": "b"}) == ["judge"]
    assert recording.changed_prompts({"judge": "a", "new": "c"}) == []
