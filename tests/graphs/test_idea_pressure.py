"""What puts ideas under pressure: the cut-off, twins, hidden papers, defects that the reviewer finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ideagora.graphs.steps.novelty import facet_query
from ideagora.graphs.task import Task
from ideagora.models.chat_models import ScriptedCall
from ideagora.schema import Idea, Paper, ScoredPaper, Topic
from tests.graphs.test_runtime import Ran, World, line, paper, task_of
from tests.support import standin


def restricted(agent: str, before: str | None, *excluded: str, **options: Any) -> Task:
    """A task with a cut-off date and excluded titles."""
    task = task_of(agent, **options)
    topic = Topic(text=task.topic.text, before=before, excluded=excluded)
    return Task(topic, task.agent, task.options, task.settings)


class Listed(World):
    """A local source, which can list its papers."""

    def all_papers(self) -> list[Paper]:
        return sorted(self.papers.values(), key=lambda paper: paper.id)


class ByWords(World):
    """A source whose similarity is the share of the query's words in a title."""

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        words = set(query.lower().split())
        shares = {
            p.id: len(words & set(p.title.lower().replace(",", "").split())) for p in self.papers.values()
        }
        ranked = sorted(self.papers.values(), key=lambda paper: -shares[paper.id])
        return [ScoredPaper(paper=p, similarity=shares[p.id] / len(words)) for p in ranked[:k]]


def system_messages(call: ScriptedCall) -> str:
    return "\n".join(text for kind, text in call.messages if kind == "system")


def test_every_call_states_the_cut_off_and_none_the_excluded_titles() -> None:
    title = "Tools for language models, part 3"
    for agent, options in (("direct", {}), ("chain-of-ideas", {"branches": 2, "length": 3})):
        ran = Ran(restricted(agent, "2012-05", title, **options), folder=agent)
        assert ran.calls
        for call in ran.calls:
            assert "Write as of 2012-05." in system_messages(call), call.role
            assert title not in json.dumps(call.messages), call.role
    assert "Write as of" not in "".join(map(system_messages, Ran(task_of("direct"), folder="free").calls))


def test_an_idea_that_resembles_a_hidden_paper_may_be_a_recollection() -> None:
    late = paper(11).model_copy(update={"title": "Needles that knit", "abstract": "Needles knit wool."})
    world = Listed([*line(10, 6).papers.values(), late])

    def remembers(call: ScriptedCall) -> Any:
        draft = standin.ANSWERS["DirectIdea"](call.messages[-1][1])
        return {**draft, "title": "Needles that knit", "summary": "Needles knit wool."}

    ran = Ran(restricted("direct", "2011"), world, direct_ideator=remembers)
    (recollection,) = ran.ideas[0].recollections
    assert (recollection.paper_id, recollection.similarity) == ("p11", 1.0)
    assert "2011" in recollection.why_hidden
    notes = " ".join(json.loads(Path("run/run.json").read_text(encoding="utf-8"))["notes"])
    assert "may be a recollection: it resembles “Needles that knit” (similarity 1.00" in notes
    banned = restricted("direct", None, "Needles that knit wool")
    (named,) = Ran(banned, line(3, 1), folder="banned", direct_ideator=remembers).ideas[0].recollections
    assert (named.title, named.why_hidden) == ("Needles that knit wool", "excluded")


def test_a_run_with_a_cut_off_says_that_milestones_are_unknown() -> None:
    Ran(restricted("chain-of-ideas", "2011", branches=1, length=3))
    notes = " ".join(json.loads(Path("run/run.json").read_text(encoding="utf-8"))["notes"])
    assert "could not be applied to 3 of 3 papers" in notes


def same_pairs(call: ScriptedCall) -> Any:
    """A duplicate judge who finds the last idea to be the first one again."""
    pairs = standin.ANSWERS["PairComparisons"](call.messages[-1][1])["comparisons"]
    last = {"difference": None, "purpose": "same", "mechanism": "same"}
    return {"comparisons": [{**pair, **last} if pair["first"] == 0 else pair for pair in pairs]}


def test_a_twin_is_drafted_again_with_the_other_ideas_in_view() -> None:
    ran = Ran(task_of(branches=2, length=1), duplicate_judge=same_pairs)
    assert (ran.roles["ideator"], ran.roles["novelty_judge"], ran.roles["idea_judge"]) == (3, 3, 4)
    redraft = [call for call in ran.calls if call.role == "ideator"][-1]
    kept = next(idea for idea in ran.ideas if idea.branch == 1)
    again = next(idea for idea in ran.ideas if idea.branch == 2)
    assert [idea.title for idea in redraft.inputs.taken] == [kept.title]
    assert redraft.inputs.earlier.title != again.title
    assert again.novelty_check
    (dropped,) = again.novelty_check.dropped
    assert (dropped.same_as, again.novelty_check.rounds) == (kept.title, 0)
    assert all(comparison.other == kept.id for comparison in again.comparisons)
    assert len(again.comparisons) == 2


def test_what_goes_beyond_the_paper_can_be_switched_off() -> None:
    ran = Ran(
        task_of(branches=2, length=1, candidates=0, twins=False),
        ideator=lambda call: {
            **standin.ANSWERS["IdeaDraft"](call.messages[-1][1]),
            "candidates": [],
            "obvious": None,
            "chosen": None,
        },
    )
    assert "duplicate_judge" not in ran.roles
    assert not any(idea.candidates for idea in ran.ideas)
    (first, *_) = (call for call in ran.calls if call.role == "ideator")
    assert "candidates whose mechanisms differ" not in first.messages[-1][1]


