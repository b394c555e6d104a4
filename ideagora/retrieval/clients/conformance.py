"""What a source of literature has to do, as checks that its author runs.

On the command line: ``ideagora library check path.py:object --query "words it has papers for"``.
With pytest:

    from ideagora.retrieval.clients.conformance import REQUIREMENTS, Requirement, check_requirement

    @pytest.mark.parametrize("one", REQUIREMENTS, ids=lambda one: one.name)
    async def test_my_source(one: Requirement) -> None:
        await check_requirement(one, MySource(), "words it has papers for")
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
_NONSENSE = "zxqv wkjh"
_FEW = 5


class CheckFailed(Exception):
    """The source doesn't do it; the message says what it does instead, and how to mend that."""


class NotSupported(Exception):
    """The source doesn't offer it, and needn't; the message says what is lost."""


class Requirement(NamedTuple):
    """One thing that a source should do."""

    name: str
    try_it: Callable[[RemoteSource, str], Awaitable[None]]


class Finding(NamedTuple):
    """What came of one requirement."""

    requirement: str
    outcome: Literal["passed", "failed", "not offered"]
    told: str = ""


async def check_requirement(one: Requirement, source: Any, query: str) -> None:
    """Raise ``AssertionError`` unless a source does what is demanded; what it needn't do may be lacking."""
    try:
        await one.try_it(as_remote(source), query)
    except (CheckFailed, IdeagoraError) as error:
        raise AssertionError(f"{one.name}: {error}") from None
    except NotSupported:
        return


async def check_source(source: Any, query: str) -> list[Finding]:
    """Every requirement, and what came of it."""
    remote = as_remote(source)
    told = [await _finding(one, remote, query) for one in REQUIREMENTS]
    await remote.disconnect()
    return told


def as_remote(source: Any) -> RemoteSource:
    """A source of ours as it is, anything else made to fit.

    Raises:
        SettingsError: it has no ``search``.
    """
    is_ours = isinstance(source, PluginSource) or hasattr(source, "has_citations")
    return source if is_ours else PluginSource(type(source).__name__, source)


async def _finding(one: Requirement, remote: RemoteSource, query: str) -> Finding:
    try:
        await one.try_it(remote, query)
    except NotSupported as lack:
        return Finding(one.name, "not offered", str(lack))
    except (CheckFailed, IdeagoraError) as error:
        return Finding(one.name, "failed", one_line(str(error), 600))
    return Finding(one.name, "passed")


async def _finds(remote: RemoteSource, query: str) -> None:
    if not await remote.search(query, _FEW):
        raise CheckFailed(
            f"search({query!r}, {_FEW}) gave nothing. Name words with --query that it has papers for."
        )


async def _keeps_to_k(remote: RemoteSource, query: str) -> None:
    search = remote.found if isinstance(remote, PluginSource) else remote.search
    number = len(await search(query, 1))
    if number > 1:
        raise CheckFailed(f"search({query!r}, 1) gave {number} papers. Give no more than k.")


async def _finds_nothing(remote: RemoteSource, query: str) -> None:
    await remote.search(_NONSENSE, _FEW)
    await remote.search("", 1)


async def _tells_the_same(remote: RemoteSource, query: str) -> None:
    first, again = [[paper.id for paper in await remote.search(query, _FEW)] for _ in range(2)]
    if first != again:
        raise CheckFailed(
            "the same search gave other papers, or another order. Sort ties by id: runs must be repeatable."
        )


async def _has_whole_records(remote: RemoteSource, query: str) -> None:
    papers = await remote.search(query, _FEW)
    ids = [paper.id for paper in papers]
    if len(set(ids)) < len(ids):
        raise CheckFailed("search gave one id twice. Give each paper once.")
    for paper in papers:
        if not paper.title:
            raise CheckFailed(f"{paper.id} has no title. Give a title, or leave the paper out.")
        if ":" not in paper.id:
            raise CheckFailed(
                f"the id {paper.id!r} could be anybody's. Write it as yours, for example mine:{paper.id}, "
                "or give arxiv_id or doi."
            )


async def _has_dates(remote: RemoteSource, query: str) -> None:
    undated = [paper.id for paper in await remote.search(query, _FEW) if paper.date is None]
    if undated:
        raise NotSupported(
            f"{undated[0]} has no date: with --before such papers are held back. Give date as YYYY-MM-DD, "
            "YYYY-MM or YYYY."
        )


