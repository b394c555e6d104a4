"""A published paper as topic, idea and experiment without results."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ideagora.agents.paper_extractors import PaperInputs, remove_name, system_name
from ideagora.agents.role import ROLES
from ideagora.agents.text.outcomes import find_outcomes, remove_outcomes
from ideagora.errors import LibraryError, UsageError
from ideagora.models.chat_models import ScriptedCall
from ideagora.models.offline import ExtractiveModel
from ideagora.registry import find_agent
from ideagora.retrieval.restrictions.target_paper import read_paper_file
from ideagora.schema import Topic
from tests.agents.test_roles import complaint
from tests.graphs.test_runtime import Ran, World, line, task_of
from tests.support import command, standin
from tests.support.each import each_case
from tests.support.local_files import ABSTRACT, FIRST_TITLE, article, pdf, write_file
from tests.support.loopback import Loopback
from tests.support.role_samples import REACT, SAMPLES, paper, real_embedder, with_weights

TEXT = f"# {FIRST_TITLE}\n\nAbstract\n{ABSTRACT}\n\n1 Introduction\n{'Bridges were wide once. ' * 8}\n"


# --- what tells an outcome ----------------------------------------------------------------------


@each_case(
    "text",
    [
        "It outperforms all baselines.",
        "Accuracy improved by 12 %.",
        "The score rose from 61.2 to 70.4.",
        "It solved 74 percent of the puzzles.",
        "It beat BM25 on ten data sets.",
        "A one-step FID of 3.55 was reached, an FID of 2.",
        "Experiments show that it helps.",
        "We found that memory matters.",
        "It sets new state-of-the-art results.",
        "This gave large gains on all tasks.",
        "It is 3.5 times faster than search.",
        "Machine ideas were rated significantly more novel.",
    ],
)
def test_outcomes_are_found(text: str) -> None:
    assert find_outcomes(text), text
    assert remove_outcomes(f"It searches. {text} Then it stops.") == "It searches. Then it stops."


@each_case(
    "text",
    [
        "Mask 15 % of the tokens.",
        "Train for 3 epochs with a rate of 0.001.",
        "Test whether it outperforms the baseline by 5 %.",
        "The idea would be refuted if plain search reached 74 percent.",
        "Split the data into 80 % and 20 %.",
        "Accuracy is measured on GSM8K.",
        "It samples 40 chains and takes the majority.",
    ],
)
def test_settings_and_plans_are_no_outcomes(text: str) -> None:
    assert not find_outcomes(text)


@each_case(
    "title, name",
    [
        ("ReAct: Synergizing Reasoning and Acting", "ReAct"),
        ("SWE-bench: Can Models Resolve Issues?", "SWE-bench"),
        ("Retrieval-augmented generation: a survey", None),
        ("Attention Is All You Need", None),
    ],
)
def test_the_name_of_a_system(title: str, name: str | None) -> None:
    assert system_name(title) == name
    assert remove_name("ReAct acts. So reacts ReAct, not ReActor.", "ReAct") == (
        "The system acts. So reacts the system, not ReActor."
    )


# --- the extractors' checks ---------------------------------------------------------------------


@each_case(
    "role, changed, said",
    [
        (
            "idea_extractor",
            {"method": "It solved 74 percent of the puzzles."},
            "method reports results (“solved 74 percent”)",
        ),
        ("idea_extractor", {"motivation": "ToolTree looks ahead."}, "motivation names the system ToolTree"),
        (
            "idea_extractor",
            {"method": "It uses BERT with 12 heads."},
            "method has “12”, “BERT”, which the paper",
        ),
        (
            "idea_extractor",
            {"title": "ToolTree – Deliberate Problem Solving with Memory!"},
            "title is the paper's own",
        ),
        ("experiment_extractor", {"steps": ["Run it; it outperforms prompting."]}, "steps reports results"),
        ("experiment_extractor", {"datasets": ["GSM8K", "MMLU"]}, "the lists has “MMLU”"),
        ("experiment_extractor", {"steps": []}, "steps is empty although"),
        ("topic_extractor", {"task": "searching with ToolTree"}, "the topic names ToolTree"),
        ("topic_extractor", {"task": "many words " * 15}, "topic and task have 34 words"),
    ],
)
def test_what_a_competitor_must_not_tell_is_turned_down(
    role: str, changed: dict[str, Any], said: str
) -> None:
    assert (complaint(role, **changed) or "").startswith(said)


def test_an_experiment_that_is_not_described_is_empty() -> None:
    nothing: dict[str, Any] = dict.fromkeys(("steps", "datasets", "baselines", "metrics", "ablations"), ())
    assert complaint("experiment_extractor", **nothing) is None


@with_weights
def test_the_offline_idea_is_the_papers_without_its_results() -> None:
    source = paper(REACT)
    inputs = PaperInputs(topic="acting", title=source.title, kind="abstract", text=source.abstract or "")
    answer = ROLES["idea_extractor"].offline(ExtractiveModel(real_embedder()), inputs).model_dump()
    assert "ReAct" not in json.dumps(answer)
    assert "Wikipedia" in answer["method"]
    assert "without" in answer["motivation"]
    assert not find_outcomes(" ".join(answer.values()))
    plan = ROLES["experiment_extractor"].offline(
        ExtractiveModel(real_embedder()), SAMPLES["experiment_extractor"].inputs
    )
    assert plan.steps == ("It is evaluated on GSM8K and on the benchmark Game24 with 3 seeds.",)
    assert "GSM8K" in plan.datasets


# --- the graph ----------------------------------------------------------------------------------


def real(which: str, topic: str | None = None) -> Any:
    task = task_of(f"real-paper:{which}")
    return (
        task
        if topic
        else type(task)(Topic(text=str(task.agent.own_topic)), task.agent, task.options, task.settings)
    )


def test_a_paper_of_the_library_becomes_an_idea() -> None:
    ran = Ran(real("p3"), line(5, 1))
    assert ran.roles == Counter(topic_extractor=1, idea_extractor=1, experiment_extractor=1)
    (idea,) = ran.ideas
    assert idea.agent == "real-paper"
    assert idea.topic.startswith("language models: what ")
    assert idea.extra == {
        "paper_id": "p3",
        "paper_title": "Tools for language models, part 3",
        "read_from": "abstract",
    }
    assert (idea.novelty, idea.references) == (None, ())
    assert idea.experiment
    assert json.loads(Path("run/run.json").read_text())["topic"]["text"] == idea.topic


def test_a_topic_that_is_given_stays() -> None:
    ran = Ran(real("p3", "given"), line(5, 1))
    assert "topic_extractor" not in ran.roles
    assert ran.ideas[0].topic == "tools for language models"


def test_its_own_paper_is_read_although_the_topic_bans_it() -> None:
    task = real("p3")
    excluded = task.topic.model_copy(update={"before": "2001", "excluded": ("p3",)})
    ran = Ran(type(task)(excluded, task.agent, task.options, task.settings), line(5, 1))
    assert ran.ideas[0].extra["paper_id"] == "p3"


def test_no_experiment_is_none() -> None:
    nothing = dict.fromkeys(("steps", "datasets", "baselines", "metrics", "ablations"), ())
    ran = Ran(real("p3"), line(5, 1), experiment_extractor=lambda call: nothing)
    assert ran.ideas[0].experiment is None


def test_results_are_asked_for_again() -> None:
    def bragging(call: ScriptedCall) -> Any:
        answer = standin.ANSWERS["PaperIdea"](call.messages[1][1])
        first = len(call.messages) == 2
        return {**answer, "method": "It outperforms all others."} if first else answer

    ran = Ran(real("p3"), line(5, 1), idea_extractor=bragging)
    assert ran.roles["idea_extractor"] == 2
    assert not find_outcomes(ran.ideas[0].method)


def test_a_paper_without_a_text_gives_no_idea() -> None:
    bare = World([line(1, 0).papers["p0"].model_copy(update={"abstract": " "})])
    with pytest.raises(LibraryError, match="neither abstract nor full text"):
        Ran(real("p0"), bare)


def test_a_paper_that_nobody_knows() -> None:
    with pytest.raises(UsageError, match="The library has no paper 'p9'"):
        Ran(real("p9"), line(3, 1))


def test_which_paper_has_to_be_said() -> None:
    assert find_agent("real-paper").unready
    with pytest.raises(UsageError, match="Which paper"):
        find_agent("real-paper").start(Topic(text="a topic"))


# --- files --------------------------------------------------------------------------------------


def test_a_pdf_is_read_whole(tmp_path: Path) -> None:
    own = read_paper_file(write_file(tmp_path, "a.pdf", article()))
    assert (own.paper.title, own.kind) == (FIRST_TITLE, "full text")
    assert own.paper.abstract == ABSTRACT
    assert "Ten bridges were widened" in own.text
    assert own.opening
    assert "Bridges were wide once" in own.opening


def test_a_text_is_a_title_and_sections(tmp_path: Path) -> None:
    own = read_paper_file(write_file(tmp_path, "a.md", TEXT))
    assert (own.paper.title, own.kind, own.paper.abstract) == (FIRST_TITLE, "full text", ABSTRACT)


def test_a_record_is_read_by_its_abstract(tmp_path: Path) -> None:
    entry = f"@article{{a, title={{{FIRST_TITLE}}}, year=2020, abstract={{{ABSTRACT}}}}}\n"
    own = read_paper_file(write_file(tmp_path, "a.bib", entry))
    assert (own.paper.title, own.kind, own.text, own.opening) == (FIRST_TITLE, "abstract", ABSTRACT, None)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("scan.pdf", pdf([[(10, "x")]]), "it has no text: its pages are images"),
        ("broken.pdf", b"%PDF-1.4\nnothing", "the PDF is damaged"),
        ("empty.txt", "", "expected the title in the first line"),
        ("short.txt", "A title\nand a line", "expected the title in the first line"),
        (
            "bare.bib",
            "@article{a, title={A Title Without More}, year=2020}",
            "neither abstract nor full text",
        ),
        ("two.bib", "@article{a, title={One Title}}\n@article{b, title={Other Title}}", "contains 2 papers"),
        ("picture.png", b"\x89PNG\r\n", "it is a picture"),
    ],
)
def test_files_without_a_paper(tmp_path: Path, name: str, content: bytes | str, said: str) -> None:
    with pytest.raises((LibraryError, UsageError), match=said) as caught:
        read_paper_file(write_file(tmp_path, name, content))
    assert "\n" not in str(caught.value)


# --- the command --------------------------------------------------------------------------------


def test_the_command_takes_the_topic_from_the_paper(home: Path) -> None:
    write_file(Path(), "paper.pdf", article())
    with Loopback(standin.answer) as server:
        base = ["generate", "--agent", "real-paper:paper.pdf", "--json", "--model", "openai/standin"]
        base += ["--api-base", server.base, "--before", "2000", "--out"]
        done = command.run([*base, "run"])
        assert done.code == 0, done.err
        again = command.run([*base, "again", "--replay"])
    (idea,) = json.loads(done.out)["ideas"]
    assert idea["extra"]["read_from"] == "full text"
    assert Path("run/report.md").read_text(encoding="utf-8").startswith(f"# {idea['topic']}")
    assert again.code == 0, again.err
    assert Path("run/ideas.jsonl").read_bytes() == Path("again/ideas.jsonl").read_bytes()
    write_file(Path(), "paper.pdf", article("Another Title of the Bridge"))
    other = find_agent("real-paper:paper.pdf").options.model_dump()["content"]
    assert other != json.loads(Path("run/run.json").read_text())["options"]["content"]


@each_case(
    "arguments, said",
    [
        (["--agent", "real-paper"], "Which paper? Give a file or an id"),
        (["--agent", "real-paper:"], "Which paper? Give a file or an id"),
        (["--agent", "real-paper:nowhere.pdf"], "There is no file nowhere.pdf"),
        (["--agent", f"real-paper:{REACT}", "--topics", "topics"], "works on one paper"),
        (["--agent", f"real-paper:{REACT}", "--branches", "2"], "has no option --branches"),
        (["--agent", "real-papers:x"], "there is no module 'real-papers'"),
    ],
)
def test_bad_requests(arguments: list[str], said: str) -> None:
    done = command.run(["generate", *arguments])
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split())
