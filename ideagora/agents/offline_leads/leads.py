"""Write leads, which the offline model produces in place of ideas.

A lead pairs an open limitation of one paper with a mechanism of another, both quoted, and reports measures
of how well they fit. It is a starting point, not a plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from ideagora.agents.offline_leads.difficulties import GENERAL
from ideagora.agents.offline_leads.facts import PaperFacts
from ideagora.agents.offline_leads.fits import CLAUSE_END, Fit
from ideagora.models.offline import text as texts

QUOTE_LENGTHS = ((28, 40, 18), (28, 32, 16), (24, 26, 12), (18, 20, 10), (14, 14, 8), (12, 12, 6))
"""Maximum words of the quotes (limitation, mechanism, problem), in order of preference."""
MAX_LEAD_WORDS = 145
"""Maximum words of a lead, without the reading list."""
NEAREST_ONLY = "No pair of papers is a good fit; this is the closest one."
"""Note on a pair that is offered because none fits."""


def shorten_quote(sentence: str, limit: int, about: str = "") -> str:
    """Return a sentence cut to ``limit`` words, with ``…`` for what is left out.

    The cut is at a clause boundary if that leaves enough words, else between words. The cut keeps ``about``,
    a part of the sentence.
    """
    quote = texts.without_stop(sentence)
    if len(quote.split()) <= limit:
        return quote
    words, place = quote.split(), quote.find(about)
    end = len(quote[: place + len(about)].split()) if about and place > 0 else 0
    if end > limit:
        after = " …" if end < len(words) else ""
        return f"… {' '.join(words[end - limit : end]).rstrip(',;:')}{after}"
    cut = " ".join(words[:limit])
    ends = [found.start() for found in CLAUSE_END.finditer(cut)]
    if ends and len(cut[: ends[-1]].split()) >= max(limit // 2, end):
        cut = cut[: ends[-1]]
    return f"{cut.rstrip(',;:')} …"


@dataclass(frozen=True)
class LeadText:
    """The text of a lead; text in quotation marks is verbatim from the papers."""

    title: str
    limitation: str
    """The whole sentence."""
    mechanism: str
    """The whole sentence."""
    motivation: str
    method: str
    novelty: str
    claim: str
    """What the pair amounts to, as a sentence that a test can refute."""
    doubt: str
    """Why the pair may not fit, by its measures."""
    test: str

    @property
    def length(self) -> int:
        """Number of words shown of the lead."""
        parts = (self.title, self.motivation, self.method, self.novelty, self.test)
        return sum(len(part.split()) for part in parts)


def write_lead(fit: Fit, weak: PaperFacts, strong: PaperFacts, place: str) -> LeadText:
    """Return a pair as a lead.

    Args:
        fit: the pair.
        weak: the paper with the limitation.
        strong: the paper with the mechanism.
        place: a sentence on how the papers relate to the chain and to each other; may be empty.
    """
    leads = [_write_with(fit, weak, strong, place, lengths) for lengths in QUOTE_LENGTHS]
    return next((lead for lead in leads if lead.length <= MAX_LEAD_WORDS), leads[-1])


def _write_with(
    fit: Fit, weak: PaperFacts, strong: PaperFacts, place: str, lengths: tuple[int, int, int]
) -> LeadText:
    limitation = _sentence_containing(fit.clause, weak.limitation or fit.clause)
    mechanism = strong.method or strong.text or strong.name
    parts = CLAUSE_END.split(strong.problem or "")
    matching = next((part for part in parts if set(texts.words(part)) & set(fit.terms)), "")
    problem = (
        shorten_quote(strong.problem, lengths[2], texts.without_stop(matching)) if strong.problem else ""
    )
    parts = CLAUSE_END.split(mechanism)
    relevant = texts.without_stop(next((part for part in parts if fit.kind.found_in(part)), ""))
    target = "a limitation of" if fit.kind is GENERAL else f"{fit.kind.name} in"
    return LeadText(
        title=f"Using {strong.name} to address {target} {weak.name}",
        limitation=limitation,
        mechanism=mechanism,
        motivation=f"{weak.name} ({weak.year}): “{shorten_quote(limitation, lengths[0], fit.clause)}”",
        method=f"{strong.name} ({strong.year}): “{shorten_quote(mechanism, lengths[1], relevant)}”",
        novelty=" ".join(
            filter(None, (NEAREST_ONLY if not fit.score else "", _explain(fit, strong.name, problem), place))
        ),
        claim=f"The mechanism of {strong.name} removes or lessens {target} {weak.name}.",
        doubt=_doubt(fit, strong.name),
        test=fit.kind.cheap_test(weak.name, strong.name, _data_set(weak.text)),
    )


def _explain(fit: Fit, strong: str, problem: str) -> str:
    """Return why the two may fit, with the measures."""
    terms = f"; both concern {fit.kind.name}: {', '.join(fit.terms[:4])}" if fit.terms else ""
    if not problem:
        return f"The mechanism resembles the limitation (similarity {fit.to_method:.2f}{terms})."
    measure = f"similarity to the limitation {fit.to_problem:.2f}{terms}"
    return f"{strong} addresses this problem: “{problem}” ({measure})."


def _doubt(fit: Fit, strong: str) -> str:
    """Return why a pair may not fit: what the measures do not show."""
    measures = f"similarity {fit.to_problem:.2f} to its problem and {fit.to_method:.2f} to its method"
    shared = f"the words {texts.listed(fit.terms[:3])}" if fit.terms else "similar wording"
    return (
        f"The pair rests on {shared} ({measures}); that {strong} works under the conditions of the "
        "limitation is not shown."
    )


def _sentence_containing(clause: str, limitation: str) -> str:
    """Return the sentence of a limitation that contains the clause."""
    sentences = (sentence for sentence in texts.sentences(limitation) if clause in sentence)
    return next(sentences, limitation)


def _data_set(text: str) -> str | None:
    return next((name.name for name in texts.names(text) if name.kind == "dataset"), None)
