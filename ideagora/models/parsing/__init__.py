"""Parse the text of a model's reply as a typed answer."""
