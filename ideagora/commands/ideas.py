"""Runs ``ideagora ideas``: imports ideas made by other systems, lists and shows them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from filelock import FileLock
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ideagora.config import SettingOverrides, load_settings
from ideagora.errors import IdeagoraError, IdeasFileError, UsageError
from ideagora.graphs.files import folder_error, make_private, write_atomically
from ideagora.importing import Imported, Problem, find_ideas, read_all, read_ideas
from ideagora.importing.formats import FORMATS
from ideagora.importing.idea_ids import CollectedIdeas
from ideagora.importing.storage import is_valid_name, stored_file, stored_names
from ideagora.registry import AGENTS
from ideagora.report.console import cell, plain, print_error
from ideagora.schema import Idea

_MOST_RENAMED = 5
_MOST_SHOWN = 50
"""Maximum lines on the screen; ``--json`` lists all."""


@dataclass(frozen=True)
class Request:
    """The parsed command line of ``ideas import``."""

    files: tuple[Path, ...]
    name: str | None
    topic: str | None
    out: Path | None
    as_json: bool
    settings: SettingOverrides
    with_seeds: bool = False


def import_ideas(request: Request) -> int:
    """Import files under a name; return 1 if no idea was imported."""
    return _exit_code(lambda errors: _import_ideas(request, errors))


def list_names(settings: SettingOverrides, as_json: bool) -> int:
    """List the names of imported ideas."""
    return _exit_code(lambda errors: _list_names(load_settings(**settings).home, as_json))


def show(name: str, idea: str | None, topic: str | None, settings: SettingOverrides, as_json: bool) -> int:
    """List the ideas of a name or file, or show one in full."""
    return _exit_code(lambda errors: _show(name, idea, topic, load_settings(**settings).home, as_json))


def list_formats(as_json: bool) -> int:
    """List the supported file formats."""
    rows = [{"name": format.name, "about": format.about, "looks_for": format.looks_for} for format in FORMATS]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
        return 0
    _print_table(Console(), ("format", "written by", "detected by"), [tuple(row.values()) for row in rows])
    return 0


def _exit_code(work: Callable[[Console], int]) -> int:
    errors = Console(stderr=True)
    try:
        return work(errors)
    except KeyboardInterrupt:
        errors.print("\nStopped. Nothing was changed.")
        return 130
    except IdeagoraError as error:
        print_error(errors, str(error))
        return error.exit_code


# --- import -----------------------------------------------------------------------------------


def _import_ideas(request: Request, errors: Console) -> int:
    home = load_settings(**request.settings).home
    if request.name is not None:
        _check_name(request.name, home)
    if request.topic is not None and not request.topic.strip():
        raise UsageError("--topic is empty: name the topic of the ideas in a few words.")
    imported = read_all(request.files, agent=request.name, topic=request.topic, with_seeds=request.with_seeds)
    name = request.name or _default_name(imported)
    path = request.out or stored_file(home, name)
    imported, new, same = _add_to_file(path, imported) if imported.ideas else (imported, 0, 0)
    if request.as_json:
        print(json.dumps(_to_json(imported, name, path, new, same), ensure_ascii=False))
        return 0 if imported.ideas else 1
    _print_problems(imported.problems, errors)
    if not imported.ideas:
        print_error(
            errors, f"no idea could be imported from {', '.join(str(file) for file in request.files)}."
        )
        return 1
    for line in _summary(imported, name, path, new, same, is_kept=request.out is None):
        Console().print(Text(plain(line)), soft_wrap=True)
    return 0


def _default_name(imported: Imported) -> str:
    """Return the name of the only agent, if it is a valid file name, else that of the format."""
    agents = {idea.agent for idea in imported.ideas}
    name = agents.pop() if len(agents) == 1 else ""
    return name if is_valid_name(name) else imported.kind.partition(",")[0]


def _check_name(name: str, home: Path) -> None:
    stored_file(home, name)
    if name in AGENTS:
        raise UsageError(
            f"--as is {name!r}, the name of a built-in agent. Choose another name, so that an arena "
            "can distinguish the two."
        )


def _add_to_file(path: Path, imported: Imported) -> tuple[Imported, int, int]:
    """Add ideas to a file, each once; return them with their ids, and the numbers of new and known ones."""
    renamed, outcomes = dict(imported.renamed), Counter[str]()
    ideas = []
    try:
        make_private(path.parent)
        with FileLock(path.with_name(f".{path.name}.lock")):
            held = _read_existing(path)
            there = CollectedIdeas(held)
            for idea in imported.ideas:
                placed, outcome = there.add(idea)
                ideas.append(placed)
                outcomes[outcome] += 1
                if outcome == "renamed":
                    renamed[placed.id] = renamed.pop(idea.id, idea.id)
            if list(there.by_id.values()) != list(held):
                lines = (f"{idea.model_dump_json()}\n" for idea in there.by_id.values())
                write_atomically(path, "".join(lines))
    except OSError as error:
        raise folder_error(path, error) from None
    stored = replace(imported, ideas=tuple(ideas), renamed=renamed)
    return stored, outcomes["new"] + outcomes["renamed"], outcomes["same"]


def _read_existing(path: Path) -> tuple[Idea, ...]:
    if not path.exists() or not path.stat().st_size:
        return ()
    held = read_ideas(path)
    if held.kind != "ideagora" or held.problems:
        why = str(held.problems[0]) if held.problems else f"it holds {held.kind}"
        raise IdeasFileError(
            f"{path} exists and is not a file of imported ideas ({why}). Choose another --out."
        )
    return held.ideas


def _to_json(imported: Imported, name: str, path: Path, new: int, same: int) -> dict[str, Any]:
    return {
        "name": name,
        "kind": imported.kind,
        "file": str(path) if imported.ideas else None,
        "imported": len(imported.ideas),
        "new": new,
        "same": same,
        "topics": len({idea.topic for idea in imported.ideas}),
        "agents": sorted({idea.agent for idea in imported.ideas}),
        "renamed": dict(imported.renamed),
        "lacking": _missing_parts(imported.ideas),
        "ideas": [idea.id for idea in imported.ideas],
        "problems": [asdict(problem) for problem in imported.problems],
    }


def _missing_parts(ideas: Sequence[Idea]) -> dict[str, int]:
    """Return how many ideas lack each part because their source has none."""
    lacks = {part: sum(getattr(idea, part) is None for idea in ideas) for part in _PARTS}
    titles = sum("title_from" in idea.extra.get("imported", {}) for idea in ideas)
    return {"title": titles, **lacks}


_PARTS = ("motivation", "novelty", "experiment")


def _summary(imported: Imported, name: str, path: Path, new: int, same: int, *, is_kept: bool) -> list[str]:
    ideas, lacking = imported.ideas, _missing_parts(imported.ideas)
    topics, agents = len({idea.topic for idea in ideas}), sorted({idea.agent for idea in ideas})
    names = f"{', '.join(agents[:3])}{' …' * (len(agents) > 3)}"
    made = names if len(agents) == 1 else f"{len(agents)} agents ({names})"
    lines = [
        f"Ideas: {len(ideas)} from {imported.kind}, {new} new, {same} already imported; "
        f"{_plural(topics, 'topic')}, by {made}.",
    ]
    lacks = [f"{number} without {part}" for part, number in lacking.items() if number]
    if lacks:
        note = " (a missing title is replaced by the first words of the text)"
        lines.append(f"Missing in the source: {', '.join(lacks)}{note if lacking['title'] else ''}.")
    if imported.renamed:
        lines.append(_renamed_line(imported.renamed))
    if imported.problems:
        lines.append(f"Skipped: {_plural(len(imported.problems), 'record')}, see above.")
    lines.append(f"Saved in {path}")
    lines.append(f"To show them: ideagora ideas show {name if is_kept else path}")
    return lines


def _renamed_line(renamed: Mapping[str, str]) -> str:
    listed = ", ".join(f"{old} → {new}" for new, old in list(renamed.items())[:_MOST_RENAMED])
    more = f" and {len(renamed) - _MOST_RENAMED} more" if len(renamed) > _MOST_RENAMED else ""
    number = len(renamed)
    has = "idea has" if number == 1 else "ideas have"
    return f"{number} {has} the id of a different idea and got a new one: {listed}{more}."


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _print_problems(problems: Sequence[Problem], errors: Console) -> None:
    if not problems:
        return
    shown = problems[:_MOST_SHOWN]
    cells = [(problem.file, problem.row or "", problem.field or "", problem.why) for problem in shown]
    _print_table(errors, ("file", "row", "field", "reason"), cells)
    if len(problems) > _MOST_SHOWN:
        errors.print(f"… and {len(problems) - _MOST_SHOWN} more; --json lists all.", highlight=False)


def _print_table(console: Console, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(*names, box=None, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*(Text(cell(value), overflow="fold") for value in row))
    console.print(table)


# --- list and show ----------------------------------------------------------------------------


def _list_names(home: Path, as_json: bool) -> int:
    rows = [_name_row(name, stored_file(home, name)) for name in stored_names(home)]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
    elif rows:
        cells = [[str(row[name]) for name in ("name", "ideas", "topics")] for row in rows]
        _print_table(Console(), ("name", "ideas", "topics"), cells)
        Console().print(Text(f"In {stored_file(home, 'NAME').parent}"), soft_wrap=True)
    else:
        Console().print(
            "No ideas imported yet. Import some with: ideagora ideas import FILE --as NAME", highlight=False
        )
    return 0


def _name_row(name: str, path: Path) -> dict[str, Any]:
    ideas = read_ideas(path).ideas
    topics, agents = {idea.topic for idea in ideas}, {idea.agent for idea in ideas}
    figures = {"ideas": len(ideas), "topics": len(topics), "agents": sorted(agents)}
    return {"name": name, **figures, "file": str(path)}


def _show(name: str, idea: str | None, topic: str | None, home: Path, as_json: bool) -> int:
    path = find_ideas(name, home)
    ideas = read_ideas(path, topic=topic).ideas
    if idea is not None:
        ideas = tuple(candidate for candidate in ideas if candidate.id.startswith(idea))
        if not ideas:
            raise IdeasFileError(
                f"{name} has no idea whose id starts with {idea!r}. List them: ideagora ideas show {name}."
            )
    if as_json:
        print(json.dumps([shown.model_dump(mode="json") for shown in ideas], ensure_ascii=False))
    elif idea is not None:
        _print_idea(Console(), ideas[0])
    else:
        cells = [
            (row.id, row.agent, shorten(row.topic, 60, placeholder=" …"), row.title)
            for row in ideas[:_MOST_SHOWN]
        ]
        _print_table(Console(), ("id", "by", "topic", "title"), cells)
        if len(ideas) > _MOST_SHOWN:
            Console().print(f"… and {len(ideas) - _MOST_SHOWN} more; --json lists all.", highlight=False)
    return 0


def _print_idea(console: Console, idea: Idea) -> None:
    """Print an idea in full."""
    plan = idea.experiment
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(plan.steps, 1)) if plan else None
    scores = idea.extra.get("scores")
    parts = {
        "Topic": idea.topic,
        "By": idea.agent,
        "Motivation": idea.motivation,
        "Novelty": idea.novelty,
        "Method": idea.method,
        "Experiment": steps,
        "Risks": "\n".join(plan.risks) if plan else None,
        "Original scores": json.dumps(scores, ensure_ascii=False) if scores else None,
    }
    console.print(Text(plain(idea.title), style="bold"), "", sep="\n")
    for name, text in parts.items():
        if text:
            console.print(Text(name, style="bold"), Padding(Text(plain(text)), (0, 0, 1, 2)), sep="\n")
