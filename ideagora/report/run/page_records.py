"""What a page shows, as plain records: the templates print these and decide nothing."""

from __future__ import annotations

from dataclasses import dataclass

from ideagora.report.drawings.geometry import Kind, Picture
from ideagora.report.run.leads import LeadView
from ideagora.report.text_cleaning import short_name
from ideagora.schema import Direction, Idea, Link, Transition


@dataclass(frozen=True)
class Ref:
    """A paper as the page names it."""

    id: str
    title: str
    year: str | None
    url: str | None

    @property
    def name(self) -> str:
        """A short name, for places that speak of the paper again."""
        return short_name(self.title)


@dataclass(frozen=True)
class Step:
    """Two neighbours of a chain, and what was recorded to change; ``None``: nothing was."""

    earlier: Ref
    later: Ref
    change: Transition | None


@dataclass(frozen=True)
class PaperView:
    """A paper of the chain with its place in it."""

    ref: Ref
    role: str
    kind: Kind
    gives: tuple[str, ...]
    """What the future direction takes from it."""
    link: Link


@dataclass(frozen=True)
class DirectionView:
    """The future direction with the papers that it rests on."""

    record: Direction
    limitation: Ref
    mechanism: Ref


@dataclass(frozen=True)
class ChainView:
    """A chain, ready to be shown."""

    query: str
    nearness: str | None
    """How near the chain is to the topic, in words; ``None``: not measured."""
    is_far: bool
    papers: tuple[PaperView, ...]
    steps: tuple[Step, ...]
    direction: DirectionView | None
    stopped: tuple[tuple[str, str], ...]
    pictures: tuple[Picture, Picture] | None


@dataclass(frozen=True)
class Quote:
    """Words of a paper that a part of the idea rests on."""

    ref: Ref
    text: str


@dataclass(frozen=True)
class CloseView:
    """One of the closest papers with a cell for every facet column."""

    ref: Ref
    similarity: str
    overlap: str
    cells: tuple[tuple[str, str | None], ...]
    difference: str = ""
    too_close: bool = False


@dataclass(frozen=True)
class NoveltyView:
    """The evidence on novelty in words."""

    status: str
    says: str
    facts: tuple[str, ...]
    columns: tuple[str, ...]
    closest: tuple[CloseView, ...]


@dataclass(frozen=True)
class IdeaView:
    """An idea, ready to be shown."""

    record: Idea
    rank: int
    chain: ChainView | None
    parts: tuple[tuple[str, tuple[Quote, ...]], ...]
    references: tuple[Ref, ...]
    novelty: NoveltyView
    facets: tuple[tuple[str, str], ...]
    plan: tuple[tuple[str, tuple[str, ...], str], ...] | None
    """(heading, entries, what to say when there is none) for each list of the experiment plan."""
    made: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LeadPage:
    """The leads of a run, what the novelty check says of them, and the chains that they come from."""

    leads: tuple[tuple[LeadView, tuple[Ref, ...]], ...]
    """Each with the papers to read first."""
    novelty: tuple[str, ...]
    chains: tuple[ChainView, ...]
    heading: str
    introduction: str


@dataclass(frozen=True)
class Report:
    """The whole page."""

    topic: str | None
    before: str | None
    offline: bool | None
    recorded: str | None
    """Whose recorded answers the run was made from, as a sentence."""
    status: str | None
    error: str | None
    unread: tuple[str, ...]
    """What should be in the folder and could not be read."""
    leads: LeadPage | None
    """Set in place of ``best`` and ``others`` where the offline model made leads."""
    best: IdeaView | None
    others: tuple[IdeaView, ...]
    failures: tuple[tuple[str, str], ...]
    held_back: tuple[tuple[Ref, str], ...]
    notes: tuple[str, ...]
    cost: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[str, ...], ...]
    cached: str
    made: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
