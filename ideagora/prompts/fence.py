"""Fence text by papers, models and users, so that it cannot pass for a part of the prompt.

A fence is a pair of tags with a code, the hash of the whole message. No text can contain the code of a
message that includes it, so no text can close its fence early and address the model as the user. The same
message always has the same code, so cached answers are found.
"""

from __future__ import annotations

import hashlib
import secrets

_CODE_PLACEHOLDER = f"code-{secrets.token_hex(16)}"
"""Placeholder for the code until the message is complete; random, so that no text contains it."""
_CODE_DIGITS = 12


def fence(text: object) -> str:
    """Return third-party text in tags that it cannot imitate, or "(not available)" for ``None`` or "".

    ``insert_code`` puts the message's code into the tags. Lone surrogates become U+FFFD.
    """
    if text is None or text == "":
        return "(not available)"
    clean = str(text).strip().encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return f"<material {_CODE_PLACEHOLDER}>{clean}</material {_CODE_PLACEHOLDER}>"


def insert_code(system: str, user: str) -> str:
    """Return the user part with the message's code in its fence tags and above them; unchanged if none."""
    if _CODE_PLACEHOLDER not in user:
        return user
    message = f"{system}\n{user}".replace(_CODE_PLACEHOLDER, "")
    code = hashlib.sha256(message.encode()).hexdigest()[:_CODE_DIGITS]
    return f"CODE of this message: {code}\n\n{user.replace(_CODE_PLACEHOLDER, code)}"
