"""Records the run that ``ideagora demo`` replays. Not a benchmark; needs a model.

    python -m bench.record_demo --home FOLDER --model openai/gpt-4o --name "GPT-4o (OpenAI)" \
        --api-base http://127.0.0.1:8790/v1

Run the same command again to resume. The new recording replaces the old one.
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

from pydantic import Field

from ideagora import __version__
from ideagora.agents.role import ROLES
from ideagora.commands.demo import OPTIONS, demo_settings, model_name, recording_folder
from ideagora.commands.generate import Request, run
from ideagora.config import load_settings
from ideagora.models.cache.recording import Recording, RecordingHeader, answer_key
from ideagora.models.chat_models import ScriptedChatModel
from ideagora.models.embeddings.cache import CACHE_FILE
from ideagora.models.embeddings.vector_files import write_vectors
from ideagora.models.transport.litellm_chat import LiteLLMChatModel


class RecordingChat(LiteLLMChatModel):
    """Calls a model and records each answer. Recorded requests are not sent again."""

    notes: Path
    used: set[str] = Field(default_factory=set)
    """Keys of the answers that the run asked for."""

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        key = answer_key(kwargs["role"], kwargs["inputs"])
        self.used.add(key)
        if not follows_bad_reply(args[0]) and (reply := replies_in(self.notes).get(key)) is not None:
            return await ScriptedChatModel(replies=lambda call: reply)._agenerate(*args, **kwargs)
        result = await super()._agenerate(*args, **kwargs)
        line = {"key": key, "reply": str(result.generations[0].text)}
        with self.notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return result


def follows_bad_reply(messages: Sequence[Any]) -> bool:
    """Return whether the request follows a reply that could not be used."""
    return any(message.type == "ai" for message in messages)


def replies_in(notes: Path) -> dict[str, str]:
    """Return replies by key; of several the last, which is the one that could be parsed."""
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    return {line["key"]: line["reply"] for line in map(json.loads, lines)}


def main() -> None:
    """Run the demo's topic with the model, and write the recording."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", required=True, type=Path, help="an empty folder for this recording")
    parser.add_argument("--model", required=True, help="any litellm name")
    parser.add_argument("--name", required=True, help="name of the model in reports")
    parser.add_argument("--note", help="note on how the answers were made")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--api-base")
    arguments = parser.parse_args()
    header = RecordingHeader(
        topic=arguments.topic,
        model=arguments.name,
        note=arguments.note,
        created=datetime.now(UTC).date().isoformat(),
        version=__version__,
        prompts={},
    )
    model = model_name(header)
    settings = demo_settings(model, arguments.home)
    settings |= {"api_base": arguments.api_base, "timeout": 3600.0}
    notes = arguments.home / "answers.partial.jsonl"
    arguments.home.mkdir(parents=True, exist_ok=True)
    chat = RecordingChat(model=arguments.model, settings=load_settings(**settings), notes=notes)
    request = Request(topic=arguments.topic, options=OPTIONS, settings=settings, out=arguments.home / "run")
    if run(request, {model: chat}) != 0:
        raise SystemExit("The run did not finish: run the same command again to resume.")
    replies = {key: reply for key, reply in replies_in(notes).items() if key in chat.used}
    hashes = {name: role.prompt.hash for name, role in sorted(ROLES.items())}
    Recording(header.model_copy(update={"prompts": hashes}), replies).write(recording_folder())
    with closing(sqlite3.connect(arguments.home / "cache" / CACHE_FILE)) as cache:
        write_vectors(recording_folder(), cache.execute("SELECT key, vector FROM vectors"))
    print(f"{len(replies)} answers in {recording_folder()}. Now: ideagora demo")


if __name__ == "__main__":
    main()
