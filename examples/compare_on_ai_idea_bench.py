"""Compare three agents on AI Idea Bench and print the two tables of its paper, without a key.

python examples/compare_on_ai_idea_bench.py            # all 30 targets that ship with ideagora
python examples/compare_on_ai_idea_bench.py 3          # the first three

Here the offline model answers, so the figures only show that it works. For meaningful figures, use
``ideagora bench`` with --model and --judge.
"""

import sys
from dataclasses import replace

from ideagora.commands.bench import Request, results_of
from ideagora.report.bench.table_exports import markdown_table

AGENTS = ("direct", "rag", "chain-of-ideas")
TABLES = {
    "Table 1: with the target paper": ("i2t", "i2i", "imcq"),
    "Table 2: with other references": ("ic", "na", "fa"),
}


def main(limit: str | None = None) -> None:
    """Run the benchmark, or resume it, and print both tables."""
    (result,) = results_of(Request("ai-idea-bench", agents=AGENTS, limit=limit))
    for title, groups in TABLES.items():
        measures = tuple(measure for measure in result.measures if measure.group in groups)
        print(markdown_table(replace(result, measures=measures, title=title)))


if __name__ == "__main__":
    main(*sys.argv[1:2])
