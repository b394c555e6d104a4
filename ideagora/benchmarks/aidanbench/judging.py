"""How one answer is judged: by the same call in the loop and for the verdict, so the second one is cached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ideagora.benchmarks.aidanbench.roles import COHERENCE_JUDGE, HIGHEST, SIMILARITY_JUDGE

if TYPE_CHECKING:
    from ideagora.models.client import LLMClient


async def judge_coherence(client: LLMClient, judge: str, question: str, answer: str) -> float:
    """Coherence and plausibility, 0 to 100 (section 3.3).

    Raises:
        UnreadableAnswer: no reply has a score on this scale.
        ModelError: the judge cannot be asked.
    """
    found = await COHERENCE_JUDGE(client, model=judge, question=question, answer=answer)
    return float(found.score)


async def judge_novelty(client: LLMClient, judge: str, question: str, answers: Sequence[str]) -> float:
    """1 - the similarity of the last answer to the closest earlier one by a model, 0 to 1.

    One call compares it with all earlier answers; the first answer has 1 without a call.

    Raises:
        UnreadableAnswer, ModelError: as ``judge_coherence``.
    """
    *earlier, answer = answers
    if not earlier:
        return 1.0
    found = await SIMILARITY_JUDGE(
        client, model=judge, question=question, answer=answer, earlier=tuple(earlier)
    )
    return round(1.0 - found.score / HIGHEST, 6)
