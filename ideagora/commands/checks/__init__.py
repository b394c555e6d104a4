"""Commands that check a setup: an agent, a source of literature, this machine."""
