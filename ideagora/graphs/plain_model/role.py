"""The only role of a plain model: a keyword in, an idea of at most 100 words out.

Source: LiveIdeaBench (arXiv 2412.17596), supplementary notes 1.1 and 5. The prompt is our own.
"""

from __future__ import annotations

from pathlib import Path

from ideagora.agents.role import Role
from ideagora.models.call import Inputs, Reply
from ideagora.models.offline import ExtractiveModel


class KeywordInputs(Inputs):
    """A keyword, and whether the academic wording is used, after a refusal."""

    keyword: str
    is_academic: bool


def _vary_keyword(engine: ExtractiveModel, inputs: KeywordInputs) -> Reply:
    """A plan that names only the keyword, as the offline model knows nothing about it."""
    return Reply(
        text=f"Without knowledge of its own, the offline model can only outline a study of {inputs.keyword}: "
        "list the factors that are thought to matter, change one at a time and keep the others fixed, and "
        "compare each change with the unchanged case."
    )


KEYWORD_IDEATOR = Role(
    name="keyword_idea",
    group="main",
    inputs=KeywordInputs,
    answer=Reply,
    offline=_vary_keyword,
    prompts=Path(__file__).parent / "prompts",
)
