"""The graph of concepts, and paths sampled from it; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import networkx
    from numpy.typing import NDArray

SAME_CONCEPT = 0.85
"""Cosine from which two names are one concept."""
MIN_HOPS, MAX_CONCEPTS = 2, 7
"""Length of a path; with one hop, a paper states the relation itself."""
MIN_RELEVANCE = 0.2
"""Cosine to the topic of a concept that a path ends in, if there are any."""
TRIALS = 20
"""Random paths drawn for one end, of which the first that is short enough is taken."""


class PaperTriple(TypedDict):
    """A relation of two concepts that a paper states (``Triple``)."""

    subject: str
    relation: str
    object: str
    quote: str
    paper: str
    """Id of the paper."""


def concept_names(triples: Sequence[PaperTriple]) -> list[str]:
    """The names of the concepts, each spelling once, in order."""
    names = [name for triple in triples for name in (triple["subject"], triple["object"])]
    return list({name.casefold(): name for name in reversed(names)}.values())[::-1]


def merge_names(names: Sequence[str], vectors: NDArray[Any]) -> dict[str, str]:
    """Each name in lower case with the concept it belongs to: the first name that is as similar."""
    merged: dict[str, str] = {}
    kept: list[int] = []
    for place, name in enumerate(names):
        near = [(float(vectors[place] @ vectors[other]), -other) for other in kept]
        best = max(near, default=(0.0, 0))
        if best[0] >= SAME_CONCEPT:
            merged[name.casefold()] = names[-best[1]]
        else:
            kept.append(place)
            merged[name.casefold()] = name
    return merged


def build_concept_graph(triples: Sequence[PaperTriple], merged: Mapping[str, str]) -> networkx.Graph:
    """Concepts as nodes; the number of the first triple that relates two of them as an edge."""
    import networkx

    graph = networkx.Graph()
    for number, triple in enumerate(triples):
        ends = merged[triple["subject"].casefold()], merged[triple["object"].casefold()]
        if ends[0] != ends[1] and not graph.has_edge(*ends):
            graph.add_edge(*ends, triple=number, paper=triple["paper"])
    return graph


def sample_paths(
    graph: networkx.Graph, relevance: Mapping[str, float], count: int, seed: int
) -> list[list[str]]:
    """Up to ``count`` paths, each from the most relevant concept that has one to a distant end of its own.

    Names of several words, or of systems, come first as ends, since they say more than single words. Edges
    get random weights, so that a path is short but not the shortest: the paper samples paths that pass
    through more than the closest concepts.
    """
    import networkx

    random = Random(seed)
    paths: list[list[str]] = []
    used: set[str] = set()
    starts = sorted(graph, key=lambda name: (not _is_specific(name), -relevance[name], name))
    for papers in (2, 1):  # a path within one paper only if there is no other
        for start in starts:
            hops = networkx.single_source_shortest_path_length(graph, start)
            ends = sorted(name for name, number in hops.items() if number >= MIN_HOPS and name not in used)
            specific = [name for name in ends if _is_specific(name)] or ends
            relevant = [name for name in specific if relevance[name] >= MIN_RELEVANCE] or specific
            random.shuffle(relevant)
            drawn = (_random_path(graph, start, end, random) for end in relevant[:TRIALS])
            path = next((path for path in drawn if len(path_papers(graph, path)) >= papers), None)
            if path and start not in used and len(paths) < count:
                paths.append(path)
                used |= {start, path[-1]}
    return paths


def _is_specific(name: str) -> bool:
    return not name.isalpha() or not name.islower()


def path_papers(graph: networkx.Graph, path: Sequence[str]) -> set[str]:
    """The papers that the relations along a path come from."""
    return {graph.edges[pair]["paper"] for pair in pairwise(path)}


def _random_path(graph: networkx.Graph, start: str, end: str, random: Random) -> list[str]:
    import networkx

    for _ in range(TRIALS):
        weights = {frozenset(edge): random.expovariate(1) for edge in sorted(map(sorted, graph.edges))}
        path: list[str] = networkx.shortest_path(
            graph, start, end, weight=lambda a, b, _, weights=weights: weights[frozenset((a, b))]
        )
        if len(path) <= MAX_CONCEPTS:
            return path
    shortest: list[str] = networkx.shortest_path(graph, start, end)
    return shortest if len(shortest) <= MAX_CONCEPTS else []


def describe_graph(graph: networkx.Graph, paths: Sequence[Sequence[str]]) -> str:
    """The size of the graph and the part that contains the paths, for the report."""
    import networkx

    components = [sorted(part) for part in networkx.connected_components(graph)]
    size = f"The graph has {len(graph)} concepts and {graph.number_of_edges()} relations"
    if len(components) == 1:
        return f"{size} in one component."
    reached = sum(len(part) for part in components if any(path[0] in part for path in paths))
    return f"{size} in {len(components)} components; the paths are among {reached} of the concepts."
