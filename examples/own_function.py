"""An agent as a function: what the papers nearest to a topic leave open becomes one idea.

It gets what it asks for by name: topic, library, model, seed. See docs/plugins.md.
"""

from pydantic import BaseModel, Field


class Draft(BaseModel):
    """What the model is asked to answer."""

    title: str = Field(description="title of the idea, in at most twelve words")
    motivation: str = Field(description="the limitation of the papers that it starts from")
    method: str = Field(description="what to do, step by step")


def ideate(topic, library, model, seed):
    """Reads the five nearest papers and asks for one idea."""
    papers = library.search(topic.text, 5)
    if not papers:
        return []
    material = "\n\n".join(f"{paper.title}\n{paper.abstract or ''}" for paper in papers)
    draft = model(
        f"Propose one research idea on {topic.text}, from these papers:\n\n{material}", schema=Draft
    )
    return [{**draft.model_dump(), "references": [paper.id for paper in papers]}]
