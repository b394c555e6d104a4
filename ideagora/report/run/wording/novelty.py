"""Describes a novelty check in words: what was compared, how, and what was found."""

from __future__ import annotations

from ideagora.models.cache.recording import PREFIX
from ideagora.schema import NoveltyCheck

OFFLINE_MEANS = "Sentences were compared by similarity, which misses paraphrases."
UNCHECKED = "Unchecked: the novelty check gave no answer."


def novelty_summary(check: NoveltyCheck) -> str:
    """Return what was compared and found, and the limits of the comparison."""
    return " ".join(filter(None, (comparison_sentence(check), caveat(check))))


def comparison_sentence(check: NoveltyCheck) -> str:
    """Return one sentence on who compared how many papers, and the result."""
    if check.status == "unchecked":
        return UNCHECKED
    close = sum(paper.too_close for paper in check.closest)
    if check.judge == "offline":
        matches = "No near-verbatim match" if check.status == "novel" else _near_verbatim(close)
        return f"{matches} among {_compared_count(check, 'summar', 'y', 'ies')}."
    judge = (check.judge or "The judge").removeprefix(PREFIX)
    called = "none" if check.status == "novel" else str(close)
    count = _compared_count(check, "paper", "", "s")
    return f"{judge} compared {count}, and rated {called} too close."


def caveat(check: NoveltyCheck) -> str | None:
    """Return the limits of the comparison, ``None`` if nothing was compared."""
    if check.status == "unchecked":
        return None
    return OFFLINE_MEANS if check.judge == "offline" else "No other papers were compared."


def _near_verbatim(close: int) -> str:
    return f"{close} near-verbatim match{'es' * (close != 1)}"


def _compared_count(check: NoveltyCheck, stem: str, singular: str, plural: str) -> str:
    """Return a phrase such as ``12 of 48 papers, library of 260``, without what is not recorded."""
    if check.retrieved and check.judge != "offline":
        library = "" if check.library is None else f", library of {check.library:,}"
        ending = singular if check.retrieved == 1 else plural
        return f"{check.compared:,} of {check.retrieved:,} {stem}{ending}{library}"
    if check.library is None:
        return f"{check.compared:,} {stem}{singular if check.compared == 1 else plural} retrieved for it"
    return f"{check.compared:,} of {check.library:,} {stem}{singular if check.library == 1 else plural}"


def same_mechanism_titles(check: NoveltyCheck, besides: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the titles of papers whose mechanism was rated the same, except the ids in ``besides``."""
    return tuple(
        paper.title
        for paper in check.closest
        if paper.facets.get("mechanism") == "same" and paper.paper_id not in besides
    )


def same_mechanism_sentence(titles: tuple[str, ...]) -> str | None:
    """Return a sentence on papers with the same mechanism, ``None`` if there are none."""
    return f"Same mechanism as in: {'; '.join(titles)}." if titles else None
