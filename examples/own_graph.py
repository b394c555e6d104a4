"""An agent as a LangGraph graph: search papers, find gaps in each, propose a method. See docs/plugins.md."""

import asyncio
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph

State = TypedDict("State", {"topic": str, "papers": list[Any], "gaps": list[str], "ideas": list[Any]})


class Agent:
    """Finds open problems in the most similar papers, and proposes a method for them."""

    def graph(self):
        return StateGraph(State).add_sequence([self.search, self.read, self.write]).add_edge(START, "search")

    async def search(self, state, runtime):
        papers = await runtime.context.library.search(state["topic"], 3)
        return {"papers": [paper.model_dump(include={"id", "title", "abstract"}) for paper in papers]}

    async def read(self, state, runtime):
        calls = [runtime.context.model(f"List gaps in:\n{paper['abstract']}") for paper in state["papers"]]
        return {"gaps": await asyncio.gather(*calls)}

    async def write(self, state, runtime):
        if not (gaps := "\n".join(state["gaps"])):
            return {"ideas": []}
        method = await runtime.context.model(f"Propose a method that closes these gaps:\n{gaps}")
        idea = {"title": f"Open problems in {state['topic']}", "method": method}
        return {"ideas": [{**idea, "references": [paper["id"] for paper in state["papers"]]}]}
