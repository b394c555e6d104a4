"""Requests to models in canonical form. The hash of a request is its key in the cache."""

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
"""Part of every key: increase it when the meaning of a request or of a stored answer changes."""
MAX_ECHO = 8_000
"""Maximum characters of an unreadable reply that are sent back with the correction."""

FREE_TEXT = "null"
"""The schema of a call whose answer is the whole reply."""

Message = tuple[str, str]
"""Role (``system``, ``user``, ``assistant``) and text."""


@dataclass(frozen=True)
class Request:
    """One request to one model, without what cannot change the answer (keys, timeouts)."""

    model: str
    api_base: str | None
    messages: tuple[Message, ...]
    schema: str
    """JSON schema of the answer, fields in the order of definition; ``null``: free text."""
    temperature: float | None
    sample: int
    seed: int = 0
    """The run's seed: another seed gives another sample of every answer."""
    offline: str | None = None
    """For the offline model: what its answer depends on besides the messages."""
    token_probabilities: bool = False
    """Part of the key only where it is set."""
    retry: int = 0
    """How many times failed runs have repeated the request (``cache/retry_failed.py``)."""

    @property
    def key(self) -> str:
        """SHA-256 of the canonical JSON, in hex."""
        fields = {"format": FORMAT, **vars(self), "schema": _canonical(json.loads(self.schema))}
        retry = fields.pop("retry")
        if not self.token_probabilities:
            del fields["token_probabilities"]
        if retry:
            fields["asking"] = retry
        return hashlib.sha256(_canonical(fields).encode()).hexdigest()

    @property
    def characters(self) -> int:
        """Total length of the messages."""
        return sum(len(text) for _, text in self.messages)

    def with_correction(self, reply: str, complaint: str) -> Request:
        """The same request after an unusable reply, with the reply and what is wrong with it."""
        if self.schema == FREE_TEXT:
            again = f"Your reply could not be used: {_one_line(complaint)}. Answer the same task again."
            return replace(self, messages=(*self.messages, ("assistant", _clip(reply)), ("user", again)))
        correction = (
            f"Your reply could not be used: {_one_line(complaint)}. Answer the same task again with one "
            "complete JSON object and nothing else: repeat every field, fix what is named here and keep "
            f"the rest unchanged. The object must fit this JSON schema:\n{self.schema}"
        )
        return replace(self, messages=(*self.messages, ("assistant", _clip(reply)), ("user", correction)))


def build_request(call: Call[A], settings: Settings, cutoff: str | None = None) -> Request:
    """The first request of a call, to the settings' model for its group.

    Args:
        call: the call.
        settings: model, server, temperature, seed.
        cutoff: the date from which on the model must not use what it knows; ``None``: there is none.
    """
    model = call.model or settings.model_of(call.group)
    server = settings.server_of(model)
    known_until = cutoff_instruction(cutoff) if cutoff and model != "offline" else ""
    instructions = "\n\n".join(part for part in (call.system, known_until) if part)
    system: tuple[Message, ...] = (("system", instructions),) if instructions else ()
    return Request(
        model=model,
        api_base=None if server is None else server_address(server),
        messages=(*system, ("user", call.prompt)),
        schema=schema_text(call.answer),
        temperature=call.temperature if settings.temperature is None else settings.temperature,
        sample=call.sample,
        seed=settings.seed,
        offline=_offline_state(call, settings) if model == "offline" else None,
        token_probabilities=call.token_probabilities,
    )


def cutoff_instruction(cutoff: str) -> str:
    """What a model is told about the cut-off date; the titles of excluded papers are never named."""
    return (
        f"Write as of {cutoff}. You may remember methods, results, data sets or publications from {cutoff} "
        "or later: use none of them and do not mention them. What this message itself shows may be used."
    )


@cache
def schema_text(answer: type[BaseModel]) -> str:
    """The JSON schema of an answer type, as compact JSON with fields in the order of definition."""
    if issubclass(answer, FreeText):
        return FREE_TEXT
    return json.dumps(answer.model_json_schema(), ensure_ascii=False, separators=(",", ":"))


def _offline_state(call: Call[Any], settings: Settings) -> str:
    """Inputs, embedder and code: a newer version must not get the cached answers of an older one."""
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
    """The address of the server, without a login and a trailing slash."""
    scheme, separator, rest = api_base.partition("://")
    host, slash, path = rest.partition("/")
    return redact_keys(f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}".rstrip("/"))


def _one_line(complaint: str) -> str:
    """A complaint may quote papers and the reply, which must not look like parts of the prompt."""
    return " ".join(complaint.replace("<", " ").replace(">", " ").split())


def _clip(reply: str) -> str:
    if not reply.strip():
        return "(an empty reply)"  # some providers reject empty messages
    if len(reply) <= MAX_ECHO:
        return reply
    half = MAX_ECHO // 2
    return f"{reply[:half]}\n[…]\n{reply[-half:]}"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
