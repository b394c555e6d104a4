"""Peak memory of a benchmark with 3,495 targets, 10 agents and 2 ideas each, from files (target: 1.5 GB).

The measure is the cheapest there is, so that what is measured is the run itself: IdeaBench's embedding
similarity with the hash embedder, 69,900 verdicts without a call of a model.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.process import ideagora
from ideagora.schema import Idea, stable_id

TARGETS, AGENTS, IDEAS, REFERENCES = 3495, 10, 2, 5
TARGET_GB = 1.5
WORDS = "a step that somebody could take with what is there today "
FILES = ("ideas.jsonl", "verdicts.jsonl", "events.jsonl", "checkpoints.sqlite", "results.json")


def main(targets: int = TARGETS) -> None:
    """Print seconds, peak memory and sizes of files, and one JSON line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_data(folder, targets)
        agents = [_write_ideas(folder, agent, targets) for agent in range(AGENTS)]
        options = ["--data", "data", "--only", "embedding", "--protocol", "paper", "--ideas", str(IDEAS)]
        command = ["bench", "ideabench", *agents, *options, "--json", "--quiet", "--out", "run"]
        done = ideagora(*command, home=folder, IDEAGORA_EMBEDDER="hash")
        (result,) = json.loads(done.stdout)["results"]
        sizes = {one: (folder / "run" / one).stat().st_size for one in FILES}
    verdicts = sum(kind["scored"] for kind in result["coverage"])
    peak = done.peak_mib * 2**20 / 1e9
    print(f"{targets:,} targets × {AGENTS} agents × {IDEAS} ideas: {verdicts:,} verdicts")
    print(f"peak memory {peak:.2f} GB (target {TARGET_GB} GB)")
    print(f"{done.seconds:.0f} s, {done.cpu_seconds:.0f} s of them on the processor")
    for one, size in sizes.items():
        print(f"  {one:20} {size / 1e6:8.1f} MB")
    print(json.dumps({"benchmark": "bench_memory", "targets": targets, "verdicts": verdicts,
                      "peak_gb": round(peak, 3), "seconds": round(done.seconds)}))  # fmt: skip


def _write_data(folder: Path, targets: int) -> None:
    """Write a data set of IdeaBench: targets, and five references of each."""
    data = folder / "data"
    data.mkdir()
    rows = [
        {"paperId": f"own:{number}", "title": f"Target paper {number}", "topic": f"topic number {number}",
         "abstract": f"Nobody has done {number}. {WORDS * 20}", "year": 2024}
        for number in range(targets)
    ]  # fmt: skip
    references = [
        {"targetPaperId": f"own:{number}", "paperId": f"own:{number}-{part}", "year": 2020,
         "title": f"Reference {part} of {number}", "abstract": f"It did {part} of {number}. {WORDS * 20}"}
        for number in range(targets) for part in range(REFERENCES)
    ]  # fmt: skip
    tables = {"target_papers": rows, "raw_references": references, "filtered_references": references}
    for name, table in tables.items():
        with (data / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]))
            writer.writeheader()
            writer.writerows(table)


def _write_ideas(folder: Path, agent: int, targets: int) -> str:
    """Write a file with one agent's ideas and return its spec."""
    with (folder / f"agent{agent}.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(f"{idea.model_dump_json()}\n" for idea in _ideas(agent, targets))
    return f"ideas:agent{agent}.jsonl"


def _ideas(agent: int, targets: int) -> Iterator[Idea]:
    for target in range(targets):
        for number in range(IDEAS):
            yield Idea(
                id=stable_id(str(agent), str(target), str(number)),
                topic=f"topic number {target}",
                agent=f"agent {agent}",
                title=f"Idea {number} of {agent} on {target}",
                motivation=f"Idea {number} of {agent} on {target} is wanted. {WORDS * 10}",
                novelty=WORDS * 5,
                method=f"Idea {number} of {agent} on {target} works. {WORDS * 25}",
                extra={"sample": f"own:{target}"},
            )


if __name__ == "__main__":
    main()
