"""The command line: parses arguments, calls the command, and turns errors into exit codes."""

from __future__ import annotations

import codecs
import errno
import gc
import io
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ideagora.cli import (
    agents,
    agreement,
    arena,
    bench,
    compare,
    generate,
    ideas,
    jury,
    library,
    options,
    vote,
)

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""
app = options.CommandGroup(
    name="ideagora",
    help="Generate research ideas for a topic from the literature, and judge them.",
    epilog="First steps:\n\n  ideagora demo\n\n  ideagora doctor\n\n"
    "  ideagora generate 'retrieval for long documents'\n\n  ideagora generate --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(requested: bool) -> None:
    if requested:
        version()
        raise typer.Exit


@app.callback()
def _ideagora(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, help="Print the version and exit.", is_eager=True),
    ] = False,
) -> None:
    """Generate research ideas for a topic from the literature, and judge them."""


generate.declare(app)
app.add_typer(agents.app, name="agents")


@app.command(epilog="Examples:\n\n  ideagora demo\n\n  ideagora demo --json")
def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the run.", show_default="<home>/demo/run", rich_help_panel=options.OUTPUT
        ),
    ] = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Replay a complete run from recorded answers of a large language model, in seconds.

    Needs no key and no network. The recording ships with ideagora; everything else runs for real. For
    ideas on your own topic, see [bold]ideagora generate[/bold].
    """
    from ideagora.commands.demo import run

    raise typer.Exit(run(home, out, as_json, quiet))


@app.command(epilog="Examples:\n\n  ideagora doctor\n\n  ideagora doctor --json --home /data/ideagora")
def doctor(
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Check the installation: what is set up, what is missing, and how to fix it."""
    from ideagora.commands.checks.doctor import run

    raise typer.Exit(run(as_json, {"home": home}))


@app.command(epilog="Example:\n\n  ideagora trust")
def trust(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    home: options.Home = None,
) -> None:
    """Trust the ideagora.toml of this directory, including settings that redirect keys or load code."""
    from ideagora.commands.trust import run

    raise typer.Exit(run(home, yes))


app.add_typer(library.app, name="library")
app.add_typer(vote.app, name="vote")
app.command(
    epilog="Examples:\n\n  ideagora agreement runs/arena runs/arena/votes/ada.jsonl\n\n"
    "  ideagora agreement runs/liveideabench people.csv\n\n"
    "  ideagora agreement people.csv model.csv --criteria originality,clarity --json"
)(agreement.agreement)
app.command(
    epilog="Examples:\n\n  ideagora compare reviews.csv --by condition --reference human\n\n"
    "  ideagora compare reviews.json --criteria novelty,excitement --json\n\n"
    "  ideagora compare runs/my-jury --by agent"
)(compare.compare)
app.add_typer(ideas.app, name="ideas")
arena.declare(app)
jury.declare(app)
app.add_typer(bench.app, name="bench")


@app.command(epilog="Example:\n\n  ideagora version")
def version() -> None:
    """Print the version."""
    from ideagora import __version__

    typer.echo(__version__)


_LOOP_CLOSED = "Event loop is closed"
"""Error of a thread whose answer nobody awaits any more, after a further Ctrl-C during the clean-up."""


def _exit_without_threads(code: Any) -> None:
    """Exit at once if an external agent left threads that would keep the process alive."""
    isolation = sys.modules.get("ideagora.graphs.external.in_process.isolation")
    if isolation is not None:
        isolation.exit_process(code if isinstance(code, int) else int(code is not None))


def _escape_unencodable(error: UnicodeError) -> tuple[str, int]:
    """Return characters that the output's encoding lacks as JSON escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2)), error.end


def _prepare_streams() -> None:
    """Escape unencodable characters in the output, and print no traceback for a further Ctrl-C."""
    codecs.register_error("ideagora", _escape_unencodable)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="ideagora")
    for module, name in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook")):
        setattr(module, name, _ignore_interrupts(getattr(module, name)))


def _ignore_interrupts(hook: Callable[..., None]) -> Callable[..., None]:
    """Return a hook for uncaught exceptions that says nothing about an interrupt and its after-effects."""

    def hook_without_interrupts(*args: Any) -> None:
        error = args[1] if isinstance(args[0], type) else args[0].exc_value
        if not isinstance(error, KeyboardInterrupt) and str(error) != _LOOP_CLOSED:
            hook(*args)

    return hook_without_interrupts


def run() -> None:
    """Run the command. An expected error is printed as one line and sets the exit code."""
    try:
        try:
            app(prog_name="ideagora")  # also for `python -m ideagora`
        finally:
            if sys.stdout is not None:  # closed by the caller
                sys.stdout.flush()  # what does not fit on a full disk fails here, not while Python exits
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped.\n")
        raise SystemExit(INTERRUPTED) from None
    except OSError as error:  # errors on files were handled by the command: this is stdout
        # else Python flushes the rest at exit and fails again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            print(f"error: the output cannot be written: {error.strerror}.", file=sys.stderr)
        raise SystemExit(1) from None
    except Exception as error:
        from ideagora.errors import IdeagoraError  # imports pydantic, which --help must not wait for

        if not isinstance(error, IdeagoraError):
            raise
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None


def _exit_interrupted() -> None:
    """Exit without waiting for threads, which a further interrupt may have left running."""
    from ideagora.commands.shared.interrupts import exit_now

    exit_now(INTERRUPTED)


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(200_000, 10, 10)  # the default takes a sixth of the time of imports
    _prepare_streams()
    try:
        run()
    except KeyboardInterrupt:  # a further one, while the first was being handled
        _exit_interrupted()
    except SystemExit as stop:
        _exit_without_threads(stop.code)
        if stop.code == INTERRUPTED:
            _exit_interrupted()
        raise
    finally:
        gc.freeze()  # else the final garbage collection spends a second or two on litellm and torch


if __name__ == "__main__":
    main()
