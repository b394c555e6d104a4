"""Options shared by several commands, in groups that each have a panel in ``--help``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from ideagora.config import SettingOverrides

AGENTS, LITERATURE, OUTPUT = "Agents", "Literature", "Output"
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Value = TypeVar("_Value")

Topics = Annotated[
    Path | None,
    typer.Option(help="File with one topic per line, or JSON lines with a topic field.", show_default=False),
]
AgentTimeout = Annotated[
    float | None,
    typer.Option(
        help="Seconds that an external agent may run without any activity.",
        show_default="600",
        rich_help_panel=AGENTS,
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        help="Literature store: a folder, or a Chroma server as http://host:port.",
        show_default="<home>/store",
        rich_help_panel=LITERATURE,
    ),
]
Home = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the store, caches and runs.", show_default="~/.ideagora", rich_help_panel=OUTPUT
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON value on stdout and nothing else.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Hide progress. Warnings and errors are still shown.", rich_help_panel=OUTPUT
    ),
]


NoPage = Annotated[
    bool, typer.Option("--no-page", help="Write no report page and no plots.", rich_help_panel=OUTPUT)
]


class Protocol(StrEnum):
    """Which definitions of the figures are used: ours, those of the paper, or both side by side."""

    default = "default"
    paper = "paper"
    both = "both"


@dataclass(frozen=True)
class ModelOptions:
    """Which models answer."""

    PANEL: ClassVar[str] = "Models"
    model: Annotated[
        str | None,
        typer.Option(
            help="Model for all roles: offline, or a litellm name such as openai/gpt-4o.",
            show_default="offline",
        ),
    ] = None
    reader_model: Annotated[
        str | None,
        typer.Option(
            help="Model that reads papers and rewrites ideas in one style for the judges.",
            show_default="--model",
        ),
    ] = None
    judge_model: Annotated[
        str | None,
        typer.Option(help="Model that judges ideas and the relevance of papers.", show_default="--model"),
    ] = None
    api_base: Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server to use for all models.")
    ] = None
    temperature: Annotated[
        float | None,
        typer.Option(help="Sampling temperature of all models, 0 to 2.", show_default="that of each role"),
    ] = None


@dataclass(frozen=True)
class LimitOptions:
    """What model calls may cost, and how they are sent."""

    PANEL: ClassVar[str] = "Cost and limits"
    budget: Annotated[
        float | None,
        typer.Option(
            help="Maximum cost of this command in US dollars. To continue a stopped run, raise it.",
            show_default="unlimited",
        ),
    ] = None
    price_prompt: Annotated[
        float | None,
        typer.Option(
            help="US dollars per million prompt tokens, for models whose price litellm does not know."
        ),
    ] = None
    price_completion: Annotated[
        float | None, typer.Option(help="US dollars per million completion tokens.")
    ] = None
    completion_limit: Annotated[
        int | None,
        typer.Option(
            help="Maximum tokens in one answer, including thinking.",
            show_default="8192; 32768 for reasoning models",
        ),
    ] = None
    timeout: Annotated[
        float | None, typer.Option(help="Seconds to wait for one model request.", show_default="120")
    ] = None
    retries: Annotated[
        int | None, typer.Option(help="Retries after a transient error.", show_default="5")
    ] = None
    concurrency: Annotated[
        int | None, typer.Option(help="Maximum number of concurrent model requests.", show_default="8")
    ] = None


@dataclass(frozen=True)
class LiteratureOptions:
    """Which papers agents can see."""

    PANEL: ClassVar[str] = LITERATURE
    before: Annotated[
        str | None,
        typer.Option(
            help="Cut-off date (YYYY, YYYY-MM or YYYY-MM-DD): agents see only papers published before it."
        ),
    ] = None
    exclude: Annotated[
        list[str] | None, typer.Option(help="Title or id of a paper to hide from agents; repeatable.")
    ] = None
    source: Annotated[
        str | None,
        typer.Option(
            help="Literature sources, separated by commas: starter, local (papers you added), "
            "semantic-scholar, openalex, arxiv, or your own (module:object or path.py:object).",
            show_default="starter,local",
        ),
    ] = None
    no_full_text: Annotated[
        bool, typer.Option("--no-full-text", help="Read abstracts only; download no open-access PDFs.")
    ] = False
    store: Store = None


@dataclass(frozen=True)
class ReproducibilityOptions:
    """What makes a run repeatable."""

    PANEL: ClassVar[str] = "Reproducibility"
    seed: Annotated[int | None, typer.Option(help="Random seed.", show_default="0")] = None
    replay: Annotated[
        bool, typer.Option("--replay", help="Answer from the cache only; fail if an answer is missing.")
    ] = False
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Start over instead of resuming. Cached answers are reused."),
    ] = False


@dataclass(frozen=True)
class OutputOptions:
    """What is printed, and where files go."""

    PANEL: ClassVar[str] = OUTPUT
    home: Home = None
    as_json: AsJson = False
    quiet: Quiet = False


def split_names(text: str | None) -> tuple[str, ...]:
    """Return names that are separated by commas."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def without_none(values: Mapping[str, _Value | None]) -> dict[str, _Value]:
    """Return the values that are not ``None``: options that were used."""
    return {name: value for name, value in values.items() if value is not None}


