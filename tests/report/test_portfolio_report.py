"""The report of a portfolio: the map of its ideas, and the overview; hostile text in both."""

from __future__ import annotations

import json
from itertools import combinations
from math import hypot
from pathlib import Path
from typing import Any

from ideagora.graphs.portfolio.records import PortfolioRecord
from ideagora.report.drawings.idea_map import GAP, HEIGHT, MARGIN, WIDTH, idea_map
from ideagora.report.run.write import write_report
from ideagora.schema import IdeaParent, Lineage, Rating
from tests.support import report_samples as samples

HOSTILE = '<script>alert(1)</script> & "quoted" [link](javascript:alert(1))'


def point(title: str, x: float, y: float, **fields: Any) -> dict[str, Any]:
    drafted = {"operation": "drafted", "agent": "rag", "fate": "chosen", "place": 1}
    return {"title": title, "x": x, "y": y, **drafted, **fields}


POINTS = [
    point(HOSTILE, 0.0, 0.0),
    point("Another", 2.0, 1.0, place=2),
    point(
        "Child",
        1.0,
        0.5,
        operation="combined",
        agent=None,
        parents=[0, 1],
        fate="lost",
        place=None,
        summary="Both at once.",
        why="lost to “Another”, which it was made from",
    ),
]
OVERVIEW = {
    "common": f"All assume {HOSTILE}",
    "differences": "They part on cost.",
    "questions": [{"title": HOSTILE, "question": "Does it help?"}],
}


def test_the_map_draws_ideas_and_descent_to_scale() -> None:
    drawn = idea_map(PortfolioRecord.model_validate({"points": POINTS}))
    assert drawn
    assert [(dot.label, dot.kind) for dot in drawn.dots] == [
        ("a", "left-out"),
        ("1", "chosen"),
        ("2", "chosen"),
    ]
    first, second = drawn.dots[1], drawn.dots[2]
    assert (first.x, second.x) == (MARGIN, WIDTH - MARGIN)
    assert (drawn.dots[0].x, drawn.dots[0].y) == (WIDTH / 2, HEIGHT / 2)
    assert (first.y - second.y) * 2 == second.x - first.x, "one scale for both dimensions"
    child = drawn.dots[0]
    gaps = [hypot(line.x2 - child.x, line.y2 - child.y) for line in drawn.lines]
    assert [round(gap, 6) for gap in gaps] == [child.radius + 2] * 2, "lines end at the edge of the child"
    assert "3 ideas" in drawn.alt_text
    assert idea_map(PortfolioRecord(points=())) is None
    same = idea_map(PortfolioRecord.model_validate({"points": [POINTS[0]]}))
    assert same
    assert (same.dots[0].x, same.dots[0].y) == (WIDTH / 2, HEIGHT / 2)
    crowd = idea_map(PortfolioRecord.model_validate({"points": [POINTS[0]] * 12 + [POINTS[2]]}))
    assert crowd
    gaps = [hypot(one.x - other.x, one.y - other.y) for one, other in combinations(crowd.dots, 2)]
    assert min(gaps) > 0.6 * GAP, "no idea covers another"


def test_the_overview_is_escaped_and_complete(tmp_path: Path) -> None:
    idea = samples.idea(
        title=HOSTILE,
        lineage=Lineage(
            operation="inverted", parents=(IdeaParent(id="a", title="Another"),), round=1, change="Turned."
        ),
        rating=Rating(rating=0.5, low=-0.25, high=1.25, matches=4, best_place=1, worst_place=2),
    )
    folder = samples.write_run(tmp_path, [idea])
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run["portfolio"] = {"points": POINTS, "overview": OVERVIEW, "nearest": 0.25, "mean": 0.5, "rounds": 1}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    markdown, html = (path.read_text(encoding="utf-8") for path in write_report(folder))
    assert "<script>alert" not in html
    assert "[link](javascript:" not in markdown
    for text in ("Does it help?", "They part on cost.", "inverted from “Another”. Turned.", "0.25"):
        assert text in html
        assert text.replace("-", "\\-") in markdown or text in markdown
    for text in ("+0.50", "-0.25 to +1.25", "place 1 to 2", 'href="#idea-1"', 'id="idea-1"'):
        assert text in html
    for text in ("Both at once.", "which it was made from", "combined from", "logarithm of the odds"):
        assert text in html
        assert text in markdown
    assert html.count('<g class="chosen" role="img"') == 2
    assert 'class="idea-map"' in html
