"""A team from the library's authors: profiles, and who is drawn; pure functions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from random import Random

from ideagora.agents.virsci.team import Profile
from ideagora.graphs.virsci.state import CastVote, Scientist
from ideagora.models.offline import text as texts
from ideagora.schema import Paper, deserialize, serialize

SHOWN_PAPERS, SHOWN_INTERESTS = 5, 6

Authored = dict[str, list[Paper]]
"""Papers by author, authors in the order in which they are found."""


def papers_by_author(papers: Iterable[Paper]) -> Authored:
    """The papers of each author."""
    authored: Authored = defaultdict(list)
    for paper in papers:
        for author in dict.fromkeys(paper.authors):
            authored[author].append(paper)
    return dict(authored)


def draw_candidates(papers: Sequence[Paper], count: int, seed: int) -> list[str]:
    """A leader, and authors to invite, ``count`` in all or as many as there are.

    The leader is drawn with the number of papers as the weight. Each further one is drawn with a weight of 1
    plus the number of papers with the leader, so that new collaborations are possible (the adjacency matrix
    plus 1 in the paper).
    """
    random, authored = Random(seed), papers_by_author(papers)
    together: Counter[frozenset[str]] = Counter()
    for paper in papers:
        together.update(map(frozenset, combinations(sorted(set(paper.authors)), 2)))
    names = sorted(authored)
    if not names:
        return []
    (leader,) = random.choices(names, weights=[len(authored[name]) for name in names])
    drawn = [leader]
    while len(drawn) < min(count, len(names)):
        left = [name for name in names if name not in drawn]
        weights = [1 + together[frozenset((leader, name))] for name in left]
        drawn += random.choices(left, weights=weights)
    return drawn


def profile(number: int, papers: Sequence[Paper]) -> Profile:
    """A scientist without the name: titles of papers, and phrases of them as interests."""
    phrases = (texts.as_in(paper.title, phrase) for paper in papers for phrase in texts.phrases(paper.title))
    interests = dict.fromkeys(phrase for phrase in phrases if not texts.is_generic(phrase))
    return Profile(
        number=number,
        papers=tuple(paper.title for paper in papers[:SHOWN_PAPERS]),
        interests=tuple(interests)[:SHOWN_INTERESTS],
    )


def member(number: int, author: str, papers: Sequence[Paper]) -> Scientist:
    """A scientist in the state."""
    return {
        "number": number,
        "author": author,
        "profile": serialize(profile(number, papers)),
        "papers": [serialize(paper) for paper in papers[:SHOWN_PAPERS]],
    }


def profile_of(scientist: Scientist) -> Profile:
    """The profile of a scientist in the state."""
    return deserialize(Profile, scientist["profile"])


def count_votes(ideas: int, votes: Iterable[CastVote]) -> tuple[list[int], bool]:
    """Votes by idea, and whether the team rejects all: more votes for none than for any one idea."""
    choices = Counter(vote["choice"] for vote in votes)
    count = [choices[number] for number in range(ideas)]
    return count, choices[None] > max(count, default=0)