def settings_from(
    model: ModelOptions,
    limits: LimitOptions,
    reproducibility: ReproducibilityOptions,
    output: OutputOptions,
    literature: LiteratureOptions = LiteratureOptions(),
    agent_timeout: float | None = None,
) -> SettingOverrides:
    """Return the settings that option groups change; ``None`` for an option that was not used."""
    return {
        "model": model.model,
        "reader_model": model.reader_model,
        "judge_model": model.judge_model,
        "api_base": model.api_base,
        "temperature": model.temperature,
        "budget": limits.budget,
        "price_prompt": limits.price_prompt,
        "price_completion": limits.price_completion,
        "completion_limit": limits.completion_limit,
        "timeout": limits.timeout,
        "retries": limits.retries,
        "concurrency": limits.concurrency,
        "agent_timeout": agent_timeout,
        "source": literature.source,
        "full_text": False if literature.no_full_text else None,
        "store": literature.store,
        "seed": reproducibility.seed,
        "replay": reproducibility.replay or None,
        "home": output.home,
    }


def start_embedder(settings: SettingOverrides) -> None:
    """Start to load the embedding model in its process: that takes longer than the command's imports."""
    from ideagora.config import load_settings
    from ideagora.errors import IdeagoraError
    from ideagora.models.embeddings.process_embedder import start_early

    with suppress(IdeagoraError):  # the command reports it
        start_early(load_settings(**settings).embedder)


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command for typer: the options of each group take the place of the group's parameter.

    Args:
        command: takes keyword-only parameters, some of which are option groups.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if is_dataclass(parameter.annotation)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        parameters += _parameters(groups[name]) if name in groups else [parameter]

    @wraps(command)
    def expanded(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    expanded.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return expanded


def _parameters(group: Any) -> list[inspect.Parameter]:
    """Return a group's options as parameters, each in the group's help panel."""
    hints = get_type_hints(group, include_extras=True)
    parameters = []
    for field in fields(group):
        kind, option = get_args(hints[field.name])
        option = copy(option)
        option.rich_help_panel = group.PANEL
        parameters.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=Annotated[kind, option],
            )
        )
    return parameters


OLD_NAMES = {
    "--ban": "--exclude",
    "--allow-thin": "--allow-off-topic",
    "--certainty": "--confidence",
    "--verdicts": "--max-comparisons",
}
"""Option names of the last version. This version accepts them with a hint; the next one does not."""


class Command(TyperCommand):
    """A command that accepts old option names with a hint, and whose help fits the terminal's width."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.help = _join_lines(self.help)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Replace old option names, then parse."""
        known = {name for parameter in self.params for name in parameter.opts}
        end = args.index("--") if "--" in args else len(args)
        renamed: dict[str, str] = {}
        for place, argument in enumerate(args[:end]):
            old, equals, value = argument.partition("=")
            new = OLD_NAMES.get(old)
            if new in known:
                renamed[old] = new
                args[place] = f"{new}{equals}{value}"
        for old, new in renamed.items():
            typer.echo(
                f"hint: {old} is now {new}; the old name will be removed in the next version.", err=True
            )
        return super().parse_args(ctx, args)


def _join_lines(text: str | None) -> str | None:
    """Return a docstring with one line per paragraph, which the terminal wraps."""
    if text is None:
        return None
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


class CommandGroup(typer.Typer):
    """A typer application whose commands are of the class ``Command``."""

    def command(self, name: str | None = None, **keywords: Any) -> Callable[[_Function], _Function]:
        """Declare a command."""
        return super().command(name, **{"cls": Command, **keywords})
