"""Workers that turn a published paper into what a generated idea consists of: topic, idea, experiment.

Source: Chain of Ideas (arXiv 2410.13185), section 4.2 and Tables 21 to 23. Theirs are told to leave
results out; here the answers are looked through for them too, and for the paper's own title and name,
by which a judge could know the published work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.text.faithfulness import find_unsupported, quote_first
from ideagora.agents.text.outcomes import find_outcomes, remove_outcomes
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

FACETS = ("problem", "method", "finding", "limitation")
IDEA_SENTENCES = 40
"""Sentences of a text in which the offline model looks for the idea: introductions tell it in short."""
MAX_TOPIC_WORDS = 25
"""Words."""
SYSTEM = "the system"
"""What the offline model calls a paper's system instead of its name."""


class TopicInputs(Inputs):
    """What a paper is about, by its first pages."""

    title: str
    abstract: str | None
    opening: str | None
    """The beginning of the full text, where there is one."""


class PaperTopic(Answer):
    """The topic that a paper works on, without what it does about it."""

    topic: str = Field(description="the broad field, 2 to 8 words")
    task: str = Field(description="the task within it that the paper takes on, 3 to 12 words")


def _extract_topic(engine: ExtractiveModel, inputs: TopicInputs) -> dict[str, Any]:
    """The field: a phrase of title and abstract. The task: phrases of the sentence on the problem."""
    own = system_name(inputs.title)
    text = inputs.abstract or inputs.opening or inputs.title
    problem = engine.facets(text, FACETS)["problem"] or text
    avoid = [own] if own else []
    head = inputs.title.partition(": ")[2] if own else inputs.title
    fields = engine.key_phrases(f"{head}. {text}", 1, avoid) or [_clean_phrase(head or text, own)]
    tasks = [p for p in engine.key_phrases(problem, 2, avoid) if p.lower() != fields[0].lower()]
    return {
        "topic": texts.clip(fields[0], 8),
        "task": texts.listed(tasks) or _clean_phrase(texts.clip(head or text, 10), own),
    }


def _clean_phrase(text: str, own: str | None) -> str:
    return texts.without_stop(remove_name(text, own))


def _check_topic(inputs: TopicInputs, answer: PaperTopic) -> str | None:
    both = f"{answer.topic}: {answer.task}"
    if len(both.split()) > MAX_TOPIC_WORDS:
        return f"topic and task have {len(both.split())} words, {MAX_TOPIC_WORDS} are the most"
    own = system_name(inputs.title)
    if own and _mentions(both, own):
        return f"the topic names {own}, which is what the paper answers it with: say the question only"
    return None


TOPIC_EXTRACTOR = Role(
    name="topic_extractor",
    group="reader",
    inputs=TopicInputs,
    answer=PaperTopic,
    offline=_extract_topic,
    temperature=0.0,
    check=_check_topic,
)


class PaperInputs(Inputs):
    """A paper as far as it could be read."""

    topic: str
    title: str
    kind: str
    """What the text is: full text, abstract or title."""
    text: str


class PaperIdea(Answer):
    """The idea of a paper, told as one that is still to be tried."""

    motivation: str | None = Field(
        description="background, what earlier work falls short of, and why it matters; 3 to 8 sentences"
    )
    method: str = Field(description="each part, what it does and why it solves the problem, in steps")
    novelty: str | None = Field(
        description="how this differs from earlier work and what is gained; 2 to 6 sentences"
    )
    title: str = Field(description="a plain title of at most 15 words, other than the paper's")


def _extract_idea(engine: ExtractiveModel, inputs: PaperInputs) -> dict[str, Any]:
    own = system_name(inputs.title)
    first = " ".join(texts.sentences(inputs.text)[:IDEA_SENTENCES])
    text = remove_name(remove_outcomes(first), own) or remove_name(inputs.title, own)
    facets = engine.facets(text, FACETS)
    method = facets["method"] or text
    lack, step = engine.nearest_clauses(facets["problem"] or method, method)
    phrases = engine.key_phrases(method, 2) or [step]
    title = texts.title_case(texts.clip(" and ".join(phrases), 14))
    return {
        "motivation": facets["problem"],
        "method": texts.clip(method, 150),
        "novelty": f"Where earlier work stands: {lack}. What is done here: {step}."
        if facets["problem"]
        else None,
        "title": title if _normalize(title) != _normalize(inputs.title) else f"An Idea on {title}",
    }


def _check_idea(inputs: PaperInputs, answer: PaperIdea) -> str | None:
    own = system_name(inputs.title)
    if _normalize(answer.title) == _normalize(inputs.title):
        return "title is the paper's own: write a plain one"
    told = {name: getattr(answer, name) or "" for name in PaperIdea.model_fields}
    return _check_texts(told, inputs, own)


