"""Texts of a result's table cells and columns, the same in every format; nothing is escaped here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise

from ideagora.benchmarks.benchmark import Measure
from ideagora.benchmarks.results.records import (
    AgentFigure,
    BenchmarkResult,
    Comparison,
    result_from_json,
)
from ideagora.report.run.load import map_strings
from ideagora.report.run.view import dollars
from ideagora.report.text_cleaning import clean, hide_folders

MISSING = "–"
MOST_COLUMNS = 5
"""Measures side by side on a page."""
PROTOCOLS = {"default": "default protocol", "paper": "protocol of the paper"}
STATUS = {
    "nothing_scored": "Nothing is scored; the reasons are below.",
    "budget": "The budget is spent; the table covers what was judged before.",
    "incomplete": "A provider or source was down; the same command requests only what is missing.",
}
UNASKED = "not asked: the budget was spent, or a provider was down"
SMOKE_TEST = "Smoke test, not a ranking"
OFFLINE = (
    "The offline model was the only judge; it compares texts without understanding them. Its answers only "
    "show that the command works."
)
BEST = "significantly better than every other agent"


@dataclass(frozen=True)
class Cell:
    """One agent on one measure."""

    mean: str
    interval: str
    """``no interval`` if there is a mean without one; empty without a mean."""
    counts: str
    """How its number of samples differs from the agent's, such as ``n = 22, 2 unscored``; or empty."""
    rank: str
    best: bool


@dataclass(frozen=True)
class Row:
    """One agent."""

    agent: str
    samples: str
    """Such as ``20 of 24 samples``; empty if it has ideas on all of them."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Columns:
    """Some measures side by side."""

    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]
    detectable: tuple[str, ...]
    """Detectable difference on each measure; empty if there is nothing to compare."""
    agent: str = "agent"
    """What the rows are."""


def shown(result: BenchmarkResult) -> BenchmarkResult:
    """The result without control characters and local folders in its texts."""
    return result_from_json(map_strings(result.as_json(), _readable))


def all_columns(result: BenchmarkResult) -> Columns:
    """The whole table: agents as rows, measures as columns."""
    found = {(one.agent, one.measure): one for one in result.figures}
    sensitivity = {one.measure: one.detectable_corrected for one in result.sensitivity}
    compared = any(value is not None for value in sensitivity.values())
    return Columns(
        measures=result.measures,
        rows=tuple(
            _row(row.agent, [(found.get((row.agent, one.name)), one) for one in result.measures], result)
            for row in result.agents
        ),
        detectable=tuple(number(sensitivity.get(measure.name), measure) for measure in result.measures)
        if compared
        else (),
        agent=result.wording.agent,
    )


def split(columns: Columns, parts: Sequence[Sequence[int]]) -> tuple[Columns, ...]:
    """The table in parts, each with the columns at the given places."""
    return tuple(
        Columns(
            measures=tuple(columns.measures[place] for place in places),
            rows=tuple(
                replace(row, cells=tuple(row.cells[place] for place in places)) for row in columns.rows
            ),
            detectable=tuple(columns.detectable[place] for place in places) if columns.detectable else (),
            agent=columns.agent,
        )
        for places in parts
    )


def page_columns(result: BenchmarkResult, most: int = MOST_COLUMNS) -> tuple[Columns, ...]:
    """The table in parts with at most ``most`` measures each."""
    return split(all_columns(result), parts(result.measures, most))


def parts(measures: Sequence[Measure], most: int) -> list[list[int]]:
    """Places of the measures in parts of at most ``most``; a group that fits into one part is not divided."""
    found: list[list[int]] = []
    for _, group in groupby(
        range(len(measures)), lambda place: (measures[place].group, measures[place].detail)
    ):
        places = list(group)
        if found and len(found[-1]) + len(places) <= most:
            found[-1] += places
            continue
        count = -(-len(places) // most)
        edges = [len(places) * part // count for part in range(count + 1)]
        found += [places[start:end] for start, end in pairwise(edges)]
    return found


def number(value: float | None, measure: Measure, sign: bool = False) -> str:
    """A value with the measure's decimals; ``–`` if there is none."""
    if value is None:
        return MISSING
    text = f"{value:+.{measure.decimals}f}" if sign else f"{value:.{measure.decimals}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("+-")


def interval(low: float | None, high: float | None, measure: Measure, sign: bool = False) -> str:
    """``low to high``; ``–`` if there is no interval."""
    if low is None or high is None:
        return MISSING
    return f"{number(low, measure, sign)} to {number(high, measure, sign)}"


def p_value(p: float | None) -> str:
    """A p-value with three decimals; ``–`` if there is none."""
    if p is None:
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def ranks(figure: AgentFigure) -> str:
    """``2 (1–3)``: the rank by the mean, and those that the comparisons leave possible."""
    if figure.rank is None:
        return MISSING
    if figure.rank_low == figure.rank_high:
        return str(figure.rank)
    return f"{figure.rank} ({figure.rank_low}–{figure.rank_high})"


