"""Ask a judge; an unusable answer is a reason, a judge that is down is an error."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from ideagora.errors import RequestRejected, UnreadableAnswer
from ideagora.models.parsing.structured_output import is_refusal
from ideagora.models.usage import collect_answer_usage, usage_label
from ideagora.schema import Usage

T = TypeVar("T")

UNREADABLE = "unreadable answer"
REFUSED = "refused by the judge"
REJECTED = "rejected by the provider"
"""Reasons for an unscored verdict, before the colon."""


class Unscored(Exception):
    """A question has no answer, such as feasibility without citation counts; the message says why."""


async def ask_or_reason(judge: str, answer: Awaitable[T]) -> tuple[T | None, str | None, Usage]:
    """The judge's answer, or why there is none, and the usage of the answers it took.

    Raises:
        IdeagoraError: the judge or a source is down, or the budget is spent.
    """
    given: T | None = None
    reason: str | None = None
    with usage_label(f"judge {judge}"), collect_answer_usage() as used:
        try:
            given = await answer
        except Unscored as error:
            reason = str(error)
        except UnreadableAnswer as error:
            message = str(error).partition(" All replies are in")[0]
            reason = f"{REFUSED if is_refusal(error.raw[-1]) else UNREADABLE}: {message}"
        except RequestRejected as error:
            reason = f"{REJECTED}: {error}"
    return given, reason, sum((usage for _, usage in sorted(used.items())), Usage())
