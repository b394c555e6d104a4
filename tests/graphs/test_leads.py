"""Leads, which the offline model gives in place of ideas: quotes, pairs, words, the page."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ideagora.agents.offline_leads import facts, fits, leads
from ideagora.agents.offline_leads.difficulties import (
    DIFFICULTIES,
    DROP_IF,
    classify_difficulty,
    is_scope,
    shared_difficulty,
)
from ideagora.agents.text.quotes import is_quoted
from ideagora.graphs.chain_of_ideas.leads import describe_positions, explain_few_leads, select_pairs
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.embeddings.weights import MINILM
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from ideagora.report.run.wording.leads import novelty_lines, reading_list
from ideagora.report.run.wording.novelty import novelty_summary
from ideagora.retrieval.corpus.starter import starter_corpus
from ideagora.schema import ClosestPaper, Idea, NoveltyCheck, Paper
from tests.support.command import filled_home, run_here
from tests.support.role_samples import with_weights

TOPIC = "language models as judges"
ENGINE = ExtractiveModel(HashEmbedder())


def test_sentences_on_methods_are_recognised() -> None:
    done = (
        "Self-consistency samples many chains and returns the answer on which most agree.",
        "We propose a decoder that drafts tokens and checks them in one pass.",
        "Reflexion lets an agent turn a failed attempt into a written critique.",
        "PRD borrows from peer review: every contestant also judges battles.",
    )
    other = (
        "Accuracy improved by four points on GSM8K.",
        "The method fails when the context is long.",
        "Prompting cannot teach the model a new language.",
        "The study measures how often judges prefer the first answer.",
        "GAIA poses 466 questions in three difficulty levels.",
        "SWE-bench turns issue reports into tasks.",
        "Models produced hypotheses that the later literature supports.",
        "Galactica is a family of decoder models up to 120 billion parameters.",
        "Subjects then show up more often than with earlier methods.",
    )
    assert [sentence for sentence in done if not facts.describes_method(sentence)] == []
    assert [sentence for sentence in other if facts.describes_method(sentence)] == []


def test_no_finding_in_the_corpus_is_taken_for_a_mechanism() -> None:
    for paper in starter_corpus().papers:
        known = facts.paper_facts(ENGINE, paper.title, paper.year, paper.abstract)
        last = texts.sentences(paper.abstract or "")[-1]
        assert known.method is None or last not in known.method or last == known.problem, paper.title


def test_a_quote_that_refers_back_includes_the_sentence_before() -> None:
    parts = ["A decoder drafts four tokens.", "This checks them in one pass."]
    assert facts.with_antecedent(parts[1], parts) == " ".join(parts)
    assert facts.with_antecedent(parts[0], parts) == parts[0]


def test_headings_are_not_quoted() -> None:
    for heading in ("Abstract ", "3.2 Method ", "1 Introduction ", "ABSTRACT: "):
        text = f"{heading}We train a retriever on its own mistakes."
        found = facts.paper_facts(ENGINE, "A paper", "2024", text, facts.Reported(method=text)).method
        assert found == "We train a retriever on its own mistakes.", heading
    kept = "Method Mixer trains two decoders at once."
    assert facts.paper_facts(ENGINE, "A paper", "2024", kept, facts.Reported(method=kept)).method == kept


def test_the_scope_of_tests_is_not_a_limitation() -> None:
    assert fits.limitation_clauses("Only two models were examined, and no other language was tested.") == []
    limitation = "Each decision costs many more calls, and the method was studied on three tasks."
    assert fits.limitation_clauses(limitation) == ["Each decision costs many more calls"]
    assert is_scope("experiments cover mainly English")


def test_difficulties_are_recognised_by_words() -> None:
    assert classify_difficulty("decoding is slow and expensive").name == "high cost"
    shared = shared_difficulty("costly labels from people", "human annotation is scarce, labels are few")
    assert shared is not None
    assert shared[0].name == "reliance on labels"
    assert shared_difficulty("decoding is slow", "judges prefer long answers") is None
    about = frozenset(kind for kind in DIFFICULTIES if kind.found_in("bias of judges"))
    assert shared_difficulty("a bias towards length", "biases of position", about) is None


def test_a_quote_is_cut_without_changing_a_word() -> None:
    sentence = (
        "Judges are slow, their scores cluster near the top of the scale, later rounds bring nothing, "
        "and labels are costly."
    )
    for limit in range(4, 25):
        for about in ("", "later rounds bring nothing", "and labels are costly"):
            cut = leads.shorten_quote(sentence, limit, about)
            assert len([word for word in cut.split() if word != "…"]) <= limit
            assert is_quoted(cut, sentence), cut
    assert leads.shorten_quote("It is short.", 10) == "It is short"


def test_models_and_adjectives_are_not_data_sets() -> None:
    text = (
        "BERT and GPT-4 call APIs on questions. Knowledge-Intensive tasks need RAG on collections. We test "
        "on GSM8K, on the FooSet benchmark and on BarBench, with ControlNet on images and DrQA on problems."
    )
    assert [name.name for name in texts.names(text) if name.kind == "dataset"] == [
        "GSM8K",
        "FooSet",
        "BarBench",
    ]


def test_papers_are_named_as_in_their_text() -> None:
    by_id = {paper.id: paper for paper in starter_corpus().papers}
    for paper_id, name in {
        "arxiv:2203.11171": "Self-Consistency",
        "arxiv:2007.01282": "Fusion-in-Decoder",
        "arxiv:2205.11916": "Zero-shot chain-of-thought",
        "arxiv:2005.11401": "RAG",
        "arxiv:2210.03629": "ReAct",
    }.items():
        paper = by_id[paper_id]
        assert facts.short_paper_name(paper.title, paper.abstract or "") == name
    assert (
        facts.short_paper_name("A very long title that has no name of its own", "") == "“A very long title …”"
    )
    unclear = "To CoT or not to CoT and what else to ask a large model"
    assert facts.short_paper_name(unclear, "") == "“To CoT or not …”"


# --- choosing among chains --------------------------------------------------------------------


def pair(weak: str, strong: str, cites: str | None = None, kind: str = "cost") -> Any:
    papers = {
        "limitation_paper": {"id": weak, "title": weak},
        "mechanism_paper": {"id": strong, "title": strong},
    }
    return {"weak": weak, "strong": strong, "cites": cites, "kind": kind, "good": True, **papers}


def test_leads_differ_in_limitation_and_mechanism() -> None:
    branches: list[Any] = [
        {"branch": 2, "pairs": [pair("b", "x"), pair("b", "y", kind="bias")]},
        {"branch": 1, "pairs": [pair("a", "x"), pair("a", "y"), pair("c", "z"), pair("x", "a")]},
    ]
    chosen = [(one["weak"], one["strong"]) for one in select_pairs(branches, 5)]
    assert chosen == [("a", "x"), ("b", "y"), ("c", "z")]
    assert len(select_pairs(branches, 2)) == 2
    weighed = select_pairs([{"branch": 1, "pairs": [pair("a", "x"), pair("a", "y", cites="weak")]}], 5)
    assert weighed[0]["candidates"] == [
        {"text": "x for the limitation of a", "status": "developed"},
        {"text": "y for the limitation of a", "status": "too obvious"},
    ]


def test_pairs_of_papers_that_cite_each_other_come_last_and_only_where_leads_are_few() -> None:
    linked = [pair("a", "x", cites="strong")]
    few: list[Any] = [{"branch": 1, "pairs": [*linked, pair("b", "y")]}]
    assert [one["weak"] for one in select_pairs(few, 5)] == ["b", "a"]
    many: list[Any] = [{"branch": 1, "pairs": [*linked, *(pair(name, name.upper()) for name in "bcd")]}]
    assert [one["weak"] for one in select_pairs(many, 5)] == ["b", "c", "d"]


def test_pairs_of_two_papers_beside_the_chain_come_last() -> None:
    beside: Any = {**pair("a", "x"), "chain": [{"id": "b"}]}
    inside: Any = {**pair("b", "y"), "chain": [{"id": "b"}]}
    assert [one["weak"] for one in select_pairs([{"branch": 1, "pairs": [beside, inside]}], 5)] == ["b", "a"]


def test_without_a_good_pair_the_closest_is_offered_with_a_note() -> None:
    nearest: Any = {**pair("a", "x"), "good": False}
    assert [one["weak"] for one in select_pairs([{"branch": 1, "pairs": [nearest, nearest]}], 5)] == ["a"]
    assert [one["weak"] for one in select_pairs([{"branch": 1, "pairs": [nearest, pair("b", "y")]}], 5)] == [
        "b"
    ]
    itself: Any = {**nearest, "strong": "a"}
    assert select_pairs([{"branch": 1, "pairs": [itself]}], 5) == []
    weak = facts.paper_facts(ENGINE, "Alpha: one", "2020", "Alpha counts sheep. Alpha sleeps at once.")
    strong = facts.paper_facts(ENGINE, "Beta: two", "2021", "Nobody drew maps. Beta draws maps of caves.")
    lead = leads.write_lead(fits.measure_pair(ENGINE, [weak, strong], 0, 1), weak, strong, "")
    assert lead.novelty.startswith(leads.NEAREST_ONLY)


def test_the_position_of_two_papers_is_one_sentence() -> None:
    one, two, three = (Paper(id=name, title=f"{name}: a paper") for name in ("One", "Two", "Three"))
    assert describe_positions([one, two], two, three, None) == (
        "Two is paper 2 of 2 in the chain and Three is not in it; neither cites the other."
    )
    assert "Three cites Two: first check" in describe_positions([one, two], two, three, "strong")
    assert describe_positions([one], two, three, None).startswith("Two and Three are not in the chain")


def test_fewer_leads_than_usual_are_explained() -> None:
    lead = {"novelty_check": {"status": "novel"}}
    close = {"novelty_check": {"status": "too_close"}}
    state: Any = {"pairs": [], "branches": [], "leads": [lead, close]}
    assert explain_few_leads(state)[0].startswith("1 lead; three to five are usual")
    enough: Any = {**state, "leads": [lead] * 3}
    assert explain_few_leads(enough) == []
    assert explain_few_leads({"branches": []}) == []


# --- what the novelty check says --------------------------------------------------------------


def check(**fields: Any) -> NoveltyCheck:
    return NoveltyCheck(**{"status": "novel", "compared": 12, "library": 260, "judge": "offline", **fields})


def test_a_verdict_on_novelty_claims_no_more_than_was_compared() -> None:
    assert novelty_summary(check()).startswith(
        "No near-verbatim match among 12 of 260 summaries. Sentences were"
    )
    assert "12 summaries retrieved for it" in novelty_summary(check(library=None))
    close = ClosestPaper(paper_id="p", title="P", similarity=0.9, overlap=None, too_close=True)
    assert novelty_summary(check(status="too_close", closest=(close,))).startswith(
        "1 near-verbatim match among 12"
    )
    real = novelty_summary(check(judge="openai/gpt-4o", library=None))
    assert real == (
        "openai/gpt-4o compared 12 papers retrieved for it, and rated none too close. "
        "No other papers were compared."
    )
    assert novelty_summary(check(judge=None)).startswith("The judge compared 12 of 260 papers")
    assert "gave no answer" in novelty_summary(check(status="unchecked"))


def lead(references: tuple[str, ...], *closest: ClosestPaper) -> Idea:
    return Idea(
        id="i", topic="t", agent="a", kind="lead", title="T", method="m", references=references,
        novelty_check=check(closest=closest),
    )  # fmt: skip


def test_a_known_mechanism_is_reported_and_common_notes_appear_once() -> None:
    same = {"purpose": "different", "mechanism": "same"}
    own = ClosestPaper(paper_id="own", title="Own", similarity=0.9, overlap=None, facets=same)
    other = ClosestPaper(paper_id="other", title="Other", similarity=0.6, overlap=None, facets=same)
    first, second = lead(("weak", "own"), own, other), lead(("weak", "own"), own)
    said = novelty_lines([first, second])
    assert "Every lead: No near-verbatim match among 12 of 260 summaries." in said
    assert "Lead 1: Same mechanism as in: Other." in said
    assert len(said) == 3
    assert reading_list(first) == ("own", "weak", "other")


# --- a whole run ------------------------------------------------------------------------------


def shown_words(idea: dict[str, Any]) -> int:
    parts = [idea[name] for name in ("title", "motivation", "method", "novelty")]
    return sum(len(part.split()) for part in [*parts, *idea["experiment"]["steps"]])


@pytest.mark.slow
@with_weights
def test_a_run_of_the_offline_model_gives_leads_that_quote_and_do_not_repeat() -> None:
    shutil.copytree(filled_home(MINILM), os.environ["IDEAGORA_HOME"], symlinks=True)
    done = run_here(["generate", TOPIC, "--json"], {})
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    ideas = answer["ideas"]
    assert 3 <= len(ideas) <= 5
    assert {idea["kind"] for idea in ideas} == {"lead"}
    papers = {paper.id: paper for paper in starter_corpus().papers}
    weak, strong = ([idea["references"][place] for idea in ideas] for place in (0, 1))
    assert len(set(weak)) == len(set(strong)) == len(ideas)
    for idea in ideas:
        assert shown_words(idea) <= 150, idea["title"]
        for text, paper_id in (
            (idea["motivation"], idea["references"][0]),
            (idea["method"], idea["references"][1]),
        ):
            quote = text.partition("): “")[2].rpartition("”")[0]
            assert is_quoted(quote, papers[paper_id].abstract or ""), text
        assert DROP_IF in idea["experiment"]["steps"][0]
    report = (Path(answer["run"]) / "report.md").read_text(encoding="utf-8")
    told = report.partition("## Cost")[0]
    sentences = Counter(
        s for s in re.split(r"(?<=[.”])\s+|\n", told) if len(s.split()) > 7 and s[:3] != "- ["
    )
    assert [sentence for sentence, times in sentences.items() if times > 1] == []
    shown = run_here(["generate", TOPIC], {}).out
    assert "Open limitation" in shown
    assert "Leads of the offline model" in shown
    assert "Experiment" not in shown


def test_a_lead_stays_short_with_long_paper_names() -> None:
    title = "Long Winding Names Can Self-Improve"
    text = f"Nobody drew errors of maps that anybody could read or mend. {title} draws maps of caves."
    weak = facts.paper_facts(
        ENGINE,
        title,
        "2020",
        text,
        facts.Reported(limitation=", and errors go unnoticed".join(["Maps"] * 20)),
    )
    strong = facts.paper_facts(
        ENGINE, title, "2021", text, facts.Reported(method=", and ".join([f"{title} draws maps"] * 20))
    )
    fit = fits.measure_pair(ENGINE, [weak, strong], 0, 1)
    place = (
        f"{title} is paper 2 of 4 in the chain, {title} is paper 1 of 4 in the chain; {title} cites {title}."
    )
    assert leads.write_lead(fit, weak, strong, place).length <= 150
