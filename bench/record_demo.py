"""Record the run that ``ideagora demo`` replays. Not a benchmark; needs a model.

    python -m bench.record_demo --home FOLDER --model openai/gpt-4o --name "GPT-4o (OpenAI)" \
        --api-base http://127.0.0.1:8790/v1

Stopped, the same command goes on. At the end the recording is replayed, and takes the place of the old one.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ideagora import __version__
from ideagora.agents.role import ROLES
from ideagora.commands.demo import OPTIONS, demo_settings, model_name, recording_folder
from ideagora.commands.generate import Request, run
from ideagora.config import load_settings
from ideagora.models.cache.recording import Recording, RecordingHeader, answer_key, write_vectors
from ideagora.models.chat_models import LiteLLMChatModel, ScriptedChatModel
from ideagora.models.embeddings.cache import CACHE_FILE
from ideagora.prompts.loader import load_prompt


class RecordingChat(LiteLLMChatModel):
    """Asks a model and writes down each answer. A question that is written down is not asked again."""

    notes: Path

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        key = answer_key(kwargs["role"], kwargs["inputs"])
        if not asked_again(args[0]) and (reply := replies_in(self.notes).get(key)) is not None:
            return await ScriptedChatModel(replies=lambda call: reply)._agenerate(*args, **kwargs)
        result = await super()._agenerate(*args, **kwargs)
        line = {"key": key, "reply": str(result.generations[0].text)}
        with self.notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return result


def asked_again(messages: Sequence[Any]) -> bool:
    """Whether the request follows a reply that could not be used."""
    return any(message.type == "ai" for message in messages)


def replies_in(notes: Path) -> dict[str, str]:
    """Replies by key; of several to one question the last, since that is the one that could be read."""
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    return {line["key"]: line["reply"] for line in map(json.loads, lines)}


def main() -> None:
    """Run the demo's topic against the model and write the recording."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", required=True, type=Path, help="an empty folder; the recording's own")
    parser.add_argument("--model", required=True, help="any litellm name")
    parser.add_argument("--name", required=True, help="how reports name the model")
    parser.add_argument("--note", help="what a reader should know of how the answers come about")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--api-base")
    asked = parser.parse_args()
    header = RecordingHeader(
        topic=asked.topic,
        model=asked.name,
        note=asked.note,
        created=datetime.now(UTC).date().isoformat(),
        version=__version__,
        prompts={},
    )
    model = model_name(header)
    settings = {**demo_settings(model, asked.home), "api_base": asked.api_base, "timeout": 3600.0}
    notes = asked.home / "answers.partial.jsonl"
    asked.home.mkdir(parents=True, exist_ok=True)
    chat = RecordingChat(model=asked.model, settings=load_settings(**settings), notes=notes)
    request = Request(topic=asked.topic, options=OPTIONS, settings=settings, out=asked.home / "run")
    if run(request, {model: chat}) != 0:
        raise SystemExit("The run did not end: the same command goes on.")
    replies = replies_in(notes)
    used = {name: load_prompt(name).hash for name in sorted(ROLES)}
    Recording(header.model_copy(update={"prompts": used}), replies).write(recording_folder())
    with closing(sqlite3.connect(asked.home / "cache" / CACHE_FILE)) as cache:
        write_vectors(recording_folder(), cache.execute("SELECT key, vector FROM vectors"))
    print(f"{len(replies)} answers in {recording_folder()}. Now: ideagora demo")


if __name__ == "__main__":
    main()
