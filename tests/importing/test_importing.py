"""Each form of file becomes what its source says, and nothing more."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ideagora.commands.ideas import Request, import_ideas
from ideagora.errors import IdeasFileError, TopicRequired, UnknownIdeasFormat
from ideagora.importing import read_all, read_ideas
from ideagora.importing.fields import parse_steps
from ideagora.importing.formats import FORMATS
from ideagora.importing.sections import split_sections, title_from_text
from ideagora.importing.self_scores import remove_self_scores
from ideagora.importing.storage import stored_file
from ideagora.schema import Idea
from tests.support.each import each_case
from tests.support.idea_files import (
    BENCH_IDEA,
    COI,
    CRITICS,
    PLAIN,
    PROPOSAL,
    RESEARCH,
    SCIENTIST,
    SCIENTIST_V2,
    SCIPIP,
    SEED,
    aidan,
    answer,
    problem_places,
    read,
    write_csv,
    write_json,
    write_jsonl,
    write_sqlite,
)

SHARED = Path("/".join(["", "work", "shared", "data"]))
HYPOTHESES: dict[str, Any] = {
    "paperId": "p1",
    "title": "On Salt",
    "hypotheses": ["Salt melts ice twice.", "Ice keeps salt."],
}


def test_chain_of_ideas(tmp_path: Path) -> None:
    (idea,) = read(write_json(tmp_path / "a", [COI])).ideas
    assert (idea.agent, idea.topic) == ("guest", COI["title"])
    assert idea.title == "Planks that Tell when They Tire"
    assert idea.motivation is not None
    assert idea.motivation.endswith("Bridges fail without a word (Paper 0).")
    assert idea.novelty is not None
    assert "a plank hums when it bends" in idea.novelty
    assert idea.method.endswith("Nobody falls in.")
    assert "Hang a bell" in idea.method
    assert idea.experiment is not None
    assert idea.experiment.steps == ("Hang ten bells.", "Drive a cart over each.", "Count the rings.")
    assert idea.extra["original"] == COI
    assert idea.usage.cost_usd is None


def test_a_result_without_its_papers_title_needs_a_topic(tmp_path: Path) -> None:
    result = {key: value for key, value in COI.items() if key != "title"}
    path = write_json(tmp_path / "result.json", result)
    with pytest.raises(TopicRequired, match="--topic"):
        read(path)
    assert read(path, topic="bridges").ideas[0].topic == "bridges"


def test_failed_runs_are_problems_and_others_are_imported(tmp_path: Path) -> None:
    records = [None, {**COI, "idea": None}, {**COI, "idea": 7}, {**COI, "idea": "  "}, COI]
    imported = read(write_json(tmp_path / "a", records))
    assert len(imported.ideas) == 1
    expected = [("record 1", None), ("record 2", "idea"), ("record 3", "idea"), ("record 4", "idea")]
    assert sorted(problem_places(imported), key=str) == sorted(expected, key=str)
    assert {problem.file for problem in imported.problems} == {"a"}


def test_ai_scientist_imports_its_ratings(tmp_path: Path) -> None:
    (idea,) = read(write_json(tmp_path / "a", [SCIENTIST]), topic="glue").ideas
    assert (idea.title, idea.method) == (SCIENTIST["Title"], SCIENTIST["Experiment"])
    assert (idea.motivation, idea.novelty, idea.summary, idea.novelty_check) == (None, None, None, None)
    assert idea.experiment is not None
    assert idea.experiment.steps == (SCIENTIST["Experiment"],)
    assert idea.extra["scores"] == {"Interestingness": 7, "Feasibility": 9, "Novelty": 4, "novel": True}
    assert idea.extra["imported"]["method_from"] == "Experiment"


def test_seed_ideas_are_skipped(tmp_path: Path) -> None:
    seed = {name: value for name, value in {**SCIENTIST, "Title": "Cold Glue"}.items() if name != "novel"}
    imported = read(write_json(tmp_path / "a", [seed, SCIENTIST]), topic="glue")
    assert [idea.title for idea in imported.ideas] == [SCIENTIST["Title"]]
    assert problem_places(imported) == [("record 1", None)]
    with_seeds = read_all([tmp_path / "a"], topic="glue", with_seeds=True)
    assert len(with_seeds.ideas) == 2
    assert len(read(write_json(tmp_path / "b", [seed]), topic="glue").ideas) == 1  # nobody looked for novelty


def test_ai_scientist_v2(tmp_path: Path) -> None:
    (idea,) = read(write_json(tmp_path / "a", [SCIENTIST_V2]), topic="clocks").ideas
    assert idea.novelty == SCIENTIST_V2["Related Work"]
    assert idea.summary == SCIENTIST_V2["Short Hypothesis"]
    assert SCIENTIST_V2["Abstract"] in idea.method
    assert SCIENTIST_V2["Short Hypothesis"] in idea.method
    assert idea.experiment is not None
    assert idea.experiment.steps == ("Fill forty jars.", "Read them each hour.")
    assert idea.experiment.risks == ("The moss may sleep.",)
    text = {**SCIENTIST_V2, "Experiments": "Fill forty jars.", "Risk Factors and Limitations": ["It sleeps."]}
    (other,) = read(write_json(tmp_path / "b", [text]), topic="clocks").ideas
    assert other.experiment is not None
    assert (other.experiment.steps, other.experiment.risks) == (("Fill forty jars.",), ("It sleeps.",))


@pytest.mark.parametrize(
    "ideas", [[{"Wet Knots": SEED}], {"Wet Knots": SEED}, json.dumps([{"Wet Knots": SEED}])]
)
def test_ai_researchers_seed_ideas(tmp_path: Path, ideas: Any) -> None:
    (idea,) = read(write_json(tmp_path / "a", {"topic_description": "ropes", "ideas": ideas})).ideas
    assert (idea.topic, idea.title, idea.method) == ("ropes", "Wet Knots", SEED["Proposed Method"])
    assert idea.motivation is not None
    assert all(SEED[name] in idea.motivation for name in ("Problem", "Existing Methods", "Motivation"))
    assert idea.novelty is None
    assert idea.extra["original"] == SEED


def test_ai_researcher_proposals_with_ranking_and_reviews(tmp_path: Path) -> None:
    proposal = write_json(tmp_path / "wet_knots.json", PROPOSAL)
    ranking = write_json(tmp_path / "round_5.json", {"wet_knots.json": 4, "dry_knots.json": 1})
    columns = {"idea_id": ["Wet Knots", "Wet Knots"], "novelty_score": [6, 3], "condition": ["AI", "AI"]}
    reviews = write_json(tmp_path / "reviews.json", {**columns, "novelty_rationale": ["fresh", None]})
    imported = read_all([proposal, ranking, reviews], agent="guest")
    (idea,) = imported.ideas
    assert (idea.topic, idea.title) == ("ropes that hold", "Wet Knots: Water as a Helper")
    assert idea.extra["scores"]["ai_ranking_score"] == 4
    assert idea.extra["scores"]["review 1"]["novelty_score"] == 6
    assert "novelty_rationale" not in idea.extra["scores"]["review 2"]
    assert idea.experiment is not None
    assert idea.experiment.steps[:2] == ("Ropes: Get a hundred.", "Load: Hang a stone.")
    assert "a dry rope" in idea.experiment.steps[2]
    assert idea.experiment.steps[3] == "Fallback Plan: Try oil."
    assert idea.extra["original"] == PROPOSAL
    assert [problem.why for problem in imported.problems] == [
        "no idea in these files has the key 'dry_knots'"
    ]


def test_a_proposal_without_a_plan_is_a_problem(tmp_path: Path) -> None:
    imported = read(write_json(tmp_path / "a", {**PROPOSAL, "full_experiment_plan": "overloaded"}))
    assert (imported.ideas, problem_places(imported)) == ((), [(None, "full_experiment_plan")])


def test_scores_without_ideas_say_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(IdeasFileError, match=r"no ideas\. Import it together"):
        read(write_json(tmp_path / "round_5.json", {"wet_knots.json": 4}))


def test_placeholder_zeros_are_not_scores(tmp_path: Path) -> None:
    scores = {"ai_ranking_score": 3, "human_novelty_score": 0, "human_overall_score": 5}
    top = {
        "wet_knots.json": {"idea": PROPOSAL["full_experiment_plan"], **scores},
        "lost.json": {"idea": None},
    }
    imported = read(write_json(tmp_path / "a", top), topic="ropes")
    (idea,) = imported.ideas
    assert idea.extra["scores"] == {"ai_ranking_score": 3, "human_overall_score": 5}
    assert problem_places(imported) == [(None, "lost.json")]


@pytest.mark.parametrize("packed", [False, True])
def test_ai_idea_bench(tmp_path: Path, packed: bool) -> None:
    result = json.dumps([BENCH_IDEA]) if packed else [BENCH_IDEA]
    records = [{"index": 4, "model_result": result}, {"index": 9, "model_result": []}]
    path = write_json(tmp_path / "final_ideas.json", records)
    imported = read(path)
    (idea,) = imported.ideas
    assert idea.topic == "AI Idea Bench 2025, target 4"
    assert idea.motivation == BENCH_IDEA["Motivation"]
    assert idea.experiment is not None
    assert len(idea.experiment.steps) == 3
    assert idea.extra["imported"]["index"] == 4
    assert idea.extra["scores"]["IGI"] == {"motivation": "about motives", "experiment_plan": "about plans"}
    assert "labels corrected" in idea.extra["imported"]["IGI"]
    assert idea.extra["original"]["model_result"]["IGI"] == BENCH_IDEA["IGI"]
    assert problem_places(imported) == [("record 2", "model_result")]


def test_the_target_file_supplies_ai_idea_bench_topics(tmp_path: Path) -> None:
    ideas = write_json(
        tmp_path / "ideas", [{"index": number, "model_result": [BENCH_IDEA]} for number in (4, 5)]
    )
    summary = {"topic": "ink", "motivation": "fading", "method": {}}
    targets = [
        {"index": 4, "summary": {**summary, "revised_topic": "lasting ink"}},
        {"index": 5, "summary": {**summary, "revised_topic": None}},
        {"index": 6, "summary": summary},
    ]
    imported = read_all([ideas, write_json(tmp_path / "targets", targets)])
    assert [idea.topic for idea in imported.ideas] == ["lasting ink", "ink"]
    assert imported.problems == ()


def test_virsci_reads_the_fields_of_json_that_is_not_valid(tmp_path: Path) -> None:
    valid = {"Idea": "Tie planks with wire.", "Title": "Wired Planks", "Experiment": "1. Tie\n2. Hang"}
    loose = (
        '{ "Idea": "Tie planks\\nwith wire.", "Title": "Wired Planks", "Experiment": [ { "Step 1": "Tie",'
        ' "Knot" }, { "Step 2": "Hang" } ], "Clarity": 8, "Novelty": 9 }'
    )
    for number, text in enumerate([json.dumps({**valid, "Clarity": 8, "Novelty": 9}), f"New Idea:\n{loose}"]):
        team = {"teammate": ["Scientist0"], "topic": "bridges", "idea": text, "abstract": "Title: no"}
        (idea,) = read(write_json(tmp_path / str(number), team)).ideas
        assert (idea.agent, idea.topic, idea.title) == ("guest", "bridges", "Wired Planks")
        assert " ".join(idea.method.split()) == "Tie planks with wire."
        assert idea.experiment is not None
        assert "Hang" in " ".join(idea.experiment.steps)
        assert idea.extra["scores"] == {"Clarity": 8, "Novelty": 9}
        shown = idea.model_dump_json(exclude={"extra"})
        assert "9" not in shown.replace(idea.id, "")
        assert "Clarity" not in shown


def test_markdown_proposals(tmp_path: Path) -> None:
    proposal = """Title: Wired Planks

