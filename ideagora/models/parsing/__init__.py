"""From the text of a model's reply to a typed answer."""
