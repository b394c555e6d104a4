"""AidanBench: the loop, its scores from the log alone, published files, and awkward judges."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ideagora.benchmarks.aidanbench.benchmark import AidanBench
from ideagora.benchmarks.aidanbench.novelty import AnswerVectors
from ideagora.benchmarks.aidanbench.replies import plain_answer
from ideagora.benchmarks.aidanbench.roles import COHERENCE_JUDGE, OUTLINES, Coherence, CoherenceInputs
from ideagora.benchmarks.aidanbench.turns import (
    THRESHOLDS,
    Turn,
    adjusted_sum,
    counted,
    ending_of,
    mean_mmr,
    novelty_sum,
    turns_until_end,
)
from ideagora.cli.bench import AidanBenchOptions
from ideagora.config import load_settings
from ideagora.evaluators.generation import agent_runs, expected_calls
from ideagora.models.call import Reply
from ideagora.models.chat_models import ScriptedCall, ScriptedChatModel
from ideagora.models.parsing.structured_output import UnreadableReply, parse_answer
from ideagora.registry import find_agent
from ideagora.schema import Topic
from tests.support import command, standin
from tests.support.bench_world import Benched
from tests.support.each import Cases, each_case
from tests.support.loopback import Body, Loopback

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data" / "aidanbench" / "results_sample.json"
WORDS = ("granite", "umbrella", "quicksilver", "harvest", "telescope", "monsoon", "velvet", "anchor")

Say = Callable[[ScriptedCall], Any]


def contestant(
    coherence: Callable[[str], Any] = lambda answer: 80, answers: Sequence[Any] = WORDS
) -> ScriptedChatModel:
    """A model that gives these answers one after the other, and judges them."""

    def reply(call: ScriptedCall) -> Any:
        if call.role == "aidanbench_answer":
            return answers[min(len(call.inputs.earlier), len(answers) - 1)]
        said = coherence(call.inputs.answer)
        return {"reason": "So it is.", "score": said} if isinstance(said, int | float | str) else said

    return ScriptedChatModel(replies=reply)


def bench(chat: ScriptedChatModel, *agents: str, **options: Any) -> Benched:
    """The benchmark on one question."""
    return Benched(
        agents or ("model:scripted",),
        chat,
        **{"benchmark": "aidanbench", "only": (), "limit": "1", "ideas": 6, **options},
    )


def asked(chat: ScriptedChatModel, role: str) -> int:
    return sum(call.role == role for call in chat.calls)


def test_scores_are_those_worked_by_hand() -> None:
    turns = [Turn(90, 1.0), Turn(40, 0.6), Turn(80, 0.2), Turn(15, 0.9), Turn(99, 0.9)]
    seen, ending = turns_until_end(turns, THRESHOLDS["code"])
    assert (len(seen), ending) == (4, "incoherent")
    kept = counted(seen, "incoherent")
    assert novelty_sum(kept) == pytest.approx(1.8)
    assert adjusted_sum(kept, 50) == pytest.approx(1.2)
    # (0.45 - 0) , (0.2 - 0.2), (0.4 - 0.4)
    assert mean_mmr(kept) == pytest.approx(0.15)
    assert counted(turns, "maximum") == turns
    endings = {
        (15.0, 0.15, None): "incoherent",
        (15.1, 0.15, None): None,
        (90.0, 0.149, None): "repeated",
        (90.0, 0.5, 0.1): "repeated",
    }
    for values, expected in endings.items():
        assert ending_of(Turn(*values), THRESHOLDS["code"]) == expected, values
    assert ending_of(Turn(30, 0.5), THRESHOLDS["paper"]) == "incoherent"


def test_mmr_is_that_of_the_papers_table() -> None:
    # Table 1: coherence of 10, novelty, MMR; means, so rounded
    rows = (
        (10, 0.56, 0.28),
        (9, 0.4009, 0.1505),
        (10, 1, 0.5),
        (9.08, 0.2516, 0.0796),
        (6.78, 0.2427, -0.0397),
    )
    for coherence, novelty, mmr in rows:
        assert mean_mmr([Turn(10 * coherence, novelty)]) == pytest.approx(mmr, abs=3e-4), novelty


def test_novelty_is_one_minus_the_largest_cosine_to_all_earlier_answers() -> None:
    vectors = AnswerVectors()
    rows = np.array([[2, 0], [0, 1], [3, 4], [-1, 0]], dtype=np.float32)
    assert [vectors.add(row) for row in rows] == [1.0, 1.0, pytest.approx(0.2), 1.0]
    found = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
    many = AnswerVectors()
    measured = [many.add(row) for row in found]
    units = found / np.linalg.norm(found, axis=1, keepdims=True)
    assert measured[150] == pytest.approx(1 - (units[:150] @ units[150]).max(), abs=1e-5)


@each_case(
    "coherence, answers, ending, count",
    [
        (lambda answer: 5 if answer == "harvest" else 80, WORDS, "incoherent", 3),
        (lambda answer: 80, ("granite", "umbrella", "granite"), "repeated", 2),
        (lambda answer: 80, WORDS, "maximum", 6),
    ],
    ids=["incoherent", "repeated", "maximum"],
)
def test_the_loop_ends(coherence: Any, answers: Any, ending: str, count: int) -> None:
    figures = {}
    for speculation in ("on", "off"):
        chat = contestant(coherence, answers)
        chosen, seed = (f"speculation={speculation}",), ["incoherent", "repeated", "maximum"].index(ending)
        settings = {"seed": 2 * seed + (speculation == "on")}  # nothing is cached
        out = f"{ending}-{speculation}"
        run = bench(chat, out=out, benchmark_options=chosen, settings=settings)
        assert run.code == 0
        (verdict,) = run.verdicts
        assert verdict.details["ending"] == ending
        assert f"over 1 question; ended {ending} 1×." in run.notes
        assert verdict.criteria is not None
        assert verdict.criteria["answers"] == count == run.figure("model:scripted", "answers")["mean"]
        told = [idea.method for idea in run.ideas]
        judged = asked(chat, "aidanbench_coherence")
        assert judged == len(set(told)), "the verdict asks nothing again"
        in_vain = 1 if speculation == "on" and ending != "maximum" else 0
        assert asked(chat, "aidanbench_answer") == len(told) + in_vain
        figures[speculation] = (told, verdict.details)
    assert figures["on"] == figures["off"]


def test_a_failure_is_no_ending() -> None:
    empty = "<think>\nWhat else?\n</think>\n**Answer:**"
    run = bench(contestant(answers=("granite", "umbrella", empty)))
    (verdict,) = run.verdicts
    assert verdict.status == "unscored"
    assert "the loop failed after 2 answers: answer 3" in str(verdict.reason)
    assert run.figure("model:scripted", "novelty")["mean"] is None
    # had the second answer ended the loop, the failure to make a third would not matter
    chat = contestant(lambda answer: 5 if answer == "umbrella" else 80, ("granite", "umbrella", empty))
    assert bench(chat, out="ended", settings={"seed": 1}).verdicts[0].details["ending"] == "incoherent"


def test_an_answer_is_plain_text_and_a_refusal_is_left_to_the_judge() -> None:
    done = Cases()
    for reply, answer in {
        "Melt it, then freeze it.": "Melt it, then freeze it.",
        "<think>\nHow about ice?\n</think>\nMelt it.": "Melt it.",
        "Let me see. <answer>\nMelt it.\n</answer>": "Melt it.",
        "**Answer:** Melt it.": "Melt it.",
        "**Final answer**: Melt it.": "Melt it.",
        "Answer 12: Melt it.": "Melt it.",
        "12. Melt it.": "Melt it.",
        "3. <material 0851b9407e35>Melt it.</material 0851b9407e35>": "Melt it.",
        "1984 was a warning.": "1984 was a warning.",
        "Answering machines melt.": "Answering machines melt.",
    }.items():
        with done.case(reply):
            assert plain_answer(parse_answer(reply, Reply).text) == answer
    done.check()
    refusal = "I'm sorry, I can't think of another one."
    chat = contestant(lambda answer: 5 if answer == refusal else 80, ("granite", "umbrella", refusal))
    run = bench(chat)
    (verdict,) = run.verdicts
    assert verdict.criteria is not None
    assert (verdict.details["ending"], verdict.criteria["answers"]) == ("incoherent", 2)
    assert any("ended incoherent (a refusal) 1×" in note for note in run.results[0]["notes"])


def test_a_coherence_reply_has_one_reading_or_none() -> None:
    inputs = CoherenceInputs(question="Why?", answer="Because.")
    cases: dict[str, float | None] = {
        '{"reason": "Fine.", "score": "85/100"}': 85,
        '{"Reason": "Fine.", "SCORE": " **70** "}': 70,
        '{"**Reason**": "Fine.", "**Score**": 65}': 65,
        '{"reason": "Fine.", "score": "Answer: 45"}': None,
        '{"reason": "draft", "score": 10}\nNo:\n```json\n{"reason": "Fine.", "score": 60}\n```': 60,
        '{"reason": "Fine.", "score": "Coherence score: 55"}': 55,
        '{"reason": "Fine.", "score": "60 to 80"}': None,
        '{"reason": "Fine.", "score": "over 60"}': None,
        '{"reason": "Fine.", "score": "60+"}': None,
        '{"reason": "Fine.", "score": "60\\n80"}': None,
        '{"reason": "Fine.", "score": "60, or 80 if generous"}': None,
        '{"reason": "Fine.", "score": "60%"}': 60,
        '{"reason": "Fine.", "score": "sixty"}': None,
        '{"reason": "Fine.", "score": [60, 80]}': None,
        '{"reason": "Fine.", "score": "−60"}': None,
        '{"reason": "Fine.", "score": {"value": 60}}': None,
        '{"reason": "Fine.", "score": "60 - seventy"}': None,
        '{"reason": "Fine.", "score": "7/10"}': None,
        '{"reason": "Fine.", "score": 101}': None,
        '{"reason": "Fine.", "score": -5}': None,
        '{"reason": "Fine.", "score": "nan"}': None,
        '{"reason": "Fine."}': None,
        "I'm sorry, I can't judge that.": None,
    }
    for reply, score in cases.items():
        try:
            found = parse_answer(reply, Coherence)
        except UnreadableReply:
            assert score is None, reply
            continue
        assert COHERENCE_JUDGE.check is not None
        if COHERENCE_JUDGE.check(inputs, found) is not None:
            assert score is None, reply
        else:
            assert found.score == score, reply


def test_another_judge_and_other_thresholds_end_the_same_answers_elsewhere() -> None:
    chat = contestant(lambda answer: {"telescope": 20}.get(answer, 80))
    run = bench(chat, protocols=("default", "paper"))
    by_protocol = {one.protocol: one for one in run.verdicts}
    assert by_protocol["default"].details["ending"] == "maximum"
    assert by_protocol["paper"].details["ending"] == "incoherent"
    assert by_protocol["paper"].criteria is not None
    assert by_protocol["paper"].criteria["answers"] == 4


def test_a_model_may_judge_similarity_too() -> None:
    def similar(call: ScriptedCall) -> Any:
        if call.role == "aidanbench_similarity":
            score = 95 if call.inputs.answer == "harvest" else 40
            return {"closest": 1, "reason": "Both.", "score": score}
        return usual.replies(call)

    usual = contestant()
    run = bench(ScriptedChatModel(replies=similar), benchmark_options=("similarity=model",))
    (verdict,) = run.verdicts
    assert [row["model_novelty"] for row in verdict.details["turns"]] == [1.0, 0.6, 0.6, 0.05]
    assert verdict.details["ending"] == "repeated"
    assert run.figure("model:scripted", "model_novelty")["mean"] == pytest.approx(2.2)


def test_answers_that_exist_already_are_judged_in_their_order() -> None:
    rows = [{"topic": "Why?", "agent": "mine", "text": word} for word in WORDS]
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    Path("questions.txt").write_text("Why?\n", encoding="utf-8")
    chat = contestant(lambda answer: 0 if answer == "velvet" else 80)
    run = bench(chat, "ideas:answers.jsonl", data=Path("questions.txt"), ideas=100)
    (verdict,) = run.verdicts
    assert verdict.details["ending"] == "incoherent"
    assert len(verdict.details["turns"]) == 7


@pytest.mark.skipif(not PUBLISHED.exists(), reason="needs the published sample")
def test_published_results_are_scored_again() -> None:
    run = Benched(
        [f"ideas:{PUBLISHED}"], contestant(), benchmark="aidanbench", data=PUBLISHED, only=(), limit=None,
        benchmark_options=("figures=published",), ideas=100, judges_named=(),
    )  # fmt: skip
    assert run.code == 0
    assert not run.results[0]["smoke_test"]
    content = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    for model, by_temperature in content["models"].items():
        (by_question,) = by_temperature.values()
        sums = [
            sum(one["embedding_dissimilarity_score"] for one in answers
                if one["embedding_dissimilarity_score"] >= 0.15 and one["coherence_score"] > 15)
            for answers in by_question.values()
        ]  # fmt: skip
        assert run.figure(model, "novelty")["mean"] == pytest.approx(sum(sums) / len(sums), abs=1e-6)
    repeated = [one for one in run.verdicts if "brick" in one.topic and "gemini" in one.agents[0]]
    assert len(repeated[0].details["turns"]) == 4


def test_a_plain_option_turns_speculation_off() -> None:
    stated = AidanBenchOptions(no_speculation=True).stated
    assert AidanBench().configured(stated).options.speculation is False
    assert AidanBenchOptions().stated == ()


def test_a_model_is_expected_to_answer_its_own_calls(tmp_path: Path) -> None:
    """Neither the settings' model nor their price is that of ``model:NAME``."""
    agents = [("plain", find_agent("model:openai/gpt-4o", tmp_path)), ("rag", find_agent("rag", tmp_path))]
    settings = load_settings(model="openai/gpt-4o-mini", home=tmp_path)
    calls = expected_calls(agent_runs(agents, [Topic(text="ice")], settings, tmp_path))
    assert calls == {"openai/gpt-4o": 1, "openai/gpt-4o-mini": calls["openai/gpt-4o-mini"]}


