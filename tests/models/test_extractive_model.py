"""The offline model's primitives, and what its roles make of the starter corpus with real vectors."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ideagora.agents.arena.judges import CRITERIA, IdeaPairInputs
from ideagora.agents.chain_of_ideas.forecaster import ForecastInputs
from ideagora.agents.chain_of_ideas.trend import TrendInputs
from ideagora.agents.literature import RelevanceInputs
from ideagora.agents.novelty import NoveltyInputs
from ideagora.agents.role import ROLES
from ideagora.agents.text.quotes import is_quoted
from ideagora.agents.views import IdeaView, PaperBrief, paper_brief
from ideagora.models.call import Inputs
from ideagora.models.embeddings.hash_embedder import HashEmbedder
from ideagora.models.offline import ExtractiveModel
from ideagora.models.offline import text as texts
from tests.support.each import each_case
from tests.support.role_samples import (
    CONSISTENCY,
    COT,
    IDEA,
    OTHER_IDEA,
    REACT,
    REFLEXION,
    SAMPLES,
    TOPIC,
    TREE,
    Remembering,
    chain_paper,
    paper,
    real_embedder,
    with_weights,
)

ENGINE = ExtractiveModel(Remembering(HashEmbedder()))
WORDS = """retrieval graph policy reward token memory search voting diffusion prompt agent planner critique
benchmark verifier decoding sampling tree chain language model""".split()
FACETS = ("problem", "method", "finding", "limitation")

some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
some_texts = st.lists(some_words, max_size=8)
a_sentence = st.lists(
    st.sampled_from([*WORDS, "the", "of", "uses", "cannot", "GSM8K"]), min_size=1, max_size=8
)
some_sentences = st.lists(a_sentence.map(lambda words: f"{' '.join(words).capitalize()}."), max_size=15)


# --- sentences, phrases, names ------------------------------------------------------------------


@each_case(
    "text, parts",
    [
        ("", []),
        (" \n ", []),
        ("No stop here", ["No stop here"]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It rose by 3.5 points. GPT-4 won.", ["It rose by 3.5 points.", "GPT-4 won."]),
        ("Lu et al. Showed it, see Fig. 3 for e.g. RAG.", ["Lu et al. Showed it, see Fig. 3 for e.g. RAG."]),
        ("A line\nbreak  is a space. Next.", ["A line break is a space.", "Next."]),
        ("It asks. (Then it acts.)", ["It asks.", "(Then it acts.)"]),
        ("Does it e. coli? lower goes on. 24 puzzles.", ["Does it e. coli? lower goes on.", "24 puzzles."]),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert texts.sentences(text) == parts


@given(some_sentences)
def test_sentences_put_together_are_the_text(parts: list[str]) -> None:
    assert texts.sentences(" ".join(parts)) == parts


@each_case(
    "text, expected",
    [
        ("", []),
        ("It is.", []),
        ("Trees, graphs and lists.", ["trees", "graphs", "lists"]),
        ("Dense passage retrieval ranks documents.", ["dense passage retrieval", "documents"]),
        ("The Model uses the model. It uses tree search.", ["Model", "tree search"]),
        ("A language model's chain-of-thought fails.", ["language model's chain-of-thought"]),
        ("one two three four five six red green blue black white things", ["green blue black white"]),
    ],
)
def test_phrases(text: str, expected: list[str]) -> None:
    assert texts.phrases(text) == expected


@given(some_sentences)
def test_phrases_stand_in_the_text_and_come_once(parts: list[str]) -> None:
    text = " ".join(parts)
    phrases = texts.phrases(text)
    assert all(phrase.lower() in text.lower() for phrase in phrases)
    assert len({phrase.lower() for phrase in phrases}) == len(phrases)
    assert all(len(phrase.split()) <= 4 for phrase in phrases)


def test_names_with_their_kinds_and_sentences() -> None:
    text = "GPT-4 beat it on HotpotQA. We use ImageNet images and a BLEU score. RAG helps, GPT-4 too."
    assert [(name.name, name.kind) for name in texts.names(text)] == [
        ("GPT-4", "model"),
        ("HotpotQA", "dataset"),
        ("ImageNet", "dataset"),
        ("BLEU", "metric"),
        ("RAG", "model"),
    ]
    assert texts.names(text)[0].sentence == "GPT-4 beat it on HotpotQA."
    assert texts.names("nothing of this kind is here, I am sure.") == []


@each_case(
    "title, text, name",
    [
        ("ReAct: Synergizing Reasoning and Acting in Language Models", "", "ReAct"),
        ("Attention Is All You Need", "", "Attention Is All You Need"),
        ("Tree of Thoughts: Deliberate Problem Solving", "", "Tree of Thoughts"),
        ("A very long title that has no name of its own", "", "A very long title that has …"),
        ("Language Agent Tree Search Unifies It", "LATS searches. LATS wins.", "LATS"),
        ("On the Long and Winding Road to Nowhere: a tale", "", "On the Long and Winding Road …"),
        ("Is It Enough? A Survey", "", "Is It Enough"),
    ],
)
def test_a_short_name(title: str, text: str, name: str) -> None:
    assert texts.short_name(title, text) == name


@each_case(
    "method, steps",
    [
        ("1. Ask it.\n2. Check it. Twice.\n10) Stop.", ["Ask it.", "Check it. Twice.", "Stop."]),
        ("- ask\n\n  * check", ["ask", "check"]),
        ("Ask it. Check it.", ["Ask it.", "Check it."]),
        ("First:\n1. ask", ["First:", "ask"]),
        ("", []),
    ],
)
def test_the_steps_of_a_method(method: str, steps: list[str]) -> None:
    assert texts.method_steps(method) == steps


@each_case(
    "text, limit, clipped",
    [("a b c", 3, "a b c"), ("a b c", 2, "a b …"), ("a b, c", 2, "a b …"), (" a ", 1, "a"), ("", 1, "")],
)
def test_clip(text: str, limit: int, clipped: str) -> None:
    assert texts.clip(text, limit) == clipped


@each_case(
    "text, titled",
    [
        ("the art of asking GPT-4", "The Art of Asking GPT-4"),
        ("serving a tree with vLLM", "Serving a Tree with vLLM"),
        ("ünder a tree", "Ünder a Tree"),
        ("", ""),
    ],
)
def test_title_case(text: str, titled: str) -> None:
    assert texts.title_case(text) == titled


@each_case(
    "text, lowered",
    [
        ("The method works.", "the method works."),
        ("GPT-4 works.", "GPT-4 works."),
        ("ReAct acts.", "ReAct acts."),
        ("I act.", "I act."),
        ("Reflexion reflects, as Reflexion does.", "Reflexion reflects, as Reflexion does."),
        ("", ""),
    ],
)
def test_a_first_letter_is_lowered_unless_it_is_a_name(text: str, lowered: str) -> None:
    assert texts.lower_first(text) == lowered


@each_case(
    "phrase, is_generic",
    [
        ("language model", True),
        ("Models", True),
        ("system of agents", False),
        ("tree search", False),
        ("language model critique", False),
    ],
)
def test_generic_phrases(phrase: str, is_generic: bool) -> None:
    assert texts.is_generic(phrase) is is_generic


def test_listed_and_without_stop() -> None:
    assert [texts.listed(items) for items in ([], ["a"], ["a", "b"], ("a", "b", "c"))] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert [texts.without_stop(text) for text in ("a.", " a. ", "a", "a...")] == ["a"] * 4


# --- primitives over vectors --------------------------------------------------------------------


@given(some_words, some_texts)
def test_rank_is_by_similarity_and_stable(query: str, items: list[str]) -> None:
    ranked = ENGINE.rank(query, items)
    scores = ENGINE.similarity(query, items)
    assert sorted(index for index, _ in ranked) == list(range(len(items)))
    assert all(score == scores[index] for index, score in ranked)
    assert ranked == sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


def test_rank_keeps_the_order_of_equals() -> None:
    assert [index for index, _ in ENGINE.rank("tree", ["graph", "tree", "tree", "tree"])] == [1, 2, 3, 0]


@given(some_words, some_sentences)
def test_the_best_sentence_is_the_first_of_the_rank(query: str, parts: list[str]) -> None:
    sentence, score = ENGINE.best_sentence(query, " ".join(parts))
    if not parts:
        assert (sentence, score) == ("", 0.0)
    else:
        index, best = ENGINE.rank(query, parts)[0]
        assert (sentence, score) == (parts[index], best)


@given(some_words, some_texts, st.integers(0, 10), st.sampled_from([0.0, 0.3, 0.4, 0.8]))
def test_a_selection_is_distinct_bounded_and_grows_by_its_end(
    query: str, items: list[str], count: int, diversity: float
) -> None:
    chosen = ENGINE.select(query, items, count, diversity)
    assert len(chosen) == len(set(chosen)) == min(count, len(items))
    assert set(chosen) <= set(range(len(items)))
    assert chosen == ExtractiveModel(HashEmbedder()).select(query, items, count, diversity)
    assert ENGINE.select(query, items, len(items), diversity)[:count] == chosen


@given(some_words, some_texts)
def test_a_selection_without_diversity_is_the_rank(query: str, items: list[str]) -> None:
    chosen = ENGINE.select(query, items, len(items), diversity=0.0)
    assert chosen == [index for index, _ in ENGINE.rank(query, items)]


def test_a_selection_prefers_what_is_not_there_yet() -> None:
    items = ["tree search over thoughts", "tree search over thoughts", "voting over chains of thoughts"]
    assert ENGINE.select("tree search and voting over thoughts", items, 2) == [0, 2]
    assert ENGINE.select("tree search and voting over thoughts", items, 2, diversity=0.0) == [0, 1]


@settings(max_examples=50)
@given(some_sentences)
def test_no_sentence_serves_two_facets(parts: list[str]) -> None:
    unique = list(dict.fromkeys(parts))
    facets = ENGINE.facets(" ".join(unique), FACETS)
    assert list(facets) == list(FACETS)
    used = [part for facet in facets.values() if facet for part in texts.sentences(facet)]
    assert len(used) == len(set(used))
    assert set(used) <= set(unique)
    assert sum(facet is not None for facet in facets.values()) == min(len(unique), len(FACETS))


def test_the_sentence_after_the_method_belongs_to_it_in_an_abstract_only() -> None:
    parts = ["Earlier approaches could not handle this.", "The approach works by first doing one step."]
    parts += ["A cat sat there.", "Accuracy improved over strong baselines.", "The approach remains costly."]
    facets = ENGINE.facets(" ".join(parts), FACETS)
    assert facets["method"] == "The approach works by first doing one step. A cat sat there."
    longer = " ".join([*parts, *(f"Cat {number} sat there." for number in range(10))])
    assert ENGINE.facets(longer, FACETS)["method"] == "The approach works by first doing one step."


def test_facets_of_a_summary_in_the_usual_order() -> None:
    answer = chain_paper(REFLEXION)
    assert ENGINE.facets(paper(REFLEXION).abstract or "", FACETS) == {
        facet: getattr(answer, facet) for facet in FACETS
    }


@given(some_sentences, some_sentences)
def test_a_contrast_turns_round_when_the_texts_do(one: list[str], two: list[str]) -> None:
    earlier, later = " ".join(one), " ".join(two)
    there, back = ENGINE.contrast(earlier, later), ENGINE.contrast(later, earlier)
    assert (there.added, there.removed) == (back.removed, back.added)


@given(some_sentences, some_sentences)
def test_added_phrases_are_new_and_removed_ones_are_gone(one: list[str], two: list[str]) -> None:
    earlier, later = " ".join(one), " ".join(two)
    contrast = ENGINE.contrast(earlier, later, count=2)
    before, after = ({p.lower() for p in texts.phrases(text)} for text in (earlier, later))
    entered, left, shared = (
        {p.lower() for p in part} for part in (contrast.added, contrast.removed, contrast.shared)
    )
    assert entered <= after - before
    assert left <= before - after
    assert shared <= after - entered
    assert max(len(entered), len(left), len(shared)) <= 2


def test_equal_texts_have_no_added_or_removed_phrases() -> None:
    text = "Tree search needs partial solutions."
    contrast = ENGINE.contrast(text, text)
    assert (contrast.added, contrast.removed) == ((), ())
    assert set(contrast.shared) == {"tree search", "partial solutions"}


@given(some_sentences, st.integers(0, 4))
def test_key_phrases_say_something_and_avoid_what_they_should(parts: list[str], count: int) -> None:
    text = " ".join(parts)
    phrases = ENGINE.key_phrases(text, count, avoid=["tree"])
    assert len(phrases) <= count
    assert set(phrases) <= set(texts.phrases(text))
    assert all(" " in phrase or "-" in phrase for phrase in phrases)
    assert not any("tree" in phrase.lower() or texts.is_generic(phrase) for phrase in phrases)


# --- roles with real vectors --------------------------------------------------------------------


def answered(name: str, inputs: Inputs) -> dict[str, Any]:
    answer: dict[str, Any] = ROLES[name].offline(ExtractiveModel(real_embedder()), inputs).model_dump()
    return answer


ON_AND_OFF = {
    "step-by-step reasoning with large language models": (
        [COT, "arxiv:2205.10625", "arxiv:2205.11916", "arxiv:2305.04091"],
        ["arxiv:2006.11239", "arxiv:2311.15127", "arxiv:2104.08663", "arxiv:2004.12832"],
    ),
    "control over text-to-image diffusion models": (
        ["arxiv:2302.05543", "arxiv:2302.08453", "arxiv:2208.12242", "arxiv:2305.11147"],
        [COT, "arxiv:2004.04906", "arxiv:2310.06770", "arxiv:2306.05685"],
    ),
    "retrieval-augmented generation for question answering": (
        ["arxiv:2005.11401", "arxiv:2002.08909", "arxiv:2310.11511", "arxiv:2305.06983"],
        ["arxiv:2006.11239", "arxiv:2403.04132", "arxiv:2305.20050", "arxiv:2310.06770"],
    ),
}


@with_weights
@each_case("topic", ON_AND_OFF)
def test_relevance_tells_papers_on_the_topic_from_others(topic: str) -> None:
    on, off = ON_AND_OFF[topic]
    shown = [ids[place] for place in range(len(on)) for ids in (off, on)]  # in turn, so no order helps
    said = answered(
        "relevance_judge", RelevanceInputs(topic=topic, papers=tuple(paper_brief(paper(i)) for i in shown))
    )
    accepted = [shown[judgement["paper"]] for judgement in said["judgements"] if judgement["grade"] >= 2]
    assert accepted == on


def compared(purpose: str, mechanism: str) -> dict[str, dict[str, Any]]:
    """The novelty judge's comparisons of an idea, by paper."""
    shown = [TREE, CONSISTENCY, COT, REACT]
    inputs = NoveltyInputs(
        topic=TOPIC,
        title="An idea",
        summary=f"{purpose} {mechanism}",
        novelty="It was not there before.",
        method=mechanism,
        purpose=purpose,
        mechanism=mechanism,
        evaluation="Accuracy on arithmetic benchmarks such as GSM8K.",
        papers=tuple(paper_brief(paper(i)) for i in shown),
    )
    comparisons = answered("novelty_judge", inputs)["comparisons"]
    return {
        shown[one["paper"]]: {**one, "too_close": one["purpose"] == one["mechanism"] == "same"}
        for one in comparisons
    }


