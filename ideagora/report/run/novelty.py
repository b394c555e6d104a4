"""What a novelty check says in words: what was compared, of how many, by what means, and no more."""

from __future__ import annotations

from ideagora.models.cache.recording import PREFIX
from ideagora.schema import NoveltyCheck

OFFLINE_MEANS = "Sentences were compared by similarity, which misses a free paraphrase."
UNCHECKED = "Unchecked: no answer on novelty could be had. This is no verdict."


def novelty_summary(check: NoveltyCheck) -> str:
    """What was compared and found, and what that does not tell."""
    return " ".join(filter(None, (comparison_sentence(check), caveat(check))))


def comparison_sentence(check: NoveltyCheck) -> str:
    """What was compared, of how many papers, by whom, and what came of it; one sentence."""
    if check.status == "unchecked":
        return UNCHECKED
    close = sum(one.too_close for one in check.closest)
    if check.judge == "offline":
        matches = "No near-verbatim match" if check.status == "novel" else _near_verbatim(close)
        return f"{matches} among {_compared_count(check, 'summar', 'y', 'ies')}."
    judge = (check.judge or "The judge").removeprefix(PREFIX)
    called = "none" if check.status == "novel" else str(close)
    count = _compared_count(check, "paper", "", "s")
    return f"{judge} was shown {count} and called {called} of them too close."


def caveat(check: NoveltyCheck) -> str | None:
    """What the comparison does not tell; ``None`` where there was none."""
    if check.status == "unchecked":
        return None
    return OFFLINE_MEANS if check.judge == "offline" else "Of other papers this says nothing."


def _near_verbatim(close: int) -> str:
    return f"{close} near-verbatim match{'es' * (close != 1)}"


def _compared_count(check: NoveltyCheck, stem: str, one: str, many: str) -> str:
    """``12 of 260 summaries``; without the number in all where nobody knows it."""
    if check.library is None:
        return f"{check.compared:,} {stem}{one if check.compared == 1 else many} that were found for it"
    return f"{check.compared:,} of {check.library:,} {stem}{one if check.library == 1 else many}"


def same_mechanism_titles(check: NoveltyCheck, besides: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Titles of the papers whose mechanism was rated the same, except those with the ids given."""
    return tuple(
        one.title
        for one in check.closest
        if one.facets.get("mechanism") == "same" and one.paper_id not in besides
    )


def same_mechanism_sentence(titles: tuple[str, ...]) -> str | None:
    """A sentence on the papers with the same mechanism; ``None`` without any."""
    return f"The mechanism is rated the same as in: {'; '.join(titles)}." if titles else None
