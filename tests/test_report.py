"""The report: what it shows, what it keeps out, and that its picture fits."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ideagora.errors import FolderUnusable, RunError
from ideagora.report import chain_picture, write_report
from ideagora.report.chain_picture import Box, Line, Note, Picture, extent, pictures
from ideagora.report.load import load
from ideagora.report.text import (
    blocks,
    clean,
    markdown,
    measure,
    right_to_left,
    safe_url,
    short_name,
    url_of,
    without_folders,
    wrapped,
)
from ideagora.report.view import dollars
from ideagora.schema import Chain, Close, Direction, Experiment, Idea, Link, NoveltyCheck, Paper, Source, Transition
from tests import report_samples as samples

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


# --- helpers ----------------------------------------------------------------------------------


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
        for a, b in itertools.pairwise(links)
    )
    ahead = Direction(
        text=EVIL, limitation=EVIL, limitation_from="javascript:alert(1)", mechanism=EVIL, mechanism_from="p2"
    )
    close = Close(paper_id='doi:10.1/"><script>', title=EVIL, similarity=0.5, overlap=EVIL, facets={EVIL: EVIL})
    return samples.idea(
        1,
        title=EVIL,
        summary=EVIL,
        motivation=EVIL,
        novelty=EVIL,
        method=f"1. {EVIL}\n2. {EVIL}\n- {EVIL}",
        chain=Chain(query=EVIL, anchor="p3", links=links, transitions=steps, direction=ahead, stopped={EVIL: EVIL}),
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


# --- what is shown ----------------------------------------------------------------------------


def test_sections_stand_in_the_order_of_a_reader(tmp_path: Path) -> None:
    page = Page(html_of(samples.write_run(tmp_path)))
    names = [" ".join(heading.split()) for level, heading in page.headings if level <= 3]
    assert names == [
        samples.TOPIC,
        samples.idea().title,
        "Motivation",
        "Novelty",
        "Method",
        "Chain of ideas",
        "What changed",
        "Future direction",
        "Where it came from",
        "Novelty evidence",
        "Experiment plan",
        "The other branches' ideas",
        "2. A Trained Forecaster of What Survives Execution",
        "3. Ask the Skeptic First",
        "About this run",
        "Failed branches",
        "Held back",
        "Notes",
        "Cost",
        "How it was made",
    ]


def test_headings_never_skip_a_level(tmp_path: Path) -> None:
    levels = [level for level, _ in Page(html_of(samples.write_run(tmp_path))).headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _strings(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _strings(entry)


def test_all_that_an_idea_says_is_in_both_reports(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [samples.idea()])
    html, plain = Page(html_of(folder)).text, " ".join(markdown_of(folder).split())
    shown = samples.idea().model_dump(exclude={"created", "topic", "references", "usage"})
    unshown = {"starter", *(p["id"] for p in (link["paper"] for link in shown["chain"]["links"]))}
    for text in _strings(shown):
        for line in text.split("\n"):
            words = re.sub(r"^\d+\. ", "", line)
            if words in unshown or re.fullmatch(r"[\d.-]+|novel|s2:\w+|arxiv:[\d.]+", words):
                continue
            assert words.casefold() in html.casefold(), words
            assert markdown(words).casefold() in plain.casefold(), words


def test_cost_says_unknown_price_and_never_zero_for_it(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path)
    html, plain = Page(html_of(folder)).text, markdown_of(folder)
    assert "Total 94 251,930 33,871 unknown price" in html
    assert "| Total | 94 | 251,930 | 33,871 | unknown price |" in plain
    assert "ideator 5 20,020 6,010 $1.25" in html
    assert "forecaster 3 12,110 1,902 $0.0649" in html
    assert "12 further answers came from the cache." in html


@pytest.mark.parametrize(
    ("cost", "words"),
    [(None, "unknown price"), (0.0, "$0.00"), (0.00123, "$0.0012"), (12.5, "$12.50"), (float("nan"), "unknown price")],
)
def test_dollars(cost: float | None, words: str) -> None:
    assert dollars(cost) == words


def test_offline_is_said_only_of_the_offline_model(tmp_path: Path) -> None:
    words = "Made by the offline model: an extractive engine, not a language model. For a real model:"
    offline = samples.write_run(tmp_path / "a", offline=True)
    real = samples.write_run(tmp_path / "b", offline=False)
    assert words in Page(html_of(offline)).text
    assert words in markdown_of(offline)
    assert "ideagora generate" in markdown_of(offline)
    assert "offline model" not in Page(html_of(real)).text
    assert "offline model" not in markdown_of(real)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("running", "not finished"),
        ("failed", "This run failed"),
        ("interrupted", "was interrupted"),
        ("budget", "stopped by its budget"),
        (None, "was not recorded"),
        ("paused", "How this run ended: paused."),
    ],
)
def test_a_run_that_is_not_done_says_so(tmp_path: Path, status: str | None, words: str) -> None:
    folder = samples.write_run(tmp_path, status=status, error="the disk is full")
    for text in (Page(html_of(folder)).text, markdown_of(folder)):
        assert words in text
        assert "the disk is full" in text


def test_method_steps_are_a_list(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [samples.idea(method="Two parts.\n1. First\ngoes on\n2. Second")])
    html = html_of(folder)
    assert '<ol><li value="1" dir="auto">First<br>goes on</li><li value="2" dir="auto">Second</li></ol>' in html
    assert "Two parts.\n\n1. First  \n   goes on\n2. Second\n" in markdown_of(folder)


def test_transitions_name_what_was_not_recorded(tmp_path: Path) -> None:
    chain = samples.chain(3)
    folder = samples.write_run(
        tmp_path, [samples.idea(chain=chain.model_copy(update={"transitions": chain.transitions[1:]}))]
    )
    assert Page(html_of(folder)).text.count("What changed here was not recorded.") == 1
    assert markdown_of(folder).count("_What changed here was not recorded._") == 1


def test_a_mechanism_from_outside_the_chain_is_said_to_be(tmp_path: Path) -> None:
    chain = samples.chain(3)
    assert chain.direction is not None
    ahead = chain.direction.model_copy(update={"mechanism_from": "arxiv:2408.06292"})
    folder = samples.write_run(tmp_path, [samples.idea(chain=chain.model_copy(update={"direction": ahead}))])
    page = Page(html_of(folder))
    assert "The mechanism comes from outside this chain." in page.text
    assert "https://arxiv.org/abs/2408.06292" in page.links


# --- what is missing --------------------------------------------------------------------------


def test_bare_idea_says_what_it_lacks(tmp_path: Path) -> None:
    bare = Idea(id="x", topic="t", agent="a", title="", motivation="", novelty="", method="")
    folder = samples.write_run(tmp_path, [bare], usage={}, failures=[], held_back=[], notes=[], settings={})
    for text in (Page(html_of(folder)).text, markdown_of(folder)):
        for words in (
            "An idea without a title",
            "No summary was given.",
            "No motivation was given.",
            "No novelty was claimed.",
            "No method was given.",
            "This idea came without a chain of ideas.",
            "No sources were recorded for the parts of this idea.",
            "No novelty check was made: this idea is unchecked.",
            "No experiment plan was made for this idea.",
            "There are no others.",
            "No branch failed.",
            "Nothing was held back.",
            "What the run cost was not recorded.",
            "How many answers came from the cache was not recorded.",
        ):
            assert words in text, words


def test_unchecked_novelty_is_no_verdict(tmp_path: Path) -> None:
    check = NoveltyCheck(status="unchecked", reason="The model refused.")
    folder = samples.write_run(tmp_path, [samples.idea(novelty_check=check)])
    text = Page(html_of(folder)).text
    assert "Unchecked: no answer on novelty could be had. This is no verdict." in text
    assert "The model refused." in text
    assert "No closest paper is recorded." in text


def test_empty_chain_and_no_direction(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [samples.idea(chain=Chain(query="", anchor="", links=()))])
    for text in (Page(html_of(folder)).text, markdown_of(folder)):
        assert "The chain is empty: no paper was taken into it." in text
        assert "No future direction was predicted." in text
    assert "<svg" not in html_of(folder)


def test_no_ideas_file_and_broken_lines_are_named(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path, [samples.idea()])
    whole = (folder / "ideas.jsonl").read_bytes()
    (folder / "ideas.jsonl").write_bytes(whole + b'{"id": "cut off\n' + b'{"id": 1}\n' + b"\xff\n\n")
    read = load(folder)
    assert [idea.title for idea in read.ideas] == [samples.idea().title]
    assert [problem.split(" could")[0] for problem in read.unread] == [
        f"Line {number} of ideas.jsonl" for number in (2, 3, 4)
    ]
    assert all(problem in Page(html_of(folder)).text for problem in read.unread)
    (folder / "ideas.jsonl").unlink()
    for text in (Page(html_of(folder)).text, markdown_of(folder)):
        assert "There is no ideas.jsonl." in text
        assert "No idea is recorded in this run." in text


@pytest.mark.parametrize("content", [None, "{", "[]", '{"topic": {"text": ""}}', "[" * 100_000])
def test_a_folder_without_a_readable_run_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunError, match=r"run\.json") as caught:
        write_report(tmp_path)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "report.md").exists()


def test_an_almost_empty_run_is_shown(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"a field of a later version": 1}')
    text = Page(html_of(tmp_path)).text
    assert "The topic was not recorded" in text
    assert "How this run ended was not recorded." in text


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path)
    assert write_report(folder) == (folder / "report.md", folder / "report.html")
    assert sorted(path.name for path in folder.iterdir()) == ["ideas.jsonl", "report.html", "report.md", "run.json"]
    (folder / "report.md").unlink()
    (folder / "report.md").mkdir()
    with pytest.raises(FolderUnusable, match="cannot be written"):
        write_report(folder)
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


# --- the same bytes ---------------------------------------------------------------------------


def test_same_run_gives_the_same_bytes_whatever_clock_folder_or_order(tmp_path: Path) -> None:
    first = samples.write_run(tmp_path / "one")
    record = samples.run(id="another", started="2031-01-01", finished=None)
    record["settings"]["home"] = "/somewhere/else"
    record["usage"]["total"]["seconds"] = 9.9
    record["usage"]["roles"] = dict(reversed(record["usage"]["roles"].items()))
    record["held_back"].reverse()
    second = samples.write_run(tmp_path / "two", [samples.idea(created="2031"), *samples.other_ideas()], **record)
    for one, two in zip(write_report(first), write_report(second), strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_no_folder_is_told(tmp_path: Path) -> None:
    folder = samples.write_run(
        tmp_path,
        [samples.idea(agent="/home/researcher/agent.py:Agent", extra={"log": "/home/researcher/a/log.txt"})],
        error=f"cannot write {tmp_path}/x.txt or file:///home/researcher/y.txt or C:\\Users\\me\\z.txt",
    )
    for text in (html_of(folder), markdown_of(folder)):
        assert "/home/" not in text
        assert str(tmp_path) not in text
        assert "Users" not in text
        assert "…/agent.py:Agent" in text


def test_addresses_and_fractions_are_no_folders() -> None:
    kept = "https://api.example.org/v1/chat/completions and/or 3/4, ollama/qwen3 (/tmp)"
    assert without_folders(kept) == kept


# --- what is kept out -------------------------------------------------------------------------

TAGS = set(
    "html head meta title style body header main footer section article div p h1 h2 h3 h4 h5 h6 span strong br a "
    "ul ol li dl dt dd table thead tbody tr th td blockquote details summary figure figcaption code "
    "svg g path circle rect text".split()
)
ATTRIBUTES = set(
    "lang charset http-equiv content name class dir href rel title role aria-label viewbox width height x y cx cy r "
    "rx d font-size direction scope data-name open value".split()
)


def assert_inert(html: str) -> Page:
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= TAGS
    assert {name for _, attrs in page.tags for name in attrs} <= ATTRIBUTES
    assert all(re.match(r"https://(arxiv\.org/abs|doi\.org)/[^\s\"'<>()\[\]]+$", link) for link in page.links)
    assert all(attrs.get("rel") == "noopener noreferrer" for _, attrs in page.tags if "href" in attrs)
    assert [tag for tag, _ in page.tags].count("style") == 1
    policies = [attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    style = html[html.index("<style>") : html.index("</style>")]
    assert not re.search(r"url\(|@import|expression", style)
    return page


def assert_plain(text: str) -> None:
    """Markdown that makes no HTML and no image, and links to papers only."""
    tokens = list(_flat(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)))
    assert not [token for token in tokens if token.type in ("html_block", "html_inline", "image")]
    links = [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]
    assert all(re.match(r"https://(arxiv\.org/abs|doi\.org)/", link) for link in links)
    spoken = "".join(token.content for token in tokens if token.type == "text")
    assert not re.search(r"https?://|www\.|\w@\w+\.\w", spoken)


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.children is None:
            yield token
        else:
            yield from _flat(token.children)


def test_normal_reports_are_inert(tmp_path: Path) -> None:
    folder = samples.write_run(tmp_path)
    assert_inert(html_of(folder))
    assert_plain(markdown_of(folder))


def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path) -> None:
    folder = evil_run(tmp_path)
    page = assert_inert(html_of(folder))
    assert page.text.count("<script>alert(1)</script>") > 50
    assert "{{ 7*7 }}" in page.text
    assert_plain(markdown_of(folder))


pieces = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        "<script> --> ]]> [a](b) ![a](b) <http://a.b> http://a.b www.a.b a@b.c *a* _a_ ~~a~~ ` ``` | \\ &amp; # > - + "
        "1. === --- ``` ~~~ [a]: b [^1] $a$ \n \n\n \t : <b> </p> &#60; \ud800 \u202e \u2028".split(" ")
    ),
)
wild = st.lists(pieces, max_size=8).map(" ".join) | st.lists(pieces, max_size=8).map("".join)


@settings(max_examples=60, deadline=None)
@given(wild, wild)
def test_any_text_leaves_both_reports_inert(tmp_path_factory: pytest.TempPathFactory, one: str, two: str) -> None:
    folder = tmp_path_factory.mktemp("run")
    record = json.loads(samples.idea(chain=samples.chain(2)).model_dump_json())
    record |= {"title": one, "summary": two, "method": f"1. {one}\n2. {two}", "wins": one}
    record["chain"]["links"][0]["paper"] |= {"title": two, "arxiv_id": one}
    record["chain"]["transitions"][0] |= {"entered": [one, two], "text": two}
    record["novelty_check"]["closest"][0] |= {"overlap": one, "title": two, "facets": {one: two}}
    samples.write_run(folder, [], notes=[two])
    (folder / "ideas.jsonl").write_text(json.dumps(record))
    assert_inert(html_of(folder))
    assert_plain(markdown_of(folder))


@settings(max_examples=300, deadline=None)
@given(wild, st.sampled_from(["{}", "- {}", "1. {}", "# {}", "> {}", "**{}**", "| a |\n| --- |\n| {} |"]))
def test_escaped_markdown_reads_as_what_was_written(text: str, place: str) -> None:
    words = " ".join(clean(text).split())
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = list(_flat(parser.parse(place.replace("{}", markdown(clean(text))))))
    read = "".join(token.content for token in tokens if token.type in ("text", "code_inline"))
    assert read.removeprefix("a" if place.startswith("|") else "") == words or not words


def test_links_lead_to_papers_only() -> None:
    assert url_of("arxiv:2410.13185v2") == "https://arxiv.org/abs/2410.13185v2"
    assert url_of("arxiv:cs/0112017") == "https://arxiv.org/abs/cs/0112017"
    assert url_of("doi:10.1000/a(b)<c>") == "https://doi.org/10.1000/a%28b%29%3Cc%3E"
    for paper_id in ("s2:1", "arxiv:", "arxiv:1 2", "arxiv:../x?y", "javascript:alert(1)", "doi:evil.example", ""):
        assert url_of(paper_id) is None
    for url in ("javascript:alert(1)", "data:text/html,x", "//evil.example", "https://", "https://a@b/c", "http://[", None):
        assert safe_url(url) is None
    assert safe_url('https://a.example/x"y)') == "https://a.example/x%22y%29"


# --- text -------------------------------------------------------------------------------------


def test_blocks_tell_lists_from_paragraphs() -> None:
    found = blocks("Intro\nsecond line\n1. one\nmore\n\n2) two\n\n- a\n- b\n\n2019. was a year\n\nStep 1: x\nStep 2: y")
    assert [block.kind for block in found] == ["paragraph", "numbered", "bullets", "paragraph", "numbered"]
    assert found[0].lines == ("Intro", "second line")
    assert [(item.number, item.lines) for item in found[1].items] == [(1, ("one", "more")), (2, ("two",))]
    assert [item.lines for item in found[4].items] == [("x",), ("y",)]
    assert [block.kind for block in blocks("1. alone")] == ["paragraph"]
    assert blocks(" \n ") == ()


def test_clean_takes_out_what_no_page_can_hold() -> None:
    assert clean("a\x00b\r\nc\u202ed\ud800") == "ab\ncd\ufffd"


def test_short_names() -> None:
    assert short_name("BERT: Pre-training of Deep Bidirectional Transformers") == "BERT"
    assert short_name("Attention Is All You Need") == "Attention Is All You Need"
    assert len(short_name(MANY)) <= 64


@settings(max_examples=200, deadline=None)
@given(wild, st.floats(60, 400), st.integers(1, 9))
def test_wrapped_text_fits_and_loses_nothing_silently(text: str, width: float, most: int) -> None:
    lines = wrapped(clean(text), width, 13, most)
    assert len(lines) <= most
    assert all(measure(line, 13) <= width for line in lines)
    whole = wrapped(clean(text), width, 13, 10_000)
    if lines != whole:
        assert lines[-1].endswith("…")
        assert lines[:-1] == whole[: most - 1]


def test_wrapped_text_keeps_every_letter() -> None:
    lines = wrapped(f"{LONG} and a well-known {ARABIC}", 120, 13, 99)
    assert "".join(lines).replace(" ", "") == f"{LONG}andawell-known{ARABIC}".replace(" ", "")


def test_direction_of_text() -> None:
    assert right_to_left(f"1. {ARABIC}")
    assert not right_to_left("BERT " + ARABIC)
    assert not right_to_left("123")


# --- the picture ------------------------------------------------------------------------------

titles = st.one_of(st.text(max_size=200), st.sampled_from(ODD), st.from_regex(r"[A-Z][a-z]{1,30}( [a-zA-Z-]{1,25}){0,40}"))


@st.composite
def chains(draw: st.DrawFn) -> Chain:
    """Chains of 1 to 9 papers with any titles, phrases and dates."""
    count = draw(st.integers(1, 9))
    anchor = draw(st.integers(0, count - 1))
    links = tuple(
        Link(
            paper=Paper(id=f"p{n}", title=draw(titles), date=draw(st.sampled_from([None, "1999", "2024-05"]))),
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
        text=draw(titles), limitation="", limitation_from="p0", mechanism="", mechanism_from=draw(st.sampled_from(["p0", "z"]))
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


@settings(max_examples=150, deadline=None)
@given(chains())
def test_nothing_in_the_picture_overlaps_or_is_cut(chain: Chain) -> None:
    drawn = pictures(_cleaned(chain), {})
    assert drawn is not None
    for picture in drawn:
        assert_tidy(picture)
        assert len(picture.boxes) == len(chain.links) + bool(chain.direction)
        assert len([arrow for arrow in picture.arrows if arrow.kind == "step"]) == len(chain.links) - 1
        assert [box.kind for box in picture.boxes].count("anchor") == 1


@pytest.mark.parametrize("count", range(1, 10))
def test_pictures_of_every_length_are_tidy(count: int) -> None:
    drawn = pictures(samples.chain(count), {})
    assert drawn is not None
    for picture in drawn:
        assert_tidy(picture)
        assert not [line.text for box in picture.boxes for line in box.lines if line.text.endswith("…")]
    wide, tall = drawn
    assert wide.width <= chain_picture.WIDE
    assert tall.width == chain_picture.TALL
    rows = [list(row) for _, row in itertools.groupby(wide.boxes[:count], key=lambda box: box.y)]
    assert all(later.x > earlier.x for row in rows for earlier, later in itertools.pairwise(row))
    assert all(later.y > earlier.y for earlier, later in itertools.pairwise(tall.boxes))


def assert_tidy(picture: Picture) -> None:
    parts: list[Box | Note] = [*picture.boxes, *picture.notes]
    for part in parts:
        assert part.x >= 0
        assert part.y >= 0
        assert part.x + part.width <= picture.width + 0.01
        assert part.y + part.height <= picture.height
        for line in part.lines:
            _assert_inside(line, part)
    for one, two in itertools.combinations(parts, 2):
        assert not _overlap(one, two), (one, two)
    for tick in picture.ticks:
        assert not any(_holds(box, tick.x, tick.y) for box in picture.boxes)
        assert not any(_holds(box, end, tick.year.y) for box in picture.boxes for end in extent(tick.year))
    for arrow in picture.arrows:
        for (x0, y0), (x1, y1) in itertools.pairwise(arrow.points):
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
    style = (Path(chain_picture.__file__).parent / "templates" / "style.css").read_text()
    schemes = [dict(re.findall(r"--(\w[\w-]*): (#[0-9a-f]{6})", part)) for part in style.split("*, *::before")[0].split("@media")]
    assert [len(scheme) for scheme in schemes] == [12, 12]
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
    (tmp_path / "page.html").write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', style, measured))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command += ["--disable-component-update", "--disable-sync", "--no-first-run", f"--user-data-dir={tmp_path / 'user'}"]
    command += [f"--window-size={width},2000", "--dump-dom", (tmp_path / "page.html").as_uri()]
    dumped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    written = re.search(r'<pre id="out">(.*?)</pre>', dumped, re.DOTALL)
    assert written is not None
    out = json.loads(unescape(written[1]))
    assert out["texts"] > 100
    assert set(out["cut"]) == set()
    assert out["spill"] <= 0
