"""Conformance checks for literature sources, to be run by their authors.

On the command line: ``ideagora library check path.py:object --query "words it has papers for"``.
With pytest:

    from ideagora.retrieval.clients.conformance import REQUIREMENTS, Requirement, check_requirement

    @pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: requirement.name)
    async def test_my_source(requirement: Requirement) -> None:
        await check_requirement(requirement, MySource(), "words it has papers for")
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NamedTuple

from ideagora.errors import IdeagoraError
from ideagora.models.redact import one_line
from ideagora.retrieval.clients.plugin import PluginSource
from ideagora.retrieval.protocols import RemoteSource
from ideagora.schema import Paper

_UNKNOWN_ID = "arxiv:0000.00000"
_NONSENSE_QUERY = "zxqv wkjh"
_FEW = 5


class CheckFailed(Exception):
    """The source does not meet a requirement; the message says what it does and how to fix it."""


class NotSupported(Exception):
    """The source lacks an optional feature; the message says what is lost."""


class Requirement(NamedTuple):
    """One requirement on a source."""

    name: str
    check: Callable[[RemoteSource, str], Awaitable[None]]


class Finding(NamedTuple):
    """The outcome of one check."""

    requirement: str
    outcome: Literal["passed", "failed", "not offered"]
    message: str = ""


async def check_requirement(requirement: Requirement, source: Any, query: str) -> None:
    """Raise ``AssertionError`` if a source fails a requirement; optional features may be missing."""
    try:
        await requirement.check(as_remote(source), query)
    except (CheckFailed, IdeagoraError) as error:
        raise AssertionError(f"{requirement.name}: {error}") from None
    except NotSupported:
        return


async def check_source(source: Any, query: str) -> list[Finding]:
    """Check all requirements."""
    remote = as_remote(source)
    findings = [await _check(requirement, remote, query) for requirement in REQUIREMENTS]
    await remote.disconnect()
    return findings


def as_remote(source: Any) -> RemoteSource:
    """The source as a ``RemoteSource``, adapted if necessary.

    Raises:
        SettingsError: it has no ``search`` method.
    """
    is_remote = isinstance(source, PluginSource) or hasattr(source, "has_citations")
    return source if is_remote else PluginSource(type(source).__name__, source)


async def _check(requirement: Requirement, remote: RemoteSource, query: str) -> Finding:
    try:
        await requirement.check(remote, query)
    except NotSupported as error:
        return Finding(requirement.name, "not offered", str(error))
    except (CheckFailed, IdeagoraError) as error:
        return Finding(requirement.name, "failed", one_line(str(error), 600))
    return Finding(requirement.name, "passed")


async def _finds(remote: RemoteSource, query: str) -> None:
    if not await remote.search(query, _FEW):
        raise CheckFailed(
            f"search({query!r}, {_FEW}) returned nothing. Use --query with words for which it has papers."
        )


async def _keeps_to_k(remote: RemoteSource, query: str) -> None:
    search = remote.search_unbounded if isinstance(remote, PluginSource) else remote.search
    number = len(await search(query, 1))
    if number > 1:
        raise CheckFailed(f"search({query!r}, 1) returned {number} papers. Return at most k.")


async def _finds_nothing(remote: RemoteSource, query: str) -> None:
    await remote.search(_NONSENSE_QUERY, _FEW)
    await remote.search("", 1)


async def _tells_the_same(remote: RemoteSource, query: str) -> None:
    first, again = [[paper.id for paper in await remote.search(query, _FEW)] for _ in range(2)]
    if first != again:
        raise CheckFailed(
            "the same search returned different papers or a different order. To make runs "
            "repeatable, sort ties by id."
        )


async def _has_whole_records(remote: RemoteSource, query: str) -> None:
    papers = await remote.search(query, _FEW)
    ids = [paper.id for paper in papers]
    if len(set(ids)) < len(ids):
        raise CheckFailed("search returned an id twice. Return each paper once.")
    for paper in papers:
        if not paper.title:
            raise CheckFailed(f"{paper.id} has no title. Add one, or omit the paper.")
        if ":" not in paper.id:
            raise CheckFailed(
                f"the id {paper.id!r} has no prefix. Use one of your own, such as mine:{paper.id}, or set "
                "arxiv_id or doi."
            )


async def _has_dates(remote: RemoteSource, query: str) -> None:
    undated = [paper.id for paper in await remote.search(query, _FEW) if paper.date is None]
    if undated:
        raise NotSupported(
            f"{undated[0]} has no date, so it is withheld with --before. Set date to YYYY-MM-DD, YYYY-MM or "
            "YYYY."
        )


async def _has_abstracts(remote: RemoteSource, query: str) -> None:
    thin = [paper.id for paper in await remote.search(query, _FEW) if paper.abstract is None]
    if thin:
        raise NotSupported(f"{thin[0]} has no abstract, so only its title can be judged.")


async def _knows_its_ids(remote: RemoteSource, query: str) -> None:
    if not _offers(remote, "paper"):
        raise NotSupported("without paper(paper_id) only papers returned by a search are known")
    for paper in await remote.search(query, _FEW):
        again = await remote.paper(paper.id)
        if again is None:
            raise CheckFailed(
                f"paper({paper.id!r}) returned nothing, but search returned this id. Accept your own ids."
            )
        if again.title != paper.title:
            raise CheckFailed(
                f"paper({paper.id!r}) returned {again.title!r}, but search returned {paper.title!r}."
            )


async def _knows_no_others(remote: RemoteSource, query: str) -> None:
    if await remote.paper(_UNKNOWN_ID) is not None:
        raise CheckFailed(f"paper({_UNKNOWN_ID!r}) returned a paper. Return None for unknown ids.")
    if remote.has_citations:
        await remote.references(_UNKNOWN_ID)
        await remote.citations(_UNKNOWN_ID)


async def _gives_batches(remote: RemoteSource, query: str) -> None:
    ids = [paper.id for paper in await remote.search(query, _FEW)]
    papers = await remote.batch([*ids, _UNKNOWN_ID])
    missing = set(ids) - set(papers) if _offers(remote, "paper") else set()
    if missing or _UNKNOWN_ID in papers:
        raise CheckFailed(f"batch omitted {sorted(missing)[:3]} or returned a paper for {_UNKNOWN_ID}.")


async def _citation_lists(remote: RemoteSource, query: str) -> None:
    if not remote.has_citations:
        raise NotSupported(
            "without references(paper_id) and citations(paper_id) its papers cannot be extended to chains"
        )
    papers = await remote.search(query, _FEW)
    lists: list[Sequence[Paper]] = []
    for paper in papers:
        lists += [(await remote.references(paper.id)).papers, (await remote.citations(paper.id)).papers]
    if not any(lists):
        raise CheckFailed(f"no paper found for {query!r} has references or citations. Try another --query.")


async def _agrees_on_citations(remote: RemoteSource, query: str) -> None:
    if not (_offers(remote, "references") and _offers(remote, "citations")):
        raise NotSupported("it offers only one direction")
    for paper in await remote.search(query, _FEW):
        for cited in (await remote.references(paper.id)).papers[:_FEW]:
            citing = [other.id for other in (await remote.citations(cited.id)).papers]
            if paper.id not in citing:
                raise CheckFailed(
                    f"references of {paper.id} include {cited.id}, but its citations lack {paper.id}."
                )


async def _recommends(remote: RemoteSource, query: str) -> None:
    papers = await remote.search(query, 1)
    if not papers or await remote.recommended(papers[0].id, _FEW) is None:
        raise NotSupported("recommended(paper_id, k) returned None: it does not recommend papers")


async def _counts(remote: RemoteSource, query: str) -> None:
    papers = await remote.search(query, 1)
    if not papers or await remote.citations_per_year(papers[0].id) is None:
        raise NotSupported("citations_per_year(paper_id) returned None: it does not count citations")


def _offers(remote: RemoteSource, method: str) -> bool:
    return remote.offers(method) if isinstance(remote, PluginSource) else True


REQUIREMENTS = (
    Requirement("search finds papers", _finds),
    Requirement("search returns at most k", _keeps_to_k),
    Requirement("no results are an empty list", _finds_nothing),
    Requirement("the same search returns the same papers", _tells_the_same),
    Requirement("records have an id of their own and a title", _has_whole_records),
    Requirement("papers have dates", _has_dates),
    Requirement("papers have abstracts", _has_abstracts),
    Requirement("paper accepts the ids that search returns", _knows_its_ids),
    Requirement("an unknown id returns nothing", _knows_no_others),
    Requirement("batch returns the same as paper", _gives_batches),
    Requirement("references and citations are offered", _citation_lists),
    Requirement("references and citations agree", _agrees_on_citations),
    Requirement("papers are recommended", _recommends),
    Requirement("citations are counted by year", _counts),
)
"""All requirements, in the order in which they are checked."""
