"""AI Idea Bench 2025 (arXiv 2504.14191): matching generated ideas with target papers."""
