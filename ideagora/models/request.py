"""What is asked of a model, in canonical form: its hash is the cache's key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ideagora.config import Settings
from ideagora.models.call import A, Call, FreeText
from ideagora.models.offline.handler_code import handler_files
from ideagora.models.redact import redact_keys

FORMAT = 1
"""Part of every key: raise it when the meaning of a request or of a stored answer changes."""
LONGEST_ECHO = 8_000
"""Characters of an unreadable reply that the model is shown again."""

FREE_TEXT = "null"
"""Stands for the schema where the whole reply is the answer."""

Message = tuple[str, str]
"""Role (``system``, ``user``, ``assistant``) and text."""


@dataclass(frozen=True)
class Request:
    """One question to one model, without what can't change the answer (keys, timeouts)."""

    model: str
    api_base: str | None
    messages: tuple[Message, ...]
    schema: str
    """JSON schema of the answer, fields in the order of their definition; ``null``: free text."""
    temperature: float | None
    sample: int
    seed: int = 0
    """The run's seed: another seed is another sample of every answer."""
    offline: str | None = None
    """For the offline model: what its answer depends on besides the messages."""
    asking: int = 0
    """How many times a failed run has asked anew (``asking_anew.py``); in the key from 1 on."""

    @property
    def key(self) -> str:
        """SHA-256 of the canonical JSON, in hex."""
        schema = _canonical(json.loads(self.schema))
        told = {"format": FORMAT, **vars(self), "schema": schema}
        if not self.asking:
            del told["asking"]
        return hashlib.sha256(_canonical(told).encode()).hexdigest()

    @property
    def characters(self) -> int:
        """Length of all messages."""
        return sum(len(text) for _, text in self.messages)

    def asked_again(self, reply: str, complaint: str) -> Request:
        """The same question after a reply that could not be used, with what was wrong with it."""
        if self.schema == FREE_TEXT:
            again = f"Your reply could not be used: {_one_line(complaint)}. Answer the same task again."
            return replace(self, messages=(*self.messages, ("assistant", _clipped(reply)), ("user", again)))
        correction = (
            f"Your reply could not be used: {_one_line(complaint)}. Answer the same task again with one "
            "complete JSON object and nothing else: repeat every field, mend what is named here and keep "
            f"the rest as it was. The object has to fit this JSON schema:\n{self.schema}"
        )
        said: tuple[Message, ...] = (("assistant", _clipped(reply)), ("user", correction))
        return replace(self, messages=self.messages + said)


def build_request(call: Call[A], settings: Settings) -> Request:
    """The first request of a call, under the settings' model for its group."""
    model = call.model or settings.model_of(call.group)
    server = settings.server_of(model)
    offline = model == "offline"
    system: tuple[Message, ...] = (("system", call.system),) if call.system else ()
    return Request(
        model=model,
        api_base=None if server is None else server_address(server),
        messages=(*system, ("user", call.prompt)),
        schema=schema_text(call.answer),
        temperature=call.temperature if settings.temperature is None else settings.temperature,
        sample=call.sample,
        seed=settings.seed,
        offline=_offline_state(call, settings) if offline else None,
    )


@cache
def schema_text(answer: type[BaseModel]) -> str:
    """The JSON schema of a typed answer, as compact JSON in the order of definition."""
    if answer is FreeText:
        return FREE_TEXT
    return json.dumps(answer.model_json_schema(), ensure_ascii=False, separators=(",", ":"))


def _offline_state(call: Call[Any], settings: Settings) -> str:
    """Inputs, embedder and code: a newer engine must not be answered from an older one's cache."""
    code = _code_hash(call.handler)
    return _canonical(
        {"inputs": call.inputs.model_dump(mode="json"), "embedder": settings.embedder, "code": code}
    )


@cache
def _code_hash(handler: Callable[..., Any]) -> str:
    files = sorted((Path(__file__).parent / "offline").glob("*.py"))
    code = getattr(handler, "__code__", None)
    name = f"{getattr(handler, '__qualname__', type(handler))}:{getattr(code, 'co_firstlineno', '')}"
    digest = hashlib.sha256(name.encode())
    for file in dict.fromkeys([*files, *handler_files(handler)]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def server_address(api_base: str) -> str:
    """The server without a login and a trailing slash: another server may answer otherwise."""
    scheme, separator, rest = api_base.partition("://")
    host, slash, path = rest.partition("/")
    return redact_keys(f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}".rstrip("/"))


def _one_line(complaint: str) -> str:
    """A complaint may quote papers and the reply: they must not look like parts of the prompt."""
    return " ".join(complaint.replace("<", " ").replace(">", " ").split())


def _clipped(reply: str) -> str:
    if not reply.strip():
        return "(an empty reply)"  # some providers refuse empty messages
    if len(reply) <= LONGEST_ECHO:
        return reply
    half = LONGEST_ECHO // 2
    return f"{reply[:half]}\n[…]\n{reply[-half:]}"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
