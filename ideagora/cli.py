"""The command line: parse, call, show. typer parses, since its help is generated from the types."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ideagora.subcommands import agents, arena, ideas, vote

app = typer.Typer(
    name="ideagora",
    help="Research ideas for a topic, grounded in how the field developed, and judged.",
    epilog="First steps:\n\n  ideagora doctor\n\n  ideagora generate 'retrieval for long documents'\n\n"
    "  ideagora generate --help",
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


MODELS = "Models"
LITERATURE = "Literature"
AGENT = "Agent"
OUTPUT = "Output"


@app.command(
    epilog="Examples:\n\n  ideagora generate 'tool use by language models' --branches 2\n\n"
    "  ideagora generate '…' --model openai/gpt-4o --reader-model openai/gpt-4o-mini --budget 2.00\n\n"
    "  ideagora generate '…' --before 2024-08-01 --json"
)
def generate(
    topic: Annotated[str | None, typer.Argument(help="What ideas are wanted for, in a few words.")] = None,
    topics: Annotated[
        Path | None, typer.Option(help="A file with a topic a line, or JSON lines with a field topic.")
    ] = None,
    agent: Annotated[
        str,
        typer.Option(
            help="Who makes the ideas: a name of ideagora agents, path.py:object, module:object, "
            "'command:…' or ideas:FILE.",
            rich_help_panel=AGENT,
        ),
    ] = "chain-of-ideas",
    agent_timeout: Annotated[
        float | None,
        typer.Option(
            help="Seconds that an agent from outside may go without a sign of life.",
            show_default="600",
            rich_help_panel=AGENT,
        ),
    ] = None,
    branches: Annotated[
        int | None,
        typer.Option(help="Chains of ideas, side by side.", show_default="3", rich_help_panel=AGENT),
    ] = None,
    length: Annotated[
        int | None, typer.Option(help="Papers in a chain at most.", show_default="5", rich_help_panel=AGENT)
    ] = None,
    refinements: Annotated[
        int | None,
        typer.Option(help="Rounds of review of the experiment.", show_default="1", rich_help_panel=AGENT),
    ] = None,
    rewrites: Annotated[
        int | None,
        typer.Option(
            help="Rewrites of an idea that is too close to a paper.", show_default="2", rich_help_panel=AGENT
        ),
    ] = None,
    papers: Annotated[
        int | None,
        typer.Option(help="Papers that rag shows the model.", show_default="10", rich_help_panel=AGENT),
    ] = None,
    allow_thin: Annotated[
        bool,
        typer.Option(
            "--allow-thin", help="Go on although the library has nothing on the topic.", rich_help_panel=AGENT
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the run.", show_default="0", rich_help_panel=AGENT)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="offline, or any litellm name such as openai/gpt-4o.",
            show_default="offline",
            rich_help_panel=MODELS,
        ),
    ] = None,
    reader_model: Annotated[
        str | None,
        typer.Option(help="Model that reads papers.", show_default="--model", rich_help_panel=MODELS),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Model that judges.", show_default="--model", rich_help_panel=MODELS)
    ] = None,
    api_base: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible server for all models.", rich_help_panel=MODELS)
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(help="Hard stop in US dollars; the run can be continued.", rich_help_panel=MODELS),
    ] = None,
    price_prompt: Annotated[
        float | None,
        typer.Option(
            help="US dollars per million prompt tokens, if litellm knows no price.", rich_help_panel=MODELS
        ),
    ] = None,
    price_completion: Annotated[
        float | None, typer.Option(help="The same for completion tokens.", rich_help_panel=MODELS)
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds one try of a call may take.", show_default="120", rich_help_panel=MODELS),
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            help="Further tries after a failure that may pass.", show_default="5", rich_help_panel=MODELS
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(help="Calls that are out at the same time.", show_default="8", rich_help_panel=MODELS),
    ] = None,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Answer from the cache alone; a miss is an error.", rich_help_panel=MODELS
        ),
    ] = False,
    before: Annotated[
        str | None,
        typer.Option(
            help="Cut-off date (YYYY, YYYY-MM, YYYY-MM-DD): no paper from then on is seen.",
            rich_help_panel=LITERATURE,
        ),
    ] = None,
    ban: Annotated[
        list[str] | None,
        typer.Option(
            help="Title or id of a paper that must not be seen; repeatable.", rich_help_panel=LITERATURE
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where literature comes from: starter, local (what you added), semantic-scholar, openalex, "
            "arxiv, a source of your own (module:object or path.py:object), or several with commas.",
            show_default="starter,local",
            rich_help_panel=LITERATURE,
        ),
    ] = None,
    no_full_text: Annotated[
        bool,
        typer.Option(
            "--no-full-text",
            help="Read papers from the network by their abstracts; fetch no open-access PDFs.",
            rich_help_panel=LITERATURE,
        ),
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(
            help="The literature store: a folder, or a Chroma server as http://host:port.",
            show_default="<home>/store",
            rich_help_panel=LITERATURE,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The run's folder.", show_default="<home>/runs/…", rich_help_panel=OUTPUT),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(
            help="Where store, caches and runs live.", show_default="~/.ideagora", rich_help_panel=OUTPUT
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object on stdout and nothing else.", rich_help_panel=OUTPUT),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Begin the run anew instead of going on (answered calls stay cached).",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Make research ideas for a topic, with their chain of papers, novelty evidence and experiment.

    Without a key everything runs on the [bold]offline model[/bold], an extractive engine on sentence
    embeddings. The same command again goes on where a run was stopped, and shows a finished one.
    """
    from ideagora.commands.generate import Request, run

    settings = {
        "model": model, "reader_model": reader_model, "judge_model": judge_model, "api_base": api_base,
        "budget": budget, "price_prompt": price_prompt, "price_completion": price_completion,
        "timeout": timeout, "retries": retries, "concurrency": concurrency, "replay": replay or None,
        "source": source, "store": store, "home": home, "seed": seed,
        "agent_timeout": agent_timeout,
        "full_text": False if no_full_text else None,
    }  # fmt: skip
    options = {
        "branches": branches, "length": length, "refinements": refinements, "rewrites": rewrites,
        "papers": papers, "allow_thin": allow_thin or None,
    }  # fmt: skip
    request = Request(
        topic=topic, topics=topics, agent=agent, options=_given(options), settings=_given(settings),
        before=before, banned=tuple(ban or ()), out=out, as_json=as_json, fresh=fresh, quiet=quiet,
    )  # fmt: skip
    raise typer.Exit(run(request))


