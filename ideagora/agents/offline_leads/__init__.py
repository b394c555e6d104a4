"""Leads: what the offline model produces in place of ideas."""
