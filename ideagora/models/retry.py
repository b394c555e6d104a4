"""Which failures pass by themselves, and how long to wait for that."""

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

LONGEST_WAIT = 60.0
"""Seconds; also caps what a server asks for with Retry-After."""
TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
"""Besides all of 5xx."""

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
_GAVE_UP = frozenset({408, 499, 504, 524})
"""Statuses of a server whose patience ended while an answer was being made."""
_LIBRARY_PREFIX = re.compile(r"^(?:(?:litellm\.\w+|\w*(?:Error|Exception))(?::| -) )+")


class TransientError(Exception):
    """A failure that may pass: the call is tried again. The message is one scrubbed line."""

    def __init__(self, message: str, retry_after: float | None = None, may_be_billed: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the server asked us to wait."""
        self.may_be_billed = may_be_billed
        """Whether the provider may have made an answer that did not arrive."""


class SettingRejected(TransientError):
    """The server does not take a setting of the request: ask again without it, at once."""


async def with_retries(attempt: Callable[[], Awaitable[T]], retries: int, sleep: Sleep) -> T:
    """Try until it works, at most ``1 + retries`` times; the last ``TransientError`` is let through."""
    trying = AsyncRetrying(
        stop=stop_after_attempt(retries + 1),
        wait=wait_seconds,
        retry=retry_if_exception_type(TransientError),
        sleep=sleep,
        reraise=True,
    )
    return await trying(attempt)


def wait_seconds(state: RetryCallState) -> float:
    """Retry-After where the server gave one, else 1, 2, 4 … seconds; both with jitter, both capped."""
    error = state.outcome.exception() if state.outcome else None
    asked = getattr(error, "retry_after", None)
    if asked is not None:
        return min(float(asked), LONGEST_WAIT) + random.uniform(0, 0.25)
    longest = min(2.0 ** (state.attempt_number - 1), LONGEST_WAIT)
    return random.uniform(longest / 2, longest)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server's headers ask to wait: a number, or an HTTP date; ``None``: nothing readable."""
    said = headers.get("retry-after")
    if said is None:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def to_model_error(error: Exception, model: str, key_names: str | None = None) -> TransientError | ModelError:
    """A provider library's exception as one of ours, by its HTTP status (``status_code``).

    Args:
        error: what the library raised.
        model: the model's name as the user wrote it.
        key_names: the environment variables that hold the provider's key, for the message.
    """
    found = _named(error, model, key_names)
    found.may_be_billed = may_be_billed(error)
    return found


def may_be_billed(error: BaseException) -> bool:
    """Whether a failed try may be on the provider's bill all the same.

    Not when the connection was never made, and not when the server itself answered with an error, unless
    that says that its patience ended. All else (cut off, timed out, unreadable) may have been answered.
    """
    causes = list(_causes(error))
    if any(type(cause).__name__ in _NEVER_SENT for cause in causes):
        return False
    answered = [cause for cause in causes if type(cause).__name__ == "HTTPStatusError"]
    if answered:
        return getattr(getattr(answered[-1], "response", None), "status_code", None) in _GAVE_UP
    status = getattr(error, "status_code", None)
    return status is None or status >= 500 or status in _GAVE_UP


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _named(error: Exception, model: str, key_names: str | None) -> TransientError | ModelError:
    status = getattr(error, "status_code", None)
    detail = one_line(_LIBRARY_PREFIX.sub("", str(error)) or type(error).__name__)
    if status is None:
        if isinstance(error, TimeoutError | OSError):
            return TransientError(f"no answer ({detail})")
        return RequestRejected(f"{model}: the call failed ({type(error).__name__}: {detail}).")
    if status == 429 and _QUOTA.search(f"{getattr(error, 'code', '')} {detail}"):
        return QuotaExhausted(f"{model}: the provider's quota is used up ({detail}). Top it up, then go on.")
    if status in TRANSIENT_STATUS or status >= 500:
        said = _on_the_way(error, detail) or f"{status}: {detail}"
        return TransientError(said, parse_retry_after(_headers(error)))
    return rejection_error(status, detail, model, key_names)


def _on_the_way(error: Exception, detail: str) -> str | None:
    """What failed on this side of the server, which the library calls a 500; ``None``: the server said it."""
    causes = list(_causes(error))
    if len(causes) == 1 or any(type(cause).__name__ == "HTTPStatusError" for cause in causes):
        return None
    broken = next((cause for cause in reversed(causes) if isinstance(cause, OSError)), None)
    if broken is not None or detail == "Connection error":
        return f"no connection, or it broke off ({_told(broken or causes[-1])})"
    misread = next((cause for cause in causes if isinstance(cause, ValueError)), None)
    return f"its answer cannot be read ({_told(misread) if misread else detail.partition(' Traceback (')[0]})"


def _told(cause: BaseException) -> str:
    return one_line(str(cause), 200) or type(cause).__name__


def rejection_error(status: int, detail: str, model: str, key_names: str | None) -> ModelError:
    """A 4xx that no retry mends, with what to do about it."""
    if status == 401:
        where = f" Check {key_names}." if key_names else " Check the provider's key."
        return MissingKey(f"{model}: the provider does not accept the key (401: {detail}).{where}")
    if status == 404 or (status == 400 and _NO_SUCH_MODEL.search(detail)):
        return UnknownModel(
            f"{model}: the provider knows no such model or address ({status}: {detail}). "
            "Check --model and --api-base."
        )
    if "context" in detail.casefold() and "length" in detail.casefold():
        advice = "Choose a model with a longer context."
    elif status == 403:
        advice = "The key may not use this model."
    else:
        advice = "Trying again will not help."
    return RequestRejected(f"{model}: the provider refused the request ({status}: {detail}). {advice}")


def rejected_setting(error: Exception, sent: Iterable[str]) -> str | None:
    """Which of the settings that were sent a server's 4xx complains of."""
    if getattr(error, "status_code", None) not in (400, 404, 415, 422, 501):
        return None
    return next((name for name in sent if name in _SETTINGS and _SETTINGS[name].search(str(error))), None)


def is_unknown_setting(error: Exception) -> bool:
    """Whether a refusal says that the setting itself is not known (and not that its value is too large)."""
    return bool(_UNKNOWN_SETTING.search(str(error)))


def _headers(error: Exception) -> Mapping[str, str]:
    for headers in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        if headers and "retry-after" in headers:
            return {name.lower(): value for name, value in headers.items()}
    return {}
