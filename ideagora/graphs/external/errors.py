"""Convert exceptions of third-party code to errors that name the agent, the reason and the line."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from ideagora.errors import AgentFailed, IdeagoraError
from ideagora.models.redact import one_line


def named_error(error: BaseException, name: str) -> IdeagoraError:
    """An ``AgentFailed`` with agent, exception and line; an ``IdeagoraError`` is returned unchanged."""
    if isinstance(error, IdeagoraError):
        return error
    try:
        message = one_line(str(error))
    except Exception as worse:  # noqa: BLE001  (its __str__ is third-party code too)
        message = f"its message raised {type(worse).__name__}"
    what = f"{type(error).__name__}: {message}" if message else type(error).__name__
    hint = " In async code, await each call of library and model." if _is_unawaited(message) else ""
    return AgentFailed(f"{name} raised {one_line(what)}{_place(error)}.{hint}")


def _is_unawaited(message: str) -> bool:
    return any(f"'{kind}' object" in message for kind in ("_asyncio.Future", "_asyncio.Task", "coroutine"))


def _place(error: BaseException) -> str:
    """The innermost frame outside our own code and the libraries."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours_or_installed(f.filename)]
    frames = [f for f in frames if is_foreign(f.filename)] or frames
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def _is_ours_or_installed(file: str) -> bool:
    return file.startswith(str(Path(__file__).parents[2])) or "site-packages" in file


def is_foreign(file: str) -> bool:
    """Whether a file belongs neither to us, nor to a library, nor to Python."""
    return not _is_ours_or_installed(file) and not file.startswith((sys.base_prefix, "<"))