1. Problem Statement: Bridges fail.

2. Motivation: Nobody listens to planks.

3. Proposed Method: Tie a wire to each plank.

4. Step-by-Step Experiment Plan:
Step 1: Tie.
Step 2: Hang.

5. Self-assessment:
Novelty: 9/10
"""
    several = """# Ideas for bridges
## Idea 1: A Framework for Humming Planks
### Motivation
Bridges fail.
### Method
Let planks hum.
## Idea 2
**A Novel Method of Wires**
Tie a wire.
"""
    folder = tmp_path / "ideas"
    folder.mkdir()
    for name, text in {
        "biology_1.txt": proposal,
        "b.md": several,
        "README.md": "# About",
        "cutoff.txt": "2024",
    }.items():
        (folder / name).write_text(text)
    by_title = {idea.title: idea for idea in read_ideas(folder, topic="bridges").ideas}
    assert list(by_title) == ["A Framework for Humming Planks", "A Novel Method of Wires", "Wired Planks"]
    wired = by_title["Wired Planks"]
    assert "Nobody listens" in (wired.motivation or "")
    assert wired.method == "3. Proposed Method: Tie a wire to each plank."
    assert wired.experiment is not None
    assert "Hang." in wired.experiment.steps[-1]
    assert "9/10" not in wired.model_dump_json(exclude={"extra"})
    assert by_title["A Framework for Humming Planks"].motivation == "### Motivation\nBridges fail."


def test_no_self_score_is_in_what_a_judge_sees(tmp_path: Path) -> None:
    """Of any format: ratings in fields stay apart, and those in texts are removed."""
    rated = "Tie planks.\n\n**Novelty**: 9/10\nFeasibility Score: 8 out of 10\nIt holds (clarity: 7/10)."
    records: dict[str, Any] = {
        "plain": [{"topic": "t", "method": rated, "novelty": rated, "experiment": rated}],
        "coi-agent": [{**COI, "idea": rated}],
        "ai-scientist": [{**SCIENTIST, "Experiment": rated}],
        "ai-scientist-v2": [{**SCIENTIST_V2, "Abstract": rated}],
        "ai-researcher-ideas": {
            "topic_description": "t",
            "ideas": [{"a": {**SEED, "Proposed Method": rated}}],
        },
        "ai-researcher-proposal": {**PROPOSAL, "full_experiment_plan": {"Proposed Study": rated}},
        "ai-researcher-top": {"a": {"idea": {**SEED, "Proposed Method": rated}, "ai_ranking_score": 3}},
        "ai-idea-bench": [{"index": 1, "model_result": [{**BENCH_IDEA, "Motivation": rated}]}],
        "scipip": [{"background": "t", "ideas": [{"generated_idea": rated}]}],
        "virsci": {"topic": "t", "teammate": [], "idea": json.dumps({"Idea": rated, "Novelty": 9})},
        "research-agent": [{**RESEARCH, "method": rated}],
        "ideabench": [{**HYPOTHESES, "hypotheses": [rated]}],
        "liveideabench": [{"keywords": "t", "idea_model": "m", "idea": rated}],
        "aidanbench": aidan([answer(1, rated), answer(2, "end", coherence=1)]),
        "text": None,
    }
    ideas_formats = {form.name for form in FORMATS} - {
        "ai-researcher-ranking",
        "ai-researcher-reviews",
        "ideagora",
    }
    assert set(records) == ideas_formats
    for name, record in records.items():
        file = write_json(tmp_path / f"{name}.json", record)
        if name == "text":
            file = tmp_path / "text.md"
            file.write_text(rated)
        imported = read_ideas(file, topic="t")
        assert (imported.kind, len(imported.ideas)) == (name, 1), imported.problems
        shown = imported.ideas[0].model_dump_json(
            include={"title", "motivation", "novelty", "method", "experiment"}
        )
        assert "Tie planks." in shown, name
        assert not re.search(r"/10|out of", shown), f"{name}: {shown}"


def test_what_only_looks_like_a_self_score_stays() -> None:
    for text in (
        "Clarity: 3 annotators rate each text",
        "Score: 0.5 means chance",
        "Solves 9/10 tasks on quality benchmarks.",
        "Feasibility depends on 8 GPUs",
        "Quality: 90% of labels agree",
    ):
        assert remove_self_scores(text) == text


def test_scipip_uses_the_last_complete_stage(tmp_path: Path) -> None:
    imported = read(
        write_json(tmp_path / "a", [SCIPIP, {**SCIPIP, "expanded_final_ideas": [], "filtered_ideas": None}])
    )
    first, second, *third = imported.ideas
    assert (first.topic, first.title) == (SCIPIP["background"], "Fog Bells")
    assert first.method == "Each sheep wears a bell of its own tone."
    assert (second.title, second.extra["imported"]["stage"]) == ("Fog Dogs", "filtered_ideas")
    assert [idea.extra["imported"]["stage"] for idea in third] == ["initial_ideas"] * 3
    assert imported.problems == ()


def test_a_missing_scipip_idea_is_a_problem(tmp_path: Path) -> None:
    imported = read(write_json(tmp_path / "a", [{**SCIPIP, "filtered_ideas": ["None"], "initial_ideas": []}]))
    assert [idea.title for idea in imported.ideas] == ["Fog Bells"]
    assert problem_places(imported) == [("record 1", "expanded_final_ideas[1]")]


def test_research_agent(tmp_path: Path) -> None:
    early = {
        key: RESEARCH[key] for key in ("paper", "references", "entities", "problem", "problem_rationale")
    }
    imported = read(write_jsonl(tmp_path / "ideas.jsonl", [RESEARCH, early]))
    whole, short = imported.ideas
    assert whole.topic == "Kites in the Rain"
    assert whole.motivation == "problem: How can a kite stay dry?\n\nproblem_rationale: Wet kites fall."
    assert whole.experiment is not None
    assert whole.experiment.steps[:2] == ("Fly two kites.", "Weigh them after an hour.")
    assert (short.method, short.title) == (early["problem"], "How can a kite stay dry?")
    assert short.extra["imported"]["method_from"] == "problem"
    assert short.experiment is None


def test_ideabench_parses_lists_in_cells_and_skips_error_messages(tmp_path: Path) -> None:
    failed = "Error generating hypothesis for paper ID p1: 429"
    rows = [
        {
            **HYPOTHESES,
            "hypotheses": [*HYPOTHESES["hypotheses"], failed, None],
            "metrics": "{'a': [0.5, nan]}",
        },
        {**HYPOTHESES, "hypotheses": None, "metrics": None},
        {**HYPOTHESES, "hypotheses": "__import__('os').system('true')", "metrics": None},
    ]
    imported = read(write_csv(tmp_path / "a", rows, bom="\ufeff"))
    assert [idea.method for idea in imported.ideas] == HYPOTHESES["hypotheses"]
    assert {idea.topic for idea in imported.ideas} == {"On Salt"}
    assert imported.ideas[0].extra["scores"] == {"of the row": {"metrics": {"a": [0.5, None]}}}
    assert imported.ideas[0].extra["imported"]["title_from"]
    assert problem_places(imported) == [
        ("row 2", "hypotheses[2]"),
        ("row 2", "hypotheses[3]"),
        ("row 3", "hypotheses"),
        ("row 4", "hypotheses"),
    ]


@pytest.mark.parametrize("form", ["database", "table"])
def test_liveideabench_merges_the_critics_of_an_idea(tmp_path: Path, form: str) -> None:
    path = write_sqlite(tmp_path / "a", CRITICS) if form == "database" else write_csv(tmp_path / "a", CRITICS)
    imported = read(path)
    assert [idea.agent for idea in imported.ideas] == ["guest/lab/one", "guest/lab/two"]
    first, second = imported.ideas
    assert first.extra["scores"] == {
        "lab/a": {"originality": 7, "feasibility": 3, "clarity": 8},
        "lab/c": {"originality": 5},
    }
    assert (first.topic, first.model, first.created) == ("tides", "lab/one", "2025-01-02T03:04:05")
    assert len(first.extra["original"]["rows"]) == 3
    assert second.extra["imported"]["first_was_rejected"] is True
    assert problem_places(imported) == [("id 5" if form == "database" else "row 6", "idea")]
    assert [idea.agent for idea in read(path, agent=None).ideas] == ["lab/one", "lab/two"]


def test_liveideabenchs_later_tables(tmp_path: Path) -> None:
    row = {"keywords": "tides", "idea_model": "m", "idea": "Soup.", "critic_model": "c", "originality": "7.5"}
    scores: list[dict[str, Any]] = [
        {**row, "scores": "{'originality': 7, 'clarity': nan}"},
        {**row, "idea": "Tea.", "scores": None},
        {**row, "idea": "Broth.", "scores": "{open"},
    ]
    imported = read(write_csv(tmp_path / "a", scores))
    assert [idea.extra.get("scores") for idea in imported.ideas] == [
        {"c": {"originality": 7, "clarity": None}},
        {"c": {"originality": 7.5}},
        None,
    ]
    assert problem_places(imported) == [("row 4", "parsed_scores")]


def test_aidanbench_skips_the_answer_that_ended_the_loop(tmp_path: Path) -> None:
    ended = [answer(1, "Build a bridge."), answer(2, "Swim."), answer(3, "Swim again.", dissimilarity=0.05)]
    imported = read(write_json(tmp_path / "a", aidan(ended)))
    assert [idea.method for idea in imported.ideas] == ["Build a bridge.", "Swim."]
    assert imported.ideas[0].agent == "guest/lab/one"
    assert imported.ideas[0].topic == "How does one cross a river?"
    assert imported.ideas[0].extra["imported"]["temperature_label"] == "0.7"
    assert "ended the loop" in imported.problems[0].why
    muddled = read(write_json(tmp_path / "b", aidan([answer(1, "Build."), answer(2, "Blub.", coherence=5)])))
    assert len(muddled.ideas) == 1
    cut = read(write_json(tmp_path / "c", aidan(ended[:2])))  # a file cut short lost that answer
    assert (len(cut.ideas), cut.problems) == (2, ())


@pytest.mark.parametrize("form", ["list", "lines", "object", "table"])
def test_plain_records(tmp_path: Path, form: str) -> None:
    record = PLAIN if form != "table" else {**PLAIN, "experiment": "Count the worms.", "references": None}
    write = {"list": lambda p, r: write_json(p, [r]), "lines": lambda p, r: write_jsonl(p, [r, r])}
    write |= {"object": write_json, "table": lambda p, r: write_csv(p, [r], bom="\ufeff")}
    imported = read(write[form](tmp_path / "a", record))
    (idea,) = imported.ideas
    assert idea.title == PLAIN["title"]
    assert (idea.topic, idea.motivation, idea.novelty) == (
        PLAIN["topic"],
        PLAIN["motivation"],
        PLAIN["novelty"],
    )
    assert idea.experiment is not None
    assert idea.experiment.steps[0] == "Count the worms."
    assert idea.extra["original"]["colour"] == "green"
    assert [problem.why for problem in imported.problems] == (
        ["duplicate of line 1"] if form == "lines" else []
    )


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_tables_of_any_spreadsheet(tmp_path: Path, mark: str) -> None:
    text = f"\ufeffTopic{mark}Title{mark}Experiment Plan{mark}Method\r\nt{mark}T{mark}1. a\r\n"
    text += f'u{mark}U{mark}"1. a\n2. b"{mark}"x{mark} y"\r\n'
    imported = read(write_json(tmp_path / "a", text))
    (idea,) = imported.ideas
    assert (idea.topic, idea.title, idea.method) == ("u", "U", f"x{mark} y".strip())
    assert idea.experiment is not None
    assert idea.experiment.steps == ("a", "b")
    assert problem_places(imported) == [("row 2", "method")]


def test_the_shortest_record_is_a_method(tmp_path: Path) -> None:
    text = "Let a goat find the way home. It knows every stone."
    (idea,) = read(write_jsonl(tmp_path / "a", [{"idea": text}]), topic="goats").ideas
    assert (idea.title, idea.method, idea.topic) == ("Let a goat find the way home", text, "goats")
    assert (idea.motivation, idea.novelty, idea.experiment) == (None, None, None)


def test_agents_keep_their_names_in_a_file_with_several(tmp_path: Path) -> None:
    records = [{**PLAIN, "agent": "a"}, {**PLAIN, "agent": "b"}]
    assert [idea.agent for idea in read(write_json(tmp_path / "x", records)).ideas] == ["guest/a", "guest/b"]
    assert [idea.agent for idea in read(write_json(tmp_path / "x", records), agent=None).ideas] == ["a", "b"]
    assert [idea.agent for idea in read(write_json(tmp_path / "y", records[:1])).ideas] == ["guest"]


def test_a_plain_file_without_agents_is_named_after_the_file(tmp_path: Path) -> None:
    assert read(write_json(tmp_path / "mine.json", [PLAIN]), agent=None).ideas[0].agent == "mine"
    assert (
        read(write_json(tmp_path / "x.json", [SCIENTIST]), agent=None, topic="t").ideas[0].agent
        == "ai-scientist"
    )


def test_an_agent_name_is_not_repeated(tmp_path: Path) -> None:
    first = read(write_csv(tmp_path / "a", CRITICS))
    exported = write_json(tmp_path / "kept", "".join(f"{idea.model_dump_json()}\n" for idea in first.ideas))
    assert read(exported).ideas == read(exported, agent=None).ideas == first.ideas


@pytest.mark.parametrize("indent", [None, 1])
def test_an_indented_document_is_not_json_lines(tmp_path: Path, indent: int | None) -> None:
    seeds = {"topic_description": "ropes", "ideas": [{"Wet Knots": SEED}]}
    inner = json.dumps(seeds["ideas"], indent=indent)[1:-1].strip()
    text = f'{{"topic_description": "ropes", "ideas": [\n{inner}\n]}}'
    assert [idea.title for idea in read(write_json(tmp_path / "a", text)).ideas] == ["Wet Knots"]


OWN = Idea(id="abc", topic="t", agent="mine", title="T", motivation="m", novelty=None, method="M")


def test_own_records_are_imported_unchanged(tmp_path: Path) -> None:
    path = write_json(tmp_path / "ideas.jsonl", OWN.model_dump_json() + "\n")
    assert read(path, agent=None).ideas == (OWN,)
    assert read(path, agent="mine").ideas == (OWN,)
    (renamed,) = read(path, agent="other").ideas
    assert (renamed.agent, renamed.extra["imported"]["agent"]) == ("other", "mine")
    assert renamed.id != OWN.id


def test_generate_output_and_run_folders_are_read(tmp_path: Path) -> None:
    printed = write_json(tmp_path / "out.json", {"run": "folder", "ideas": [OWN.model_dump(mode="json")]})
    assert read(printed, agent=None).ideas == (OWN,)
    write_json(tmp_path / "run.json", "{}")
    write_json(tmp_path / "ideas.jsonl", OWN.model_dump_json() + "\n")
    imported = read(tmp_path, agent=None)
    assert (imported.ideas, imported.kind) == ((OWN,), "ideagora")


def test_a_record_of_a_later_version_keeps_its_new_fields(tmp_path: Path) -> None:
    later = {**OWN.model_dump(mode="json"), "mood": "bright"}
    (idea,) = read(write_json(tmp_path / "a", [later]), agent=None).ideas
    assert idea.extra["later_fields"] == {"mood": "bright"}
    bad = [{**later, "branch": "third"}, {**later, "title": " "}, {**later, "agent": ""}]
    bad += [{**later, "usage": {"cost_usd": "nan"}}]
    broken = read(write_json(tmp_path / "b", [later, *bad]), agent=None)
    assert len(broken.ideas) == 1
    assert problem_places(broken) == [
        ("record 2", "branch"),
        ("record 3", "title"),
        ("record 4", "agent"),
        ("record 5", "usage.cost_usd"),
    ]


def test_a_folder_imports_all_its_files_and_names_the_bad_ones(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", [PLAIN])
    write_json(tmp_path / "b.json", [SCIENTIST])
    write_json(tmp_path / "c.json", {"nothing": "known"})
    write_json(tmp_path / "notes.txt", "not tried")
    imported = read(tmp_path, topic="any")
    assert [idea.title for idea in imported.ideas] == [PLAIN["title"], SCIENTIST["Title"]]
    assert imported.kind == "plain, ai-scientist, text"
    assert [problem.file for problem in imported.problems] == ["c.json", "notes.txt"]


def test_problems_are_sorted_by_row(tmp_path: Path) -> None:
    lines = [*([PLAIN] * 2), {"method": "no topic"}, *([{"topic": "t", "method": ""}] * 8), PLAIN]
    rows = [problem.row for problem in read(write_jsonl(tmp_path / "a", lines)).problems]
    assert rows == [f"line {number}" for number in range(2, 13)]


def test_a_duplicate_in_another_file_names_that_file(tmp_path: Path) -> None:
    files = [write_json(tmp_path / name, [SCIENTIST]) for name in ("run.json", "seeds.json")]
    imported = read_all(files, topic="t")
    assert [str(one) for one in imported.problems] == [
        "seeds.json, record 1: duplicate of run.json, record 1"
    ]


def test_files_of_the_same_name_are_distinguished(tmp_path: Path) -> None:
    for number, name in enumerate(("a", "b")):
        (tmp_path / name).mkdir()
        write_json(
            tmp_path / name / "wet.json", {**PROPOSAL, "idea_name": f"{number}", "full_experiment_plan": None}
        )
    assert [problem.file for problem in read(tmp_path).problems] == ["a/wet.json", "b/wet.json"]


def test_a_known_format_without_ideas_is_a_problem(tmp_path: Path) -> None:
    imported = read(write_json(tmp_path / "a", {"models": {}}))
    assert [problem.why for problem in imported.problems] == ["has the format aidanbench but no ideas"]


def test_file_names_do_not_matter(tmp_path: Path) -> None:
    assert read(write_json(tmp_path / "top_ideas.csv", [SCIENTIST]), topic="x").kind == "ai-scientist"
    assert read(write_json(tmp_path / "final_ideas.json", [COI])).kind == "coi-agent"


def test_unknown_formats_list_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownIdeasFormat) as caught:
        read(write_json(tmp_path / "a", [{"rank": "first"}]))
    assert all(form.name in str(caught.value) for form in FORMATS)
    assert "'rank'" in str(caught.value)
    papers = {"paperId": "p", "title": "A Paper", "abstract": "a", "description": "no idea"}
    with pytest.raises(UnknownIdeasFormat):
        read(write_csv(tmp_path / "b", [papers]))


def test_two_formats_in_one_file_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(IdeasFileError, match="ai-scientist and ai-scientist-v2"):
        read(write_json(tmp_path / "a", [SCIENTIST, SCIENTIST_V2]))


def test_ids_depend_on_name_topic_and_words_only(tmp_path: Path) -> None:
    (first,) = read(write_json(tmp_path / "a", [SCIENTIST]), topic="x").ideas
    (again,) = read(write_json(tmp_path / "b", {**SCIENTIST, "Novelty": 9}), topic="x").ideas
    (other,) = read(write_json(tmp_path / "b", {**SCIENTIST, "Novelty": 9}), topic="y").ideas
    assert first.id == again.id != other.id


@given(st.lists(st.text(alphabet="ab1.) \n", min_size=1), max_size=6).map("\n".join))
def test_steps_lose_no_word(text: str) -> None:
    def letters(value: str) -> str:
        return "".join(mark for mark in value if mark in "ab")

    assert letters("".join(parse_steps(text))) == letters(text)


@given(
    st.lists(st.sampled_from(["**Motivation:**", "# Novelty", "Method:", "words", "", "**Idea 1: x**", "y"]))
)
def test_sections_lose_no_line(lines: list[str]) -> None:
    parts = split_sections("\n".join(lines))
    texts = [part for part in (parts.title, parts.motivation, parts.novelty, parts.method) if part]
    remaining = sorted(line for part in texts for line in part.split("\n") if line)
    wanted = sorted(line for line in lines if line)
    if parts.title is not None:
        remaining.remove(parts.title)
        wanted.remove(next(line for line in wanted if parts.title in line))
    assert remaining == wanted


def test_headings_on_the_same_line_as_text_count() -> None:
    parts = split_sections("**Motivation:** it rains.\n**Method:** a roof.\n1. **Novelty:** part of a list")
    assert parts.motivation == "**Motivation:** it rains."
    assert parts.method == "**Method:** a roof.\n1. **Novelty:** part of a list"


def test_titles_and_section_names() -> None:
    assert title_from_text("1. Tie planks. Then hang them.") == "Tie planks"
    for first in (
        "**A Novel Method of Wires**",
        "# Humming Planks: a framework for bridges",
        "**Advanced Wires**",
    ):
        assert split_sections(f"{first}\nTie a wire.").title == first.strip("*# ")
    for first in ("**Proposed Method**", "# Motivation", "**Novelty and Contributions:**"):
        assert split_sections(f"{first}\nTie a wire.").title is None
    assert split_sections("## Method\nTie.\n## Advanced wires\nHang.").novelty is None


def test_a_title_from_a_text_is_its_first_sentence() -> None:
    assert title_from_text("# Heading\n\n- **Bold** move. And more.") == "Bold move"
    long = " ".join(f"w{number}" for number in range(40))
    assert title_from_text(long) == " ".join(f"w{number}" for number in range(16)) + " …"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the samples are not here")
@each_case(
    "name, kind, number",
    [
        ("coi_agent/cases.json", "coi-agent", 4),
        ("ai_scientist/grokking_ideas.json", "ai-scientist", 5),
        ("ai_scientist/2d_diffusion_ideas.json", "ai-scientist", 5),
        ("ai_scientist/nanoGPT_lite_ideas.json", "ai-scientist", 4),
        ("aidanbench/results_sample.json", "aidanbench", 34),
    ],
)
def test_real_files(name: str, kind: str, number: int) -> None:
    imported = read_ideas(SHARED / name, agent="guest", topic="given")
    assert (imported.kind, len(imported.ideas)) == (kind, number)
    assert all(idea.title and idea.method for idea in imported.ideas)
    assert all(Idea.model_validate_json(idea.model_dump_json()) == idea for idea in imported.ideas)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the samples are not here")
@each_case(
    "name",
    [
        "liveideabench/leaderboard.csv",
        "liveideabench/keywords_sample.csv",
        "ideabench/target_papers_sample.csv",
    ],
)
def test_real_files_without_ideas_are_rejected(name: str) -> None:
    with pytest.raises(UnknownIdeasFormat):
        read_ideas(SHARED / name, agent="guest", topic="given")


def test_every_format_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "importing.md").read_text(encoding="utf-8")
    assert [form.name for form in FORMATS if f"| `{form.name}`" not in text] == []


# --- the same id, another text ------------------------------------------------------------------


def _own_record(agent: str, method: str, **fields: Any) -> dict[str, Any]:
    record = {"id": "7", "topic": "bridges", "agent": agent, "title": "One", "model": "m", "usage": {}}
    return {**record, "method": method, **fields}


def test_the_same_id_with_another_text_gets_a_new_id(tmp_path: Path) -> None:
    first, second = _own_record("a", "hang bells"), _own_record("a", "dig deep")
    other_maker = _own_record("b", "hang bells")
    one = write_jsonl(tmp_path / "one.jsonl", [first, second, first])
    two = write_jsonl(tmp_path / "two.jsonl", [other_maker, second])
    imported = read_all([one, two])
    assert [(idea.id, idea.agent, idea.method) for idea in imported.ideas] == [
        ("7", "a", "hang bells"), ("7-2", "a", "dig deep"), ("7-3", "b", "hang bells"),
    ]  # fmt: skip
    assert imported.renamed == {"7-2": "7", "7-3": "7"}
    assert [problem.why.partition(" of ")[0] for problem in imported.problems] == ["duplicate"] * 2


def test_an_import_replaces_no_idea_of_another_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def import_text(method: str, as_json: bool = True) -> str:
        file = write_jsonl(tmp_path / "ideas.jsonl", [_own_record("guest", method)])
        asked = Request((file,), "guest", None, None, as_json, {"home": tmp_path / "home"})
        assert import_ideas(asked) == 0
        return capsys.readouterr().out

    outcomes = [
        json.loads(import_text(method)) for method in ("hang bells", "dig deep", "hang bells", "dig deep")
    ]
    assert [(one["new"], one["same"], one["ideas"]) for one in outcomes] == [
        (1, 0, ["7"]), (1, 0, ["7-2"]), (0, 1, ["7"]), (0, 1, ["7-2"]),
    ]  # fmt: skip
    assert outcomes[1]["renamed"] == {"7-2": "7"}
    assert "7 → 7-3" in import_text("wait", as_json=False)
    stored = read_ideas(stored_file(tmp_path / "home", "guest")).ideas
    assert {idea.id: idea.method for idea in stored} == {"7": "hang bells", "7-2": "dig deep", "7-3": "wait"}
