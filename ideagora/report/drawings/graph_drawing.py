"""Draws an agent's graph as text, Mermaid or SVG.

The layout is one column in the usual order of the steps, since these graphs are chains with a few
decisions and loops: an edge to the next step is a line, any other edge an arrow beside the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ideagora.report.console import plain

START, END = "__start__", "__end__"
NAMES = {START: "start", END: "end"}
MARKS = {START: "○", END: "●"}
LEGEND = "│ next   ┆ conditional   ▸ also to   ↺ back to"
WIDTH, HEIGHT, GAP, INDENT = 230, 30, 26, 40
"""Pixels: size of a step, the space below it, and the indentation of a subgraph."""


@dataclass(frozen=True)
class Drawing:
    """The steps of a graph in their usual order, and its edges."""

    steps: tuple[str, ...]
    edges: tuple[tuple[str, str, bool], ...]
    """(source, target, whether the edge is conditional)."""
    inside: Mapping[str, Drawing] = field(default_factory=dict)
    """Subgraphs by the step that runs them."""

    def next(self, step: str) -> list[tuple[str, bool]]:
        """Return the targets of a step, and whether each edge is conditional."""
        return [(target, decided) for source, target, decided in self.edges if source == step]


def draw_graph(builder: Any, inside: Mapping[str, Callable[[], Any]]) -> Drawing:
    """Return the drawing of a LangGraph builder; ``inside`` names the subgraphs that steps call."""
    graph = builder.compile().get_graph()
    edges = tuple((edge.source, edge.target, bool(edge.conditional)) for edge in graph.edges)
    nested = {name: make() for name, make in inside.items()}
    for name, spec in builder.nodes.items():
        inner = getattr(spec.runnable, "builder", None)
        if inner is not None and hasattr(inner, "nodes"):
            nested[name] = inner
    return Drawing(
        tuple(_sort_steps(list(graph.nodes), edges)),
        edges,
        {name: draw_graph(inner, {}) for name, inner in nested.items() if name in graph.nodes},
    )


def _sort_steps(names: list[str], edges: tuple[tuple[str, str, bool], ...]) -> list[str]:
    """Return the reverse postorder of a depth-first search, then unreachable steps, then the end."""
    seen: set[str] = set()
    order: list[str] = []
    stack: list[tuple[str, Iterator[str]]] = []

    def enter(name: str) -> None:
        seen.add(name)
        targets = [target for source, target, _ in edges if source == name and target != END]
        stack.append((name, iter(reversed(targets))))

    enter(START)
    while stack:
        name, targets = stack[-1]
        target = next((candidate for candidate in targets if candidate not in seen), None)
        if target is None:
            order.insert(0, name)
            stack.pop()
        else:
            enter(target)
    rest = [name for name in names if name not in seen and name != END]
    return [*order, *rest, END]


def to_text(drawing: Drawing, indent: str = "") -> list[str]:
    """Return lines for a terminal."""
    lines = []
    for place, step in enumerate(drawing.steps):
        following = drawing.steps[place + 1] if place + 1 < len(drawing.steps) else None
        leads = drawing.next(step)
        others = [
            f"{'↺' if drawing.steps.index(target) <= place else '▸'} {_name(target)}"
            for target, _ in leads
            if target != following
        ]
        lines.append(
            f"{indent}{MARKS.get(step, '■')} {_name(step)}{'   ' if others else ''}{'  '.join(others)}"
        )
        line = next(("┆" if decided else "│" for target, decided in leads if target == following), " ")
        if step in drawing.inside:
            lines += to_text(drawing.inside[step], f"{indent}{line}   ")
        if following is not None:
            lines.append(f"{indent}{line}".rstrip())
    return lines


def _name(step: str) -> str:
    return " ".join(plain(NAMES.get(step, step)).split())


def to_mermaid(drawing: Drawing) -> str:
    """Return Mermaid text."""
    return "\n".join(["flowchart TD", *_mermaid(drawing, "s", "  ")]) + "\n"


def _mermaid(drawing: Drawing, prefix: str, indent: str) -> Iterator[str]:
    identities = {step: f"{prefix}{number}" for number, step in enumerate(drawing.steps)}
    for step, identity in identities.items():
        name = _name(step).replace('"', "'").replace("<", "(").replace(">", ")")
        if step in drawing.inside:
            yield f'{indent}subgraph {identity}["{name}"]'
            yield from _mermaid(drawing.inside[step], f"{identity}_", f"{indent}  ")
            yield f"{indent}end"
        else:
            shape = f'(["{name}"])' if step in NAMES else f'["{name}"]'
            yield f"{indent}{identity}{shape}"
    for source, target, decided in drawing.edges:
        yield f"{indent}{identities[source]} {'-.->' if decided else '-->'} {identities[target]}"


def to_svg(drawing: Drawing) -> str:
    """Return an SVG without scripts, links or fonts."""
    parts: list[str] = []
    height, reach = _place(drawing, 60, 20, parts)
    width = int(reach) + 20
    style = (
        "text{font:13px system-ui,sans-serif;fill:#1b2733}.step{fill:#fff;stroke:#3d6a8a}"
        ".mark{fill:#3d6a8a;stroke:none}.mark+text{fill:#fff}.edge{fill:none;stroke:#3d6a8a;stroke-width:1.3}"
        ".decided{stroke-dasharray:4 3}.inside{fill:#eef4f8;stroke:#b8ccd9}"
    )
    head = (
        '<marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{int(height)}" '
        f'viewBox="0 0 {width} {int(height)}" role="img"><style>{style}</style><defs>{head}'
        '<path d="M0 0L8 4L0 8z" fill="#3d6a8a"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _place(drawing: Drawing, x: float, y: float, parts: list[str]) -> tuple[float, float]:
    """Draw at (x, y), and return the bottom and right edges of the drawing."""
    tops: dict[str, float] = {}
    bottoms: dict[str, float] = {}
    reach = x + WIDTH
    for step in drawing.steps:
        tops[step] = y
        parts.append(_box(step, x, y))
        y += HEIGHT
        if step in drawing.inside:
            inner: list[str] = []
            below, right = _place(drawing.inside[step], x + INDENT + 30, y + 12, inner)
            frame = (x + 12, y + 4, right - x - 4, below - y - 4)
            parts += [_rectangle("inside", *frame), *inner]
            y, reach = below, max(reach, right + 10)
        bottoms[step] = y
        y += GAP
    place = drawing.steps.index
    for source, target, decided in sorted(drawing.edges, key=lambda edge: place(edge[1]) - place(edge[0])):
        arc, right = _edge(drawing, (source, target), (x, reach), tops, bottoms)
        parts.append(f'<path class="edge{" decided" * decided}" marker-end="url(#to)" d="{arc}"/>')
        reach = max(reach, right) if right else reach
    return y - GAP + 20, reach


def _box(step: str, x: float, y: float) -> str:
    kind = "mark" if step in NAMES else "step"
    text = f'<text x="{x + WIDTH / 2}" y="{y + 20}" text-anchor="middle">{escape(_name(step)[:34])}</text>'
    return _rectangle(kind, x, y, WIDTH, HEIGHT) + text


def _rectangle(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="7"/>'


def _edge(
    drawing: Drawing,
    ends: tuple[str, str],
    across: tuple[float, float],
    tops: Mapping[str, float],
    bottoms: Mapping[str, float],
) -> tuple[str, float]:
    """Return a line to the next step, an arc on the right to a later one, on the left to an earlier one."""
    (source, target), (x, reach) = ends, across
    distance = drawing.steps.index(target) - drawing.steps.index(source)
    if distance == 1:
        middle = x + WIDTH / 2
        return f"M{middle} {bottoms[source]}V{tops[target] - 1}", 0.0
    start, end = tops[source] + HEIGHT / 2, tops[target] + HEIGHT / 2
    if distance > 1:
        right, bend = x + WIDTH, reach + 52
        return f"M{right} {start + 4}C{bend} {start + 4} {bend} {end - 4} {right + 1} {end - 4}", reach + 32
    bend = x - 22 - 6 * min(4, -distance)
    return f"M{x} {start - 4}C{bend} {start - 4} {bend} {end + 4} {x - 1} {end + 4}", 0.0
