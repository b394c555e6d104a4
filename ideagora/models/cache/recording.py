"""Record the answers of a run and replay them: ``ideagora demo`` needs no key and no network.

A recording is a folder with ``answers.jsonl`` (a header line, then one line per answer), ``vectors.keys``
and ``vectors.f32`` (the run's embeddings, except those that ship with the package). Answers are keyed by
role and typed inputs, not by the rendered prompt, so a recording stays usable when a prompt is reworded.
The header has the hashes of the prompts that were answered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from ideagora.errors import ReplayMiss
from ideagora.schema import Record

if TYPE_CHECKING:
    from ideagora.models.chat_models import ScriptedCall
    from ideagora.models.embeddings.cache import VectorCache

PREFIX = "recorded/"
"""Prefix of the model name of ideas generated from a recording."""
ANSWERS_FILE = "answers.jsonl"


class RecordingHeader(Record):
    """The first line of a recording."""

    topic: str
    model: str
    """The model that answered, as shown in reports."""
    note: str | None = None
    """How the answers were obtained, for readers."""
    created: str
    """Date of the recording, ISO 8601."""
    version: str
    """Version of ideagora that made the recording."""
    prompts: dict[str, str]
    """Hash of each role's prompt at that time."""


class Recording:
    """The answers of one run by role and inputs."""

    def __init__(self, header: RecordingHeader, replies: Mapping[str, str]) -> None:
        self.header = header
        self.replies = dict(replies)

    @classmethod
    def read(cls, folder: Path) -> Recording:
        """Read the recording in a folder."""
        first, *lines = (folder / ANSWERS_FILE).read_text(encoding="utf-8").splitlines()
        replies = {line["key"]: line["reply"] for line in map(json.loads, lines)}
        return cls(RecordingHeader.model_validate_json(first), replies)

    def write(self, folder: Path) -> None:
        """Write the header and the answers, in the order in which they were given."""
        lines = [self.header.model_dump_json()]
        lines += [
            json.dumps({"key": key, "reply": reply}, ensure_ascii=False)
            for key, reply in self.replies.items()
        ]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ANSWERS_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def reply(self, call: ScriptedCall) -> str:
        """The recorded answer to a call; can be passed to ``ScriptedChatModel`` as ``replies``.

        Raises:
            ReplayMiss: there is no answer for this role and these inputs.
        """
        recorded = self.replies.get(answer_key(call.role or "", call.inputs))
        if recorded is None:
            raise ReplayMiss(
                f"the recording of ideagora {self.header.version} has no answer for the role {call.role}: "
                'this version makes other calls. Start your own run: ideagora generate "your topic".'
            )
        return recorded

    def changed_prompts(self, prompts: Mapping[str, str]) -> list[str]:
        """Roles whose prompts have changed since the recording."""
        then = self.header.prompts
        return sorted(role for role in then if role in prompts and prompts[role] != then[role])


def answer_key(role: str, inputs: BaseModel | None) -> str:
    """Key of a recorded answer: SHA-256 of the role and its inputs, in hex.

    Inputs with their default value are left out, so that a new optional one keeps the answers without it.
    """
    fields = None if inputs is None else inputs.model_dump(mode="json", exclude_defaults=True)
    canonical = json.dumps([role, fields], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def load_vectors(folder: Path, embedder: str, cache: VectorCache) -> None:
    """Load a recording's vectors into a vector cache, so that no embedding model is needed."""
    from ideagora.models.embeddings.vector_files import read_vectors

    cache.put(embedder, {key: row.tobytes() for key, row in read_vectors(folder).items()})
