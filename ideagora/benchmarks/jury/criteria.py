"""Criteria of a jury: a name and what is asked, in the user's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ideagora.errors import UsageError
from ideagora.models.call import Answer
from ideagora.schema import Record

LONGEST_NAME, LONGEST_QUESTION = 40, 1_000
"""Characters."""
ANALYSIS = "analysis"
"""The judge's reasons; a field of its answer beside the criteria."""


class Criterion(Record):
    """What judges rate from 1 to 10."""

    name: str
    """A Python identifier: a field of the judge's answer, and the name of a measure."""
    question: str
    """What the judge is asked, as the sentence that follows the name."""

    @property
    def title(self) -> str:
        """The name in tables."""
        return self.name.replace("_", " ")


DEFAULT_CRITERIA = (
    Criterion(
        name="originality",
        question="what the idea adds to what you know of its field: a question not yet asked, or a new way "
        "to answer a known one. What the field pursues already is not original, however sound, nor is a "
        "combination of fashionable terms.",
    ),
    Criterion(
        name="feasibility",
        question="whether existing methods, materials and effort can carry out the work that is proposed, "
        "and established science allows it. Benefits that it may have later are not part of the work.",
    ),
    Criterion(
        name="clarity",
        question="whether a scientist understands at the first reading what is proposed and why.",
    ),
)
"""The dimensions of LiveIdeaBench (arXiv 2412.17596) that concern a single idea."""


def parse_criteria(texts: Sequence[str]) -> tuple[Criterion, ...]:
    """The criteria that ``NAME: QUESTION`` states, or the name of a default one; without any, the defaults.

    Raises:
        UsageError: a name or a question cannot be used, or a name is given twice.
    """
    criteria = tuple(map(_parse, texts)) or DEFAULT_CRITERIA
    names = [one.name for one in criteria]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"--criterion {twice[0]} is given twice.")
    return criteria


def _parse(text: str) -> Criterion:
    stated, _, question = (part.strip() for part in text.partition(":"))
    name = re.sub(r"[\s_-]+", "_", stated.casefold())
    is_taken = name == ANALYSIS or name.startswith(("_", "model_")) or hasattr(Answer, name)
    if is_taken or not name.isidentifier():
        raise UsageError(
            f"--criterion {text[:80]!r} has no valid name. Write NAME: QUESTION, with letters, digits and "
            'spaces in the name, such as "relevance: whether it answers the topic".'
        )
    if len(name) > LONGEST_NAME or len(question) > LONGEST_QUESTION:
        raise UsageError(
            f"--criterion {name[:LONGEST_NAME]} is too long: a name has up to {LONGEST_NAME} characters, "
            f"a question up to {LONGEST_QUESTION:,}."
        )
    known = next((one for one in DEFAULT_CRITERIA if one.name == name), None)
    if question:
        return Criterion(name=name, question=" ".join(question.split()))
    if known is None:
        listed = ", ".join(one.name for one in DEFAULT_CRITERIA)
        raise UsageError(
            f'--criterion {stated!r} has no question. Write "{stated}: QUESTION"; only {listed} have a '
            "default question."
        )
    return known
