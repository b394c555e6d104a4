"""Waiting for the disk together."""

from __future__ import annotations

import asyncio
import threading

from ideagora.models.cache.group_sync import GroupSync


def test_callers_share_a_run_that_began_after_they_called() -> None:
    runs: list[set[str]] = []
    written: set[str] = set()
    began, go_on = threading.Event(), threading.Event()

    def sync() -> None:
        runs.append(set(written))
        began.set()
        go_on.wait(5)

    async def caller(name: str, group: GroupSync) -> None:
        written.add(name)
        await group()
        assert any(name in run for run in runs)

    async def all_callers() -> None:
        group = GroupSync(sync)
        first = asyncio.create_task(caller("first", group))
        await asyncio.to_thread(began.wait, 5)
        others = [asyncio.create_task(caller(str(number), group)) for number in range(50)]
        await asyncio.sleep(0)
        cancelled = asyncio.create_task(caller("cancelled", group))
        await asyncio.sleep(0)
        cancelled.cancel()
        go_on.set()
        await asyncio.gather(first, *others)

    asyncio.run(all_callers())
    assert len(runs) == 2


def test_an_error_of_the_disk_reaches_every_caller_and_ends_with_it() -> None:
    failures = [OSError("full")]

    def sync() -> None:
        if failures:
            raise failures.pop()

    async def callers() -> None:
        group = GroupSync(sync)
        results = await asyncio.gather(group(), group(), return_exceptions=True)
        assert [str(one) for one in results] == ["full", "full"]
        await group()

    asyncio.run(callers())
