"""The AI Scientist, idea part: an archive of ideas, reflection, and novelty by searching."""