async def _has_abstracts(remote: RemoteSource, query: str) -> None:
    thin = [paper.id for paper in await remote.search(query, _FEW) if paper.abstract is None]
    if thin:
        raise NotSupported(f"{thin[0]} has no abstract: it can be judged by its title only.")


async def _knows_its_ids(remote: RemoteSource, query: str) -> None:
    if not _offers(remote, "paper"):
        raise NotSupported("without paper(paper_id) a paper is known only after a search has met it")
    for paper in await remote.search(query, _FEW):
        again = await remote.paper(paper.id)
        if again is None:
            raise CheckFailed(f"paper({paper.id!r}) gave nothing, though search had it. Take your own ids.")
        if again.title != paper.title:
            raise CheckFailed(f"paper({paper.id!r}) gave {again.title!r}, search had {paper.title!r}.")


async def _knows_no_others(remote: RemoteSource, query: str) -> None:
    if await remote.paper(_UNKNOWN_ID) is not None:
        raise CheckFailed(f"paper({_UNKNOWN_ID!r}) gave a paper. Give None for an id that you don't know.")
    if remote.has_citations:
        await remote.references(_UNKNOWN_ID)
        await remote.citations(_UNKNOWN_ID)


async def _gives_batches(remote: RemoteSource, query: str) -> None:
    ids = [paper.id for paper in await remote.search(query, _FEW)]
    found = await remote.batch([*ids, _UNKNOWN_ID])
    missing = set(ids) - set(found) if _offers(remote, "paper") else set()
    if missing or _UNKNOWN_ID in found:
        raise CheckFailed(f"batch left out {sorted(missing)[:3]}, or gave a paper for {_UNKNOWN_ID}.")


async def _citation_lists(remote: RemoteSource, query: str) -> None:
    if not remote.has_citations:
        raise NotSupported(
            "without references(paper_id) and citations(paper_id) no chain grows from its papers"
        )
    papers = await remote.search(query, _FEW)
    lists: list[Sequence[Paper]] = []
    for paper in papers:
        lists += [(await remote.references(paper.id)).papers, (await remote.citations(paper.id)).papers]
    if not any(lists):
        raise CheckFailed(f"no paper found for {query!r} has references or citations. Try another --query.")


async def _agrees_on_citations(remote: RemoteSource, query: str) -> None:
    if not (_offers(remote, "references") and _offers(remote, "citations")):
        raise NotSupported("it tells one direction only")
    for paper in await remote.search(query, _FEW):
        for cited in (await remote.references(paper.id)).papers[:_FEW]:
            citing = [one.id for one in (await remote.citations(cited.id)).papers]
            if paper.id not in citing:
                raise CheckFailed(
                    f"references of {paper.id} has {cited.id}, but citations of {cited.id} lacks {paper.id}."
                )


async def _recommends(remote: RemoteSource, query: str) -> None:
    papers = await remote.search(query, 1)
    if not papers or await remote.recommended(papers[0].id, _FEW) is None:
        raise NotSupported("recommended(paper_id, k) gave None: it recommends no papers")


async def _counts(remote: RemoteSource, query: str) -> None:
    papers = await remote.search(query, 1)
    if not papers or await remote.citations_per_year(papers[0].id) is None:
        raise NotSupported("citations_per_year(paper_id) gave None: it doesn't count")


def _offers(remote: RemoteSource, method: str) -> bool:
    return remote.offers(method) if isinstance(remote, PluginSource) else True


REQUIREMENTS = (
    Requirement("search finds papers", _finds),
    Requirement("search gives at most k", _keeps_to_k),
    Requirement("nothing found is an empty list", _finds_nothing),
    Requirement("the same search gives the same", _tells_the_same),
    Requirement("records have an id of their own and a title", _has_whole_records),
    Requirement("papers have dates", _has_dates),
    Requirement("papers have abstracts", _has_abstracts),
    Requirement("paper knows the ids that search gives", _knows_its_ids),
    Requirement("an unknown id gives nothing", _knows_no_others),
    Requirement("batch gives what paper gives", _gives_batches),
    Requirement("references and citations are told", _citation_lists),
    Requirement("references and citations agree", _agrees_on_citations),
    Requirement("papers are recommended", _recommends),
    Requirement("citations are counted by year", _counts),
)
"""What is tried, in order."""