@with_weights
def test_an_idea_that_says_a_paper_again_is_too_close_to_that_paper_alone() -> None:
    comparisons = compared(
        "Keep one slip from deciding the answer where greedy decoding commits to a single line of reasoning.",
        "Sample many different chains for one question at non-zero temperature, drop the reasoning text, and "
        "return the final answer on which most of the chains agree.",
    )
    assert [paper_id for paper_id, said in comparisons.items() if said["too_close"]] == [CONSISTENCY]
    assert comparisons[CONSISTENCY]["purpose"] == comparisons[CONSISTENCY]["mechanism"] == "same"
    assert comparisons[CONSISTENCY]["overlap"] in (paper(CONSISTENCY).abstract or "")


@with_weights
def test_another_idea_on_the_same_topic_is_not_too_close() -> None:
    comparisons = compared(
        "Save the tokens that tree search spends on branches known to fail.",
        "Store written critiques of failed branches and put them into the rating prompt.",
    )
    assert not any(said["too_close"] for said in comparisons.values())
    assert {said["mechanism"] for said in comparisons.values()} == {"different"}


@with_weights
def test_the_same_purpose_by_another_mechanism_is_not_too_close() -> None:
    comparisons = compared(
        "Keep one slip from deciding the answer where greedy decoding commits to a single line of reasoning.",
        "Train a calibrated reward model on human rankings of whole essays.",
    )
    assert comparisons[CONSISTENCY]["purpose"] == "same"
    assert not comparisons[CONSISTENCY]["too_close"]


