"""What is fetched before it is asked for: lists of several papers in one request, and texts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.retrieval.background import BackgroundTasks, EmbeddingAhead
from ideagora.retrieval.library import Library
from ideagora.schema import Paper
from tests.support.literature_server import Fault, File, LiteratureServer, Work, open_at, settings_for
from tests.support.local_files import article

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = ("a", "b", "c")
WORKS = [
    Work("old", "Ideas of old research", "Old ideas.", "2015-01-01", cited=3),
    *(
        Work(
            name,
            f"Research {name}",
            "Ideas.",
            "2020-01-01",
            f"2001.0000{n}",
            cited=1,
            cites=("old",),
        )
        for n, name in enumerate(NAMES)
    ),
    Work("young", "Young research", "New ideas.", "2023-01-01", cites=NAMES),
]


@asynccontextmanager
async def opened(server: LiteratureServer, home: Path) -> AsyncIterator[tuple[Library, list[Paper]]]:
    """A library with the papers a, b and c."""
    library = open_at(NOW, settings_for(server, home, "semantic-scholar"))
    papers = [paper for name in NAMES if (paper := await library.paper(f"s2:{name}"))]
    server.requests.clear()
    yield library, papers
    await library.disconnect()
    library.close()


async def lists(library: Library, papers: Sequence[Paper]) -> list[list[str]]:
    """The ids of references and citations of the papers."""
    fetched = [await fetch(p) for p in papers for fetch in (library.references, library.citations)]
    return [[paper.id for paper in some] for some in fetched]


def asked(server: LiteratureServer) -> list[str]:
    """The last part of each request's path."""
    return [request.path.rpartition("/")[2] for request in server.requests]


async def test_lists_of_several_papers_are_one_request(tmp_path: Path) -> None:
    with LiteratureServer(WORKS) as server:
        async with opened(server, tmp_path / "one") as (library, papers):
            singly = await lists(library, papers)
            assert asked(server) == ["references", "citations"] * 3
        async with opened(server, tmp_path / "other") as (library, papers):
            library.prefetch(neighbors_of=papers)
            assert await lists(library, papers) == singly
            library.prefetch(neighbors_of=papers)
            assert await lists(library, papers) == singly
            assert asked(server) == ["batch"]
        async with opened(server, tmp_path / "other") as (library, papers):
            library.prefetch(neighbors_of=papers)
            assert await lists(library, papers) == singly
            assert asked(server) == []


async def test_a_batch_that_fails_is_made_good_and_no_outage(tmp_path: Path) -> None:
    for status in (400, 500):
        with LiteratureServer(WORKS) as server:
            async with opened(server, tmp_path / str(status)) as (library, papers):
                server.faults = [Fault(status)] * (2 if status == 500 else 1)
                library.prefetch(neighbors_of=papers)
                assert [len(some) for some in await lists(library, papers)] == [1] * 6, status
                assert library.outages == 0, status


async def test_a_search_that_was_fetched_is_not_sent_again(tmp_path: Path) -> None:
    with LiteratureServer(WORKS) as server:
        async with opened(server, tmp_path) as (library, _):
            library.prefetch(searches=["young research", "young research"], k=2)
            assert next(iter(await library.search("young research", 2))).paper.id == "s2:young"
            assert asked(server) == ["search"]


class ForgetfulServer(LiteratureServer):
    """Leaves out the citations of a batch, as Semantic Scholar does if there are over 9,999."""

    def _s2_with_lists(self, work: Work) -> dict[str, Any]:
        return {**super()._s2_with_lists(work), "citations": []}


async def test_a_list_that_was_left_out_is_asked_for(tmp_path: Path) -> None:
    with ForgetfulServer(WORKS) as server:
        async with opened(server, tmp_path) as (library, papers):
            library.prefetch(neighbors_of=papers)
            assert [len(some) for some in await lists(library, papers)] == [1] * 6
            assert asked(server) == ["batch", *["citations"] * 3]


async def test_much_cited_papers_are_not_in_the_batch(tmp_path: Path) -> None:
    works = [*WORKS[:-1], Work("young", "Young", "Ideas.", "2023-01-01", cited=5_000, cites=NAMES)]
    with LiteratureServer(works) as server:
        async with opened(server, tmp_path) as (library, papers):
            young = await library.paper("s2:young")
            assert young
            library.prefetch(neighbors_of=[young, *papers])
            await lists(library, papers)
            batch = next(request for request in server.requests if request.path.endswith("/batch"))
            assert batch.body["ids"] == list(NAMES)


async def test_a_text_that_was_fetched_is_not_downloaded_again(tmp_path: Path) -> None:
    files = {f"/arxiv/pdf/2001.0000{n}": File(article(title=f"Research {n}")) for n in range(3)}
    with LiteratureServer(WORKS, files=files) as server:
        async with opened(server, tmp_path) as (library, papers):
            library.prefetch(texts_of=papers)
            kinds = [(await library.read(paper))[1] for paper in papers]
            assert kinds == ["full text"] * 3
            assert len(server.requests) == 3


async def test_what_was_fetched_is_embedded_before_it_is_compared(tmp_path: Path) -> None:
    class Recording(HashEmbedder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            asked.update(text.split("\n")[0] for text in texts)
            if len(asked) == 2:
                loop.call_soon_threadsafe(done.set)
            return super().encode(texts)

    asked: set[str] = set()
    done, loop = asyncio.Event(), asyncio.get_running_loop()
    tasks = BackgroundTasks()
    ahead = EmbeddingAhead(Recording(), tasks)
    with LiteratureServer(WORKS) as server:
        async with opened(server, tmp_path) as (library, papers):
            library._prefetcher.embedding_ahead = ahead
            with ahead.paused():
                library.prefetch(neighbors_of=papers)
                assert await lists(library, papers) == [["s2:old"], ["s2:young"]] * 3
                assert not asked
            async with asyncio.timeout(5):
                await done.wait()
            assert asked == {"Ideas of old research", "Young research"}
    await tasks.cancel()
