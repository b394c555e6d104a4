"""The agents ``model:NAME``: a language model as it is, without an agent around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from ideagora.errors import UsageError
from ideagora.graphs.agent import Agent, Origin, imported, set_option
from ideagora.graphs.drafts import usage_name
from ideagora.importing.sections import title_from_text
from ideagora.schema import Idea, Usage, stable_id

if TYPE_CHECKING:
    from ideagora.graphs.plain_model.graph import ModelIdea, ModelState

REFUSED_FIRST = "refused_first"
"""Key in an idea's ``extra``: the model refused at first and answered the academic wording."""
MAX_REASONING = 20_000
"""Characters of the reasoning that are kept with an idea."""


class ModelOptions(BaseModel):
    """Options of the agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ideas: int = Field(default=1, ge=1, le=100)
    """Number of ideas, each requested without showing the others."""


def agent(model: str) -> Agent:
    """The agent of a model.

    Raises:
        UsageError: the name is empty.
    """
    if not model.strip():
        raise UsageError("model: needs the name of a model, e.g. model:openai/gpt-4o or model:offline.")
    return Agent(
        name=f"model:{model}",
        about=f"Asks {model} for a short idea, with one call and nothing but the topic.",
        source="LiveIdeaBench (arXiv 2412.17596), supplementary note 1.1",
        options=ModelOptions(),
        build=imported("ideagora.graphs.plain_model.graph:build_graph"),
        ideas=_ideas,
        expected_calls=lambda options: {"main": getattr(options, "ideas", 1)},
        set_ideas=set_option("ideas"),
        steps=("write_idea",),
        model=model,
        reads_literature=False,
    )


def _ideas(state: ModelState, origin: Origin) -> list[Idea]:
    drafts = sorted(state.get("drafts", []), key=lambda draft: draft["number"])
    return [_idea(state["topic"]["text"], draft, origin) for draft in drafts]


def _idea(topic: str, draft: ModelIdea, origin: Origin) -> Idea:
    label = usage_name("idea", draft["number"])
    extra = {REFUSED_FIRST: True} if draft["refused_first"] else {}
    reasoning = draft["reasoning"][:MAX_REASONING]
    return Idea(
        id=stable_id(origin.agent, topic, str(draft["number"]), draft["idea"]),
        topic=topic,
        agent=origin.agent,
        kind="lead" if origin.model == "offline" else "idea",
        title=title_from_text(draft["idea"]),
        method=draft["idea"],
        model=origin.model,
        usage=origin.usage.get(label, Usage()),
        created=origin.answered.get(label),
        extra={**extra, **({"reasoning": reasoning} if reasoning else {})},
    )
