"""The records that the report templates print."""

from __future__ import annotations

from dataclasses import dataclass

from ideagora.report.drawings.geometry import Kind, Picture
from ideagora.report.run.portfolio import PortfolioPage
from ideagora.report.run.wording.leads import LeadView
from ideagora.report.text_cleaning import short_name
from ideagora.schema import Direction, Idea, Link, RememberedWork, Transition


@dataclass(frozen=True)
class Ref:
    """A paper as the page names it."""

    id: str
    title: str
    year: str | None
    url: str | None

    @property
    def name(self) -> str:
        """A short name, for repeated mentions."""
        return short_name(self.title)


@dataclass(frozen=True)
class Step:
    """Two neighbours of a chain and their recorded transition, if any."""

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
class PairingView:
    """A limitation and a mechanism that were weighed for the direction."""

    way: str
    limitation: Ref
    mechanism: str
    source: Ref | None
    """``None``: from memory."""
    why: str


@dataclass(frozen=True)
class DirectionView:
    """The future direction with its source papers."""

    record: Direction
    limitation: Ref
    mechanism: Ref | None
    """``None``: the mechanism was stated from memory."""
    recalled: tuple[Ref, ...]
    """The papers that a search for a mechanism from memory found."""
    in_picture: bool
    """Whether the picture of the chain shows its whole text."""
    pairings: tuple[PairingView, ...]


@dataclass(frozen=True)
class ChainView:
    """A chain as the page shows it."""

    query: str
    nearness: str | None
    """A sentence on the similarity to the topic; ``None``: not measured."""
    is_far: bool
    papers: tuple[PaperView, ...]
    steps: tuple[Step, ...]
    direction: DirectionView | None
    stopped: tuple[tuple[str, str], ...]
    pictures: tuple[Picture, Picture] | None


@dataclass(frozen=True)
class Quote:
    """A quote from a paper that a part of the idea is based on."""

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
    """The novelty evidence in words."""

    status: str
    says: str
    facts: tuple[str, ...]
    columns: tuple[str, ...]
    closest: tuple[CloseView, ...]
    remembered: tuple[RememberedWork, ...] = ()


@dataclass(frozen=True)
class VerdictView:
    """A verdict of the choice among the branches."""

    other: str
    """Title of the idea that this one was compared with."""
    result: str
    reason: str


@dataclass(frozen=True)
class RecollectionView:
    """A hidden paper that the idea may be a recollection of."""

    ref: Ref
    why_hidden: str
    similarity: str


@dataclass(frozen=True)
class IdeaView:
    """An idea as the page shows it."""

    record: Idea
    rank: int
    core: tuple[tuple[str, str], ...]
    """Problem, claim, mechanism, test and what would refute it, as far as recorded."""
    verdicts: tuple[VerdictView, ...]
    twins: tuple[tuple[str, str], ...]
    """Earlier drafts that repeated another branch's idea: title, and title of that idea."""
    recollections: tuple[RecollectionView, ...]
    chain: ChainView | None
    parts: tuple[tuple[str, tuple[Quote, ...]], ...]
    references: tuple[Ref, ...]
    shown: tuple[Ref, ...]
    """Papers that the idea was written with, besides those of its chain."""
    novelty: NoveltyView
    plan: tuple[tuple[str, tuple[str, ...], str], ...] | None
    """(heading, entries, text for an empty list) for each list of the experiment plan."""
    first_steps: tuple[str, ...]
    """The steps before the review, to which its suggestions refer."""
    made: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LeadPage:
    """The leads of a run, their novelty check, and the chains that they come from."""

    leads: tuple[tuple[LeadView, tuple[Ref, ...]], ...]
    """Each lead with the papers to read first."""
    novelty: tuple[str, ...]
    chains: tuple[ChainView, ...]
    heading: str
    introduction: str


@dataclass(frozen=True)
class Report:
    """The whole page."""

    topic: str | None
    before: str | None
    focus: str | None
    """The user's wish for the ideas."""
    offline: bool | None
    recorded: str | None
    """The notice for a run made from recorded answers."""
    status: str | None
    error: str | None
    unread: tuple[str, ...]
    """Missing or unreadable records of the folder."""
    leads: LeadPage | None
    """Set instead of ``best`` and ``others`` for a run of the offline model."""
    best: IdeaView | None
    others: tuple[IdeaView, ...]
    failures: tuple[tuple[str, str], ...]
    held_back: tuple[tuple[Ref, str], ...]
    notes: tuple[str, ...]
    cost: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[str, ...], ...]
    cached: str
    made: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    portfolio: PortfolioPage | None = None
