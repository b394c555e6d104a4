"""Measures the offline command in an empty home, which builds the store, then on a new topic.

Target: the second idea in at most 25 s and 2 GB. The installation is measured by hand in a fresh clone.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from bench.process import CompletedRun, ideagora

FIRST = "large language model agents for scientific discovery"
SECOND = "adding spatial control to text-to-image diffusion"


def main() -> None:
    """Print seconds and peak memory of the first and the second idea."""
    with tempfile.TemporaryDirectory() as folder:
        cold = ideagora("generate", FIRST, "--json", home=Path(folder))
        warm = ideagora("generate", SECOND, "--json", home=Path(folder))
    for name, ran in (("first idea, cold home", cold), ("second idea, new topic", warm)):
        print(f"{name:24} {ran.seconds:6.1f} s  {ran.peak_mib:7.0f} MiB at most")
    print(json.dumps({"benchmark": "first_idea", **_figures("cold", cold), **_figures("warm", warm)}))


def _figures(name: str, ran: CompletedRun) -> dict[str, float]:
    return {f"{name}_seconds": round(ran.seconds, 1), f"{name}_peak_mib": round(ran.peak_mib)}
