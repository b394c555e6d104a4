"""Connecting to a Chroma server and translating its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ideagora.errors import IdeagoraError, LibraryError, StoreUnavailable

if TYPE_CHECKING:
    import httpx
    from chromadb.api import ClientAPI

_CONNECT_SECONDS = 10.0
_READ_SECONDS = 120.0
_HEARTBEAT = "/api/v2/heartbeat"
_START = "Start it (chroma run --path FOLDER), or set IDEAGORA_STORE to another store."


def connect(url: str) -> ClientAPI:
    """A client of a Chroma server, with timeouts.

    Raises:
        StoreDown: the server does not answer.
        LibraryError: it is not a Chroma server.
    """
    import chromadb
    from chromadb.config import Settings

    _check_heartbeat(url)
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    with translate_server_errors(url):
        client = chromadb.HttpClient(
            parts.hostname or "", port, ssl=secure, settings=Settings(anonymized_telemetry=False)
        )
    _set_timeouts(client)
    return client


def disconnect(client: ClientAPI) -> None:
    """Close a client and its HTTP connections, which Chroma's own ``close`` leaves open."""
    sessions = _http_sessions(client)
    client.close()  # type: ignore[attr-defined]
    for session in sessions:
        session.close()


@contextmanager
def translate_server_errors(url: str) -> Iterator[None]:
    """Translate errors of calls to the server into errors with a next step.

    Chroma's client raises a plain ``Exception`` for responses that it does not recognize.
    """
    import httpx

    try:
        yield
    except IdeagoraError:
        raise
    except httpx.TransportError as error:
        raise server_down_error(url, error) from error
    except Exception as error:
        raise LibraryError(
            f"the Chroma server {url} refused a request ({type(error).__name__}: {_short(error)}). "
            "Check the server's log, then run the same command again."
        ) from error


def server_down_error(url: str, error: Exception) -> StoreUnavailable:
    """The error for a server that does not answer."""
    return StoreUnavailable(
        f"no Chroma server answers at {url} ({_short(error) or type(error).__name__}). {_START}"
    )


def _check_heartbeat(url: str) -> None:
    """Request the server's heartbeat with a timeout, which Chroma's own client does not have."""
    import httpx

    try:
        response = httpx.get(url + _HEARTBEAT, timeout=_CONNECT_SECONDS)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise server_down_error(url, error) from error
    if response.status_code != httpx.codes.OK or "heartbeat" not in response.text:
        raise LibraryError(
            f"{url} is not a Chroma server of version 1 (GET {_HEARTBEAT} returned status "
            f"{response.status_code}). Check host and port; chroma run listens on port 8000."
        )


def _set_timeouts(client: ClientAPI) -> None:
    """Set timeouts on Chroma's client, which has none."""
    import httpx

    for session in _http_sessions(client):
        session.timeout = httpx.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS)


def _http_sessions(client: ClientAPI) -> list[httpx.Client]:
    """The HTTP clients inside Chroma's client (data and administration), if its attributes still exist."""
    import httpx

    parts = (client, getattr(client, "_admin_client", None))
    sessions = [getattr(getattr(part, "_server", None), "_session", None) for part in parts]
    return [session for session in sessions if isinstance(session, httpx.Client)]


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