IDEA_EXTRACTOR = Role(
    name="idea_extractor",
    group="reader",
    inputs=PaperInputs,
    answer=PaperIdea,
    offline=_extract_idea,
    temperature=0.0,
    check=_check_idea,
)


class PaperExperiment(Answer):
    """How a paper tests its idea, told as a plan. What the text does not tell is left empty."""

    steps: tuple[str, ...] = Field(
        description="one step each: what is done, with what, and what it is to show; "
        "[] when the text tells nothing"
    )
    datasets: tuple[str, ...] = Field(description="data sets or benchmarks, by name; [] when none is named")
    baselines: tuple[str, ...] = Field(
        description="systems it is compared with, by name; [] when none is named"
    )
    metrics: tuple[str, ...] = Field(description="what is measured; [] when not told")
    ablations: tuple[str, ...] = Field(description="parts that are switched off, one each; [] when not told")


def _extract_experiment(engine: ExtractiveModel, inputs: PaperInputs) -> dict[str, Any]:
    """Sentences near to the notion of an experiment that tell no outcome, and the names in all of them."""
    own = system_name(inputs.title)
    parts = texts.sentences(inputs.text)
    query = "The system is evaluated on benchmark data sets and compared with baselines."
    near = sorted(place for place, score in engine.rank(query, parts)[:6] if score >= EXPERIMENT_SIMILARITY)
    found = [
        name
        for place in near
        for name in texts.names(parts[place])
        if not (own and _mentions(name.name, own))
    ]
    facets = engine.facets(inputs.text, FACETS) if len(parts) <= IDEA_SENTENCES else {}
    other = {sentence for facet, sentence in facets.items() if facet != "method"}
    told = [parts[place] for place in near if not find_outcomes(parts[place]) and parts[place] not in other]
    steps = [remove_name(sentence, own) for sentence in told]
    named = {
        kind: list(dict.fromkeys(n.name for n in found if n.kind == kind))
        for kind in ("dataset", "model", "metric")
    }
    data = ", ".join(named["dataset"])
    if not steps and data:
        steps = [f"Evaluate on {data}."]
    return {
        "steps": steps,
        "datasets": named["dataset"] if steps else [],
        "baselines": named["model"] if steps else [],
        "metrics": named["metric"] if steps else [],
        "ablations": [],
    }


EXPERIMENT_SIMILARITY = 0.3
"""Cosine from which the offline model takes a sentence for one on an experiment."""


def _check_experiment(inputs: PaperInputs, answer: PaperExperiment) -> str | None:
    rest = [*answer.datasets, *answer.baselines, *answer.metrics, *answer.ablations]
    if not answer.steps and rest:
        return "steps is empty though data sets, baselines or measures are told: say what is done with them"
    parts = {"steps": "\n".join(answer.steps), "the lists": ". ".join(rest)}
    return _check_texts(parts, inputs, system_name(inputs.title))


EXPERIMENT_EXTRACTOR = Role(
    name="experiment_extractor",
    group="reader",
    inputs=PaperInputs,
    answer=PaperExperiment,
    offline=_extract_experiment,
    temperature=0.0,
    check=_check_experiment,
)


def _check_texts(parts: Mapping[str, str], inputs: PaperInputs, own: str | None) -> str | None:
    """The first complaint: an outcome, the system's own name, a figure or name that the text lacks."""
    shown = f"{inputs.topic} {inputs.title} {inputs.text}"
    for name, text in parts.items():
        if told := find_outcomes(text):
            return f"{name} tells results ({quote_first(told, 2)}): say what is done, not what came out"
        if own and _mentions(text, own):
            return f"{name} calls the system {own}: call it by what it does, or readers know the paper"
        if new := find_unsupported(text, shown):
            return f"{name} has {quote_first(new)}, which the paper's text does not: keep to what it says"
    return None


def system_name(title: str) -> str | None:
    """The name that a paper gives its system: the title's head before a colon, if it looks like a name.

    >>> own_name("ReAct: Synergizing Reasoning and Acting in Language Models")
    'ReAct'
    """
    head, colon, _ = title.partition(":")
    is_name = len(head.split()) == 1 and bool(texts.names(head))
    return head.strip() if colon and is_name else None


def remove_name(text: str, own: str | None) -> str:
    """The text without the system's own name."""
    if not own:
        return text
    plain = _name_pattern(own).sub(SYSTEM, text)
    return re.sub(rf"(^|[.!?]\s+){SYSTEM}", lambda m: f"{m[1]}{SYSTEM.capitalize()}", plain)


def _mentions(text: str, name: str) -> bool:
    return _name_pattern(name).search(text) is not None


def _name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.I)


def _normalize(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())
