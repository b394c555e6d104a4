"""Roles that extract topic, idea and experiment from a published paper.

Source: Chain of Ideas (arXiv 2410.13185), section 4.2 and Tables 21 to 23. There the prompts exclude
results; here the answers are also checked for results and for the paper's title and system name, which
could reveal the paper to a judge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import Field

from ideagora.agents.role import Role
from ideagora.agents.text.faithfulness import find_unsupported, quote_first
from ideagora.agents.text.outcomes import find_outcomes, remove_outcomes
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

FACETS = ("problem", "method", "finding", "limitation")
IDEA_SENTENCES = 40
"""Leading sentences of a text in which the offline model looks for the idea."""
MAX_TOPIC_WORDS = 25
"""Words."""
SYSTEM = "the system"
"""The offline model's replacement for the name of a paper's system."""


class TopicInputs(Inputs):
    """The opening of a paper."""

    title: str
    abstract: str | None
    opening: str | None
    """The beginning of the full text, if available."""


class PaperTopic(Answer):
    """The topic of a paper, without its approach."""

    topic: str = Field(description="the broad field, 2 to 8 words")
    task: str = Field(description="the task within it that the paper addresses, 3 to 12 words")


def _extract_topic(engine: ExtractiveModel, inputs: TopicInputs) -> PaperTopic:
    """Return a phrase of title and abstract as topic, and phrases of the problem sentence as task."""
    own = system_name(inputs.title)
    text = inputs.abstract or inputs.opening or inputs.title
    problem = engine.facets(text, FACETS)["problem"] or text
    avoid = [own] if own else []
    head = inputs.title.partition(": ")[2] if own else inputs.title
    fields = engine.key_phrases(f"{head}. {text}", 1, avoid) or [_clean_phrase(head or text, own)]
    tasks = [p for p in engine.key_phrases(problem, 2, avoid) if p.lower() != fields[0].lower()]
    return PaperTopic(
        topic=texts.clip(fields[0], 8),
        task=texts.listed(tasks) or _clean_phrase(texts.clip(head or text, 10), own),
    )


def _clean_phrase(text: str, own: str | None) -> str:
    return texts.without_stop(remove_name(text, own))


def _check_topic(inputs: TopicInputs, answer: PaperTopic) -> str | None:
    both = f"{answer.topic}: {answer.task}"
    if len(both.split()) > MAX_TOPIC_WORDS:
        return f"topic and task have {len(both.split())} words; use at most {MAX_TOPIC_WORDS}"
    own = system_name(inputs.title)
    if own and _mentions(both, own):
        return f"the topic names {own}, the paper's own solution: state only the question"
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
    """A paper's text, as far as it is available."""

    topic: str
    title: str
    kind: str
    """What the text is: full text, abstract or title."""
    text: str


class PaperIdea(Answer):
    """The idea of a paper, written as a proposal."""

    motivation: str | None = Field(
        description="background, what earlier work lacks, and why it matters; 3 to 8 sentences"
    )
    method: str = Field(description="in steps: each component, what it does and why it solves the problem")
    novelty: str | None = Field(
        description="how this differs from earlier work, and the benefit; 2 to 6 sentences"
    )
    title: str = Field(description="a descriptive title of at most 15 words, different from the paper's")


def _extract_idea(engine: ExtractiveModel, inputs: PaperInputs) -> PaperIdea:
    own = system_name(inputs.title)
    first = " ".join(texts.sentences(inputs.text)[:IDEA_SENTENCES])
    text = remove_name(remove_outcomes(first), own) or remove_name(inputs.title, own)
    facets = engine.facets(text, FACETS)
    method = facets["method"] or text
    lack, step = engine.nearest_clauses(facets["problem"] or method, method)
    phrases = engine.key_phrases(method, 2) or [step]
    title = texts.title_case(texts.clip(" and ".join(phrases), 14))
    return PaperIdea(
        motivation=facets["problem"],
        method=texts.clip(method, 150),
        novelty=f"Earlier work: {lack}. This idea: {step}." if facets["problem"] else None,
        title=title if _normalize(title) != _normalize(inputs.title) else f"An Idea on {title}",
    )


