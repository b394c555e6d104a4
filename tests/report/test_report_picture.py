"""The picture of a chain: nothing overlaps, nothing is cut, and it can be read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ideagora.report.drawings import chain_picture
from ideagora.report.drawings.chain_picture import chain_pictures
from ideagora.report.drawings.geometry import Box, Line, Note, Picture, extent
from ideagora.report.text_cleaning import clean
from ideagora.schema import Chain, Direction, Link, Paper, Transition
from tests.support import report_samples as samples
from tests.support.each import each_case
from tests.support.report_pages import LONG, MANY, ODD, Page, evil_idea, html_of

titles = st.one_of(
    st.text(max_size=200), st.sampled_from(ODD), st.from_regex(r"[A-Z][a-z]{1,30}( [a-zA-Z-]{1,25}){0,40}")
)


@st.composite
def chains(draw: st.DrawFn) -> Chain:
    """Chains of 1 to 9 papers with any titles, phrases and dates."""
    count = draw(st.integers(1, 9))
    anchor = draw(st.integers(0, count - 1))
    links = tuple(
        Link(
            paper=Paper(
                id=f"p{n}", title=draw(titles), date=draw(st.sampled_from([None, "1999", "2024-05"]))
            ),
            position=n - anchor,
            reason="",
        )
        for n in range(count)
    )
    phrases = st.lists(titles, max_size=5).map(tuple)
    steps = tuple(
        Transition(earlier=f"p{n}", later=f"p{n + 1}", entered=draw(phrases), left=draw(phrases), text="")
        for n in range(count - 1)
        if draw(st.booleans())
    )
    ahead = Direction(
        text=draw(titles),
        limitation="",
        limitation_from="p0",
        mechanism="",
        mechanism_from=draw(st.sampled_from(["p0", "z"])),
    )
    direction = ahead if draw(st.booleans()) else None
    return Chain(query="", anchor=f"p{anchor}", links=links, transitions=steps, direction=direction)


def _cleaned(chain: Chain) -> Chain:
    """The chain as the loader gives it."""

    def changed(value: Any) -> Any:
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, dict):
            return {key: changed(entry) for key, entry in value.items()}
        return [changed(entry) for entry in value] if isinstance(value, list | tuple) else value

    return Chain.model_validate(changed(chain.model_dump()))


@settings(max_examples=50, deadline=None)
@given(chains())
def test_nothing_in_the_picture_overlaps_or_is_cut(chain: Chain) -> None:
    drawn = chain_pictures(_cleaned(chain), {})
    assert drawn is not None
    for picture in drawn:
        assert_tidy(picture)
        assert len(picture.boxes) == len(chain.links) + bool(chain.direction)
        assert len([arrow for arrow in picture.arrows if arrow.kind == "step"]) == len(chain.links) - 1
        assert [box.kind for box in picture.boxes].count("anchor") == 1


@each_case("count", range(1, 10))
def test_pictures_of_every_length_are_tidy(count: int) -> None:
    drawn = chain_pictures(samples.chain(count), {})
    assert drawn is not None
    for picture in drawn:
        assert_tidy(picture)
        assert not [line.text for box in picture.boxes for line in box.lines if line.text.endswith("…")]
    wide, tall = drawn
    assert wide.width <= chain_picture.WIDE
    assert tall.width == chain_picture.TALL
    rows = [list(row) for _, row in groupby(wide.boxes[:count], key=lambda box: box.y)]
    assert all(later.x > earlier.x for row in rows for earlier, later in pairwise(row))
    assert all(later.y > earlier.y for earlier, later in pairwise(tall.boxes))


def assert_tidy(picture: Picture) -> None:
    parts: list[Box | Note] = [*picture.boxes, *picture.notes]
    for part in parts:
        assert part.x >= 0
        assert part.y >= 0
        assert part.x + part.width <= picture.width + 0.01
        assert part.y + part.height <= picture.height
        for line in part.lines:
            _assert_inside(line, part)
    for one, two in combinations(parts, 2):
        assert not _overlap(one, two), (one, two)
    for tick in picture.ticks:
        assert not any(_holds(box, tick.x, tick.y) for box in picture.boxes)
        assert not any(_holds(box, end, tick.year.y) for box in picture.boxes for end in extent(tick.year))
    for arrow in picture.arrows:
        for (x0, y0), (x1, y1) in pairwise(arrow.points):
            assert x0 == x1 or y0 == y1
            for part in parts:
                assert not _holds(part, (x0 + x1) / 2, (y0 + y1) / 2), (arrow, part)
                assert not _crosses((x0, y0), (x1, y1), part), (arrow, part)


def _assert_inside(line: Line, part: Box | Note) -> None:
    left, right = extent(line)
    assert part.x <= left + 0.01
    assert right <= part.x + part.width + 0.01
    assert part.y <= line.y - line.size * 0.8
    assert line.y + line.size * 0.25 <= part.y + part.height


def _overlap(one: Box | Note, two: Box | Note) -> bool:
    return (
        one.x < two.x + two.width
        and two.x < one.x + one.width
        and one.y < two.y + two.height
        and two.y < one.y + one.height
    )


def _holds(part: Box | Note, x: float, y: float) -> bool:
    return part.x < x < part.x + part.width and part.y < y < part.y + part.height


def _crosses(start: tuple[float, float], end: tuple[float, float], part: Box | Note) -> bool:
    """Whether an upright or level line runs through the inside of a part."""
    (x0, x1), (y0, y1) = sorted((start[0], end[0])), sorted((start[1], end[1]))
    return (
        max(x0, part.x) < min(x1, part.x + part.width) and part.y < y0 < part.y + part.height and y0 == y1
    ) or (max(y0, part.y) < min(y1, part.y + part.height) and part.x < x0 < part.x + part.width and x0 == x1)


def test_picture_says_what_it_shows(tmp_path: Path) -> None:
    page = Page(html_of(samples.write_run(tmp_path, [samples.idea()])))
    drawn = [attrs for tag, attrs in page.tags if tag == "svg" and attrs.get("role")]
    assert len(drawn) == 2
    for attrs in drawn:
        assert "5 papers, from 2023 to 2025" in (attrs["aria-label"] or "")
        assert samples.PAPERS[2][2] in (attrs["aria-label"] or "")
    for arxiv_id, _, _ in samples.PAPERS[:5]:
        assert f"https://arxiv.org/abs/{arxiv_id}" in page.links


def test_colours_have_enough_contrast() -> None:
    style = (Path(chain_picture.__file__).parents[1] / "templates" / "style.css").read_text()
    schemes = [
        dict(re.findall(r"--(\w[\w-]*): (#[0-9a-f]{6})", part))
        for part in style.split("*, *::before")[0].split("@media")
    ]
    assert [len(scheme) for scheme in schemes] == [13, 13]
    for scheme in schemes:
        for ink in ("ink", "soft", "accent", "ahead", "plus", "minus"):
            for ground in ("page", "card", "quiet", "ahead-tint", "accent-tint"):
                assert _contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)


def _contrast(one: str, two: str) -> float:
    """Contrast ratio of WCAG 2.1."""

    def light(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((light(one), light(two)))
    return (high + 0.05) / (low + 0.05)


MEASURE = """<pre id="out"></pre><script>
const found = [];
let texts = 0;
for (const held of document.querySelectorAll("svg.picture svg")) {
  if (!held.getClientRects().length) continue;
  const box = held.viewBox.baseVal;
  for (const text of held.querySelectorAll("text")) {
    const is = text.getBBox();
    texts += 1;
    if (is.x < box.x - 0.5 || is.x + is.width > box.x + box.width + 0.5) found.push(text.textContent);
  }
}
const page = document.documentElement;
document.getElementById("out").textContent = JSON.stringify(
  {texts: texts, cut: found, spill: page.scrollWidth - page.clientWidth});
</script>"""


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_finds_no_text_cut_and_nothing_sticking_out(tmp_path: Path, width: int) -> None:
    odd = samples.idea(1, chain=samples.chain(9), title=LONG, novelty=MANY)
    shown = html_of(samples.write_run(tmp_path, [odd, samples.idea(2), evil_idea()]))
    measured = shown.replace("<details", "<details open").replace("</body>", f"{MEASURE}</body>")
    style = "<style>svg.picture { display: block !important }</style>" if width > 1000 else ""
    (tmp_path / "page.html").write_text(
        re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', style, measured)
    )
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command += [
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        f"--user-data-dir={tmp_path / 'user'}",
    ]
    command += [f"--window-size={width},2000", "--dump-dom", (tmp_path / "page.html").as_uri()]
    dumped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    written = re.search(r'<pre id="out">(.*?)</pre>', dumped, re.DOTALL)
    assert written is not None
    out = json.loads(unescape(written[1]))
    assert out["texts"] > 100
    assert set(out["cut"]) == set()
    assert out["spill"] <= 0