SWAPPED = {"first": "second", "second": "first", "tie": "tie"}


def choices(duel: dict[str, Any]) -> dict[str, str]:
    return {criterion: duel[criterion] for criterion in CRITERIA}


@with_weights
def test_a_duel_turns_round_when_the_ideas_do() -> None:
    there = choices(answered("idea_judge", IdeaPairInputs(topic=TOPIC, first=IDEA, second=OTHER_IDEA)))
    back = choices(answered("idea_judge", IdeaPairInputs(topic=TOPIC, first=OTHER_IDEA, second=IDEA)))
    assert back == {criterion: SWAPPED[choice] for criterion, choice in there.items()}
    assert set(there.values()) != {"tie"}


@with_weights
def test_an_idea_ties_with_itself() -> None:
    duel = answered("idea_judge", IdeaPairInputs(topic=TOPIC, first=IDEA, second=IDEA))
    assert set(choices(duel).values()) == {"tie"}


an_idea = st.builds(IdeaView, title=some_words, motivation=some_words, novelty=some_words, method=some_words)


@given(some_words, an_idea, an_idea)
def test_any_duel_turns_round_when_the_ideas_do(topic: str, one: IdeaView, two: IdeaView) -> None:
    judge = ROLES["idea_judge"].offline
    there = choices(judge(ENGINE, IdeaPairInputs(topic=topic, first=one, second=two)).model_dump())
    back = choices(judge(ENGINE, IdeaPairInputs(topic=topic, first=two, second=one)).model_dump())
    assert back == {criterion: SWAPPED[choice] for criterion, choice in there.items()}


