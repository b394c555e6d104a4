"""The proposal writer, which expands a seed, and the feasibility judge.

Source: Si et al. (arXiv 2409.04109), section 3.2 (expansion into proposals) and the filter of section 3.3.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ideagora.agents.ai_researcher.literature_review import PROMPTS
from ideagora.agents.idea_inputs import DirectionView, draft_lead, lead_as_steps
from ideagora.agents.idea_parts import SearchableIdea, check_sources
from ideagora.agents.role import Role
from ideagora.agents.views import IdeaView, PaperBrief
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel


class SeedView(Inputs):
    """A seed idea to expand."""

    title: str
    problem: str
    mechanism: str
    test: str


class ProposalInputs(Inputs):
    """A seed, and papers: the ones it builds on first, then the closest ones."""

    topic: str
    seed: SeedView
    papers: tuple[PaperBrief, ...]
    built_on: int
    """Number of papers at the beginning of ``papers`` that the seed builds on."""


class Proposal(SearchableIdea):
    """A seed expanded into a proposal."""


def _expand(engine: ExtractiveModel, inputs: ProposalInputs) -> Proposal:
    """Return the lead of the seed's two papers; a seed without papers ends the lead of the nearest ones."""
    pair = min(inputs.built_on, len(inputs.papers)) > 1
    direction = DirectionView(
        text="",
        limitation=inputs.seed.problem.partition("): “")[2].rpartition("”")[0],
        limitation_from=0,
        mechanism=inputs.seed.mechanism,
        mechanism_from=1,
    )
    topic = inputs.topic if pair else f"{inputs.seed.title}. {inputs.topic}"
    lead = draft_lead(engine, topic, inputs.papers, direction if pair else None)
    steps = lead_as_steps(lead)
    method = steps if pair else f"{steps}\n4. {inputs.seed.mechanism}"
    return lead.extended_to(Proposal, method=method, queries=())


PROPOSAL_WRITER = Role(
    name="proposal_writer",
    group="main",
    inputs=ProposalInputs,
    answer=Proposal,
    offline=_expand,
    check=check_sources,
    prompts=PROMPTS,
)


class FeasibilityInputs(Inputs):
    """A proposal."""

    topic: str
    idea: IdeaView
    evaluation: str


class Feasibility(Answer):
    """Whether a proposal can be carried out."""

    obstacles: tuple[str, ...] = Field(
        description="what stands in the way, one sentence each, the worst first; [] if nothing serious"
    )
    verdict: Literal["feasible", "infeasible", "unclear"]


def _judge_feasibility(engine: ExtractiveModel, inputs: FeasibilityInputs) -> Feasibility:
    """Return "unclear": what a project costs is not written in its texts."""
    return Feasibility(obstacles=("The offline model cannot judge what a project costs.",), verdict="unclear")


def _check_feasibility(inputs: FeasibilityInputs, answer: Feasibility) -> str | None:
    missing = answer.verdict == "infeasible" and not answer.obstacles
    return "obstacles is empty: say what makes the proposal infeasible" if missing else None


FEASIBILITY_JUDGE = Role(
    name="feasibility_judge",
    group="judge",
    inputs=FeasibilityInputs,
    answer=Feasibility,
    offline=_judge_feasibility,
    temperature=0.0,
    check=_check_feasibility,
    prompts=PROMPTS,
)
