"""Damaged answers of services and models, and damaged files: what readers and commands make of them."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ideagora.errors import IdeagoraError, UsageError
from ideagora.importing import read_ideas
from ideagora.retrieval.ingest.read_file import read_file
from tests.faults.outcome import Outcome, bad_end, first_line
from tests.faults.worlds import SMALL, TOPIC, new_home, run
from tests.support import command, idea_files, local_files, standin
from tests.support.literature_server import LiteratureServer, ReceivedRequest, Work
from tests.support.loopback import Answer, Body, Fault, Loopback, Reply, completion
from tests.support.mutations import damaged, rewritten
from tests.support.services import SOURCES, damaged_bodies, reading_errors, samples

SEED = 1_000
"""Other damage than the suite's."""
BODIES = 120
FILES = 300
"""Damaged versions of each sample; of PDFs a tenth, since each is read in a process of its own."""
COMMANDS = 6
"""Whole commands whose model gives damaged answers; half as many with a damaged literature service."""
BIBTEX = b"@misc{a, title = {Planks of oak}, author = {Doe, J. and Roe, R.}, year = 2020, doi = {10.1/x}}\n"
RIS = b"TY  - JOUR\nTI  - Planks of oak\nAU  - Doe, J.\nPY  - 2020/02/01\nDO  - 10.1/x\nER  - \n"
RECORD: dict[str, Any] = {
    "title": "Planks of oak", "authors": ["A. Doe"], "date": "2020-02", "abstract": "Long.",
    "citation_count": 3, "references": ["doi:10.1/y"],
}  # fmt: skip


def services(place: Path) -> Iterator[Outcome]:
    """Every kind of answer of every literature service, read directly."""
    for name in SOURCES:
        for kind, sample in samples(name).items():
            wrong, count = [], 0
            for number, changed in enumerate(damaged_bodies(name, sample, SEED, BODIES)):
                wrong += asyncio.run(reading_errors(name, kind, changed, place / f"{name} {kind} {number}"))
                count += len(changed)
            yield _outcome(f"services: {name}, {kind}", wrong, count)


def files(place: Path) -> Iterator[Outcome]:
    """Papers and ideas in every form of file, read directly."""
    place.mkdir(parents=True, exist_ok=True)
    for name, (changed, reader) in _files().items():
        wrong, file = [], place / name
        for content in changed:
            file.write_bytes(content)
            try:
                with suppress(IdeagoraError):
                    reader(file)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is what is wrong
                wrong.append(f"{type(error).__name__}: {error}"[:160])
        yield _outcome(f"files: {name}", wrong, len(changed))


def _files() -> dict[str, tuple[list[bytes], Callable[[Path], None]]]:
    papers = {"a.bib": BIBTEX, "a.ris": RIS, "a.pdf": local_files.article()}
    found: dict[str, tuple[list[bytes], Callable[[Path], None]]] = {
        name: (list(damaged(sample, SEED, FILES // 10 if name == "a.pdf" else FILES)), _read_papers)
        for name, sample in papers.items()
    }
    found["a.jsonl"] = (_changed_json(RECORD), _read_papers)
    found["a.json"] = (_changed_json([{"title": "Planks", "DOI": "10.1/x", "issued": {}}]), _read_papers)
    forms = {name: value for name, value in vars(idea_files).items() if name.isupper() and value}
    for name, value in forms.items():
        if isinstance(value, dict):
            found[f"ideas {name.lower()}.json"] = (_changed_json(value), _read_ideas)
    return found


def _changed_json(sample: Any) -> list[bytes]:
    changed = [text.encode("utf-8", "surrogatepass") for text in rewritten(sample, SEED, FILES)]
    return changed + list(damaged(json.dumps(sample).encode(), SEED, FILES))


def _read_papers(file: Path) -> None:
    for found in read_file(file):
        found.model_dump_json().encode("utf-8")


def _read_ideas(file: Path) -> None:
    for idea in read_ideas(file, agent="a", topic="t").ideas:
        idea.model_dump_json().encode("utf-8")


@dataclass
class Damaging(LiteratureServer):
    """Every second answer of the services is damaged."""

    chance: random.Random = field(default_factory=lambda: random.Random(0))

    def answer(self, request: ReceivedRequest) -> tuple[int, bytes]:
        """As the service answers, or nearly."""
        status, body = super().answer(request)
        return (status, body) if self.chance.random() < 0.5 else (status, _one(body, self.chance))


def commands(place: Path) -> Iterator[Outcome]:
    """``generate`` with a literature service, then a model, whose answers are damaged."""
    works = tuple(
        Work(f"w{n}", f"{side} for {TOPIC}", f"We study {side}.", "2023-01-02", cited=n, cites=(f"w{n + 1}",))
        for n, side in enumerate(standin.SIDES)
    )
    for seed in range(COMMANDS // 2):
        with Damaging(works, chance=random.Random(seed)) as server:
            more: tuple[str, ...] = ("--source", "openalex", "--agent", "rag")
            yield _ended(f"commands: openalex, seed {seed}", place, more, server.url("openalex"))
    for seed in range(COMMANDS):
        with Loopback(standin.Model(_Mangled(seed))) as server:
            more = ("--model", "openai/standin", "--api-base", server.base, *SMALL)
            yield _ended(f"commands: model, seed {seed}", place, more)


class _Mangled:
    """Replies of the stand-in, of which every fourth is damaged inside and every sixth as a whole."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def __call__(self, body: Body) -> Answer:
        text, kind = standin.answer(body), self._chance.random()
        if kind < 1 / 6:
            whole = json.dumps(completion(body, Reply(text))).encode()
            return Fault(garbage=_one(whole, self._chance))
        if kind < 5 / 12:
            return Reply(_one(text.encode(), self._chance).decode("utf-8", "replace"))
        return text


def _one(body: bytes, chance: random.Random) -> bytes:
    return next(damaged(body, chance.randrange(2**32), 1))


def _ended(case: str, place: Path, more: tuple[str, ...], openalex: str | None = None) -> Outcome:
    folder = place / "command"
    shutil.rmtree(folder, ignore_errors=True)
    new_home(folder)
    arguments = ("generate", TOPIC, "--json", "--out", "run", *more)
    env = {} if openalex is None else {"IDEAGORA_OPENALEX_URL": openalex}
    try:
        done = run(folder, arguments, **env)
    except AssertionError as error:
        return Outcome(case, "HANGS", 0, str(error)[:160])
    return Outcome(case, bad_end(done) or _verdict(done), 0, first_line(done.err))


def _verdict(done: command.Done) -> str:
    if done.code == UsageError.exit_code:
        return "NOT TRIED"
    if done.code != 0:
        return "said"
    with suppress(ValueError, KeyError, TypeError):
        return "same" if json.loads(done.out)["ideas"] else "NO IDEA AND NO WORD"
    return "NO JSON ON STDOUT"


def _outcome(case: str, wrong: list[str], count: int) -> Outcome:
    if wrong:
        return Outcome(case, f"{len(wrong)} OF {count} WRONG", 0, wrong[0], count)
    return Outcome(case, "same", 0, "", count)
