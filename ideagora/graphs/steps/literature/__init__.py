"""Steps on literature: search, relevance, reading, entities."""
