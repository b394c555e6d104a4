"""The command line: parse, call, show. typer parses, since its help is generated from the types."""

from __future__ import annotations

import codecs
import gc
import io
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ideagora.subcommands import agents, agreement, arena, generate, ideas, library, options, vote

app = typer.Typer(
    name="ideagora",
    help="Research ideas for a topic, grounded in how the field developed, and judged.",
    epilog="First steps:\n\n  ideagora demo\n\n  ideagora doctor\n\n"
    "  ideagora generate 'retrieval for long documents'\n\n  ideagora generate --help",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        version()
        raise typer.Exit


@app.callback()
def _ideagora(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Research ideas for a topic, grounded in how the field developed, and judged."""


generate.declare(app)
app.add_typer(agents.app, name="agents")


@app.command(epilog="Examples:\n\n  ideagora demo\n\n  ideagora demo --json")
def demo(
    out: Annotated[
        Path | None, typer.Option(help="The run's folder.", show_default="<home>/demo/run")
    ] = None,
    home: options.Home = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a whole run with a large language model, from recorded answers: no key, no network, seconds.

    The answers were given once to the prompts of every step and ship with ideagora; the run itself is
    real. For ideas on your own topic see [bold]ideagora generate[/bold].
    """
    from ideagora.commands.demo import run

    raise typer.Exit(run(home, out, as_json, quiet))


@app.command(epilog="Examples:\n\n  ideagora doctor\n\n  ideagora doctor --json --home /data/ideagora")
def doctor(
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Say what is set up, what is missing, and what to do about it."""
    from ideagora.commands.doctor import run

    raise typer.Exit(run(as_json, options.given({"home": home})))


@app.command(epilog="Example:\n\n  ideagora trust")
def trust(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False, home: options.Home = None
) -> None:
    """Obey the ideagora.toml of this directory, also where it redirects keys or loads code."""
    from ideagora.commands.trust import run

    raise typer.Exit(run(home, yes))


app.add_typer(library.app, name="library")
app.add_typer(vote.app, name="vote")
app.command(
    epilog="Examples:\n\n  ideagora agreement runs/arena runs/arena/votes/ada.jsonl\n\n"
    "  ideagora agreement people.csv model.csv --criteria originality,clarity --json"
)(agreement.agreement)
app.add_typer(ideas.app, name="ideas")
arena.declare(app)


@app.command(epilog="Example:\n\n  ideagora version")
def version() -> None:
    """Print the version."""
    from ideagora import __version__

    typer.echo(__version__)


def _leave(code: Any) -> None:
    """Threads that an agent from outside left behind do not keep the process from ending."""
    isolation = sys.modules.get("ideagora.graphs.external.in_process.isolation")
    if isolation is not None:
        isolation.exit_process(code if isinstance(code, int) else int(code is not None))


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What an output's encoding lacks, as JSON escapes it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2)), error.end


def _prepare_streams() -> None:
    """No character ends a finished run in a traceback, and neither does one more Ctrl-C."""
    codecs.register_error("ideagora", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="ideagora")
    for place, name in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook")):
        setattr(place, name, _without_interrupts(getattr(place, name)))


def _without_interrupts(hook: Callable[..., None]) -> Callable[..., None]:
    def quiet(*told: Any) -> None:
        kind = told[0] if isinstance(told[0], type) else told[0].exc_type
        if not issubclass(kind, KeyboardInterrupt):
            hook(*told)

    return quiet


def main() -> None:
    """Entry point: named errors become one line and their exit code."""
    _prepare_streams()
    try:
        app()
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped.\n")
        raise SystemExit(130) from None
    except OSError as error:  # what goes wrong with files has its name by now: this is the output
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # or the rest is tried again at the end
        print(f"error: the output cannot be written: {error.strerror}.", file=sys.stderr)
        raise SystemExit(1) from None
    except Exception as error:
        from ideagora.errors import IdeagoraError  # not before: --help shall not wait for pydantic

        if not isinstance(error, IdeagoraError):
            raise
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except SystemExit as stop:
        _leave(stop.code)
        raise
    finally:
        gc.freeze()  # or the interpreter's last collection goes through litellm and torch for a second or two


if __name__ == "__main__":
    main()
