"""Pure functions that choose which ideas are compared next, for agents and for the arena."""
