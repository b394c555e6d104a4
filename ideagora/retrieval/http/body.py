"""Reads a response body up to a limit that counts decompressed bytes."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

ACCEPTED = "gzip"
"""Value of ``Accept-Encoding``; decompressed in chunks."""
_CHUNK = 65_536
_GZIP = 16 + zlib.MAX_WBITS


class BodyTooLarge(Exception):
    """A body exceeds the limit."""


async def read_bounded_body(response: httpx.Response, max_bytes: int) -> bytes:
    """The decompressed body, whatever length the response announces.

    Raises:
        BodyTooLarge: it has more than ``max_bytes`` bytes, compressed or decompressed.
        httpx.DecodingError: its encoding was not requested, or it is corrupt or truncated.
    """
    import httpx

    encoding = response.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise httpx.DecodingError(f"encoding {encoding[:40]} was not requested")
    decompressor = zlib.decompressobj(_GZIP) if encoding != "identity" else None
    body, received = bytearray(), 0
    async for part in response.aiter_raw(_CHUNK):
        received += len(part)
        try:
            body += decompressor.decompress(part, max_bytes + 1 - len(body)) if decompressor else part
        except zlib.error as error:
            raise httpx.DecodingError(f"cannot be decompressed ({error})") from None
        if max(len(body), received) > max_bytes:
            raise BodyTooLarge
    if decompressor and not decompressor.eof:
        raise httpx.DecodingError("truncated")
    return bytes(body)
