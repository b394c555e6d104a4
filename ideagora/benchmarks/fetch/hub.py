"""The hub: its address, what it says about a data set, and its errors in one line each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ideagora.errors import SourceRejected, SourceUnavailable, UsageError
from ideagora.models.redact import one_line
from ideagora.models.transport.retry import TRANSIENT_STATUS

if TYPE_CHECKING:
    from huggingface_hub.hf_api import DatasetInfo

HUB = "https://huggingface.co"
TIMEOUT = 30.0
"""Seconds without any byte from the server."""


def server_url(endpoint: str | None) -> str:
    """The hub's address without a final slash; ``None``: ``HF_ENDPOINT``, else the Hugging Face hub.

    Raises:
        UsageError: it is not an address, or contains a login.
    """
    server = (endpoint or os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    try:
        parts = urlsplit(server)
        is_usable = parts.scheme in ("http", "https") and parts.hostname and not parts.username
    except ValueError:
        is_usable = False
    if not is_usable:
        raise UsageError(
            f"the hub's address is {one_line(server)!r}. Write https://host (--endpoint or HF_ENDPOINT)."
        )
    return server


def dataset_info(server: str, repository: str, revision: str) -> DatasetInfo:
    """What the hub says about a data set: commit, licence, and size and checksum of each file.

    Raises:
        UsageError: the repository's name is malformed.
        SourceUnavailable, SourceRejected: as ``hub_errors``.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError

    api = HfApi(endpoint=server, token=False)
    with hub_errors(server, repository):
        try:
            return api.dataset_info(repository, revision=revision, files_metadata=True, timeout=TIMEOUT)
        except HFValidationError:
            raise UsageError(f"{repository!r} is not the name of a repository. Write owner/name.") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SourceRejected(
                f"{server} does not answer like the Hugging Face hub. Check --endpoint or HF_ENDPOINT."
            ) from None


@contextmanager
def hub_errors(server: str, repository: str) -> Iterator[None]:
    """Translate errors of the hub client, and keep it from sending telemetry.

    Raises:
        SourceUnavailable: the server did not respond.
        SourceRejected: it refused the request, or ``HF_HUB_OFFLINE`` is set.
    """
    import httpx
    from huggingface_hub import constants
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

    before, constants.HF_HUB_DISABLE_TELEMETRY = constants.HF_HUB_DISABLE_TELEMETRY, True
    try:
        yield
    except OfflineModeIsEnabled:
        raise SourceRejected("HF_HUB_OFFLINE is set, so nothing is downloaded. Unset it first.") from None
    except RepositoryNotFoundError:
        raise SourceRejected(
            f"{server} has no data set {repository}, or requires a login for it. Check --repository, or "
            "download it yourself and give its folder as --data."
        ) from None
    except HfHubHTTPError as error:
        raise _status_error(server, repository, error.response.status_code) from None
    except httpx.HTTPError as error:
        reason = one_line(str(error)) or type(error).__name__
        raise SourceUnavailable(f"{server} does not respond ({reason}).") from None
    finally:
        constants.HF_HUB_DISABLE_TELEMETRY = before


def _status_error(server: str, repository: str, status: int) -> SourceUnavailable:
    if status >= 500 or status in TRANSIENT_STATUS:
        return SourceUnavailable(f"{server} responded with status {status}.")
    return SourceRejected(f"{server} responded with status {status} to a request for {repository}.")
