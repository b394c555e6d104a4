"""The panel of judges and the judges of one idea (arXiv 2412.17596, Methods, Experimental Protocol).

The panel are the best models of a ranked list, at most a fifth from one organisation, and one per base model.
The judges of an idea are drawn from those that are neither its author nor of its family, where a family are
the models of one organisation.
"""

from __future__ import annotations

import importlib.resources
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ideagora.errors import UsageError

SIZE = 10
"""Models of a panel."""
SHARE = 0.2
"""Largest part of a panel from one organisation."""
JUDGES = 3
"""Judges of an idea."""
LISTED = "listed"
"""Value of the option ``panel`` that stands for the list that ships with ideagora."""

_ORGANISATIONS: dict[str, re.Pattern[str]] = {
    "anthropic": re.compile(r"claude"),
    "openai": re.compile(r"gpt|chatgpt|davinci|(?<![a-z\d])o\d(?![\da-z])"),
    "google": re.compile(r"gemini|gemma|palm|learnlm"),
    "qwen": re.compile(r"qwen|qwq|qvq"),
    "deepseek": re.compile(r"deepseek"),
    "meta": re.compile(r"llama"),
    "mistral": re.compile(r"mistral|mixtral|ministral|magistral|codestral|devstral|pixtral"),
    "amazon": re.compile(r"(?<![a-z])nova(?![a-z])|titan"),
    "xai": re.compile(r"grok"),
    "microsoft": re.compile(r"(?<![a-z])phi(?![a-z])|wizardlm"),
    "stepfun": re.compile(r"(?<![a-z])step-?\d"),
    "moonshot": re.compile(r"kimi|moonshot"),
    "zhipu": re.compile(r"(?<![a-z])glm|chatglm"),
    "cohere": re.compile(r"command-|(?<![a-z])aya(?![a-z])"),
    "nvidia": re.compile(r"nemotron"),
    "minimax": re.compile(r"minimax|abab"),
}
"""Organisation and the names by which its models are known, wherever they are served."""
_SERVERS = frozenset(
    "anyscale azure azure_ai bedrock cerebras databricks deepinfra fireworks_ai groq hosted_vllm huggingface "
    "litellm_proxy lm_studio ollama ollama_chat openai openrouter replicate sagemaker sambanova "
    "together_ai vertex_ai vllm watsonx".split()
)
"""Providers that serve models of anybody; ``openai`` also stands for compatible servers."""
_VARIANT = re.compile(
    r"(?:[-:@](?:thinking|reasoning|non-reasoning|high|xhigh|medium|low|minimal|latest|preview|exp(?:erimental)?"
    r"|beta|free|fast|chat-latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2,4}|\d{4}|v\d)){1,6}\Z"
)
"""Endings that change the effort, the date or the offer, but not the base model."""


class Drawn(NamedTuple):
    """The judges of an idea, and whether they may favour it."""

    judges: tuple[str, ...]
    of_family: bool = False
    """Whether judges of the author's family had to be drawn, or the author itself, as there are no others."""


def families(model: str) -> frozenset[str]:
    """The organisations whose models a name mentions; several for a distilled or combined one.

    A model whose name is not known belongs to its provider's family, or is one of its own if the provider
    serves models of anybody.
    """
    name = model.casefold()
    known = frozenset(
        each for each, pattern in _ORGANISATIONS.items() if pattern.search(name.rpartition("/")[2])
    )
    if known:
        return known
    path = [part for part in name.split("/")[:-1] if part not in _SERVERS]
    return frozenset({path[-1] if path else base_model(model)})


def organisation(model: str) -> str:
    """The organisation that a model counts for in a panel: of several, the first one in its name."""
    name = model.casefold().rpartition("/")[2]
    places = {}
    for each in families(model):
        pattern = _ORGANISATIONS.get(each)
        found = pattern.search(name) if pattern else None
        places[each] = found.start() if found else len(name)
    return min(sorted(places), key=places.__getitem__)


def base_model(model: str) -> str:
    """A model's name without provider, date and reasoning effort.

    >>> base_model("openai/o3-mini-high"), base_model("openrouter/anthropic/claude-3.7-sonnet:thinking")
    ('o3-mini', 'claude-3.7-sonnet')
    """
    return _VARIANT.sub("", model.casefold().rpartition("/")[2])


def choose_panel(ranked: Sequence[str], size: int = SIZE) -> tuple[str, ...]:
    """The panel from a ranked list: the first ``size`` that the rules admit.

    With fewer models than ``size``, a fifth is of their number, but one model of an organisation is always
    admitted. A list of one or two models is the panel.
    """
    distinct = list(dict.fromkeys(ranked))
    if len(distinct) <= 2:
        return tuple(distinct)
    most = max(1, int(size * SHARE))
    panel: list[str] = []
    of_organisation: Counter[str] = Counter()
    for model in distinct:
        is_new = base_model(model) not in map(base_model, panel)
        if is_new and of_organisation[organisation(model)] < most and len(panel) < size:
            panel.append(model)
            of_organisation[organisation(model)] += 1
    return tuple(panel)


def read_ranking(path: Path | None) -> tuple[str, ...]:
    """The models of a ranked list, one per line; ``None``: the shipped list.

    Raises:
        UsageError: the file cannot be read, or names no model.
    """
    try:
        text = (
            path.read_text(encoding="utf-8")
            if path is not None
            else (importlib.resources.files(__package__) / "panel.txt").read_text(encoding="utf-8")
        )
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(
            f"The panel {path} cannot be read ({why}). Give a text file with one model per line."
        ) from None
    models = tuple(_models(text))
    if not models:
        raise UsageError(f"The panel {path} names no model. Write one litellm name per line, best first.")
    return models


def _models(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if name := line.partition("#")[0].strip():
            yield name


def draw_judges(panel: Sequence[str], author: str, seed: int, *key: str, count: int = JUDGES) -> Drawn:
    """Judges for an idea, drawn by the seed and the key (sample, idea): in the order of the draw.

    Args:
        panel: the models that may judge.
        author: the author's model; several joined by " + "; ``unknown`` excludes nobody.
        seed: of the run.
        key: what is judged, so that every idea has a draw of its own.
        count: how many; all that are eligible if there are fewer.
    """
    authors = {part.strip() for part in author.split("+")}
    own_families = frozenset().union(*(families(part) for part in authors))
    others = [one for one in panel if base_model(one) not in map(base_model, authors)]
    eligible = [one for one in others if not families(one) & own_families]
    pool = eligible or others or list(panel)
    generator = random.Random("\x1f".join([str(seed), *key]))
    return Drawn(tuple(generator.sample(sorted(pool), min(count, len(pool)))), of_family=not eligible)


def resolve_panel(given: Sequence[str], panel: str | None, default: str) -> tuple[str, ...]:
    """The panel: of the models given with ``--judge``, of a ranked list, or the one judge.

    Args:
        given: best first.
        panel: ``listed`` or a file; ``None``: no list.
        default: the judge if neither is given.

    Raises:
        UsageError: both are given, or the list cannot be read.
    """
    if panel is None:
        return choose_panel(given or (default,))
    if given:
        raise UsageError("Give either --judge or a list of models (--panel, -T panel), not both.")
    return choose_panel(read_ranking(None if panel == LISTED else Path(panel).expanduser()))
