"""What judges' roles have in common: how they are asked, their scales, and ratings by the offline model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ideagora.agents.role import Role
from ideagora.models.call import A, Answer, Inputs
from ideagora.models.offline import ExtractiveModel

if TYPE_CHECKING:
    pass

TEMPERATURE = 0.0
Check = Callable[[Any, A], str | None]


@dataclass(frozen=True)
class Scale:
    """The numbers that a judge may state, both ends included."""

    lowest: float
    highest: float

    def __str__(self) -> str:
        return f"{self.lowest:g} to {self.highest:g}"

    def checks(self, *names: str) -> Callable[[Inputs, Answer], str | None]:
        """The check of a role that these fields of its answer are on the scale."""
        return lambda inputs, answer: next(filter(None, (self.complaint(answer, one) for one in names)), None)

    def complaint(self, answer: Answer, name: str) -> str | None:
        """Why a field is not a number on the scale; ``None`` if it is one."""
        value = getattr(answer, name)
        if self.lowest <= value <= self.highest:
            return None
        return f"{name} is {value:g}, but the scale is {self}"

    def of_cosine(self, cosine: float, decimals: int = 0) -> float:
        """A cosine on the scale: 0 and below is its lowest number, 1 its highest.

        >>> Scale(1, 10).of_cosine(0.5, 1), Scale(1, 10).of_cosine(-0.2)
        (5.5, 1.0)
        """
        share = min(1.0, max(0.0, cosine))
        return float(round(self.lowest + (self.highest - self.lowest) * share, decimals))


def judge_role(
    name: str,
    inputs: type[Inputs],
    answer: type[A],
    offline: Callable[[ExtractiveModel, Any], A],
    prompts: Path,
    check: Check[A] | None = None,
) -> Role[A]:
    """A role that judges, or prepares what judges see: at temperature 0, by the model of the judges."""
    return Role(
        name=name,
        group="judge",
        inputs=inputs,
        answer=answer,
        offline=offline,
        temperature=TEMPERATURE,
        check=check,
        prompts=prompts,
    )


def rate_similarity(
    answer: type[A],
    scale: Scale,
    texts: Callable[[Any], tuple[str, str]],
    *,
    rating: str = "rating",
    reason: str = "reason",
    decimals: int = 0,
) -> Callable[[ExtractiveModel, Any], A]:
    """The offline judge that states how similar the wording of two texts is, on a scale.

    Args:
        answer: the role's answer.
        scale: of the rating.
        texts: the two texts, from the role's inputs.
        rating: field of the answer for the number.
        reason: field of the answer for its reason.
        decimals: of the rating.
    """

    def handler(engine: ExtractiveModel, inputs: Inputs) -> A:
        first, second = texts(inputs)
        cosine = engine.similarity(first, [second])[0]
        why = f"Similarity of the wording {cosine:.2f}, which is not the quality."
        return answer.model_validate({reason: why, rating: scale.of_cosine(cosine, decimals)})

    return handler
