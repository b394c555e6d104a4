"""LiveIdeaBench on a loopback model with 1 s per call: 3 keywords, 2 ideas each, 3 judges for each idea.

The released code takes 29 s, one call after another. Here 6 ideas are asked for at once, then 21
judgements: a chain of 4 calls with the default of 8 at a time, of 2 with ``--concurrency 32``. CPU seconds
depend less than seconds on how busy the machine is.
"""

from __future__ import annotations

import json
import tempfile
from itertools import count
from pathlib import Path

from bench.process import ideagora
from tests.support.loopback import Body, Loopback

LATENCY = 1.0
KEYWORDS = ("stars", "glaciers", "enzymes")
JUDGES = ("openai/lab-a", "openai/lab-b", "openai/lab-c", "openai/lab-d")
CALLS = 6 + 18 + 3
CHAINS = {8: 4, 32: 2}
"""Calls in the longest chain by the number of concurrent calls; 8 is the default."""
RELEASED = 29.0
WORDS = "It measures what nobody has measured before, with an instrument that exists. " * 4
_NUMBERS = count(1)


def reply(body: Body) -> str:
    """An idea, three ratings, or a letter."""
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("name")
    if schema == "Critique":
        return json.dumps({"analysis": "a", "originality": 7, "feasibility": 6, "clarity": 8})
    if schema == "Fluency":
        return json.dumps({"reason": "r", "letter": "B"})
    return f"{WORDS} This is idea {next(_NUMBERS)}."


def main() -> None:
    """Print the seconds and CPU seconds of the command, page included, by number of concurrent calls."""
    figures = {str(concurrency): _measure(concurrency) for concurrency in CHAINS}
    print(json.dumps({"benchmark": "liveideabench_speed", "concurrency": figures, "released": RELEASED}))


def _measure(concurrency: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, Loopback(reply, latency=LATENCY) as server:
        home = Path(folder)
        (home / "keywords.csv").write_text("\n".join(["Keyword", *KEYWORDS]) + "\n", encoding="utf-8")
        judges = [part for judge in JUDGES for part in ("--judge", judge)]
        run = ideagora(
            "bench", "liveideabench", "model:openai/stand-in", *judges, "--api-base", server.base,
            "--data", "keywords.csv", "--concurrency", str(concurrency), "--json", home=home,
            OPENAI_API_KEY="none",
        )  # fmt: skip
        figures = json.loads(run.stdout)["results"][0]["figures"]
        assert server.count == CALLS, server.count
        assert next(one["mean"] for one in figures if one["measure"] == "average") == (7 + 6 + 8 + 7 + 7) / 5
        return {
            "seconds": round(run.seconds, 1),
            "outside_the_chain": round(run.seconds - CHAINS[concurrency] * LATENCY, 1),
            "cpu_seconds": round(run.cpu_seconds, 1),
            "calls": server.count,
        }
