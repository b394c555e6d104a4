"""Every agent at its defaults, on a loopback model with 1 s per call: the table of docs/agents.md.

For each agent: calls, prompt tokens, the longest chain of dependent calls, and the wall time of the command.
The wall time may be 1.3 times the chain plus 6 s of start.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.chain_of_ideas import LATENCY, TOPIC, Timeline
from bench.process import ideagora
from ideagora.registry import AGENTS, find_agent
from tests.support.loopback import Loopback

DOCS = Path(__file__).resolve().parents[1] / "docs" / "agents.md"
BEGIN, END = "<!-- table of python -m bench agents -->", "<!-- end of the table -->"
START_SECONDS, MOST_PER_CHAIN = 6.0, 1.3
MOST_AT_ONCE = 16


@dataclass(frozen=True)
class Figures:
    """What one run of an agent took."""

    agent: str
    expected: int | None
    calls: int
    prompt_tokens: int
    chain: int
    cpu_seconds: float
    """Of the command, which also loads the library and the embedding model."""
    seconds: float
    is_busy: bool
    """Whether other processes used the machine, so that the seconds say nothing about the agent."""

    @property
    def limit(self) -> float:
        """Seconds that the run may take."""
        return MOST_PER_CHAIN * self.chain * LATENCY + START_SECONDS

    @property
    def row(self) -> str:
        """The row of the table."""
        expected = "unknown" if self.expected is None else str(self.expected)
        cells = [f"`{self.agent}`", expected, str(self.calls), f"{self.prompt_tokens:,}", str(self.chain)]
        times = ["–", "–"] if self.is_busy else [f"{self.cpu_seconds:.1f}", f"{self.seconds:.1f}"]
        return f"| {' | '.join([*cells, *times])} |"


def measure(name: str, home: Path) -> Figures:
    """Run one agent and return its figures."""
    timeline, is_busy = Timeline(), os.getloadavg()[0] > (os.cpu_count() or 1) + 1
    with Loopback(timeline.answer) as server:
        arguments = (
            "generate",
            TOPIC,
            "--agent",
            name,
            "--model",
            "openai/stand-in",
            "--api-base",
            server.base,
        )
        result = ideagora(*arguments, "--concurrency", str(MOST_AT_ONCE), "--json", home=home)
    record = json.loads((Path(json.loads(result.stdout)["run"]) / "run.json").read_text(encoding="utf-8"))
    agent, usage = find_agent(name), record["usage"]["total"]
    expected = agent.expected_calls(agent.options)
    return Figures(
        name,
        None if expected is None else sum(expected.values()),
        usage["calls"],
        usage["prompt_tokens"],
        timeline.longest_chain,
        result.cpu_seconds,
        result.seconds,
        is_busy,
    )


def table(rows: list[Figures]) -> str:
    """The Markdown table of the figures."""
    head = (
        "| agent | calls expected | calls | prompt tokens | longest chain | CPU seconds | seconds |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    return "\n".join([head, *(figures.row for figures in rows)])


def main() -> None:
    """Measure all agents, apart from ablations and real papers, and write the table into docs/agents.md."""
    names = sorted(name for name in AGENTS if "/" not in name and name != "real-paper")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ideagora("generate", TOPIC, "--agent", "rag", "--json", home=home)  # offline: fills the store
        rows = [measure(name, home) for name in names]
    print(table(rows))
    for figures in rows:
        if figures.is_busy:
            print(f"{figures.agent}: {figures.seconds:.1f} s on a busy machine, limit {figures.limit:.1f} s")
        elif figures.seconds > figures.limit:
            print(f"{figures.agent}: {figures.seconds:.1f} s, over its limit of {figures.limit:.1f} s")
    before, _, rest = DOCS.read_text(encoding="utf-8").partition(BEGIN)
    DOCS.write_text(f"{before}{BEGIN}\n\n{table(rows)}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    print(json.dumps({"benchmark": "agents", "agents": {one.agent: one.__dict__ for one in rows}}))
