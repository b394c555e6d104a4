"""A stand-in for a language model behind the loopback server: valid answers for every role, made of nothing.

It reads the wanted schema's name and the numbers in the prompt, and answers in the schema's form with
texts that depend on the prompt only, so that a run against it gives the same result each time.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tests.support.loopback import Answer, Body

_NUMBERED = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
_WORD = re.compile(r"(?<!material )(?<!message: )\b[0-9a-f]{12}\b")
PARAGRAPH = 9
"""Sentences of a paragraph, about 600 characters, as real models write them."""
SIDES = [
    "language model agents",
    "tool use planning",
    "reasoning verification",
    "judging text",
    "retrieval of evidence",
    "generation of hypotheses",
    "control of diffusion",
]


@dataclass(frozen=True)
class Asked:
    """One request that was answered."""

    body: str
    """The whole request, as canonical JSON."""
    wanted: str
    """Name of the schema of the answer; empty for a text."""
    prompt: str
    reply: Answer

    @property
    def word(self) -> str:
        """What marks everything that was written in reply to this prompt."""
        return _word(self.prompt)

    @property
    def words(self) -> set[str]:
        """The words of earlier replies that this prompt was made from."""
        return set(_WORD.findall(self.prompt))


class Model:
    """Answers as a model does, each time after some seconds, and remembers what it was asked."""

    def __init__(
        self,
        reply: Callable[[Body], Answer] | None = None,
        seconds: Callable[[Body], float] = lambda body: 0.0,
    ) -> None:
        self.reply = reply or answer
        self.seconds = seconds
        self.asked: list[Asked] = []
        self._out = 0
        self._changed = threading.Condition()

    def __call__(self, body: Body) -> Answer:
        """The handler of a ``Loopback``."""
        with self._changed:
            self._out += 1
        try:
            time.sleep(self.seconds(body))
            reply = self.reply(body)
            with self._changed:
                self.asked.append(_asked(body, reply))
            return reply
        finally:
            with self._changed:
                self._out -= 1
                self._changed.notify_all()

    @property
    def bodies(self) -> list[str]:
        """What was asked, request by request."""
        return [asked.body for asked in self.asked]

    def wait_until_quiet(self) -> None:
        """Wait until no request is being answered, such as those of a client that was killed."""
        with self._changed:
            self._changed.wait_for(lambda: not self._out, timeout=60)

    def wait_for(self, answered: int, unless: Callable[[], bool]) -> None:
        """Wait until so many requests are answered in all, unless something else happens before."""
        with self._changed:
            while len(self.asked) < answered and not unless():
                self._changed.wait(0.02)


def _asked(body: Body, reply: Answer) -> Asked:
    return Asked(
        body=json.dumps(body, sort_keys=True),
        wanted=wanted_schema(body),
        prompt=str(body["messages"][-1]["content"]),
        reply=reply,
    )


def wanted_schema(body: Body) -> str:
    """Name of the schema of the answer; empty if a text is wanted."""
    return str(body["response_format"]["json_schema"]["name"]) if "response_format" in body else ""


def answer(body: Body) -> str:
    """The reply to a chat request (OpenAI form)."""
    import_module("tests.support.field_agents")  # adds the answers of the field's agents
    prompt = str(body["messages"][-1]["content"])
    wanted = body["response_format"]["json_schema"]["name"]
    return json.dumps(ANSWERS[wanted](prompt))


def _count(prompt: str, after: str = "", before: str = "Answer with one JSON object") -> int:
    part = prompt.partition(after)[2] if after else prompt
    return len({int(n) for n in _NUMBERED.findall(part.partition(before)[0])})


def _word(prompt: str) -> str:
    """A word that stands for this prompt."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:12]


def _text(prompt: str, what: str, sentences: int) -> str:
    """A text that depends on the prompt; a sentence has about 65 characters."""
    word = _word(prompt)
    return " ".join(
        f"The {what} {word} part {n} says what a model might say about it." for n in range(sentences)
    )


