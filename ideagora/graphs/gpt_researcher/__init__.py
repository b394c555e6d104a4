"""GPT-Researcher: plan questions, answer each from the literature, combine the answers into an idea."""
