"""A custom literature source with three papers in memory; yours can query a database or a service.

ideagora library check examples/own_source.py:Notes --query "bridges"
ideagora generate "bridges that grow" --source starter,examples/own_source.py:Notes
"""

from __future__ import annotations

from typing import Any

PAPERS = (
    ("notes:1", "Bridges of oak", "Oak bends before it breaks, so we build with it.", "2019-03", ()),
    ("notes:2", "Bridges that widen", "Bridges of oak are narrow. We widen them.", "2021-06", ("notes:1",)),
    ("notes:3", "Listening to bridges", "We measure bridges by sound.", "2023-01-20", ("notes:1", "notes:2")),
)


class Notes:
    """Papers as dicts with the fields of ``ideagora.schema.Paper``; only ``search`` is required."""

    name = "notes"

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Papers that share words with the query in their title, best first."""
        words = set(query.lower().split())
        scores = {paper["id"]: len(words & set(paper["title"].lower().split())) for paper in self._all()}
        ranked = sorted(self._all(), key=lambda paper: (-scores[paper["id"]], paper["id"]))
        return [paper for paper in ranked if scores[paper["id"]]][:k]

    def references(self, paper_id: str) -> list[dict[str, Any]]:
        """The papers that a paper cites."""
        cited = next((row[4] for row in PAPERS if row[0] == paper_id), ())
        return [paper for paper in self._all() if paper["id"] in cited]

    def citations(self, paper_id: str) -> list[dict[str, Any]]:
        """The papers that cite a paper."""
        return [paper for row, paper in zip(PAPERS, self._all(), strict=True) if paper_id in row[4]]

    def _all(self) -> list[dict[str, Any]]:
        return [dict(zip(("id", "title", "abstract", "date"), row, strict=False)) for row in PAPERS]
