"""Reads a report as a browser or a Markdown reader would, and makes runs full of hostile text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

from hypothesis import strategies as st

from ideagora.report import write_report
from ideagora.schema import (
    Chain,
    ClosestPaper,
    Direction,
    Experiment,
    Idea,
    Link,
    NoveltyCheck,
    Paper,
    Source,
    Transition,
)
from tests.support import report_samples as samples

EVIL = (
    '<script>alert(1)</script><img src=x onerror="alert(1)"> [click](javascript:alert(1)) '
    "![pixel](http://evil.example/x.png) **bold** `code` | cell </style></title></svg> "
    "https://evil.example/a www.evil.example someone@evil.example {{ 7*7 }} <!-- &lt;b&gt;"
)
LONG = "Supercalifragilistic" * 12
MANY = " ".join(["interminable"] * 300)
ARABIC = "نموذج لغوي كبير لتوليد الأفكار البحثية من الأدبيات العلمية"
CHINESE = "基于大型语言模型的科研想法生成方法研究与评估以及其在实际执行中的表现"
ODD = (EVIL, LONG, MANY, ARABIC, CHINESE, "x", "𝐁𝐨𝐥𝐝 ﷺ 👩‍👩‍👧‍👦 Z̴̢̛a̷l̴g̵o̶", " ", "-" * 300)

HOSTILE_PIECES = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        "<script> --> <!-- <div <?x <![CDATA[ ]]> "
        "[a](b) ![a](b) <http://a.b> http://a.b www.a.b a@b.c *a* _a_ ~~a~~ ` ``` | \\ "
        "&amp; # > - + "
        "1. === --- ``` ~~~ [a]: b [^1] $a$ \n \n\n \t : <b> </p> &#60; \ud800 \u202e \u2028".split(" ")
    ),
)
WILD = st.lists(HOSTILE_PIECES, max_size=8).map(" ".join) | st.lists(HOSTILE_PIECES, max_size=8).map("".join)
"""Text with everything in it that means something in HTML or Markdown."""


class Page(HTMLParser):
    """Everything in a page that a test asks about."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headings: list[tuple[int, str]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)
        if re.fullmatch(r"h\d", tag):
            self.headings.append((int(tag[1]), ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        self.words.append(data)
        if any(re.fullmatch(r"h\d", tag) for tag in self._open):
            level, heading = self.headings[-1]
            self.headings[-1] = (level, f"{heading}{data}")

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def links(self) -> list[str]:
        return [attrs["href"] or "" for _, attrs in self.tags if "href" in attrs]


def html_of(folder: Path) -> str:
    return write_report(folder)[1].read_text(encoding="utf-8")


def markdown_of(folder: Path) -> str:
    return write_report(folder)[0].read_text(encoding="utf-8")


def evil_idea() -> Idea:
    """An idea in which every text is hostile."""
    links = tuple(
        Link(
            paper=Paper(id=f"p{number}", title=title, doi='10.1/"onclick="x' if number else None),
            position=number - 3,
            reason=EVIL,
            reading=samples.reading(0).model_copy(update={"problem": EVIL, "finding": EVIL}),
        )
        for number, title in enumerate(ODD)
    )
    steps = tuple(
        Transition(earlier=a.paper.id, later=b.paper.id, entered=ODD, left=ODD[::-1], text=EVIL)
        for a, b in pairwise(links)
    )
    ahead = Direction(
        text=EVIL, limitation=EVIL, limitation_from="javascript:alert(1)", mechanism=EVIL, mechanism_from="p2"
    )
    close = ClosestPaper(
        paper_id='doi:10.1/"><script>', title=EVIL, similarity=0.5, overlap=EVIL, facets={EVIL: EVIL}
    )
    return samples.idea(
        1,
        title=EVIL,
        summary=EVIL,
        motivation=EVIL,
        novelty=EVIL,
        method=f"1. {EVIL}\n2. {EVIL}\n- {EVIL}",
        chain=Chain(
            query=EVIL, anchor="p3", links=links, transitions=steps, direction=ahead, stopped={EVIL: EVIL}
        ),
        experiment=Experiment(steps=(EVIL, LONG), datasets=(EVIL,), searched=(EVIL,)),
        references=("javascript:alert(1)", "arxiv:1) [x](javascript:alert(1)"),
        sources=(Source(part=EVIL, paper_id=EVIL, quote=EVIL),),
        novelty_check=NoveltyCheck(status="too_close", closest=(close,), reason=EVIL),
        facets={EVIL: EVIL},
        wins=EVIL,
        model=EVIL,
        agent=EVIL,
        extra={EVIL: [EVIL]},
    )


def evil_run(folder: Path) -> Path:
    return samples.write_run(
        folder,
        [evil_idea(), evil_idea()],
        topic={"text": EVIL, "banned": [EVIL], "inspirations": [EVIL]},
        agent=EVIL,
        settings={EVIL: EVIL},
        versions={EVIL: EVIL},
        prompts={EVIL: EVIL},
        usage={"roles": {EVIL: {"calls": 1}}, "labels": {EVIL: {"calls": 1}}},
        status=EVIL,
        error=EVIL,
        failures=[{"branch": 1, "query": EVIL, "error": EVIL}],
        held_back=[{"id": "javascript:alert(1)", "title": EVIL, "why": EVIL}],
        notes=[EVIL],
        offline=True,
    )
