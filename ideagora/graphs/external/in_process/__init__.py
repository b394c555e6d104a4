"""External agents that run in this process: callables and LangGraph graphs."""
