"""Published data sets: their names on the Hugging Face hub, and their download."""
