"""An agent as a function: one idea from the papers most similar to the topic.

Arguments are passed by name: topic, library, model, seed. See docs/plugins.md.
"""

from pydantic import BaseModel, Field


class Draft(BaseModel):
    """The fields of the model's answer."""

    title: str = Field(description="title of the idea, in at most twelve words")
    motivation: str = Field(description="the limitation of the papers that it addresses")
    method: str = Field(description="what to do, step by step")


def ideate(topic, library, model, seed):
    """Return one idea from the five most similar papers."""
    papers = library.search(topic.text, 5)
    if not papers:
        return []
    material = "\n\n".join(f"{paper.title}\n{paper.abstract or ''}" for paper in papers)
    draft = model(
        f"Propose one research idea on {topic.text}, from these papers:\n\n{material}", schema=Draft
    )
    return [{**draft.model_dump(), "references": [paper.id for paper in papers]}]
