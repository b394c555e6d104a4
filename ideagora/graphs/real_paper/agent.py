"""The agent ``real-paper`` for the registry: ``real-paper:FILE_OR_ID``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ideagora.errors import UsageError
from ideagora.graphs.agent import Agent, Origin, imported
from ideagora.graphs.drafts import Draft, one_idea
from ideagora.schema import Idea, Topic, serialize

if TYPE_CHECKING:
    from ideagora.graphs.real_paper.graph import RealPaperState

NAME = "real-paper"
WHICH = (
    "Which paper? Give a file or an id: --agent real-paper:paper.pdf or --agent real-paper:arxiv:2201.11903."
)


class RealPaperOptions(BaseModel):
    """Which paper to use; both fields are part of the run's identity."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper: str = ""
    """The file's name, or the id."""
    content: str | None = None
    """SHA-256 of the file, so that a changed file is another run; ``None`` for a paper in the library."""


def agent(which: str = "") -> Agent:
    """The agent for one paper.

    Args:
        which: a file, or an id in the library; empty for an agent that can be inspected but not run.

    Raises:
        UsageError: the file does not exist or cannot be read.
    """
    options = _options(which)
    own_topic = f"topic of {options.paper}" if which else None
    return Agent(
        name=NAME,
        about="Extracts topic, idea and experiment from a published paper, without its results; "
        "real-paper:FILE_OR_ID.",
        source="Real Paper baseline of Chain of Ideas, arXiv 2410.13185",
        options=options,
        build=imported("ideagora.graphs.real_paper.graph:build_graph"),
        start=partial(_start, own_topic),
        ideas=_ideas,
        expected_calls=lambda options: {"reader": 3},
        steps=("read_paper", "extract_topic", "extract_idea", "extract_experiment"),
        target_paper=which or None,
        own_topic=own_topic,
        unready=None if which else WHICH,
    )


def _options(which: str) -> RealPaperOptions:
    from ideagora.retrieval.ingest.scan import file_digest
    from ideagora.retrieval.restrictions.target_paper import is_file_name

    if not which or not is_file_name(which):
        return RealPaperOptions(paper=which)
    path = Path(which).expanduser()
    if not path.is_file():
        raise UsageError(
            f"There is no file {which}. Check the path, or give the id of a paper in the library."
        )
    try:
        return RealPaperOptions(paper=path.name, content=file_digest(path))
    except OSError as error:
        raise UsageError(f"{which} cannot be read: {error.strerror or error}.") from None


def _start(own_topic: str | None, topic: Topic) -> RealPaperState:
    if own_topic is None:
        raise UsageError(WHICH)
    return {"topic": serialize(topic), "given": topic.text != own_topic}


def _ideas(state: RealPaperState, origin: Origin) -> list[Idea]:
    if "draft" not in state:
        return []
    own = state["own"]
    seen = {"paper_id": own["paper"]["id"], "paper_title": own["paper"]["title"], "read_from": own["kind"]}
    draft: Draft = {**state["draft"], "extra": seen}
    return [one_idea(state["topic"]["text"], draft, state.get("plan"), origin)]
