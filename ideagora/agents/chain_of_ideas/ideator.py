"""The ideator, which develops a research direction into an idea.

Source: Chain of Ideas (arXiv 2410.13185), section 3.3 and Tables 14 and 15.
"""

from __future__ import annotations

from ideagora.agents.idea_inputs import IdeaInputs, draft_weighed_lead
from ideagora.agents.idea_parts import IdeaDraft, check_sources
from ideagora.agents.role import Role


def _check_draft(inputs: IdeaInputs, answer: IdeaDraft) -> str | None:
    return _check_candidates(inputs.candidates, answer) or check_sources(inputs, answer)


def _check_candidates(expected: int, answer: IdeaDraft) -> str | None:
    """Return an error if the number of candidates is wrong or the obvious one was chosen, else None."""
    if len(answer.candidates) != expected:
        return f"candidates has {len(answer.candidates)} entries; write {expected}"
    for field in ("obvious", "chosen") if expected > 1 else ():
        number = getattr(answer, field)
        if number is None or not 0 <= number < expected:
            return f"{field} is {number}; candidates are numbered from 0 to {expected - 1}"
    if expected > 1 and answer.obvious == answer.chosen:
        return f"obvious and chosen are both {answer.chosen}: develop a candidate that is less obvious"
    return None


IDEATOR = Role(
    name="ideator",
    group="main",
    inputs=IdeaInputs,
    answer=IdeaDraft,
    offline=draft_weighed_lead,
    check=_check_draft,
)