@with_weights
def test_the_trend_names_what_entered_and_left_with_self_consistency() -> None:
    earlier, later = chain_paper(COT), chain_paper(CONSISTENCY)
    inputs = TrendInputs(topic=TOPIC, papers=(earlier, later), entities=())
    change = answered("trend_analyst", inputs)["changes"][0]
    assert "self-consistency" in change["entered"]
    assert any("few-shot" in phrase or "chain-of-thought" in phrase for phrase in change["left"])
    assert all(phrase.lower() in later.text.lower() for phrase in change["entered"])
    assert all(phrase.lower() in earlier.text.lower() for phrase in change["left"])
    assert not any(phrase.lower() in earlier.text.lower() for phrase in change["entered"])
    assert not any(phrase.lower() in later.text.lower() for phrase in change["left"])
    assert all(phrase in change["text"] for phrase in (*change["entered"], *change["left"]))


@with_weights
def test_a_paper_known_by_its_title_alone_lends_no_mechanism() -> None:
    inputs = SAMPLES["forecaster"].inputs
    assert isinstance(inputs, ForecastInputs)
    forecast = answered("forecaster", inputs)
    limitation = forecast["limitation"]
    title_only = PaperBrief(title=f"{limitation} {inputs.topic}", year="2024", abstract=None)
    more = inputs.model_copy(update={"neighbours": (*inputs.neighbours, title_only)})
    assert answered("forecaster", more)["mechanism_from"] == forecast["mechanism_from"]


