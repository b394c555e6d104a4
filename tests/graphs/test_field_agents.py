"""The field's agents: what all of them keep to, and what makes each of them that agent."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import threading
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ideagora.agents.ai_scientist.ideas import SCORES
from ideagora.graphs.agent import with_ideas
from ideagora.models.chat_models import ScriptedCall
from ideagora.registry import find_agent
from ideagora.schema import Idea, Paper
from tests.graphs.test_runtime import Ran, World, line, paper, task_of
from tests.support import command, field_agents, standin
from tests.support.each import each_case
from tests.support.loopback import Body, Loopback

TOPIC = "tool use by language models"
AGENTS = tuple(
    "ai-researcher ai-scientist gpt-researcher portfolio research-agent sci-agents scipip virsci".split()
)
"""Every agent whose graph is here to be compared with."""
assert field_agents.SAMPLES, "imported for the stand-in, which answers for them too"
each_agent = pytest.mark.parametrize("name", AGENTS)


def asked(ran: Ran, role: str) -> list[ScriptedCall]:
    """The calls of one role, in order."""
    return [call for call in ran.calls if call.role == role]


def reply(call: ScriptedCall, schema: str, **changed: Any) -> dict[str, Any]:
    """The stand-in's answer to a call, with some fields changed."""
    return {**standin.ANSWERS[schema](call.messages[1][1]), **changed}


# --- what holds for every agent -----------------------------------------------------------------


@each_agent
def test_an_agent_runs_offline_on_the_starter_corpus(name: str, home: Path) -> None:
    done = command.run(["generate", TOPIC, "--agent", name, "--before", "2024", "--json"])
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    idea = Idea.model_validate(printed["ideas"][0])
    assert idea.agent == name
    assert set(idea.facets) == {"purpose", "mechanism", "evaluation"}
    assert idea.experiment
    assert idea.references
    shown = {paper.id: paper for paper in idea.neighbours}
    assert set(idea.references) <= shown.keys()
    assert all(paper.date and paper.date < "2024" for paper in idea.neighbours)
    assert all(source.verbatim for source in idea.sources)
    report = Path(printed["run"], "report.md").read_text(encoding="utf-8")
    assert idea.title in report
    assert shown[idea.references[0]].title in report


@each_agent
def test_an_agent_asks_what_it_expects_and_names_what_it_was_shown(name: str) -> None:
    task = task_of(name)
    ran = Ran(task)
    expected = task.agent.expected_calls(task.options)
    assert expected is not None
    at_most = name in ("ai-researcher", "portfolio")  # duplicates and a small library save calls
    assert sum(ran.roles.values()) == sum(expected.values()) or at_most, ran.roles
    assert sum(ran.roles.values()) <= sum(expected.values())
    prompts = "\n".join(text for call in ran.calls for _, text in call.messages)
    for idea in ran.ideas:
        assert idea.experiment
        assert idea.usage.calls
        for source in idea.sources:
            assert ran.titles[source.paper_id] in prompts


@each_agent
def test_an_agent_gives_the_number_of_ideas_it_is_asked_for(name: str) -> None:
    agent = with_ideas(find_agent(name), 2)
    task = task_of(name, **agent.options.model_dump())
    ideas = Ran(task, line(20, 10)).ideas
    assert len(ideas) == len({idea.id for idea in ideas}) == 2
    assert all(idea.experiment and set(idea.facets) for idea in ideas)


@each_case("name", AGENTS)
def test_the_steps_and_pictures_are_those_of_the_graph(name: str) -> None:
    agent, docs = find_agent(name), Path(__file__).parents[2] / "docs" / "agents.md"
    assert list(agent.steps) == list(agent.build().nodes)
    text = docs.read_text(encoding="utf-8")
    assert f"## {name}\n" in text
    for build in (agent.build, *agent.subgraphs.values()):
        drawn = build().compile().get_graph().draw_mermaid().strip()
        assert f"```mermaid\n{drawn}\n```" in text


@each_case("name", AGENTS)
def test_every_option_says_what_it_does(name: str) -> None:
    fields = type(find_agent(name).options).model_fields
    assert not [option for option, field in fields.items() if not field.description]


JUDGED = ("ai-scientist", "gpt-researcher", "research-agent", "sci-agents", "scipip", "virsci")


