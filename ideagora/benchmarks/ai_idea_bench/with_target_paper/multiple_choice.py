"""Idea multiple-choice evaluation, IMCQ (section 3.2.1, equations 1 and 2).

A judge gets a part of an idea and four papers' versions of it: the target's, those of the two inspirations
closest to the target, and that of a paper elsewhere in the data set. An agent is right if the judge picks
the target for any of its ideas.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ideagora.benchmarks.ai_idea_bench.parts import (
    PARTS,
    Case,
    each_case,
    measures,
    scores_per_sample,
)
from ideagora.benchmarks.ai_idea_bench.samples import Sample
from ideagora.benchmarks.ai_idea_bench.with_target_paper.judges import CHOICE_JUDGE
from ideagora.benchmarks.ai_idea_bench.with_target_paper.options import (
    INSPIRATIONS_SHOWN,
    TARGET,
    Option,
    Options,
    prepare_options,
)
from ideagora.benchmarks.benchmark import Judgement, Plan, Question, Scores
from ideagora.benchmarks.replies import LETTERS
from ideagora.schema import Idea, Verdict, stable_id

if TYPE_CHECKING:
    from ideagora.graphs.services import Services

GROUP = "imcq"
CORRECT = "correct"
"""The criterion of a verdict: 1 if the judge picked the target, else 0."""
MEASURES = measures(GROUP, "IMCQ", "share correct; one idea by chance: 0.25", 0.0, 1.0)

prepare = prepare_options


def questions(
    sample: Sample, ideas: Mapping[str, Sequence[Idea]], plan: Plan, prepared: Options
) -> Iterator[Question]:
    """One question per part, judge and idea; inspirations are described for the first one."""
    first = next((idea for several in ideas.values() for idea in several), None)
    for case in each_case(ideas, plan):
        yield Question(
            measure=f"{GROUP}_{case.part}",
            sample=sample.id,
            judge=case.judge,
            subject=(case.idea,),
            answer=partial(_ask, case, sample, plan, prepared),
            calls=1 + INSPIRATIONS_SHOWN * (case.idea is first and case.judge == plan.judges[0]),
        )


def scores(verdicts: Iterable[Verdict], plan: Plan) -> Scores:
    """Whether any idea is right, and the share of ideas that are."""
    return scores_per_sample(verdicts, {f"{GROUP}_{part}": CORRECT for part in PARTS})


async def _ask(case: Case, sample: Sample, plan: Plan, prepared: Options, services: Services) -> Judgement:
    text = case.text
    options = await prepared.of(services, sample, case.part, plan.protocol)
    options = shuffled(options, plan.seed, sample.id, case.part, case.idea.id)
    answer = await CHOICE_JUDGE(
        services.client,
        model=case.judge,
        part=case.part,
        idea=text,
        candidates=tuple(option.text for option in options),
    )
    shown = {letter: option.source for letter, option in zip(LETTERS, options, strict=True)}
    return Judgement(
        criteria={CORRECT: float(shown[answer.closest] == TARGET)},
        rationale=answer.reason,
        details={"options": shown, "choice": answer.closest},
    )


def shuffled(options: Sequence[Option], seed: int, *names: str) -> tuple[Option, ...]:
    """The options in an order drawn for these names, the same for every judge."""
    order = random.Random(stable_id("options", str(seed), *names))
    return tuple(order.sample(options, len(options)))