@with_weights
def test_a_forecast_pairs_a_limitation_and_a_mechanism_of_two_papers_in_their_own_words() -> None:
    inputs = SAMPLES["forecaster"].inputs
    forecast = answered("forecaster", inputs)
    chain = [chain_paper(i) for i in (COT, CONSISTENCY, TREE)]
    weak, strong = forecast["limitation_from"], forecast["mechanism_from"]
    assert weak != strong
    assert forecast["limitation"] == chain[weak].limitation
    sources = [paper_.method for paper_ in chain] + [paper(i).abstract or "" for i in (REACT, REFLEXION)]
    assert is_quoted(forecast["mechanism"], sources[strong])
    assert forecast["limitation"] in forecast["direction"]
    assert forecast["mechanism"] in forecast["direction"]


@with_weights
def test_the_reader_says_nothing_that_the_text_does_not() -> None:
    inputs = SAMPLES["reader"].inputs
    reading = answered("reader", inputs)
    answer = chain_paper(TREE)
    assert {facet: reading[facet] for facet in FACETS} == {facet: getattr(answer, facet) for facet in FACETS}
    assert all(is_quoted(entity["description"], paper(TREE).abstract or "") for entity in reading["entities"])
    assert [reference["paper"] for reference in reading["references"]] == [0, 1]


@with_weights
def test_an_idea_rests_on_words_of_the_papers_that_it_names() -> None:
    idea = answered("ideator", SAMPLES["ideator"].inputs)
    shown = [COT, CONSISTENCY, TREE, REACT, REFLEXION]
    assert {source["paper"] for source in idea["sources"]} == {2, 4}
    for source in idea["sources"]:
        assert is_quoted(source["quote"], paper(shown[source["paper"]]).abstract or "")
    assert "Reflexion" in idea["title"]
    assert "Tree of Thoughts" in idea["title"]