def _queries(prompt: str) -> dict[str, Any]:
    several = re.search(r"Write (\d+) different", prompt)
    count = int(several[1]) if several else 1
    topic = _MATERIAL.search(prompt)
    aspects = [f"{side}{of}" for of in ("", " of agents", " of text") for side in SIDES]
    return {"queries": [f"{aspect} for {topic[2] if topic else ''}".strip() for aspect in aspects][:count]}


def _judgements(prompt: str) -> dict[str, Any]:
    count = _count(prompt, "Papers to judge, numbered from 0:")
    judged = {"reason": f"Same task {_word(prompt)}.", "contribution": "method", "grade": 3}
    return {
        "judgements": [{"paper": n, **judged} for n in range(count)],
        "best_first": list(range(count)),
    }


def _reworded(prompt: str) -> dict[str, Any]:
    return {"reason": "Its words are rare.", "query": "reasoning of language models"}


def _reading(prompt: str) -> dict[str, Any]:
    known = _count(prompt, "References of this paper, numbered")
    follow = [{"paper": 0, "relation": "builds on", "reason": "Extends it."}] if known else []
    why = {name: _text(prompt, name, PARAGRAPH) for name in ("why_it_works", "details")}
    return {**_facets(prompt), **why, "references": follow}


def _readings(prompt: str) -> dict[str, Any]:
    count = _count(prompt, "Papers, numbered from 0:")
    return {"readings": [{"paper": n, **_facets(prompt)} for n in range(count)]}


def _facets(prompt: str) -> dict[str, Any]:
    return {
        "problem": _text(prompt, "problem", PARAGRAPH),
        "method": _text(prompt, "method", PARAGRAPH),
        "finding": _text(prompt, "finding", PARAGRAPH),
        "limitation": _text(prompt, "limitation", PARAGRAPH),
        "experiment": _text(prompt, "experiment", PARAGRAPH),
        "entities": [
            {"name": f"Thing{n} {_word(prompt)}", "description": _text(prompt, "entity", 1), "kind": kind}
            for n, kind in enumerate(["model", "dataset", "metric"])
        ],
    }


def _trend(prompt: str) -> dict[str, Any]:
    pairs = _count(prompt, "Papers, earliest first, numbered from 0:") - 1
    return {
        "changes": [
            {
                "earlier": n,
                "entered": ["a search"],
                "left": ["a guess"],
                "text": _text(prompt, "change", PARAGRAPH),
            }
            for n in range(pairs)
        ],
        "cures": [
            {"problem": _text(prompt, "open problem", 2), "field": field, "query": f"search in {field}"}
            for field in ("planning", "databases")
        ],
    }


def _forecast(prompt: str) -> dict[str, Any]:
    last = _count(prompt, "The chain of papers, earliest first, numbered", "Work in the order") - 1
    return {
        "limitations": [{"paper": 0, "limitation": _text(prompt, "open limitation", 2), "answered_by": None}],
        "pairings": [
            {
                "limitation_from": 0,
                "way": "analogy",
                "mechanism": _text(prompt, "paired mechanism", 2),
                "mechanism_from": last,
                "why": _text(prompt, "pairing", 2),
            }
        ],
        "limitation": _text(prompt, "limitation", PARAGRAPH),
        "limitation_from": 0,
        "mechanism": _text(prompt, "mechanism", 2),
        "mechanism_from": last,
        "mechanism_query": None,
        "direction": _text(prompt, "direction", PARAGRAPH),
    }


def _draft(prompt: str) -> dict[str, Any]:
    return {
        "candidates": [_text(prompt, f"candidate {n}", 1) for n in range(3)],
        "obvious": 0,
        "chosen": 1,
        "claim": _text(prompt, "claim", 1),
        "might_fail": _text(prompt, "doubt", 1),
        **_idea(prompt),
    }


def _idea(prompt: str) -> dict[str, Any]:
    return {
        "motivation": _text(prompt, "motivation", PARAGRAPH),
        "novelty": _text(prompt, "novelty", PARAGRAPH),
        "method": "\n".join(f"{n}. {_text(prompt, 'step', 3)}" for n in range(1, 6)),
        "title": f"An Idea {_word(prompt)}",
        "summary": _text(prompt, "summary", 5),
        "purpose": _text(prompt, "purpose", 2),
        "mechanism": _text(prompt, "mechanism", 2),
        "evaluation": _text(prompt, "evaluation", 2),
        "sources": [{"part": "method", "paper": 0, "quote": "nothing that anybody wrote"}],
        "queries": ["search with language models", "tools and planning"],
    }


