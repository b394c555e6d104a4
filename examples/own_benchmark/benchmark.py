"""A benchmark of your own: could the experiment of an idea prove the idea wrong?

ideagora bench examples/own_benchmark/benchmark.py:Falsifiability direct rag
"""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field

from ideagora.benchmarks.aggregation import best_of_all, criterion, score_ideas
from ideagora.benchmarks.benchmark import Benchmark, Judgement, Measure, Question, Samples, Unscored
from ideagora.benchmarks.judge_roles import Scale, judge_role
from ideagora.benchmarks.replies import read_score
from ideagora.models.call import Answer, Inputs
from ideagora.schema import Topic

HERE = Path(__file__).parent
SCALE = Scale(1, 5)


class Sample(NamedTuple):
    """One item of the data set."""

    id: str
    topic: str


class PlanInputs(Inputs):
    """What the judge is shown: no title and no author."""

    topic: str
    plan: str


class Rating(Answer):
    """What the judge answers, the reason first."""

    reason: str = Field(description="the outcome that would refute the idea, in the plan's words")
    rating: Annotated[float, BeforeValidator(partial(read_score, highest=5))] = Field(
        description="1: no outcome would; 5: a stated threshold decides"
    )


def rate_offline(engine, inputs):
    """The judge without a model: counts words with which outcomes are stated."""
    words = inputs.plan.lower().split()
    found = [word for word in ("if", "unless", "below", "fails") if word in words]
    return {"reason": f"It has {', '.join(found) or 'no such word'}.", "rating": 1 + len(found)}


JUDGE = judge_role(
    "falsifiability_judge",  # prompts/falsifiability_judge.md
    PlanInputs,
    Rating,
    rate_offline,
    HERE / "prompts",
    check=SCALE.checks("rating"),
)


async def rate(judge, idea, services):
    """Ask one judge about one idea."""
    if idea.experiment is None:
        raise Unscored("the idea has no experiment")
    plan = "\n".join((*idea.experiment.steps, idea.experiment.refuted_if or ""))
    answer = await JUDGE(services.client, model=judge, topic=idea.topic, plan=plan)
    return Judgement({"rating": answer.rating}, answer.reason)


class Falsifiability(Benchmark[Sample]):
    """Topics, ideas on them, one rating per idea and judge."""

    name = "falsifiability"
    title = "Falsifiability"
    source = "an example of docs/benchmarks.md"
    measures = (
        Measure(
            name="falsifiable", group="falsifiable", title="falsifiable", unit="1 to 5", lowest=1, highest=5
        ),
    )

    def load(self, data):
        """The topics of a file of JSON lines."""
        lines = (data or HERE / "topics.jsonl").read_text(encoding="utf-8").splitlines()
        samples = [Sample(**json.loads(line)) for line in lines]
        return Samples({sample.id: sample for sample in samples})

    def topic(self, sample):
        """What the agents get."""
        return Topic(text=sample.topic)

    def questions(self, sample, ideas, plan, prepared):
        """One question per idea and judge."""
        for agent_ideas in ideas.values():
            for idea in agent_ideas:
                for judge in plan.judges:
                    yield Question("falsifiable", sample.id, judge, (idea,), partial(rate, judge, idea))

    def scores(self, verdicts, plan):
        """The best rating of an agent's ideas on a topic."""
        return {"falsifiable": score_ideas(verdicts, "falsifiable", criterion("rating"), best_of_all)}