def test_who_judged_what_and_the_candidates_are_kept() -> None:
    ran = Ran(task_of(branches=2, length=1))
    best, other = ran.ideas
    assert [candidate.status for candidate in best.candidates] == [
        "too obvious",
        "developed",
        "not developed",
    ]
    assert best.claim
    assert best.might_fail
    results = {comparison.shown_first: comparison for comparison in best.comparisons}
    assert set(results) == {True, False}
    assert {(c.other, c.overall, c.judge) for c in results.values()} == {(other.id, "won", "scripted")}
    read_again = Idea.model_validate_json(Path("run/ideas.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert read_again == best


def test_a_defect_of_the_idea_is_mended_in_its_method_and_claim() -> None:
    def finds_a_defect(call: ScriptedCall) -> Any:
        return {"defects": ["Step 2 has no input: feed it."], "suggestions": [], "queries": ["q"]}

    def mends(call: ScriptedCall) -> Any:
        plan = standin.ANSWERS["RefinedPlan"](call.messages[-1][1])
        return {**plan, "amended_method": "1. Feed step 2.", "amended_claim": "It helps at ten seeds."}

    ran = Ran(task_of(branches=1, length=1), experiment_reviewer=finds_a_defect, experiment_refiner=mends)
    idea = ran.ideas[0]
    assert idea.method == "1. Feed step 2."
    assert idea.first_method
    assert idea.claim == "It helps at ten seeds."
    assert idea.first_claim
    assert idea.amendments == ("Step 2 has no input: feed it.",)
    assert idea.experiment
    assert idea.experiment.first_steps
    assert idea.experiment.searched == ("q",)


def test_near_work_is_the_source_of_the_mechanism_without_the_chain() -> None:
    ran = Ran(task_of(branches=1, length=3))
    chain = {paper.title for paper in ran.chain}
    (design,) = [call for call in ran.calls if call.role == "experiment_designer"]
    shown = [paper.title for paper in design.inputs.related]
    idea = ran.ideas[0]
    assert (design.inputs.idea.claim, design.inputs.idea.might_fail) == (idea.claim, idea.might_fail)
    direction = ran.ideas[0].chain.direction if ran.ideas[0].chain else None
    assert direction
    source = next((p.title for p in line(12, 6).papers.values() if p.id == direction.mechanism_from), None)
    assert design.inputs.source.title == source
    assert not {*chain, source} & set(shown)


def test_a_mechanism_from_memory_is_searched_before_the_idea_is_written() -> None:
    def remembers(call: ScriptedCall) -> Any:
        forecast = standin.ANSWERS["Forecast"](call.messages[-1][1])
        return {**forecast, "mechanism_from": None, "mechanism_query": known.title}

    known = paper(99).model_copy(update={"title": "Knitting needles"})
    world = ByWords([*line(12, 6).papers.values(), known])
    ran = Ran(task_of(branches=1, length=2), world, forecaster=remembers)
    (draft,) = [call for call in ran.calls if call.role == "ideator"]
    numbers = draft.inputs.direction.recalled
    assert known.title in [draft.inputs.papers[number].title for number in numbers]
    (design,) = [call for call in ran.calls if call.role == "experiment_designer"]
    assert design.inputs.source is None
    assert ran.ideas[0].chain
    assert ran.ideas[0].chain.direction
    assert ran.ideas[0].chain.direction.mechanism_found == (known.id,)


def test_a_search_for_mechanisms_that_finds_nothing_close_adds_no_paper() -> None:
    def elsewhere(call: ScriptedCall) -> Any:
        trend = standin.ANSWERS["Trend"](call.messages[-1][1])
        return {**trend, "cures": [{"problem": "p", "field": "f", "query": "zebra"}]}

    world = ByWords(list(line(12, 6).papers.values()))
    ran = Ran(task_of(branches=1, length=2), world, trend_analyst=elsewhere)
    (forecast,) = [call for call in ran.calls if call.role == "forecaster"]
    assert not forecast.inputs.neighbours
    assert [(s.query, s.found) for s in forecast.inputs.searches] == [("zebra", ())]
    assert "nothing close" in forecast.messages[-1][1]


class Searched(World):
    """A web service, which cannot list its papers, and remembers its queries."""

    def __init__(self, papers: list[Paper]) -> None:
        super().__init__(papers)
        self.queries: list[str] = []

    async def search(self, query: str, k: int) -> list[ScoredPaper]:
        self.queries.append(query)
        return await super().search(query, k)


class ListedAndSearched(Searched, Listed):
    """The same as a local source."""


def test_a_web_service_is_asked_the_ideas_own_queries_alone() -> None:
    papers = list(line(40, 6).papers.values())
    for world in (Searched(papers), ListedAndSearched(papers)):
        task = task_of(branches=1, length=1)
        idea = Ran(task, world, folder=type(world).__name__).ideas[0]
        facets = {facet_query(task.topic.text, facet, text) for facet, text in idea.facets.items()}
        texts = {f"{idea.title}. {idea.summary}", *facets}
        check = idea.novelty_check
        assert check
        asked = set(check.queries) & set(world.queries)
        assert asked == set(check.queries)
        assert texts & set(world.queries) == (texts if isinstance(world, Listed) else set())
        assert (check.compared, check.retrieved >= 30) == (12, True)
