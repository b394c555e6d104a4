"""A run's folder as a report finds it: a realistic one, and ways to change it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ideagora.schema import (
    Chain,
    ClosestPaper,
    Direction,
    Entity,
    Experiment,
    Idea,
    Link,
    NoveltyCheck,
    Paper,
    Reading,
    Source,
    Transition,
    Usage,
)

TOPIC = "Research ideas from language models that hold up when somebody carries them out"

PAPERS = (
    ("2305.14259", "2023-05", "SciMON: Scientific Inspiration Machines Optimized for Novelty"),
    (
        "2404.07738",
        "2024-04",
        "ResearchAgent: Iterative Research Idea Generation over Scientific Literature with Large Language "
        "Models",
    ),
    (
        "2409.04109",
        "2024-09",
        "Can LLMs Generate Novel Research Ideas? A Large-Scale Human Study with 100+ NLP Researchers",
    ),
    (
        "2410.13185",
        "2024-10",
        "Chain of Ideas: Revolutionizing Research in Novel Idea Development with LLM Agents",
    ),
    (
        "2506.20803",
        "2025-06",
        "The Ideation-Execution Gap: Execution Outcomes of LLM-Generated versus Human Research Ideas",
    ),
    ("2411.00816", "2024-11", "CycleResearcher: Improving Automated Research via Automated Review"),
    ("2501.04227", "2025-01", "Agent Laboratory: Using LLM Agents as Research Assistants"),
    ("2504.08066", "2025-04", "The AI Scientist-v2: Workshop-Level Automated Scientific Discovery"),
    ("2502.18864", "2025-02", "Towards an AI co-scientist"),
)
CHANGES: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        ("reviewing agents", "an entity store across papers", "several rounds of revision"),
        ("retrieved inspirations of a single kind",),
        "Inspiration by one retrieved sentence gives way to a loop: problem, method and experiment are "
        "drafted, "
        "reviewed by agents and revised, with entities from many papers at hand.",
    ),
    (
        ("blind human reviewers", "over-generation and ranking"),
        ("agents as the only reviewers",),
        "Judging moves from agents to a hundred researchers who do not know who wrote what.",
    ),
    (
        ("papers ordered along their development", "a predicted trend", "pairwise idea arena"),
        ("unordered retrieved papers", "absolute scores"),
        "The literature is no longer a bag of papers: it is put in order, and the next step is read off "
        "from it.",
    ),
    (
        ("ideas carried out by experts", "change of scores after execution"),
        ("judging by the proposal alone",),
        "An idea is judged twice, before and after somebody spends a hundred hours on it.",
    ),
    (("a trained reviewer as reward",), (), "The reviewer becomes a training signal."),
    (("a laboratory of roles",), ("one model for all",), "Work is divided among roles."),
    (("tree search over experiments",), ("human-made templates",), "Experiments are searched, not scripted."),
    (("a tournament of hypotheses",), (), "Hypotheses compete."),
)


def paper(number: int, **changed: Any) -> Paper:
    """The n-th sample paper."""
    arxiv_id, date, title = PAPERS[number]
    fields = {"id": f"arxiv:{arxiv_id}", "arxiv_id": arxiv_id, "title": title, "date": date}
    return Paper.model_validate(fields | {"source": "starter"} | changed)


def reading(number: int) -> Reading:
    """What was read in the n-th sample paper."""
    return Reading(
        problem="Ideas are judged by how they read, and it stays open what they are worth.",
        method="Ideas are given to experts at random, who carry them out without knowing where they came "
        "from.",
        finding="Scores of generated ideas fall more than those of human ones." if number % 2 else None,
        limitation="The study covers 43 projects in one field.",
        experiment="Blind reviews before and after execution.",
        entities=(
            Entity(name="blind review", description="reviewers don't know the author", kind="technique"),
        ),
        read_from="abstract" if number % 2 else "full text",
    )


def chain(length: int = 5, anchor: int | None = None, **changed: Any) -> Chain:
    """A chain of 1 to 9 papers with a future direction."""
    at = length // 2 if anchor is None else anchor
    links = tuple(
        Link(
            paper=paper(number),
            position=number - at,
            reason="It cites the anchor and ranks first by similarity to topic and anchor.",
            reading=reading(number),
        )
        for number in range(length)
    )
    steps = tuple(
        Transition(
            earlier=links[number].paper.id,
            later=links[number + 1].paper.id,
            entered=CHANGES[number][0],
            left=CHANGES[number][1],
            text=CHANGES[number][2],
        )
        for number in range(length - 1)
    )
    direction = Direction(
        text="Feasibility has so far been asked for as an opinion, and opinions about proposals turned out "
        "to be poor "
        "predictors of what happens in the laboratory. The next step is to let an idea meet reality early "
        "and cheaply: "
        "to run its riskiest part as a small probe while the idea is still being formed, and to feed what "
        "came out "
        "back into the chain as if it were one more paper.",
        limitation="Scores of generated ideas fall after execution, because feasibility is judged from the "
        "text alone.",
        limitation_from=links[-1].paper.id,
        mechanism="Papers are put in order of development so that the next step can be predicted from the "
        "last ones.",
        mechanism_from=links[at].paper.id,
    )
    fields: dict[str, Any] = {
        "query": "research idea generation with language models",
        "anchor": links[at].paper.id,
        "links": links,
        "transitions": steps,
        "direction": direction,
        "stopped": {
            "forward": "the chain has its length",
            "backward": "no reference was relevant to the topic",
        },
    }
    return Chain.model_validate(fields | changed)


def experiment(**changed: Any) -> Experiment:
    """A full experiment plan."""
    fields: dict[str, Any] = {
        "steps": (
            "Take 60 topics with a cut-off date and generate four ideas for each, with and without probes.",
            "Let a model name the riskiest assumption of each idea, and let two people check 100 of them.",
            "Run each probe within one GPU hour; record success, failure and “could not be run” apart.",
            "Have 24 ideas carried out by people who do not know which arm an idea came from.",
            "Compare scores before and after execution, with intervals clustered by topic.",
        ),
        "datasets": ("AI Idea Bench 2025", "IdeaBench"),
        "baselines": ("Chain of Ideas", "ResearchAgent", "SciMON"),
        "metrics": ("drop of the overall score after execution", "share of probes that could be run"),
        "ablations": ("without probes", "probes whose results are withheld from the ideator"),
        "risks": ("Probes may favour ideas that are easy rather than good.",),
        "suggestions": ("Say how a probe that could not be run is counted.", "Add a human baseline."),
        "searched": ("feasibility prediction of research ideas", "cheap proxies for experiments"),
        "rounds": 1,
    }
    return Experiment.model_validate(fields | changed)


def novelty_check(**changed: Any) -> NoveltyCheck:
    """A novelty check that found three near papers."""
    closest = (
        ClosestPaper(
            paper_id="arxiv:2506.20803",
            title=PAPERS[4][2],
            similarity=0.7134,
            overlap="ideas are executed by experts and judged again after execution",
            facets={"purpose": "same", "mechanism": "different", "evaluation": "same"},
        ),
        ClosestPaper(
            paper_id="arxiv:2408.06292",
            title="The AI Scientist: Towards Fully Automated Open-Ended Scientific Discovery",
            similarity=0.6581,
            overlap="runs experiments for its own ideas and writes them up",
            facets={"purpose": "related", "mechanism": "related", "evaluation": "different"},
        ),
        ClosestPaper(
            paper_id="s2:88aa01",
            title="Predicting Empirical AI Research Outcomes with Language Models",
            similarity=0.6012,
            overlap="",
            facets={"purpose": "related", "mechanism": "different"},
        ),
    )
    fields = {"status": "novel", "closest": closest, "rounds": 1, "compared": 27}
    return NoveltyCheck.model_validate(fields | changed)


def idea(number: int = 1, **changed: Any) -> Idea:
    """A full idea."""
    fields: dict[str, Any] = {
        "id": f"1dea{number:08d}",
        "topic": TOPIC,
        "agent": "chain-of-ideas",
        "title": "Probe Before You Propose: Small Executed Experiments as Links in the Chain of Ideas",
        "summary": "Ideas from language models read well and then fall apart in the laboratory. We let each "
        "idea name its "
        "riskiest assumption, run that assumption as a probe of at most one GPU hour, and append the "
        "outcome to the chain "
        "before the idea is written down.",
        "motivation": "Studies with blind reviewers rate generated ideas as more novel than human ones. "
        "When the same ideas "
        "are carried out, the advantage is gone: their scores fall on every criterion, and most of all on "
        "effectiveness.\n\n"
        "The reason is simple. Feasibility is judged from text, by models or people who have not tried "
        "anything.",
        "novelty": "Chain of Ideas predicts the next step from what papers wrote. This work lets what was "
        "measured stand in the "
        "same chain. Unlike systems that automate the whole experiment, a probe tests one assumption and "
        "may fail cheaply.",
        "method": "The method adds one loop to the chain.\n"
        "1. Name the riskiest assumption of the draft as a sentence that can be true or false.\n"
        "2. Write a probe: the smallest program that would show the assumption to be false.\n"
        "3. Run it under a limit of one GPU hour; a probe that cannot be run is recorded as such and never "
        "as a success.\n"
        "4. Append the outcome to the chain as a paper of its own, and predict the direction again.\n"
        "5. Stop after three probes or when the direction does not change.",
        "experiment": experiment(),
        "references": tuple(f"arxiv:{PAPERS[n][0]}" for n in (0, 2, 3, 4)),
        "sources": (
            Source(
                part="motivation",
                paper_id="arxiv:2506.20803",
                quote="Scores of generated ideas fall significantly more than those of expert-written ones "
                "after execution.",
            ),
            Source(
                part="method",
                paper_id="arxiv:2410.13185",
                quote="The papers are arranged in the order of their development, so that the current "
                "advance can be seen.",
            ),
            Source(part="method", paper_id="arxiv:2404.07738", quote=""),
        ),
        "chain": chain(),
        "novelty_check": novelty_check(),
        "facets": {
            "purpose": "Ideas that survive being carried out.",
            "mechanism": "Small executed probes inside the chain.",
            "evaluation": "Drop of blind scores after execution.",
        },
        "wins": "2 won, 0 tied of 2",
        "branch": 1,
        "model": "anthropic/claude-sonnet",
        "usage": Usage(calls=31, prompt_tokens=88412, completion_tokens=12045, cost_usd=0.4459, seconds=93.1),
        "created": "2025-07-01T10:00:00Z",
    }
    return Idea.model_validate(fields | changed)


def other_ideas() -> list[Idea]:
    """The ideas of the other branches."""
    return [
        idea(
            2,
            title="A Trained Forecaster of What Survives Execution",
            summary="Learn from ideas that were carried out which ones keep their scores.",
            chain=chain(9, 4),
            branch=3,
            wins="1 won, 0 tied of 2",
            novelty_check=NoveltyCheck(status="unchecked", reason="The model refused to compare the papers."),
        ),
        idea(
            3, title="Ask the Skeptic First", chain=None, experiment=None, branch=2, wins=None, summary=None
        ),
    ]


def run(**changed: Any) -> dict[str, Any]:
    """``run.json`` as the runtime writes it."""
    total = {
        "calls": 94,
        "prompt_tokens": 251930,
        "completion_tokens": 33871,
        "cost_usd": None,
        "seconds": 181.4,
    }
    fields: dict[str, Any] = {
        "id": "2025-07-01-7f3a",
        "topic": {
            "text": TOPIC,
            "before": "2025-07",
            "inspirations": [],
            "banned": ["The Hidden Target Paper"],
        },
        "agent": "chain-of-ideas",
        "options": {"branches": 4, "length": 5},
        "settings": {
            "model": "anthropic/claude-sonnet",
            "reader_model": "ollama/qwen3",
            "home": "/home/researcher/.ideagora",
            "budget": "2.0",
            "temperature": None,
        },
        "seed": 7,
        "versions": {"ideagora": "0.1.0", "langgraph": "1.2.22", "litellm": "1.106.2"},
        "prompts": {"reader": "93b1f0aa2c11", "forecaster": "0c77aa12be90", "ideator": "b1f0aa2c1193"},
        "usage": {
            "total": total,
            "roles": {
                "reader": total | {"calls": 42, "prompt_tokens": 190211, "completion_tokens": 15310},
                "forecaster": total
                | {"calls": 3, "prompt_tokens": 12110, "completion_tokens": 1902, "cost_usd": 0.0649},
                "ideator": total
                | {"calls": 5, "prompt_tokens": 20020, "completion_tokens": 6010, "cost_usd": 1.25},
            },
            "labels": {"branch 1": total | {"calls": 31}, "branch 2": total | {"calls": 30}},
            "cached": 12,
        },
        "status": "done",
        "error": None,
        "failures": [
            {
                "branch": 4,
                "query": "peer review of machine-made ideas",
                "error": "the reader gave no readable answer for /home/researcher/runs/7f3a/raw/12.txt "
                "after 3 tries",
            }
        ],
        "held_back": [
            {"id": "arxiv:2507.00001", "title": "The Hidden Target Paper", "why": "banned by its title"},
            {
                "id": "arxiv:2508.01234",
                "title": "A Paper From the Future",
                "why": "dated 2025-08, not before 2025-07",
            },
        ],
        "offline": False,
        "notes": ["Semantic Scholar did not respond twice; the starter corpus was used."],
        "started": "2025-07-01T10:00:00Z",
        "finished": "2025-07-01T10:03:01Z",
    }
    return fields | changed


def write_run(folder: Path, ideas: list[Idea] | None = None, **changed: Any) -> Path:
    """A run's folder with these ideas (all sample ideas when none are given)."""
    folder.mkdir(parents=True, exist_ok=True)
    all_ideas = [idea(), *other_ideas()] if ideas is None else ideas
    (folder / "run.json").write_text(json.dumps(run(**changed)), encoding="utf-8")
    lines = "".join(each.model_dump_json() + "\n" for each in all_ideas)
    (folder / "ideas.jsonl").write_text(lines, encoding="utf-8")
    return folder