def _check_idea(inputs: PaperInputs, answer: PaperIdea) -> str | None:
    own = system_name(inputs.title)
    if _normalize(answer.title) == _normalize(inputs.title):
        return "title is the paper's own: write a different, descriptive one"
    parts = {name: getattr(answer, name) or "" for name in PaperIdea.model_fields}
    return _check_texts(parts, inputs, own)


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
    """How a paper tests its idea, written as a plan. What the text does not state is empty."""

    steps: tuple[str, ...] = Field(
        description="steps, each saying what is done, with what, and what it should show; "
        "[] if the text describes no experiment"
    )
    datasets: tuple[str, ...] = Field(description="data sets or benchmarks, by name; [] if none is named")
    baselines: tuple[str, ...] = Field(
        description="systems it is compared with, by name; [] if none is named"
    )
    metrics: tuple[str, ...] = Field(description="what is measured; [] if not stated")
    ablations: tuple[str, ...] = Field(description="components removed, one per entry; [] if not stated")


def _extract_experiment(engine: ExtractiveModel, inputs: PaperInputs) -> PaperExperiment:
    """Return sentences about experiments that report no outcome, and the names in them."""
    own = system_name(inputs.title)
    parts = texts.sentences(inputs.text)
    query = "The system is evaluated on benchmark data sets and compared with baselines."
    near = sorted(place for place, score in engine.rank(query, parts)[:6] if score >= EXPERIMENT_SIMILARITY)
    names = [
        name
        for place in near
        for name in texts.names(parts[place])
        if not (own and _mentions(name.name, own))
    ]
    facets = engine.facets(inputs.text, FACETS) if len(parts) <= IDEA_SENTENCES else {}
    other = {sentence for facet, sentence in facets.items() if facet != "method"}
    plans = [parts[place] for place in near if not find_outcomes(parts[place]) and parts[place] not in other]
    steps = [remove_name(sentence, own) for sentence in plans]
    named = {
        kind: tuple(dict.fromkeys(n.name for n in names if n.kind == kind))
        for kind in ("dataset", "model", "metric")
    }
    data = ", ".join(named["dataset"])
    if not steps and data:
        steps = [f"Evaluate on {data}."]
    return PaperExperiment(
        steps=tuple(steps),
        datasets=named["dataset"] if steps else (),
        baselines=named["model"] if steps else (),
        metrics=named["metric"] if steps else (),
        ablations=(),
    )


EXPERIMENT_SIMILARITY = 0.3
"""Minimum cosine at which the offline model takes a sentence to describe an experiment."""


def _check_experiment(inputs: PaperInputs, answer: PaperExperiment) -> str | None:
    rest = [*answer.datasets, *answer.baselines, *answer.metrics, *answer.ablations]
    if not answer.steps and rest:
        return "steps is empty although data sets, baselines or metrics are given: say what is done with them"
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
    """Return an error for a result, the system's name, or anything that the text lacks, else None."""
    source = f"{inputs.topic} {inputs.title} {inputs.text}"
    for name, text in parts.items():
        if results := find_outcomes(text):
            return f"{name} reports results ({quote_first(results, 2)}): say what is done, not what was found"
        if own and _mentions(text, own):
            return f"{name} names the system {own}, which reveals the paper: describe it by what it does"
        if new := find_unsupported(text, source):
            return (
                f"{name} has {quote_first(new)}, which the paper's text does not contain: use only the text"
            )
    return None


def system_name(title: str) -> str | None:
    """Return the name of a paper's system: the title before a colon, if it looks like a name.

    >>> own_name("ReAct: Synergizing Reasoning and Acting in Language Models")
    'ReAct'
    """
    head, colon, _ = title.partition(":")
    is_name = len(head.split()) == 1 and bool(texts.names(head))
    return head.strip() if colon and is_name else None


def remove_name(text: str, own: str | None) -> str:
    """Return the text with the system's name replaced."""
    if not own:
        return text
    replaced = _name_pattern(own).sub(SYSTEM, text)
    return re.sub(rf"(^|[.!?]\s+){SYSTEM}", lambda m: f"{m[1]}{SYSTEM.capitalize()}", replaced)


def _mentions(text: str, name: str) -> bool:
    return _name_pattern(name).search(text) is not None


def _name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.I)


def _normalize(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())
