"""Classify failures of providers, and retry transient ones."""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from ideagora.errors import MissingKey, ModelError, QuotaExhausted, RequestRejected, UnknownModel
from ideagora.models.redact import one_line

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]

MAX_WAIT = 60.0
"""Seconds; also caps Retry-After."""
TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
"""In addition to all 5xx."""

_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance", re.I)
_NO_SUCH_MODEL = re.compile(
    r"model.{0,80}(not found|not exist|not a valid|unknown|invalid)|unknown model", re.I
)
_LIMIT = re.compile(r"max_\w{0,20}tokens|in the completion|messages or completion", re.I)
_SETTINGS = {
    "temperature": re.compile(r"temperature", re.I),
    "response_format": re.compile(r"response.?format|json.?object|structured.?output|schema", re.I),
    "max_tokens": _LIMIT,
    "max_completion_tokens": _LIMIT,
}
_UNKNOWN_SETTING = re.compile(
    r"un(supported|known|recognized|expected)|not (supported|permitted|allowed|recognized)|extra |instead",
    re.I,
)
_NEVER_SENT = frozenset(
    {"ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError", "gaierror", "ProxyError",
     "UnsupportedProtocol", "InvalidURL", "LocalProtocolError"}
)  # fmt: skip
_TIMED_OUT = frozenset({408, 499, 504, 524})
"""Timeouts of a server, which may come while the answer is being generated."""
_LIBRARY_PREFIX = re.compile(r"^(?:(?:litellm\.\w+|\w*(?:Error|Exception))(?::| -) )+")


class TransientError(Exception):
    """A failure worth a retry. The message is one line without keys."""

    def __init__(self, message: str, retry_after: float | None = None, may_be_billed: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait, as the server requested."""
        self.may_be_billed = may_be_billed
        """Whether the provider may have generated an answer that did not arrive."""


class SettingRejected(TransientError):
    """The server rejected a setting of the request: repeat the request at once without it."""


async def with_retries(attempt: Callable[[], Awaitable[T]], retries: int, sleep: Sleep) -> T:
    """Run ``attempt`` up to ``1 + retries`` times until it succeeds. Raises the last ``TransientError``."""
    retrying = AsyncRetrying(
        stop=stop_after_attempt(retries + 1),
        wait=wait_seconds,
        retry=retry_if_exception_type(TransientError),
        sleep=sleep,
        reraise=True,
    )
    return await retrying(attempt)


def wait_seconds(state: RetryCallState) -> float:
    """Retry-After if the server sent it, else 1, 2, 4 … seconds; both capped and with jitter."""
    error = state.outcome.exception() if state.outcome else None
    requested = getattr(error, "retry_after", None)
    if requested is not None:
        return min(float(requested), MAX_WAIT) + random.uniform(0, 0.25)
    backoff = min(2.0 ** (state.attempt_number - 1), MAX_WAIT)
    return random.uniform(backoff / 2, backoff)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait from the Retry-After header (a number or an HTTP date); ``None``: absent or invalid."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def to_model_error(error: Exception, model: str, key_names: str | None = None) -> TransientError | ModelError:
    """Convert a provider library's exception by its HTTP status (``status_code``).

    Args:
        error: what the library raised.
        model: the model's name as the user wrote it.
        key_names: the environment variables that hold the provider's key, for the message.
    """
    converted = _classify(error, model, key_names)
    converted.may_be_billed = may_be_billed(error)
    return converted


def may_be_billed(error: BaseException) -> bool:
    """Whether the provider may bill a failed attempt.

    Not if no connection was made, and not if the server responded with an error other than a timeout.
    Otherwise (cut off, timed out, unreadable) it may have generated an answer.
    """
    causes = list(_causes(error))
    if any(type(cause).__name__ in _NEVER_SENT for cause in causes):
        return False
    responses = [cause for cause in causes if type(cause).__name__ == "HTTPStatusError"]
    if responses:
        return getattr(getattr(responses[-1], "response", None), "status_code", None) in _TIMED_OUT
    status = getattr(error, "status_code", None)
    return status is None or status >= 500 or status in _TIMED_OUT


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _classify(error: Exception, model: str, key_names: str | None) -> TransientError | ModelError:
    status = getattr(error, "status_code", None)
    detail = one_line(_LIBRARY_PREFIX.sub("", str(error)) or type(error).__name__)
    if status is None:
        if isinstance(error, TimeoutError | OSError):
            return TransientError(f"no answer ({detail})")
        return RequestRejected(f"{model}: the call failed ({type(error).__name__}: {detail}).")
    if status == 429 and _QUOTA.search(f"{getattr(error, 'code', '')} {detail}"):
        return QuotaExhausted(
            f"{model}: the provider's quota is used up ({detail}). Top it up, then repeat the command."
        )
    if status in TRANSIENT_STATUS or status >= 500:
        message = _connection_failure(error, detail) or f"{status}: {detail}"
        return TransientError(message, parse_retry_after(_headers(error)))
    return rejection_error(status, detail, model, key_names)


def _connection_failure(error: Exception, detail: str) -> str | None:
    """Describe a client-side failure that the library reports as a 500; ``None``: the server sent the 500."""
    causes = list(_causes(error))
    if len(causes) == 1 or any(type(cause).__name__ == "HTTPStatusError" for cause in causes):
        return None
    broken = next((cause for cause in reversed(causes) if isinstance(cause, OSError)), None)
    if broken is not None or detail == "Connection error":
        return f"the connection failed or was interrupted ({_describe(broken or causes[-1])})"
    malformed = next((cause for cause in causes if isinstance(cause, ValueError)), None)
    reason = _describe(malformed) if malformed else detail.partition(" Traceback (")[0]
    return f"its response cannot be read ({reason})"


def _describe(cause: BaseException) -> str:
    return one_line(str(cause), 200) or type(cause).__name__


def rejection_error(status: int, detail: str, model: str, key_names: str | None) -> ModelError:
    """The error for a 4xx that no retry fixes, with advice."""
    if status == 401:
        where = f" Check {key_names}." if key_names else " Check the provider's key."
        return MissingKey(f"{model}: the provider rejected the key (401: {detail}).{where}")
    if status == 404 or (status == 400 and _NO_SUCH_MODEL.search(detail)):
        return UnknownModel(
            f"{model}: the provider has no such model or address ({status}: {detail}). "
            "Check --model and --api-base."
        )
    if "context" in detail.casefold() and "length" in detail.casefold():
        advice = "Choose a model with a longer context."
    elif status == 403:
        advice = "The key may not use this model."
    else:
        advice = "A retry will not help."
    return RequestRejected(f"{model}: the provider rejected the request ({status}: {detail}). {advice}")


def rejected_setting(error: Exception, sent: Iterable[str]) -> str | None:
    """The setting that a server's 4xx complains about, of those that were sent; ``None``: none of them."""
    if getattr(error, "status_code", None) not in (400, 404, 415, 422, 501):
        return None
    return next((name for name in sent if name in _SETTINGS and _SETTINGS[name].search(str(error))), None)


def is_unknown_setting(error: Exception) -> bool:
    """Whether the server does not know the setting itself (as opposed to rejecting its value)."""
    return bool(_UNKNOWN_SETTING.search(str(error)))


def _headers(error: Exception) -> Mapping[str, str]:
    for headers in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        if headers and "retry-after" in headers:
            return {name.lower(): value for name, value in headers.items()}
    return {}
