"""External agents that are programs speaking JSON lines."""