app.add_typer(agents.app, name="agents")


@app.command(epilog="Examples:\n\n  ideagora doctor\n\n  ideagora doctor --json --home /data/ideagora")
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    home: Annotated[Path | None, typer.Option(help="Where store, caches and runs live.")] = None,
) -> None:
    """Say what is set up, what is missing, and what to do about it."""
    from ideagora.commands.doctor import run

    raise typer.Exit(run(as_json, _given({"home": home})))


STORE = Annotated[
    str | None,
    typer.Option(
        help="The literature store: a folder, or a Chroma server as http://host:port.",
        show_default="<home>/store",
    ),
]
HOME = Annotated[
    Path | None, typer.Option(help="Where store, caches and runs live.", show_default="~/.ideagora")
]

library = typer.Typer(help="Your own papers and the store of literature.", no_args_is_help=True)
app.add_typer(library, name="library")


@library.command(
    "add",
    epilog="Examples:\n\n  ideagora library add paper.pdf references.bib\n\n  ideagora library add ~/papers",
)
def library_add(
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders with all below them.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    store: STORE = None,
    home: HOME = None,
) -> None:
    """Put your own papers into the store: PDF, BibTeX, RIS, CSL-JSON, JSON lines, or folders of them.

    What cannot be read is named at the end and stops nothing. Papers that are there already are
    brought up to date, and the same command goes on where it was stopped.
    """
    from ideagora.commands.library import add

    raise typer.Exit(add(paths, _given({"store": store, "home": home}), as_json, quiet))


@library.command(
    "check", epilog="Example:\n\n  ideagora library check examples/own_source.py:Notes --query 'tool use'"
)
def library_check(
    source: Annotated[str, typer.Argument(help="module:object, path.py:object, or a source's name.")],
    query: Annotated[str, typer.Option(help="Words for which the source has papers.")] = "language models",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    home: HOME = None,
) -> None:
    """Try a source of literature: what works, what doesn't, and how to mend it."""
    from ideagora.commands.sources import check

    raise typer.Exit(check(source, query, _given({"home": home}), as_json))


@library.command("stats")
def library_stats(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    store: STORE = None,
    home: HOME = None,
) -> None:
    """Say what the store holds."""
    from ideagora.commands.library import stats

    raise typer.Exit(stats(_given({"store": store, "home": home}), as_json))


@library.command("search", epilog="Example:\n\n  ideagora library search 'tool use' --k 5 --before 2024")
def library_search(
    query: Annotated[str, typer.Argument(help="What to look for, in a few words.")],
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="Papers to show.")] = 10,
    before: Annotated[
        str | None, typer.Option(help="Cut-off date (YYYY, YYYY-MM, YYYY-MM-DD): only older papers.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON list on stdout.")] = False,
    store: STORE = None,
    home: HOME = None,
) -> None:
    """Find the papers of the store that are nearest to a query."""
    from ideagora.commands.library import search

    raise typer.Exit(search(query, k, before, _given({"store": store, "home": home}), as_json))


@library.command(
    "migrate",
    epilog="Examples:\n\n  ideagora library migrate http://127.0.0.1:8000\n\n"
    "  ideagora library migrate ~/papers-store --from http://127.0.0.1:8000",
)
def library_migrate(
    to: Annotated[str, typer.Argument(help="A folder, or a Chroma server as http://host:port.")],
    from_: Annotated[
        str | None,
        typer.Option("--from", help="The store to read: a folder or a server.", show_default="--store"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    store: STORE = None,
    home: HOME = None,
) -> None:
    """Copy a store to another place, and check that everything arrived.

    The store that is read stays as it is. What the other place has already is not sent again, so
    the same command goes on where it was stopped. Between stores of different embedders every paper
    is embedded anew, with the embedder of the settings.
    """
    from ideagora.commands.library import migrate

    raise typer.Exit(migrate(to, from_, _given({"store": store, "home": home}), as_json, quiet))


app.add_typer(vote.app, name="vote")
app.add_typer(ideas.app, name="ideas")
arena.declare(app)


@app.command(epilog="Example:\n\n  ideagora version")
def version() -> None:
    """Print the version."""
    from ideagora import __version__

    typer.echo(__version__)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _leave(code: Any) -> None:
    """Threads that an agent from outside left behind do not keep the process from ending."""
    shield = sys.modules.get("ideagora.graphs.plugged.shield")
    if shield is not None:
        shield.leave(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    """Entry point: named errors become one line and their exit code."""
    try:
        app()
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
