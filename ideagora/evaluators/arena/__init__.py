"""Idea Arena: blind judges compare ideas on the same topic in pairs.

Source: Chain of Ideas (arXiv 2410.13185), section 4.4. ``--protocol paper`` follows it; the default corrects
what it leaves open (docs/arena.md).
"""
