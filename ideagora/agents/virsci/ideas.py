"""The members propose ideas and vote on their novelty; the leader writes the abstract.

Source: Su et al. (arXiv 2410.09403), idea generation, novelty assessment and abstract generation.
"""

from __future__ import annotations

from pydantic import Field

from ideagora.agents.idea_inputs import EarlierDraft, TooClose, draft_lead
from ideagora.agents.idea_parts import SearchableIdea, check_sources
from ideagora.agents.novelty import SAME
from ideagora.agents.offline_leads.facts import facts_of_abstracts
from ideagora.agents.offline_leads.fits import find_fits, measure_pair
from ideagora.agents.offline_leads.leads import write_lead
from ideagora.agents.role import Role
from ideagora.agents.views import PaperBrief, check_paper_numbers
from ideagora.agents.virsci.team import PROMPTS, Profile
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel

MAX_SCORE = 10


class RejectedIdea(Inputs):
    """An idea that the team rejected, and why."""

    title: str
    reason: str


class TeamIdeaInputs(Inputs):
    """The team's question, the scientist, papers (the scientist's own first), and rejected ideas."""

    topic: str
    question: str
    scientist: Profile
    papers: tuple[PaperBrief, ...]
    own: int
    """Number of papers at the beginning of ``papers`` that are the scientist's own."""
    rejected: tuple[RejectedIdea, ...]


class TeamIdea(Answer):
    """An idea with the scientist's own assessment."""

    title: str = Field(description="a specific title of at most 15 words")
    idea: str = Field(description="3 to 6 sentences: the problem, what is done, and why it should work")
    experiment: str = Field(description="1 or 2 sentences: the experiment that would decide")
    papers: tuple[int, ...] = Field(description="numbers of the papers that it builds on")
    novelty: int = Field(description=f"own assessment, 1 to {MAX_SCORE}")
    feasibility: int = Field(description=f"own assessment, 1 to {MAX_SCORE}")
    clarity: int = Field(description=f"own assessment, 1 to {MAX_SCORE}")


def _propose(engine: ExtractiveModel, inputs: TeamIdeaInputs) -> TeamIdea:
    """Return a method of an own paper for a limitation of another one; the scores are the middle."""
    papers = facts_of_abstracts(engine, inputs.papers)
    places, own = range(len(papers)), range(min(inputs.own, len(papers)))
    fits = [fit for fit in find_fits(engine, inputs.topic, papers, places) if fit.strong in own]
    pairs = [
        measure_pair(engine, papers, weak, strong) for strong in own for weak in places if weak != strong
    ] or [measure_pair(engine, papers, 0, len(papers) - 1)]
    fits += sorted(pairs, key=lambda fit: -fit.closeness)
    earlier = {idea.title.casefold() for idea in inputs.rejected}
    leads = [(fit, write_lead(fit, papers[fit.weak], papers[fit.strong], "")) for fit in fits]
    fit, lead = next((pair for pair in leads if pair[1].title.casefold() not in earlier), leads[0])
    return TeamIdea(
        title=lead.title,
        idea=f"{lead.motivation} {lead.method}",
        experiment=lead.test,
        papers=tuple(sorted({fit.weak, fit.strong})),
        novelty=MAX_SCORE // 2,
        feasibility=MAX_SCORE // 2,
        clarity=MAX_SCORE // 2,
    )


def _check_idea(inputs: TeamIdeaInputs, answer: TeamIdea) -> str | None:
    wrong = [one for one in (answer.novelty, answer.feasibility, answer.clarity) if not 1 <= one <= MAX_SCORE]
    if wrong:
        return f"a score is {wrong[0]}; scores are 1 to {MAX_SCORE}"
    return check_paper_numbers("papers", answer.papers, [paper.title for paper in inputs.papers])


TEAM_IDEATOR = Role(
    name="team_ideator",
    group="main",
    inputs=TeamIdeaInputs,
    answer=TeamIdea,
    offline=_propose,
    check=_check_idea,
    prompts=PROMPTS,
)


class Candidate(Inputs):
    """An idea to vote on, without its author and scores, and the papers closest to it."""

    title: str
    idea: str
    closest: tuple[PaperBrief, ...]


class VoteInputs(Inputs):
    """The topic, the scientist who votes, and the candidates."""

    topic: str
    scientist: Profile
    candidates: tuple[Candidate, ...]


class Vote(Answer):
    """A vote for the most novel idea."""

    reason: str = Field(description="what decides: how the ideas differ from the papers below them")
    choice: int | None = Field(
        description="number of the most novel idea; null if the papers contain all of them"
    )


def _vote(engine: ExtractiveModel, inputs: VoteInputs) -> Vote:
    """Return the idea that is least similar to its closest paper; none if all are nearly the same."""
    nearest = [_nearest(engine, one) for one in inputs.candidates]
    place = min(range(len(nearest)), key=lambda number: (nearest[number], number))
    limit = (1 + SAME) / 2
    figures = ", ".join(f"{similarity:.2f}" for similarity in nearest)
    return Vote(
        reason=f"Similarity of each idea to its closest paper: {figures} (limit {limit:.2f}).",
        choice=place if nearest[place] < limit else None,
    )


def _nearest(engine: ExtractiveModel, candidate: Candidate) -> float:
    papers = [f"{paper.title}. {paper.abstract or ''}" for paper in candidate.closest]
    return max(engine.similarity(f"{candidate.title}. {candidate.idea}", papers), default=0.0)


def _check_vote(inputs: VoteInputs, answer: Vote) -> str | None:
    if answer.choice is None or 0 <= answer.choice < len(inputs.candidates):
        return None
    return f"choice is {answer.choice}, but the ideas are numbered 0 to {len(inputs.candidates) - 1}"


NOVELTY_VOTE = Role(
    name="novelty_vote",
    group="judge",
    inputs=VoteInputs,
    answer=Vote,
    offline=_vote,
    check=_check_vote,
    prompts=PROMPTS,
)


class AbstractInputs(Inputs):
    """The chosen idea, papers, and what an earlier version was too close to."""

    topic: str
    question: str
    title: str
    idea: str
    experiment: str
    papers: tuple[PaperBrief, ...]
    earlier: EarlierDraft | None
    too_close: tuple[TooClose, ...]


class TeamAbstract(SearchableIdea):
    """The idea in full, by the leader."""


def _write_abstract(engine: ExtractiveModel, inputs: AbstractInputs) -> TeamAbstract:
    """Return the lead of the two papers that the idea builds on; of all papers if it is too close to one."""
    topic = f"{inputs.title}. {inputs.topic}"
    papers = inputs.papers if inputs.too_close else inputs.papers[:2]
    lead = draft_lead(engine, topic, papers, too_close=inputs.too_close)
    return lead.extended_to(TeamAbstract, queries=())


ABSTRACT_WRITER = Role(
    name="abstract_writer",
    group="main",
    inputs=AbstractInputs,
    answer=TeamAbstract,
    offline=_write_abstract,
    check=check_sources,
    prompts=PROMPTS,
)
