"""An agent as a LangGraph state machine: find papers, read them, write. See docs/plugins.md."""

import asyncio
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph

State = TypedDict("State", {"topic": str, "papers": list[Any], "gaps": list[str], "ideas": list[Any]})


class Agent:
    """Asks what the nearest papers leave open, and for a method that closes it."""

    def graph(self):
        return StateGraph(State).add_sequence([self.find, self.read, self.write]).add_edge(START, "find")

    async def find(self, state, runtime):
        papers = await runtime.context.library.search(state["topic"], 3)
        return {"papers": [paper.model_dump(include={"id", "title", "abstract"}) for paper in papers]}

    async def read(self, state, runtime):
        asked = [runtime.context.model(f"What is open in:\n{paper['abstract']}") for paper in state["papers"]]
        return {"gaps": await asyncio.gather(*asked)}

    async def write(self, state, runtime):
        if not state["gaps"]:
            return {"ideas": []}
        method = await runtime.context.model("Propose a method for this:\n\n" + "\n".join(state["gaps"]))
        idea = {"title": f"Open ends of {state['topic']}", "method": method}
        return {"ideas": [{**idea, "references": [paper["id"] for paper in state["papers"]]}]}
