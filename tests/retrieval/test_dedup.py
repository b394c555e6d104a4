"""One paper from several sources is one paper, and two papers never become one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ideagora.retrieval.corpus.dedup import is_same_paper, merge_papers, merge_records, names_of
from ideagora.schema import Paper
from tests.support.each import each_case

TITLE = "Chains of thought in language models"


def paper(name: str, title: str = TITLE, date: str | None = "2022-01", **fields: object) -> Paper:
    return Paper.model_validate({"id": name, "title": title, "date": date, "source": "a", **fields})


ARXIV = paper("arxiv:2201.11903", arxiv_id="2201.11903", other_ids=("s2:1",))
PUBLISHED = paper(
    "doi:10.1/abc", doi="10.1/abc", date="2023", abstract="We think.", other_ids=("openalex:W1",)
)


@each_case(
    "one, other, same",
    [
        (ARXIV, PUBLISHED, True),
        (ARXIV, PUBLISHED.model_copy(update={"date": "2024"}), False),
        (ARXIV, PUBLISHED.model_copy(update={"date": None}), True),
        (paper("s2:1", "Some ideas"), paper("openalex:W2", "Some ideas", date=None), False),
        (ARXIV, paper("s2:1", "Another title", "1999"), True),
        (ARXIV, paper("arxiv:2201.00001", arxiv_id="2201.00001"), False),
        (PUBLISHED, paper("doi:10.1/other", doi="10.1/other", date="2023"), False),
        (PUBLISHED, paper("doi:10.48550/arxiv.2201.11903", doi="10.48550/arxiv.2201.11903"), True),
        (ARXIV, paper("s2:9", "CHAINS of Thought, in language-models!"), True),
        (paper("s2:1", date=None), paper("openalex:W2", date=None), True),
        (paper("s2:1", "Some ideas", date=None), paper("openalex:W2", "Some ideas", date=None), False),
        (paper("s2:1", "Preface"), paper("openalex:W2", "Preface"), False),
        (paper("s2:1", authors=("E. Duflo",)), paper("openalex:W2", authors=("Esther Duflo",)), True),
        (paper("s2:1", authors=("E. Duflo",)), paper("openalex:W2", authors=("A. Turing",)), False),
    ],
)
def test_when_two_records_are_one_paper(one: Paper, other: Paper, same: bool) -> None:
    assert is_same_paper(one, other) is is_same_paper(other, one) is same


def test_what_one_record_lacks_comes_from_the_other() -> None:
    whole = merge_records(PUBLISHED, ARXIV)
    assert (whole.id, whole.arxiv_id, whole.doi) == ("arxiv:2201.11903", "2201.11903", "10.1/abc")
    assert (whole.abstract, whole.date) == ("We think.", "2023")
    assert set(names_of(whole)) == {"arxiv:2201.11903", "doi:10.1/abc", "openalex:W1", "s2:1"}
    assert merge_records(ARXIV, PUBLISHED).abstract == "We think."
    assert merge_records(paper("s2:1", date="2022"), paper("s2:1", date="2022-05-01")).date == "2022-05-01"
    assert merge_records(paper("s2:1", date="2022"), paper("s2:1", date="2021-12-30")).date == "2022"


def test_a_count_keeps_its_day() -> None:
    counted = paper("s2:1", citation_count=7, citations_as_of="2026-03-01")
    assert merge_records(ARXIV, counted).citations_as_of == "2026-03-01"
    late = paper("s2:1", citation_count=None, citations_as_of=None)
    assert merge_records(counted, late).citation_count == 7


def test_a_summary_of_ours_never_passes_for_an_abstract() -> None:
    ours = paper(ARXIV.id, abstract="In our words.", source="starter", arxiv_id=ARXIV.arxiv_id)
    assert (merge_records(ARXIV, ours).abstract, merge_records(ARXIV, ours).source) == (
        "In our words.",
        "starter",
    )
    theirs = ARXIV.model_copy(update={"abstract": "In theirs."})
    assert (merge_records(theirs, ours).abstract, merge_records(theirs, ours).source) == ("In theirs.", "a")


def test_lists_are_merged_fairly() -> None:
    one = [paper(f"s2:{n}", f"First source's paper {n}") for n in range(3)]
    other = [PUBLISHED, paper("openalex:W9", "First source's paper 1"), paper("openalex:W8", "Its own paper")]
    merged = merge_papers([[ARXIV, *one], other])
    assert [p.id for p in merged] == ["arxiv:2201.11903", "s2:0", "openalex:W9", "openalex:W8", "s2:2"]
    assert merged[0].abstract == "We think."
    assert merge_papers([]) == merge_papers([[], []]) == []


@given(st.lists(st.lists(st.sampled_from([ARXIV, PUBLISHED, paper("s2:3", "A third paper")]), max_size=4)))
def test_no_paper_twice_and_none_lost(lists: list[list[Paper]]) -> None:
    merged = merge_papers(lists)
    assert not any(is_same_paper(one, other) for n, one in enumerate(merged) for other in merged[:n])
    assert all(any(is_same_paper(one, kept) for kept in merged) for some in lists for one in some)
