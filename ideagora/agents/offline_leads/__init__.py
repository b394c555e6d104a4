"""Leads, which the offline model produces in place of ideas."""
