"""The Chain-of-Ideas agent (arXiv 2410.13185) as LangGraph state machines."""
