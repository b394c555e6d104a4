"""Runs ``ideagora trust``: trusts the ``ideagora.toml`` of the working directory."""

from __future__ import annotations

import sys
from pathlib import Path

from ideagora.errors import IdeagoraError
from ideagora.trust import (
    SETTINGS_FILE,
    format_settings,
    read_settings_file,
    settings_needing_trust,
    trust,
    user_home,
)


def run(home: Path | None, yes: bool) -> int:
    """Show what needs trust and ask for confirmation; return 0 if trusted, 1 if not, 2 without a terminal."""
    path = Path(SETTINGS_FILE).resolve()
    try:
        values, content = read_settings_file(path)
        needed = settings_needing_trust(values)
        if not needed:
            print(f"{path} {'needs no trust' if values else 'is missing or empty'}: there is nothing to do.")
            return 0
        print(
            f"{path} sets {format_settings(needed)}.\nThis can send keys and texts elsewhere, or load code."
        )
        if not yes and not sys.stdin.isatty():
            print(
                "error: no terminal to ask for confirmation: review the file, then add --yes.",
                file=sys.stderr,
            )
            return 2
        if not yes and input("Trust it until its content changes? [y/N] ").strip().lower() != "y":
            print("Not trusted.")
            return 1
        trust(path, content, user_home(home))
    except EOFError:
        return 1
    except IdeagoraError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print("Trusted.")
    return 0
