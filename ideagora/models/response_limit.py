"""Bounds the answers of providers: litellm reads a body whole, so it is cut off where it becomes too long."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

LARGEST = 32 * 2**20
"""Bytes of a body, unpacked: no answer within a completion limit comes near."""


class TooLong(OSError):
    """A body is longer than any answer can be."""


def bound_bodies() -> None:
    """Bound the bodies that all of litellm's asynchronous clients read from now on."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    make = AsyncHTTPHandler.create_async_transport
    if getattr(make, "bounded", False):
        return

    def create(*arguments: Any, **options: Any) -> Any:
        return _bounded(make(*arguments, **options))

    create.bounded = True  # type: ignore[attr-defined]
    setattr(AsyncHTTPHandler, "create_async_transport", staticmethod(create))  # noqa: B010  # mypy


def _bounded(transport: Any) -> Any:
    """The same transport, with its answers unpacked and cut off; ``None``: httpx makes its own."""
    if transport is None:
        return None
    handle: Callable[[httpx.Request], Any] = transport.handle_async_request

    async def bounded(request: httpx.Request) -> httpx.Response:
        return _unpacked(await handle(request))

    transport.handle_async_request = bounded
    return transport


def _unpacked(packed: httpx.Response) -> httpx.Response:
    import httpx

    class Body(httpx.AsyncByteStream):
        """The unpacked bytes, piece by piece."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in packed.aiter_bytes():
                size += len(piece)
                if size > LARGEST:
                    raise TooLong(f"the answer has over {LARGEST // 2**20} MB")
                yield piece

        async def aclose(self) -> None:
            await packed.aclose()

    headers = [
        (name, value)
        for name, value in packed.headers.multi_items()
        if name not in ("content-encoding", "content-length")
    ]
    return httpx.Response(packed.status_code, headers=headers, stream=Body(), extensions=packed.extensions)
