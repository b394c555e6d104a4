"""What became of one fault."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.support import command

GOOD = ("same", "said", "kept")
_SAYS_WHY = re.compile(r"(?m)^(error|incomplete): ")
REMOVES_MORE = re.compile(r"(?i)\b(remove|delete)\b[^.]*\b(folder|home|store)\b")


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    case: str
    """``group: what was done``."""
    verdict: str
    """``same`` (nothing was lost), ``said`` (an error names the problem), ``kept`` (the bound holds), or what
    is wrong, in capitals."""
    asked: int
    """Calls that the model was asked again."""
    line: str
    """The first line that the command said, or the figures."""
    cases: int = 1
    """How many faults it stands for."""

    @property
    def group(self) -> str:
        """What the table sums it up under."""
        return self.case.partition(": ")[0]

    @property
    def good(self) -> bool:
        """Whether a user lost nothing silently."""
        return self.verdict in GOOD


def bad_end(done: command.Done) -> str | None:
    """What no command may end in, whatever it met."""
    if "Traceback" in done.err:
        return "TRACEBACK"
    if REMOVES_MORE.search(done.err):
        return "ADVICE TO REMOVE TOO MUCH"
    if done.code != 0 and not _SAYS_WHY.search(done.err):
        return "FAILS WITHOUT A WORD"
    return None


def first_line(err: str) -> str:
    """The first error, warning or note on stderr, else its first line."""
    lines = [line.strip() for line in err.splitlines() if line.strip() and not line.startswith("Expected: ")]
    said = [line for line in lines if re.match(r"(error|incomplete|warning|note):|Traceback", line)]
    return (said or lines or [""])[0][:160]
