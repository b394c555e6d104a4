"""Run benchmarks by name; without a name, list them."""

from __future__ import annotations

import sys
from importlib import import_module

BENCHMARKS = {
    "chain_of_ideas": "Chain-of-Ideas against a loopback model, 1 s a call: time, calls, tokens, chain",
    "first_idea": "the offline command in a cold and in a warm home: seconds and memory",
    "help_time": "ideagora --help: seconds",
    "citation_walk": "requests of a branch to the sources, by kind and by step of the walk",
    "calibrate_offline": "what the offline model's thresholds say yes and no to",
}


def main(names: list[str]) -> int:
    """Run the named benchmarks; 2 for an unknown name."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown or not names:
        for name in unknown:
            print(f"There is no benchmark {name!r}.", file=sys.stderr)
        print('make bench ARGS="NAME …", with NAME one of:')
        for name, about in BENCHMARKS.items():
            print(f"  {name:18} {about}")
        return 2 if unknown else 0
    for name in names:
        print(f"== {name}: {BENCHMARKS[name]}")
        import_module(f"bench.{name}").main()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
