"""The connection to a Chroma server, and what goes wrong with it as one line each."""

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
_ANSWER_SECONDS = 120.0
_HEARTBEAT = "/api/v2/heartbeat"
_START = "Start it (chroma run --path FOLDER), or set IDEAGORA_STORE to another place."


def connect(url: str) -> ClientAPI:
    """A client of a Chroma server.

    Raises:
        LibraryError: nobody answers, or something that is no Chroma server.
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
    """Close a client with its connections, which Chroma's own ``close`` leaves open."""
    sessions = _http_sessions(client)
    client.close()  # type: ignore[attr-defined]
    for session in sessions:
        session.close()


@contextmanager
def translate_server_errors(url: str) -> Iterator[None]:
    """Raise what a call to the server raises as an error with a next step.

    Chroma's client raises ``Exception`` itself for answers that it does not know.
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
            "Look at what the server itself says, then run the same command again."
        ) from error


def server_down_error(url: str, error: Exception) -> StoreUnavailable:
    """The error for a server that does not answer."""
    return StoreUnavailable(
        f"no Chroma server answers at {url} ({_short(error) or type(error).__name__}). {_START}"
    )


def _check_heartbeat(url: str) -> None:
    """Ask for a sign of life, with a bound on the wait, which Chroma's own client does not have."""
    import httpx

    try:
        answer = httpx.get(url + _HEARTBEAT, timeout=_CONNECT_SECONDS)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise server_down_error(url, error) from error
    if answer.status_code != httpx.codes.OK or "heartbeat" not in answer.text:
        raise LibraryError(
            f"{url} answers, but not as a Chroma server of version 1 does (asked for {_HEARTBEAT}, "
            f"status {answer.status_code}). Look at host and port; chroma run listens at port 8000."
        )


def _set_timeouts(client: ClientAPI) -> None:
    """Chroma's client waits for an answer for ever; ours doesn't."""
    import httpx

    for session in _http_sessions(client):
        session.timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)


def _http_sessions(client: ClientAPI) -> list[httpx.Client]:
    """The HTTP clients within Chroma's (one asks for databases), as far as they are where they were."""
    import httpx

    parts = (client, getattr(client, "_admin_client", None))
    sessions = [getattr(getattr(part, "_server", None), "_session", None) for part in parts]
    return [session for session in sessions if isinstance(session, httpx.Client)]


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
