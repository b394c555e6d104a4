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

from ideagora.agents.offline_leads.outcomes import outcomes, without_outcomes
from ideagora.agents.role import Role
from ideagora.agents.text.faithfulness import first_few, unsupported
from ideagora.models.call import Answer, Inputs
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts

FACETS = ("problem", "method", "finding", "limitation")
FIRST = 40
"""Sentences of a text in which the offline model looks for the idea: introductions tell it in short."""
LONGEST_TOPIC = 25
"""Words."""
NAMELESS = "the system"
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


def _topic(engine: ExtractiveModel, inputs: TopicInputs) -> dict[str, Any]:
    """The field: a phrase of title and abstract. The task: phrases of the sentence on the problem."""
    own = own_name(inputs.title)
    text = inputs.abstract or inputs.opening or inputs.title
    problem = engine.facets(text, FACETS)["problem"] or text
    avoid = [own] if own else []
    head = inputs.title.partition(": ")[2] if own else inputs.title
    fields = engine.key_phrases(f"{head}. {text}", 1, avoid) or [_clean(head or text, own)]
    tasks = [p for p in engine.key_phrases(problem, 2, avoid) if p.lower() != fields[0].lower()]
    return {
        "topic": texts.clip(fields[0], 8),
        "task": texts.listed(tasks) or _clean(texts.clip(head or text, 10), own),
    }


def _clean(text: str, own: str | None) -> str:
    return texts.without_stop(nameless(text, own))


def _names_no_solution(inputs: TopicInputs, answer: PaperTopic) -> str | None:
    both = f"{answer.topic}: {answer.task}"
    if len(both.split()) > LONGEST_TOPIC:
        return f"topic and task have {len(both.split())} words, {LONGEST_TOPIC} are the most"
    own = own_name(inputs.title)
    if own and _says(both, own):
        return f"the topic names {own}, which is what the paper answers it with: say the question only"
    return None


TOPIC_EXTRACTOR = Role(
    name="topic_extractor",
    group="reader",
    inputs=TopicInputs,
    answer=PaperTopic,
    offline=_topic,
    temperature=0.0,
    check=_names_no_solution,
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


def _paper_idea(engine: ExtractiveModel, inputs: PaperInputs) -> dict[str, Any]:
    own = own_name(inputs.title)
    first = " ".join(texts.sentences(inputs.text)[:FIRST])
    text = nameless(without_outcomes(first), own) or nameless(inputs.title, own)
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
        "title": title if _loose(title) != _loose(inputs.title) else f"An Idea on {title}",
    }


def _tells_idea_only(inputs: PaperInputs, answer: PaperIdea) -> str | None:
    own = own_name(inputs.title)
    if _loose(answer.title) == _loose(inputs.title):
        return "title is the paper's own: write a plain one"
    told = {name: getattr(answer, name) or "" for name in PaperIdea.model_fields}
    return _complaint(told, inputs, own)


IDEA_EXTRACTOR = Role(
    name="idea_extractor",
    group="reader",
    inputs=PaperInputs,
    answer=PaperIdea,
    offline=_paper_idea,
    temperature=0.0,
    check=_tells_idea_only,
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


def _paper_experiment(engine: ExtractiveModel, inputs: PaperInputs) -> dict[str, Any]:
    """Sentences near to the notion of an experiment that tell no outcome, and the names in all of them."""
    own = own_name(inputs.title)
    parts = texts.sentences(inputs.text)
    query = "The system is evaluated on benchmark data sets and compared with baselines."
    near = sorted(place for place, score in engine.rank(query, parts)[:6] if score >= NEAR)
    found = [
        name for place in near for name in texts.names(parts[place]) if not (own and _says(name.name, own))
    ]
    facets = engine.facets(inputs.text, FACETS) if len(parts) <= FIRST else {}
    other = {sentence for facet, sentence in facets.items() if facet != "method"}
    told = [parts[place] for place in near if not outcomes(parts[place]) and parts[place] not in other]
    steps = [nameless(sentence, own) for sentence in told]
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


NEAR = 0.3
"""Cosine from which the offline model takes a sentence for one on an experiment."""


def _tells_plan_only(inputs: PaperInputs, answer: PaperExperiment) -> str | None:
    rest = [*answer.datasets, *answer.baselines, *answer.metrics, *answer.ablations]
    if not answer.steps and rest:
        return "steps is empty though data sets, baselines or measures are told: say what is done with them"
    parts = {"steps": "\n".join(answer.steps), "the lists": ". ".join(rest)}
    return _complaint(parts, inputs, own_name(inputs.title))


EXPERIMENT_EXTRACTOR = Role(
    name="experiment_extractor",
    group="reader",
    inputs=PaperInputs,
    answer=PaperExperiment,
    offline=_paper_experiment,
    temperature=0.0,
    check=_tells_plan_only,
)


def _complaint(parts: Mapping[str, str], inputs: PaperInputs, own: str | None) -> str | None:
    """The first complaint: an outcome, the system's own name, a figure or name that the text lacks."""
    shown = f"{inputs.topic} {inputs.title} {inputs.text}"
    for name, text in parts.items():
        if told := outcomes(text):
            return f"{name} tells results ({first_few(told, 2)}): say what is done, not what came out"
        if own and _says(text, own):
            return f"{name} calls the system {own}: call it by what it does, or readers know the paper"
        if new := unsupported(text, shown):
            return f"{name} has {first_few(new)}, which the paper's text does not: keep to what it says"
    return None


def own_name(title: str) -> str | None:
    """The name that a paper gives its system: the title's head before a colon, if it looks like a name.

    >>> own_name("ReAct: Synergizing Reasoning and Acting in Language Models")
    'ReAct'
    """
    head, colon, _ = title.partition(":")
    is_name = len(head.split()) == 1 and bool(texts.names(head))
    return head.strip() if colon and is_name else None


def nameless(text: str, own: str | None) -> str:
    """The text without the system's own name."""
    if not own:
        return text
    plain = _whole(own).sub(NAMELESS, text)
    return re.sub(rf"(^|[.!?]\s+){NAMELESS}", lambda m: f"{m[1]}{NAMELESS.capitalize()}", plain)


def _says(text: str, name: str) -> bool:
    return _whole(name).search(text) is not None


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.I)


def _loose(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())