@each_case("name", JUDGED)
def test_a_paper_without_a_relevance_judgement_is_named(name: str) -> None:
    def silent(call: ScriptedCall) -> Any:
        graded = reply(call, "Judgements")
        titles = [paper.title for paper in call.inputs.papers]
        return {
            **graded,
            "judgements": [j for j in graded["judgements"] if "part 9" not in titles[j["paper"]]],
        }

    Ran(task_of(name), folder=name, relevance_judge=silent)
    notes = json.loads(Path(name, "run.json").read_text(encoding="utf-8"))["notes"]
    (note,) = (note for note in notes if "gave no judgement, even when asked again" in note)
    assert "part 9" in note


SEARCHED = ("ai-researcher", "sci-agents", "scipip", "virsci")


@each_case("name", SEARCHED)
def test_the_novelty_check_searches_for_what_the_author_names(name: str) -> None:
    searched: list[str] = []

    class Searched(World):
        async def search(self, query: str, k: int) -> list[Any]:
            searched.append(query)
            return await super().search(query, k)

        def all_papers(self) -> list[Paper]:  # no web service, of which searches are spared
            return list(self.papers.values())

    ran = Ran(task_of(name), Searched([paper(n, n - 1) if n else paper(n) for n in range(12)]), folder=name)
    (idea,) = ran.ideas
    assert idea.novelty_check
    assert idea.novelty_check.queries == ("search with language models", "tools and planning")
    assert set(idea.novelty_check.queries) <= set(searched)


@each_case("name", ("research-agent", "scipip"))
def test_references_are_looked_up_side_by_side(name: str) -> None:
    class Counted(World):
        waiting = most = 0

        async def references(self, paper_id: str) -> list[Paper]:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            await asyncio.sleep(0)
            self.waiting -= 1
            return await super().references(paper_id)

    world = Counted([paper(n, n - 1) if n else paper(n) for n in range(12)])
    Ran(task_of(name), world, folder=name)
    assert world.most > 4


BARE = [
    {
        "title": f"Listening to Hives, Part {number}",
        "abstract": f"Beekeepers notice swarms too late. Method {number} listens to the hive at night. "
        f"It found {number + 3} of 20 swarms. Rain masks the sound of method {number}.",
        "date": "2021",
    }
    for number in range(12)
]
INSTEAD = {
    "virsci": "names its authors, and virsci draws its team from them. Use a source with authors",
    "research-agent": "papers most similar to it take their place",
    "scipip": "knows no papers cited together with them: no co-citation was used",
    "sci-agents": "The graph has",
    "ai-researcher": "Searched: keyword query",
}


def test_a_small_library_without_authors_and_citations_is_named(home: Path, server: Loopback) -> None:
    """From the command line: twelve papers of one's own with title, abstract and date alone."""
    Path("papers.jsonl").write_text("".join(f"{json.dumps(paper)}\n" for paper in BARE), encoding="utf-8")
    assert command.run(["library", "add", "papers.jsonl"]).code == 0
    model = ["--model", "openai/standin", "--api-base", server.base]
    for name, text in INSTEAD.items():
        asked = ["generate", "listening to hives", "--agent", name, "--source", "local", "--json"]
        done = command.run([*asked, "--out", name, *model])
        assert done.code == (1 if name == "virsci" else 0), (name, done.err)
        shown = done.err if name == "virsci" else Path(name, "report.md").read_text(encoding="utf-8")
        assert text in " ".join(shown.split()), name


def awkward(text: str, number: int) -> str:
    """An answer as real models wrap it, in turn."""
    forms = (
        f"<think>Maybe {{not}}.</think>\n{text}",
        f"Sure!\n```json\n{text}\n```\nAnything {{else}}?",
        text.replace('"}', '",}'),
        json.dumps({"answer": json.loads(text)}),
        "I cannot answer in this form.",
    )
    return forms[number % len(forms)]


@pytest.mark.parametrize("name", [*AGENTS, "chain-of-ideas", "direct", "rag"])
def test_an_agent_survives_awkward_replies(name: str, home: Path) -> None:
    numbers = count()

    def answer(body: Body) -> str:
        first = {**body, "messages": body["messages"][:2]}
        return awkward(standin.answer(first), next(numbers))

    with Loopback(answer) as server:
        model = ["--model", "openai/standin", "--api-base", server.base, "--concurrency", "1"]
        done = command.run(["generate", TOPIC, "--agent", name, "--json", *model])
    assert done.code == 0, done.err
    assert json.loads(done.out)["ideas"][0]["experiment"]


