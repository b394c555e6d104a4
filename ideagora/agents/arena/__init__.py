"""Roles of the arena: judges of pairs, and the restyling of contestants."""
