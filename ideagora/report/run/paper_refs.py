"""Titles, years and links of the papers in a run's folder."""

from __future__ import annotations

from ideagora.report.run.load import RunFiles
from ideagora.report.run.page_records import Ref
from ideagora.report.text_cleaning import paper_url, safe_url
from ideagora.schema import AVOIDED_SOURCE, OWN_SOURCE

_KINDS = {OWN_SOURCE: "your own", AVOIDED_SOURCE: "to be avoided"}
"""What stands in place of the year of a record that the user gave."""


def refs_by_id(folder: RunFiles) -> dict[str, Ref]:
    """Return title, year and URL of every paper in the folder, by id."""
    refs: dict[str, Ref] = {}
    for idea in folder.ideas:
        linked = [link.paper for link in idea.chain.links] if idea.chain else []
        for paper in (*linked, *idea.neighbours, *(idea.experiment.found if idea.experiment else ())):
            url = safe_url(paper.url) or paper_url(paper.id)
            refs.setdefault(
                paper.id,
                Ref(paper.id, paper.title.strip() or paper.id, _KINDS.get(paper.source, paper.year), url),
            )
    for idea in folder.ideas:
        for close in idea.novelty_check.closest if idea.novelty_check else ():
            title = close.title.strip() or close.paper_id
            refs.setdefault(close.paper_id, Ref(close.paper_id, title, None, paper_url(close.paper_id)))
    return refs


def paper_ref(paper_id: str, papers: dict[str, Ref]) -> Ref:
    """Return how pages name a paper; by its id alone if the folder does not have it."""
    return papers.get(paper_id) or Ref(
        paper_id, paper_id or "a paper without an id", None, paper_url(paper_id)
    )