def _novelty(prompt: str) -> dict[str, Any]:
    count = min(3, _count(prompt, "Retrieved papers, closest in purpose and mechanism first, numbered"))
    levels = {"purpose": "related", "mechanism": "different", "evaluation": "related"}
    return {
        "plain_purpose": _text(prompt, "plain purpose", 1),
        "plain_mechanism": _text(prompt, "plain mechanism", 1),
        "comparisons": [
            {"paper": n, "overlap": None, "difference": _text(prompt, "difference", 1), **levels}
            for n in range(count)
        ],
        "from_memory": [],
        "combination": [],
        "verdict": "novel",
        "reason": _text(prompt, "reason", 1),
    }


def _duplicates(prompt: str) -> dict[str, Any]:
    pairs = re.findall(r"\[(\d+)\] and \[(\d+)\]", prompt.partition("Compare these pairs")[2])
    levels = {"difference": _text(prompt, "difference", 1), "purpose": "related", "mechanism": "different"}
    return {
        "comparisons": [{"first": int(first), "second": int(second), **levels} for first, second in pairs]
    }


def _duel(prompt: str) -> dict[str, Any]:
    """The idea whose word comes later wins, in either order; ideas of others tie."""
    words = list(dict.fromkeys(re.findall(r"An Idea (\w+)", prompt)))
    first = len(words) == 2 and words[0] > words[1]
    choice = "tie" if len(words) != 2 else "first" if first else "second"
    names = ("novelty", "significance", "clarity", "feasibility", "effectiveness")
    return {"reason": _text(prompt, "verdict", PARAGRAPH), **dict.fromkeys((*names, "overall"), choice)}


def _plan_duel(prompt: str) -> dict[str, Any]:
    """As ``_duel``, by the words of the two ideas."""
    choice = _duel(prompt)["novelty"]
    names = ("feasibility", "technical_quality", "clarity")
    return {"reason": _text(prompt, "verdict on plans", 2), **dict.fromkeys(names, choice)}


def _graded_duel(prompt: str) -> dict[str, Any]:
    """As ``_duel``, with degrees."""
    return {name: _degree(said) for name, said in _duel(prompt).items()}


def _graded_plan_duel(prompt: str) -> dict[str, Any]:
    return {name: _degree(said) for name, said in _plan_duel(prompt).items()}


def _degree(said: str) -> str:
    return f"{said} better" if said in ("first", "second") else said


def _plan(prompt: str) -> dict[str, Any]:
    return {
        "steps": [_text(prompt, f"step {n}", 2) for n in range(6)],
        "datasets": ["A data set"],
        "baselines": ["A baseline"],
        "metrics": ["accuracy"],
        "ablations": ["without search"],
        "risks": ["it may not work"],
        "refuted_if": "no difference is found",
        "cost": "2,000 calls",
    }


def _refined(prompt: str) -> dict[str, Any]:
    return {**_plan(prompt), "declined": [], "amended_method": None, "amended_claim": None}


def _review(prompt: str) -> dict[str, Any]:
    return {
        "defects": [],
        "suggestions": [_text(prompt, "suggestion", 1)],
        "queries": ["evaluation of agents"],
    }


def _direct_idea(prompt: str) -> dict[str, Any]:
    return {name: text for name, text in _idea(prompt).items() if name != "sources"}


_MATERIAL = re.compile(r"<material (\w+)>(.*?)</material \1>", re.DOTALL)


def _between(prompt: str, start: str, end: str) -> str:
    return prompt.partition(start)[2].partition(end)[0]


def _after(prompt: str, label: str) -> str | None:
    """What stands between the marks after a label; ``None``: not available."""
    rest = prompt.partition(f"{label}: ")[2]
    found = _MATERIAL.match(rest)
    return found[2] if found else None


def _styled(prompt: str) -> dict[str, Any]:
    """A copy: what a careful model changes least."""
    return {name: _after(prompt, name.capitalize()) for name in ("title", "motivation", "novelty", "method")}