@each_agent
def test_an_agent_is_killed_and_goes_on(name: str, home: Path, tmp_path: Path) -> None:
    """The same ideas as without a kill, and no answered question is asked again."""
    model = standin.Model(seconds=lambda body: 0.02)
    with Loopback(model) as server:
        base = ["generate", TOPIC, "--agent", name, "--json", "--model", "openai/standin"]
        arguments = [*base, "--api-base", server.base, "--out", "run"]
        shutil.copytree(home, tmp_path / "other")
        whole = command.run([*arguments[:-1], "whole"], {"IDEAGORA_HOME": str(tmp_path / "other")})
        assert whole.code == 0, whole.err
        total = len(model.asked)
        running = command.start(arguments)
        model.wait_for(total + total // 2, unless=running.has_ended)
        running.send(signal.SIGKILL)
        assert running.wait().code == -signal.SIGKILL
        model.wait_until_quiet()
        assert command.run(arguments).code == 0
    assert timeless("run") == timeless("whole")
    twice = len(model.asked) - 2 * total
    assert twice <= 2 * len(set(model.bodies)), "answers were lost"
    assert len(set(model.bodies)) == total


def timeless(folder: str) -> str:
    """The ideas of a run without when, how long and how often."""
    text = Path(folder, "ideas.jsonl").read_text(encoding="utf-8")
    return re.sub(r'"(created|seconds|calls|\w+_tokens)":("[^"]*"|[\d.]+|null)', r'"\1":0', text)


# --- gpt-researcher -----------------------------------------------------------------------------


def test_gpt_researcher_answers_every_question_from_papers_of_its_own() -> None:
    searched: list[str] = []

    class Searched(World):
        async def search(self, query: str, k: int) -> list[Any]:
            searched.append(query)
            return await super().search(query, k)

    world = Searched([paper(n) for n in range(8)])
    ran = Ran(task_of("gpt-researcher", questions=3, papers=4), world)
    (planned,) = asked(ran, "question_planner")
    assert len(planned.inputs.papers) == 4
    answered = asked(ran, "question_researcher")
    assert len({call.inputs.question for call in answered}) == 3
    assert len(set(searched)) == 4, "one search for the topic, one for each question"
    (written,) = asked(ran, "research_synthesizer")
    assert {q.question for q in written.inputs.questions} == {call.inputs.question for call in answered}
    (idea,) = ran.ideas
    assert [q["answer"] for q in idea.extra["questions"]] == [q.answer for q in written.inputs.questions]


def test_gpt_researcher_answers_side_by_side(home: Path) -> None:
    together = threading.Barrier(4)

    def answer(body: Body) -> str:
        if body["response_format"]["json_schema"]["name"] == "QuestionAnswer":
            together.wait(60)
        return standin.answer(body)

    with Loopback(answer) as server:
        arguments = ["generate", TOPIC, "--agent", "gpt-researcher", "--json", "--model", "openai/standin"]
        assert command.run([*arguments, "--api-base", server.base]).code == 0
        assert server.peak == 4


def test_gpt_researcher_names_a_question_without_an_answer() -> None:
    def unsure(call: ScriptedCall) -> Any:
        number = len(seen := [*said, call.inputs.question]) - 1
        said[:] = seen
        if number == 0:
            return reply(call, "QuestionAnswer", evidence=[], findings=None, gap=None)
        return "no idea" if call.inputs.question in said[1:2] else reply(call, "QuestionAnswer")

    said: list[str] = []
    ran = Ran(task_of("gpt-researcher", questions=3), question_researcher=unsure)
    notes = json.loads(Path("run/run.json").read_text(encoding="utf-8"))["notes"]
    missing = [note for note in notes if "has no answer" in note]
    assert len(missing) == 2
    assert "the papers found do not answer it" in "".join(missing)
    assert "none of 3 replies" in "".join(missing)
    assert sum(q.answer is None for q in asked(ran, "research_synthesizer")[0].inputs.questions) == 2


# --- ai-scientist -------------------------------------------------------------------------------


def test_ai_scientist_shows_every_idea_the_archive_before_it() -> None:
    ran = Ran(task_of("ai-scientist", drafts=3, reflections=2, ideas=3))
    titles = {idea.title for idea in ran.ideas}
    written = asked(ran, "archive_ideator")
    shown = [[one.title for one in call.inputs.proposed] for call in written]
    assert [len(archive) for archive in shown] == [0, 1, 2]
    assert set(shown[2]) < titles
    reflected = asked(ran, "archive_reflector")
    assert [(call.inputs.round, call.inputs.rounds) for call in reflected] == [(1, 2), (2, 2)] * 3
    assert shown[1][0] != reflected[0].inputs.draft.title, "the archive has what reflection made of it"


def test_ai_scientist_stops_reflecting_when_it_is_done() -> None:
    ran = Ran(
        task_of("ai-scientist", drafts=2, reflections=5),
        archive_reflector=lambda call: reply(call, "ReflectedIdea", done=True),
    )
    assert ran.roles["archive_reflector"] == 2


@pytest.mark.parametrize("searches", [1, 3])
def test_ai_scientist_searches_until_it_decides(searches: int) -> None:
    """A model that never decides is refused when no search is left."""
    ran = Ran(task_of("ai-scientist", drafts=1, reflections=0, searches=searches))
    steps = asked(ran, "novelty_searcher")
    assert [call.inputs.remaining for call in steps] == list(range(searches, -1, -1))
    assert len(steps[-1].inputs.queries) == searches
    (idea,) = ran.ideas
    assert idea.novelty_check
    assert idea.novelty_check.status == "novel"
    assert idea.extra["searched"] == list(steps[-1].inputs.queries)

    endless = {"considerations": "One more.", "decision": "search", "query": "language models", "closest": []}
    unsure = Ran(
        task_of("ai-scientist", drafts=1, reflections=0, searches=searches),
        folder="endless",
        novelty_searcher=lambda call: endless,
    )
    assert unsure.roles["novelty_searcher"] == searches + 3
    check = unsure.ideas[0].novelty_check
    assert check
    assert check.status == "unchecked"
    assert "no search is left" in str(check.reason)


def test_ai_scientist_passes_over_an_idea_that_is_not_new() -> None:
    def known(call: ScriptedCall) -> Any:
        step = reply(call, "NoveltyStep")
        if step["decision"] == "search" or call.inputs.idea.title != first:
            return step
        closest = [{**found, "already_there": True} for found in step["closest"]]
        return {**step, "decision": "not novel", "closest": closest}

    def rated(call: ScriptedCall) -> Any:
        score = 10 - len(call.inputs.proposed)
        return reply(call, "ArchivedIdea", interestingness=score, feasibility=score, originality=score)

    options: dict[str, Any] = {"drafts": 2, "reflections": 0, "searches": 1}
    first = Ran(task_of("ai-scientist", **options), archive_ideator=rated).ideas[0].title
    world = line(12, 6)
    ran = Ran(
        task_of("ai-scientist", **options), world, "known", archive_ideator=rated, novelty_searcher=known
    )
    assert [idea.title for idea in ran.ideas] != [first]
    both = Ran(
        task_of("ai-scientist", **options, ideas=2),
        world,
        "both",
        archive_ideator=rated,
        novelty_searcher=known,
    )
    assert [idea.novelty_check.status for idea in both.ideas if idea.novelty_check] == ["novel", "too_close"]
    notes = json.loads(Path("both/run.json").read_text(encoding="utf-8"))["notes"]
    assert any("is not new" in note for note in notes)


def test_ai_scientist_takes_the_idea_farthest_from_any_paper_if_none_is_rated() -> None:
    def unrated(call: ScriptedCall) -> Any:
        idea = reply(call, "ArchivedIdea", **dict.fromkeys(SCORES))
        titles.append(idea["title"])
        return idea

    def step(call: ScriptedCall) -> Any:
        answer = reply(call, "NoveltyStep")
        return answer if call.inputs.idea.title == titles[0] else {**answer, "closest": []}

    titles: list[str] = []
    task = task_of("ai-scientist", drafts=2, reflections=0, searches=1)
    (idea,) = Ran(task, archive_ideator=unrated, novelty_searcher=step).ideas
    assert idea.title == titles[1]


def test_ai_scientist_keeps_an_idea_whose_reflection_cannot_be_read() -> None:
    ran = Ran(task_of("ai-scientist", drafts=1), archive_reflector=lambda call: "I'd rather not.")
    (idea,) = ran.ideas
    assert idea.extra["reflections"] == []
    notes = json.loads(Path("run/run.json").read_text(encoding="utf-8"))["notes"]
    assert any("could not be read, so it stays as it was" in note for note in notes)


# --- research-agent -----------------------------------------------------------------------------


def concept(number: int, text: str, *cites: int) -> Paper:
    """Paper ``pN`` on some concepts."""
    return paper(number, *cites).model_copy(update={"abstract": text})


CONCEPTS = World(
    [
        concept(0, "Tool calls need an episodic memory.", 1, 2),
        concept(1, "An episodic memory stores critiques."),
        concept(2, "Tool calls follow a plan."),
        concept(3, "An episodic memory works with rehearsal buffers."),
        concept(4, "Rehearsal buffers help an episodic memory of critiques."),
        concept(5, "Protein folding uses rehearsal buffers."),
        concept(6, "Protein folding is slow."),
    ]
)


def test_research_agent_brings_entities_from_beyond_the_references() -> None:
    ran = Ran(task_of("research-agent", rounds=0, entities=3), CONCEPTS)
    (found,) = asked(ran, "problem_finder")
    own, elsewhere = found.inputs.papers[: found.inputs.own], found.inputs.papers[found.inputs.own :]
    assert {paper.title[-1] for paper in own} == {"0", "1", "2"}
    shown = " ".join(f"{paper.title} {paper.abstract}" for paper in own).casefold()
    names = [entity.name.casefold() for entity in found.inputs.entities]
    assert names[0] == "rehearsal buffers", "it occurs together with the episodic memory"
    assert not [name for name in names if name in shown]
    presented = found.inputs.papers[found.inputs.entities[0].paper]
    assert presented in elsewhere
    assert names[0] in (presented.abstract or "").casefold()
    (method,) = asked(ran, "method_developer")
    assert method.inputs.entities == found.inputs.entities
    off = Ran(task_of("research-agent", rounds=0, entities=0), CONCEPTS, "off")
    assert not asked(off, "problem_finder")[0].inputs.entities


@pytest.mark.parametrize("rounds", [1, 2])
def test_research_agent_reviews_every_part_on_five_criteria(rounds: int) -> None:
    ran = Ran(task_of("research-agent", rounds=rounds))
    reviews = asked(ran, "part_reviewer")
    asked_for = Counter((call.inputs.part, call.inputs.criterion) for call in reviews)
    assert set(asked_for.values()) == {rounds}
    assert Counter(part for part, _ in asked_for) == {"problem": 5, "method": 5, "experiment": 5}
    for role in ("problem_finder", "method_developer"):
        versions = asked(ran, role)
        assert [len(call.inputs.reviews) for call in versions] == [0, *[5] * rounds]
        assert versions[-1].inputs.earlier
    assert ran.roles["experiment_refiner"] == rounds
    (idea,) = ran.ideas
    assert idea.experiment
    assert idea.experiment.rounds == rounds
    assert len(idea.extra["reviews"]) == 15 * rounds


def test_research_agent_ends_a_part_that_nobody_wants_changed() -> None:
    ran = Ran(
        task_of("research-agent", rounds=3),
        part_reviewer=lambda call: reply(call, "PartReview", suggestions=[], rating=5),
    )
    assert ran.roles["part_reviewer"] == 15
    assert ran.roles["problem_finder"] == ran.roles["method_developer"] == 1


def test_research_agent_without_references_says_what_it_does_instead() -> None:
    ran = Ran(task_of("research-agent", rounds=0), World([paper(n) for n in range(6)]))
    assert len(asked(ran, "problem_finder")[0].inputs.papers) == 6
    notes = json.loads(Path("run/run.json").read_text(encoding="utf-8"))["notes"]
    assert any("no references of the core paper" in note and "most similar" in note for note in notes)


def test_research_agent_names_a_review_that_cannot_be_read() -> None:
    def sometimes(call: ScriptedCall) -> Any:
        return "no" if call.inputs.criterion == "validity" else reply(call, "PartReview")

    ran = Ran(task_of("research-agent"), part_reviewer=sometimes)
    notes = json.loads(Path("run/run.json").read_text(encoding="utf-8"))["notes"]
    assert sum("on its validity is missing" in note for note in notes) == 2
    assert ran.ideas[0].experiment
