"""``ideagora vote``: exports blind ballots from an arena and imports the votes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ideagora.errors import IdeagoraError, UsageError
from ideagora.evaluators.agreement.ballot_files import ballot_rows, ballot_text, read_ballot_rows
from ideagora.evaluators.agreement.ballots import (
    Ballot,
    BallotCount,
    choose_pairs,
    collect_pairs,
    count_ballots,
    deal_ballots,
)
from ideagora.evaluators.arena.folder import as_judged
from ideagora.evaluators.judging.verdict_files import read_verdicts, verdict_lines
from ideagora.graphs.files import folder_error, write_atomically
from ideagora.report.console import plain, print_error
from ideagora.schema import Idea

VOTES = "votes"
"""Folder of keys and votes in the arena's folder."""
_MAX_REPORTED = 20


def export(folder: Path, voter: str, out: Path | None, number: int, seed: int, as_json: bool = False) -> int:
    """Write a ballot file for one voter; returns the exit code."""
    return _exit_code(lambda: _export(folder, voter, out, number, seed, as_json))


def import_(folder: Path, file: Path, voter: str, as_json: bool = False) -> int:
    """Import a filled-in ballot file; returns the exit code."""
    return _exit_code(lambda: _import(folder, file, voter, as_json))


def _exit_code(work: Callable[[], int]) -> int:
    try:
        return work()
    except IdeagoraError as error:
        print_error(Console(stderr=True), str(error))
        return error.exit_code


def _export(folder: Path, voter: str, out: Path | None, number: int, seed: int, as_json: bool) -> int:
    name, ideas = _voter(voter), _ideas(folder)
    pairs = [
        pair
        for pair in collect_pairs(read_verdicts(folder))
        if all(idea_id in ideas for idea_id in pair.subject)
    ]
    if not pairs:
        raise UsageError(f"{folder} has no pair to vote on. Run: ideagora arena … --out {folder}")
    ballots = deal_ballots(choose_pairs(pairs, number, seed), name, seed)
    path = out or Path(f"ballots-{name}.csv")
    if path.exists():  # it may have been filled in
        raise UsageError(f"{path} exists already. Import it first, or choose another --out.")
    text = ballot_text(ballot_rows(ballots, ideas), path)
    key = {**_key(folder, name), **{ballot.id: ballot for ballot in ballots}}
    _write(folder / VOTES / f"{name}.key.jsonl", "".join(b.model_dump_json() + "\n" for b in key.values()))
    _write(path, text)
    criteria = list(dict.fromkeys(criterion for ballot in ballots for criterion in ballot.criteria))
    if as_json:
        summary = {"file": str(path), "ballots": len(ballots), "pairs": len(pairs), "criteria": criteria}
        print(json.dumps(summary, ensure_ascii=False))
        return 0
    _print(f"Ballots: {len(ballots)} of {len(pairs)} pairs, in {path}.")
    _print(
        f"In the columns {', '.join(criteria)}: 1 if the first is better, 2 if the second is, tie if "
        "neither is; leave a cell empty where you can't say."
    )
    _print(f"Then: ideagora vote import {folder} {path} --voter {name}")
    return 0


def _print(line: str) -> None:
    Console().print(Text(plain(line)), soft_wrap=True)


def _import(folder: Path, file: Path, voter: str, as_json: bool) -> int:
    name = _voter(voter)
    key = _key(folder, name)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}: give the folder of an arena's run.")
    if not key:
        raise UsageError(
            f"no ballots were exported for {name!r} from {folder}. Use the name given to: "
            "ideagora vote export."
        )
    result = count_ballots(read_ballot_rows(file), key, name, first=2 if file.suffix == ".csv" else 1)
    votes = folder / VOTES / f"{name}.jsonl"
    earlier = read_verdicts(votes) if votes.exists() else []
    verdicts = {verdict.id: verdict for verdict in (*earlier, *result.verdicts)}
    if verdicts:
        _write(votes, verdict_lines(verdicts.values()))
    _show(result, len(verdicts), votes, folder, as_json)
    return 0 if result.verdicts else 1


def _show(result: BallotCount, stored: int, votes: Path, folder: Path, as_json: bool) -> None:
    if as_json:
        invalid = [vars(ballot) for ballot in result.invalid]
        summary: dict[str, Any] = {"votes": str(votes), "read": len(result.verdicts), "kept": stored}
        print(json.dumps({**summary, "blank": result.blank, "spoilt": invalid}, ensure_ascii=False))
        return
    errors = Console(stderr=True)
    for one in result.invalid[:_MAX_REPORTED]:
        errors.print(Text(plain(f"row {one.row}, {one.field}: {one.why}.")), soft_wrap=True)
    if len(result.invalid) > _MAX_REPORTED:
        errors.print(f"… and {len(result.invalid) - _MAX_REPORTED} more; --json lists all.")
    _print(f"Votes read: {len(result.verdicts)}; ballots left blank: {result.blank}.")
    if result.verdicts:
        _print(f"Stored: {stored}, in {votes}")
        _print(f"Compare with the judges: ideagora agreement {folder} {votes}")
        _print(f"Rate by people: repeat the arena's command with --out {folder} --votes {votes}")
    else:
        print_error(errors, "no ballot is filled in, so nothing is imported.")


def _voter(voter: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", voter):
        raise UsageError(f"--voter is {voter!r}: up to 40 letters, digits, - and _ (it names a file).")
    return voter


def _ideas(folder: Path) -> Mapping[str, Idea]:
    try:
        lines = (folder / "ideas.jsonl").read_text(encoding="utf-8").split("\n")
        ideas = [as_judged(Idea.model_validate_json(line)) for line in lines if line]
    except (OSError, ValueError):
        raise UsageError(
            f"{folder} has no readable ideas.jsonl: give the folder of an arena's run."
        ) from None
    return {idea.id: idea for idea in ideas}


def _key(folder: Path, voter: str) -> dict[str, Ballot]:
    path = folder / VOTES / f"{voter}.key.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        ballots = [Ballot.model_validate_json(line) for line in lines if line]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise UsageError(f"{path} cannot be read: export the ballots again.") from None
    return {ballot.id: ballot for ballot in ballots}


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    except OSError as error:
        raise folder_error(path.parent, error) from None
