"""No text from a model or a paper does anything in a report, and every such text is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ideagora.report.text_cleaning import (
    clean,
    cut_middle,
    escape_markdown,
    is_right_to_left,
    paper_url,
    safe_url,
    short_name,
    split_blocks,
    text_width,
    wrap,
)
from tests.support import report_samples as samples
from tests.support.report_pages import ARABIC, LONG, MANY, WILD, Page, evil_run, html_of, markdown_of

TAGS = set(
    "html head meta title style body header main footer section article div p h1 h2 h3 h4 h5 h6 span strong "
    "br a ul ol li dl dt dd table thead tbody tr th td blockquote details summary figure figcaption code "
    "svg g path circle rect text".split()
)
ATTRIBUTES = set(
    "lang charset http-equiv content name class dir href id rel title role aria-label viewbox width height x "
    "y cx cy r rx d font-size direction scope data-name colspan open value".split()
)


def assert_inert(html: str) -> Page:
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= TAGS
    assert {name for _, attrs in page.tags for name in attrs} <= ATTRIBUTES
    assert all(re.match(r"https://(arxiv\.org/abs|doi\.org)/[^\s\"'<>()\[\]]+$", link) for link in page.links)
    assert all(
        re.fullmatch(r"idea-\d+|descent", attrs["id"] or "") for _, attrs in page.tags if "id" in attrs
    )
    assert all(attrs.get("rel") == "noopener noreferrer" for _, attrs in page.tags if "href" in attrs)
    assert [tag for tag, _ in page.tags].count("style") == 1
    policies = [
        attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    style = html[html.index("<style>") : html.index("</style>")]
    assert not re.search(r"url\(|@import|expression", style)
    return page


def assert_plain(text: str) -> None:
    """Markdown that makes no HTML and no image, and links to papers only."""
    tokens = list(
        _flat(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text))
    )
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


@settings(max_examples=25, deadline=None)
@given(WILD, WILD)
def test_any_text_leaves_both_reports_inert(
    tmp_path_factory: pytest.TempPathFactory, one: str, two: str
) -> None:
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
@given(WILD, st.sampled_from(["{}", "- {}", "1. {}", "# {}", "> {}", "**{}**", "| a |\n| --- |\n| {} |"]))
def test_escaped_markdown_reads_as_what_was_written(text: str, place: str) -> None:
    words = " ".join(clean(text).split())
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = list(_flat(parser.parse(place.replace("{}", escape_markdown(clean(text))))))
    read = "".join(token.content for token in tokens if token.type in ("text", "code_inline"))
    assert read.removeprefix("a" if place.startswith("|") else "") == words or not words


def test_links_lead_to_papers_only() -> None:
    assert paper_url("arxiv:2410.13185v2") == "https://arxiv.org/abs/2410.13185v2"
    assert paper_url("arxiv:cs/0112017") == "https://arxiv.org/abs/cs/0112017"
    assert paper_url("doi:10.1000/a(b)<c>") == "https://doi.org/10.1000/a%28b%29%3Cc%3E"
    for paper_id in (
        "s2:1",
        "arxiv:",
        "arxiv:1 2",
        "arxiv:../x?y",
        "javascript:alert(1)",
        "doi:evil.example",
        "",
    ):
        assert paper_url(paper_id) is None
    for url in (
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example",
        "https://",
        "https://a@b/c",
        "http://[",
        None,
    ):
        assert safe_url(url) is None
    assert safe_url('https://a.example/x"y)') == "https://a.example/x%22y%29"


def test_blocks_tell_lists_from_paragraphs() -> None:
    blocks = split_blocks(
        "Intro\nsecond line\n1. one\nmore\n\n2) two\n\n- a\n- b\n\n2019. was a year\n\nStep 1: x\nStep 2: y"
    )
    assert [block.kind for block in blocks] == ["paragraph", "numbered", "bullets", "paragraph", "numbered"]
    assert blocks[0].lines == ("Intro", "second line")
    assert [(item.number, item.lines) for item in blocks[1].items] == [(1, ("one", "more")), (2, ("two",))]
    assert [item.lines for item in blocks[4].items] == [("x",), ("y",)]
    assert [block.kind for block in split_blocks("1. alone")] == ["paragraph"]
    assert split_blocks(" \n ") == ()


def test_clean_removes_what_no_page_can_show() -> None:
    assert clean("a\x00b\r\nc\u202ed\ud800") == "ab\ncd\ufffd"


def test_short_names() -> None:
    assert short_name("BERT: Pre-training of Deep Bidirectional Transformers") == "BERT"
    assert short_name("Attention Is All You Need") == "Attention Is All You Need"
    assert len(short_name(MANY)) <= 64


@settings(max_examples=60, deadline=None)
@given(WILD, st.floats(60, 400), st.integers(1, 9))
def test_wrapped_text_fits_and_loses_nothing_silently(text: str, width: float, most: int) -> None:
    lines = wrap(clean(text), width, 13, most)
    assert len(lines) <= most
    assert all(text_width(line, 13) <= width for line in lines)
    whole = wrap(clean(text), width, 13, 10_000)
    if lines != whole:
        assert lines[-1].endswith("…")
        assert lines[:-1] == whole[: most - 1]


def test_wrapped_text_keeps_every_letter() -> None:
    lines = wrap(f"{LONG} and a well-known {ARABIC}", 120, 13, 99)
    assert "".join(lines).replace(" ", "") == f"{LONG}andawell-known{ARABIC}".replace(" ", "")


def test_direction_of_text() -> None:
    assert is_right_to_left(f"1. {ARABIC}")
    assert not is_right_to_left("BERT " + ARABIC)
    assert not is_right_to_left("123")


def test_a_long_name_keeps_both_ends() -> None:
    for text, longest, cut in (
        ("abcdefgh", 8, "abcdefgh"),
        ("abcdefgh", 7, "abc…fgh"),
        ("abcdefgh", 4, "ab…h"),
    ):
        assert cut_middle(text, longest) == cut