def test_without_a_key_the_offline_model_repeats_itself() -> None:
    run = bench(contestant(), "model:offline", judges_named=("offline",), ideas=20)
    assert run.code == 0
    (verdict,) = run.verdicts
    assert verdict.details["ending"] == "repeated"
    assert len(verdict.details["turns"]) == len(OUTLINES) + 1
    assert run.results[0]["smoke_test"]
    assert run.results[0]["agents"][0]["source"] == "AidanBench, section 3"
    assert {idea.kind for idea in run.ideas} == {"lead"}


def test_a_kill_loses_no_answer(home: Path) -> None:
    def reply(body: Body) -> str:
        prompt = str(body["messages"][-1]["content"])
        if "response_format" in body:
            return json.dumps({"reason": "Yes.", "score": 80})
        return WORDS[sum(word in prompt for word in WORDS)]

    model = standin.Model(reply, seconds=lambda body: 0.03)
    with Loopback(model) as server:
        models = ["model:openai/x", "--judge", "openai/x", "--api-base", server.base, "--retries", "0"]
        arguments = ["bench", "aidanbench", *models, "--ideas", "6", "--limit", "2", "--no-page", "--json",
                     "--temperature", "0.3"]  # fmt: skip
        kills = (3, 12)
        for enough in kills:
            running = command.start([*arguments, "--out", "killed"])
            model.wait_for(enough, unless=running.has_ended)
            assert not running.has_ended(), running.wait().err
            running.send(signal.SIGKILL)
            running.wait()
            model.wait_until_quiet()
        ended = command.run([*arguments, "--out", "killed"])
    assert ended.code == 0, ended.err
    (figure,) = (one for one in json.loads(ended.out)["results"][0]["figures"] if one["measure"] == "answers")
    assert (figure["mean"], figure["n"]) == (6.0, 2)
    assert len(set(model.bodies)) == 2 * (6 + 6)
    assert all('"temperature": 0.3' in body for body in model.bodies), "the one asked for is the one used"
    # what was out when a kill came may be asked again, and nothing else: two calls for each question
    assert len(model.bodies) - len(set(model.bodies)) <= len(kills) * 4
