"""The papers that an agent starts from: a search for the topic, filtered by the relevance judge."""

from __future__ import annotations

from ideagora.graphs.services import Services
from ideagora.graphs.steps.literature_search import search_literature
from ideagora.schema import Paper, Topic


async def topic_papers(context: Services, topic: Topic, count: int) -> list[Paper]:
    """At most ``count`` papers on the topic that the relevance judge accepts, the best first.

    Papers that a benchmark supplies for the topic are used even if the judge accepts none; so is whatever
    was found if the agent's options allow papers off the topic.

    Raises:
        TopicNotCovered: the library has no paper on the topic.
    """
    allow_thin = getattr(context.options, "allow_thin", False)
    literature = await search_literature(context, topic, (), per_query=count, allow_thin=allow_thin)
    context.say(f"{len(literature.accepted)} of {len(literature.papers)} papers are relevant")
    return [graded.paper for graded in literature.accepted or literature.papers][:count]