def headline(result: BenchmarkResult) -> str:
    """What was compared, in one line."""
    ideas = sum(one.ideas or 0 for one in result.agents)
    by_agents = counted(len(result.agents), result.wording.agent)
    contestants = f"{counted(ideas, result.wording.idea)} by {by_agents}" if ideas else by_agents
    samples = "" if result.wording.sample == "idea" else f" on {count_samples(result, result.n_samples)}"
    judges = f", judged by {', '.join(result.judges)}" if result.judges else ""
    protocol = f" ({PROTOCOLS.get(result.protocol, result.protocol)})" if result.wording.has_protocols else ""
    return f"{contestants}{samples}{judges}{protocol}"


def count_samples(result: BenchmarkResult, number: int) -> str:
    """Such as ``24 samples``, in the benchmark's own word."""
    return counted(number, result.wording.sample)


def legend(result: BenchmarkResult) -> Iterator[str]:
    """What the table's figures are."""
    cells = result.figures
    what, samples = f"{result.wording.sample}s", count_samples(result, result.n_samples)
    absent = "a score" if what == "ideas" else "a score or an idea"
    if any(one.low is not None for one in cells):
        yield (
            f"Mean over {what} with its 95 % interval; {samples} unless stated otherwise. "
            f"{what.capitalize()} without {absent} are not in the mean."
        )
    elif any(one.mean is not None for one in cells):
        yield f"Mean over {what}; {samples} unless stated otherwise."
    reasons = dict.fromkeys(
        one.reason for one in cells if one.mean is not None and one.low is None and one.reason
    )
    for reason in reasons:
        yield f"No interval: {reason}"
    if any(one.p is not None for one in result.comparisons):
        yield (
            f"{result.wording.agent.capitalize()}s are compared on common {what} at 5 %, with Holm's "
            "correction for all pairs of a measure."
        )
    if any(one.detectable_corrected is not None for one in result.sensitivity):
        yield (
            f"Detectable: the true difference between two {result.wording.agent}s that this number of "
            f"{what} would show "
            "with a power of 80 %, after the correction."
        )


def significant(result: BenchmarkResult) -> list[tuple[Measure, Comparison]]:
    """The significant comparisons by measure, smallest p-value first; the better agent is the first one."""
    found = []
    for measure in result.measures:
        rows = [one for one in result.comparisons if one.measure == measure.name and one.significant]
        found += [(measure, better_first(one, measure)) for one in sorted(rows, key=_by_p)]
    return found


def better_first(one: Comparison, measure: Measure) -> Comparison:
    """The comparison with the better agent as the first."""
    if one.difference is None or (one.difference >= 0) == measure.higher_is_better or one.difference == 0:
        return one
    return replace(
        one,
        first=one.second,
        second=one.first,
        difference=-one.difference,
        low=None if one.high is None else -one.high,
        high=None if one.low is None else -one.low,
    )


def usage(result: BenchmarkResult) -> str | None:
    """Calls, tokens and cost of the judges' answers; ``None`` if not recorded or no provider was called."""
    total = result.usage
    if total is None or not (total.prompt_tokens or total.cost_usd):
        return None
    tokens = f"{total.prompt_tokens:,} tokens in, {total.completion_tokens:,} out"
    return f"The judges' answers took {counted(total.calls, 'call')}: {tokens}, {dollars(total.cost_usd)}."


def reasons(result: BenchmarkResult) -> list[tuple[str, str, int]]:
    """(kind of question, reason, number of questions) of everything unscored, most frequent first."""
    rows = [(one.kind, reason, count) for one in result.coverage for reason, count in one.reasons.items()]
    rows += [
        (one.kind, f"{UNASKED} ({count_samples(result, len(one.incomplete))} left out)", one.unasked)
        for one in result.coverage
        if one.unasked
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))


@lru_cache(maxsize=4096)
def _readable(text: str) -> str:
    return hide_folders(clean(text))


def _row(agent: str, figures: Sequence[tuple[AgentFigure | None, Measure]], result: BenchmarkResult) -> Row:
    """One agent's cells; samples that it lacks on every measure are stated once, with its name."""
    lacking = min((one.without_idea for one, _ in figures if one is not None), default=0)
    samples = f"{result.n_samples - lacking} of {count_samples(result, result.n_samples)}" if lacking else ""
    return Row(
        agent, samples, tuple(_cell(one, measure, result.n_samples, lacking) for one, measure in figures)
    )


def _cell(figure: AgentFigure | None, measure: Measure, n_samples: int, lacking: int) -> Cell:
    if figure is None:
        return Cell(MISSING, "", "not computed", MISSING, False)
    bounds = ""
    if figure.mean is not None:
        bounds = interval(figure.low, figure.high, measure) if figure.low is not None else "no interval"
    asked = figure.n + figure.unscored
    counts = {
        "n = {}": figure.n if figure.mean is not None and figure.n != n_samples - lacking else 0,
        "{} unscored": figure.unscored,
        "{} without idea": figure.without_idea - lacking,
        "{} not asked": max(0, n_samples - figure.without_idea - asked),
    }
    stated = ", ".join(words.format(count) for words, count in counts.items() if count)
    return Cell(number(figure.mean, measure), bounds, stated, ranks(figure), figure.best)


def _by_p(one: Comparison) -> tuple[float, float]:
    return (one.p_holm or 0.0, -abs(one.difference or 0.0))


def counted(number: int, what: str) -> str:
    """Such as ``3 ideas``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
