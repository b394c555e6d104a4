"""Run benchmarks by name; without a name, list them."""

from __future__ import annotations

import sys
from importlib import import_module

BENCHMARKS = {
    "arena_bias": "bias-aware against plain ratings: Kendall's tau to the true order",
    "arena_coverage": "coverage of the 95 % intervals of ratings",
    "arena_intervals": "coverage of every kind of 95 % interval, in one table",
    "arena_votes": "few votes by people combined with many verdicts: coverage and width of intervals",
    "benchmark_coverage": "intervals and paired tests of benchmark results: coverage, type I error, power",
    "bench_memory": "a benchmark of 3,495 targets, 10 agents, 2 ideas each: peak memory",
    "bench_speed": "judging 50 targets x 4 contestants at 1 s a call, 64 at once: seconds",
    "arena_calibration": "how often neighbours reported as separated are in the right order",
    "arena_separation": "whether the stated number of topics separates two agents, by simulation",
    "graded_verdicts": "graded verdicts against signs at the same number of calls: tau, width of intervals",
    "arena_runs": "several runs of each agent: coverage of the 95 % intervals",
    "arena_ranks": "coverage of rank ranges, single and simultaneous",
    "condition_effects": "ideagora compare: how often its tests err, and widths of its intervals",
    "arena_speed": "a million verdicts, 20 agents: seconds of ratings, bootstraps, audit",
    "arena": "2,070 verdicts of a judge without latency: seconds, bytes of checkpoints and verdicts",
    "side_by_side": "120 runs of agents with a model that takes 0.2 s: seconds against calls / concurrency",
    "agents": "every agent at its defaults, 1 s per call: calls, tokens, chain, seconds; for docs/agents.md",
    "network_run": "Chain-of-Ideas on a loopback Semantic Scholar with PDFs: seconds, requests, time line",
    "chain_of_ideas": "Chain-of-Ideas with a loopback model, 1 s per call: time, calls, tokens, chain",
    "first_idea": "the offline command in a cold and in a warm home: seconds and memory",
    "store_adding": "adding papers: the embedding model's part of the time",
    "store_size": "100,000 papers: loading compared with plain Chroma, memory, searches, recall",
    "store_server": "a store on a Chroma server compared with one in a folder",
    "store_crossing": "the number of papers from which Chroma's index is faster than exact search",
    "help_time": "ideagora --help: seconds",
    "import_ideas": "ideagora ideas import of 10,000 ideas in five forms: seconds and memory",
    "plugin_overhead": "the overhead of running an external agent: milliseconds and megabytes",
    "arena_schedules": "schedules of the arena: what they lose against the full round robin",
    "citation_walk": "requests of a branch to the sources, by kind and by step of the walk",
    "calibrate_offline": "which topics the offline model's thresholds accept and reject",
    "idea_similarity": "queries, recollections and twins: cosines at or above the limits",
    "import_diagram": "the package diagram of ARCHITECTURE.md, from the imports",
    "liveideabench_speed": "LiveIdeaBench, 3 keywords x 2 ideas x 3 judges at 1 s a call: seconds",
    "aidanbench_speed": "AidanBench, 62 answers at 1 s a call: seconds and calls; novelty among 10,000",
    "mcq_distractors": "AI Idea Bench: options from elsewhere in the set for 3,495 targets: seconds",
    "outcomes": "which sentences of summaries are classified as results: counts",
}


def main(names: list[str]) -> int:
    """Run the named benchmarks; 2 for an unknown name."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown or not names:
        for name in unknown:
            print(f"There is no benchmark {name!r}.", file=sys.stderr)
        print('make bench ARGS="NAME …", with NAME one of:')
        for name, about in BENCHMARKS.items():
            print(f"  {name:20} {about}")
        return 2 if unknown else 0
    for name in names:
        print(f"== {name}: {BENCHMARKS[name]}")
        import_module(f"bench.{name}").main()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
