"""The package diagram of ARCHITECTURE.md, drawn from the imports."""

from __future__ import annotations

EVERYWHERE = {"schema", "errors", "trust", "config"}
"""Imported by nearly every package, so they are left out."""


def diagram() -> str:
    """Mermaid text with an arrow from each package to those it imports, less the arrows that others imply."""
    import grimp
    import networkx as nx

    imports = grimp.build_graph("ideagora")
    packages = imports.find_children("ideagora")
    for package in packages:
        imports.squash_module(package)
    graph = nx.DiGraph()
    for package in packages:
        for imported in imports.find_modules_directly_imported_by(package) & packages:
            graph.add_edge(_name(package), _name(imported))
    graph.remove_nodes_from(EVERYWHERE)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    arrows = sorted(nx.transitive_reduction(graph).edges)
    return "\n".join(["```mermaid", "graph TD", *(f"    {a} --> {b}" for a, b in arrows), "```"])


def _name(module: str) -> str:
    name = module.removeprefix("ideagora.")
    return "graphs" if name == "registry" else name  # the registry belongs to the graphs


def main() -> None:
    """Print the diagram."""
    print(diagram())
