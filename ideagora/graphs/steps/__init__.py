"""Steps that several agents share, each with its own small state or none."""
