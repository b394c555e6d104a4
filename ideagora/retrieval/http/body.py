"""The body of a response, read up to a bound that counts after unpacking."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

ACCEPTED = "gzip"
"""For ``Accept-Encoding``: what is unpacked here, piece by piece."""
_PIECE = 65_536
_GZIP = 16 + zlib.MAX_WBITS


class BodyTooLarge(Exception):
    """A body has more bytes than were asked for."""


async def read_bounded_body(response: httpx.Response, most: int) -> bytes:
    """The body, unpacked. Whoever sends more is cut off; its announced length may be a lie.

    Raises:
        TooLarge: it has more than ``most`` bytes, as sent or unpacked.
        httpx.DecodingError: it is packed otherwise than asked for, damaged or cut off.
    """
    import httpx

    packing = response.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if packing not in ("identity", "gzip", "x-gzip"):
        raise httpx.DecodingError(f"it is packed as {packing[:40]}, which was not asked for")
    unpack = zlib.decompressobj(_GZIP) if packing != "identity" else None
    body, received = bytearray(), 0
    async for part in response.aiter_raw(_PIECE):
        received += len(part)
        try:
            body += unpack.decompress(part, most + 1 - len(body)) if unpack else part
        except zlib.error as error:
            raise httpx.DecodingError(f"it cannot be unpacked ({error})") from None
        if max(len(body), received) > most:
            raise BodyTooLarge
    if unpack and not unpack.eof:
        raise httpx.DecodingError("it is cut off")
    return bytes(body)
