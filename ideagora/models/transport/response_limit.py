"""Limit the size of provider responses, which litellm reads whole into memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 32 * 2**20
"""Maximum bytes of a decompressed body, far more than any answer within a completion limit."""


class ResponseTooLarge(OSError):
    """A response body exceeds ``MAX_BYTES``."""


def limit_response_size() -> None:
    """Apply the limit to all asynchronous clients that litellm creates from now on."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    original = AsyncHTTPHandler.create_async_transport
    if getattr(original, "is_limited", False):
        return

    def create(*arguments: Any, **options: Any) -> Any:
        return _limited(original(*arguments, **options))

    create.is_limited = True  # type: ignore[attr-defined]
    setattr(AsyncHTTPHandler, "create_async_transport", staticmethod(create))  # noqa: B010  # mypy


def _limited(transport: Any) -> Any:
    """Make a transport decompress and limit its responses; ``None``: httpx creates its own."""
    if transport is None:
        return None
    handle: Callable[[httpx.Request], Any] = transport.handle_async_request

    async def handle_limited(request: httpx.Request) -> httpx.Response:
        return _limited_response(await handle(request))

    transport.handle_async_request = handle_limited
    return transport


def _limited_response(response: httpx.Response) -> httpx.Response:
    import httpx

    class Body(httpx.AsyncByteStream):
        """The decompressed bytes in chunks."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > MAX_BYTES:
                    raise ResponseTooLarge(f"the response has over {MAX_BYTES // 2**20} MB")
                yield chunk

        async def aclose(self) -> None:
            await response.aclose()

    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name not in ("content-encoding", "content-length")
    ]
    return httpx.Response(
        response.status_code, headers=headers, stream=Body(), extensions=response.extensions
    )
