"""Options that several commands have, each declared once, and how they become settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

MODELS, LITERATURE, OUTPUT = "Models", "Literature", "Output"

Topics = Annotated[
    Path | None, typer.Option(help="A file with a topic a line, or JSON lines with a field topic.")
]

# --- models -----------------------------------------------------------------------------------

Model = Annotated[
    str | None,
    typer.Option(
        help="offline, or any litellm name such as openai/gpt-4o.",
        show_default="offline",
        rich_help_panel=MODELS,
    ),
]
ReaderModel = Annotated[
    str | None,
    typer.Option(
        help="Reads papers; tells ideas in one style before they are judged.",
        show_default="--model",
        rich_help_panel=MODELS,
    ),
]
JudgeModel = Annotated[
    str | None, typer.Option(help="Model that judges.", show_default="--model", rich_help_panel=MODELS)
]
ApiBase = Annotated[
    str | None, typer.Option(help="An OpenAI-compatible server for all models.", rich_help_panel=MODELS)
]
Budget = Annotated[
    float | None,
    typer.Option(
        help="Hard stop in US dollars for the whole command; the same command with more goes on.",
        rich_help_panel=MODELS,
    ),
]
PricePrompt = Annotated[
    float | None,
    typer.Option(
        help="US dollars per million prompt tokens, if litellm knows no price.", rich_help_panel=MODELS
    ),
]
PriceCompletion = Annotated[
    float | None, typer.Option(help="The same for completion tokens.", rich_help_panel=MODELS)
]
CompletionLimit = Annotated[
    int | None,
    typer.Option(
        help="Tokens that one answer may have at most, thinking included.",
        show_default="8,192; four times that for models that think",
        rich_help_panel=MODELS,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(help="Seconds one try of a call may take.", show_default="120", rich_help_panel=MODELS),
]
Retries = Annotated[
    int | None,
    typer.Option(
        help="Further tries after a failure that may pass.", show_default="5", rich_help_panel=MODELS
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(help="Calls that are out at the same time.", show_default="8", rich_help_panel=MODELS),
]
Replay = Annotated[
    bool,
    typer.Option("--replay", help="Answer from the cache alone; a miss is an error.", rich_help_panel=MODELS),
]
AgentTimeout = Annotated[
    float | None,
    typer.Option(
        help="Seconds that an agent from outside may go without a sign of life.",
        show_default="600",
        rich_help_panel=MODELS,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(help="Seed of draws and samples.", show_default="0", rich_help_panel=MODELS),
]

# --- literature -------------------------------------------------------------------------------

Before = Annotated[
    str | None,
    typer.Option(
        help="Cut-off date (YYYY, YYYY-MM, YYYY-MM-DD): agents see no paper from then on.",
        rich_help_panel=LITERATURE,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        "--ban",
        help="Title or id of a paper that agents must not see; repeatable.",
        rich_help_panel=LITERATURE,
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        help="Where literature comes from: starter, local (what you added), semantic-scholar, openalex, "
        "arxiv, a source of your own (module:object or path.py:object), or several with commas.",
        show_default="starter,local",
        rich_help_panel=LITERATURE,
    ),
]
NoFullText = Annotated[
    bool,
    typer.Option(
        "--no-full-text",
        help="Read papers from the network by their abstracts; fetch no open-access PDFs.",
        rich_help_panel=LITERATURE,
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        help="The literature store: a folder, or a Chroma server as http://host:port.",
        show_default="<home>/store",
        rich_help_panel=LITERATURE,
    ),
]

# --- output -----------------------------------------------------------------------------------

Home = Annotated[
    Path | None,
    typer.Option(
        help="Where store, caches and runs live.", show_default="~/.ideagora", rich_help_panel=OUTPUT
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="One JSON value on stdout and nothing else.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=OUTPUT)]

SETTINGS = (
    "model", "reader_model", "judge_model", "api_base", "budget", "price_prompt", "price_completion",
    "completion_limit", "timeout", "retries", "concurrency", "agent_timeout", "seed", "source", "store",
    "home",
)  # fmt: skip
"""Options that are settings of the same name."""
SWITCHES = ("replay",)
"""Those without a value."""


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for."""
    return {name: value for name, value in values.items() if value is not None}


def settings_in(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among a command's options, as far as they were given; a switch that is off was not."""
    found = {name: values[name] or None for name in SWITCHES if name in values}
    found |= {name: values[name] for name in SETTINGS if name in values}
    return given(found | {"full_text": False if values.get("no_full_text") else None})