def _styled_plan(prompt: str) -> dict[str, Any]:
    heads = ["Steps", "Data sets", "Baselines", "Metrics", "Ablations", "Risks", "Refuted if"]
    names = ["steps", "datasets", "baselines", "metrics", "ablations", "risks"]
    lists = {
        name: [said for _, said in _MATERIAL.findall(_between(prompt, f"{head}:\n", f"{following}:"))]
        for name, head, following in zip(names, heads, heads[1:], strict=False)
    }
    return {**lists, "refuted_if": _after(prompt, "Refuted if")}


def _topic(prompt: str) -> dict[str, Any]:
    return {"topic": "language models", "task": f"what {_word(prompt)} asks for"}


def _paper_idea(prompt: str) -> dict[str, Any]:
    told = _idea(prompt)
    plain = "It tells a motivation in words. Nothing of it is a figure."
    return {"motivation": plain, "method": plain, "novelty": None, "title": f"Plan {told['title'][3:4]}"}


def _paper_experiment(prompt: str) -> dict[str, Any]:
    lists: dict[str, Any] = {name: [] for name in ("datasets", "baselines", "metrics", "ablations")}
    return {"steps": ["Build it.", "Compare it with what there is."], **lists}


def _match(prompt: str) -> dict[str, Any]:
    return {"reason": _text(prompt, "match", 1), "score": 1 + int(_word(prompt), 16) % 5}


def _competition(prompt: str) -> dict[str, Any]:
    names = ("novelty", "significance", "quality", "feasibility", "clarity", "relevance", "overall")
    return {"reason": f"Compared by {_word(prompt)}.", **dict.fromkeys(names, "first")}


def _concepts(prompt: str) -> dict[str, Any]:
    steps = range(_count(prompt, after="Steps of the plan"))
    return {"steps": [{"step": n, "reason": _word(prompt), "concepts": ["language models"]} for n in steps]}


ANSWERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "Queries": _queries,
    "Judgements": _judgements,
    "RewordedQuery": _reworded,
    "FullTextReading": _reading,
    "AbstractReadings": _readings,
    "Trend": _trend,
    "Forecast": _forecast,
    "IdeaDraft": _draft,
    "NoveltyVerdict": _novelty,
    "PairComparisons": _duplicates,
    "IdeaPreference": _duel,
    "PlanPreference": _plan_duel,
    "GradedIdeaPreference": _graded_duel,
    "GradedPlanPreference": _graded_plan_duel,
    "Plan": _plan,
    "RefinedPlan": _refined,
    "Review": _review,
    "DirectIdea": _direct_idea,
    "RagIdea": _idea,
    "StyledIdea": _styled,
    "StyledPlan": _styled_plan,
    "PaperTopic": _topic,
    "PaperIdea": _paper_idea,
    "PaperExperiment": _paper_experiment,
    "MatchScore": _match,
    "CompetitionPreference": _competition,
    "PlanConcepts": _concepts,
}
"""Answers by the schema's name; those of the field's agents are in ``field_agents``."""

ROLES = {
    "query_planner": "Queries",
    "relevance_judge": "Judgements",
    "query_reworder": "RewordedQuery",
    "reader": "FullTextReading",
    "abstract_reader": "AbstractReadings",
    "trend_analyst": "Trend",
    "forecaster": "Forecast",
    "ideator": "IdeaDraft",
    "novelty_judge": "NoveltyVerdict",
    "duplicate_judge": "PairComparisons",
    "idea_judge": "IdeaPreference",
    "experiment_designer": "Plan",
    "experiment_refiner": "RefinedPlan",
    "experiment_reviewer": "Review",
}
"""Name of the answer's schema, by role of Chain-of-Ideas: for a scripted model, which is told the role."""

PLAIN_ROLES = {
    "direct_ideator": "DirectIdea",
    "rag_ideator": "RagIdea",
    "restyle": "StyledIdea",
    "restyle_plan": "StyledPlan",
    "topic_extractor": "PaperTopic",
    "idea_extractor": "PaperIdea",
    "experiment_extractor": "PaperExperiment",
}
"""The same for the baselines, the style step and real papers."""
