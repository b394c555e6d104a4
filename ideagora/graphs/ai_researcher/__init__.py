"""AI-Researcher (Si et al., arXiv 2409.04109): many seed ideas, de-duplicated, expanded and ranked."""
