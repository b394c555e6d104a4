"""The papers that an agent starts from: a search for the topic, filtered by the relevance judge."""

from __future__ import annotations

from ideagora.agents.literature import RELEVANCE_JUDGE
from ideagora.agents.views import paper_brief
from ideagora.errors import TopicNotCovered
from ideagora.graphs.services import Services
from ideagora.schema import Paper, Topic


async def topic_papers(context: Services, topic: Topic, count: int) -> list[Paper]:
    """At most ``count`` papers on the topic that the relevance judge accepts, the most similar first.

    Papers that a benchmark supplies for the topic are used even if the judge accepts none.

    Raises:
        TopicNotCovered: the library has no paper on the topic.
    """
    found = [scored.paper for scored in await context.library.search(topic.text, count)]
    if not found:
        raise TopicNotCovered(
            "The library has no paper that may be used for this topic. Use a later --before, or exclude "
            "fewer papers."
        )
    answer = await RELEVANCE_JUDGE(
        context.client, topic=topic.text, papers=tuple(paper_brief(paper) for paper in found)
    )
    relevant = sorted(judgement.paper for judgement in answer.judgements if judgement.relevant)
    if not relevant and not topic.inspirations:
        titles = [f"{paper.title} ({paper.year})" for paper in found[:5]]
        raise TopicNotCovered(
            f"The library has nothing on the topic “{topic.text[:80]}”. Reword it in English, or add papers "
            "(--source, ideagora library add).",
            titles,
        )
    context.say(f"{len(relevant)} of {len(found)} papers are relevant")
    return [found[number] for number in relevant] or found
