"""Idea Arena: ideas on the same topics meet in pairs before judges that do not know who made them.

Source: Chain of Ideas (arXiv 2410.13185), section 4.4. ``--protocol paper`` follows it; the default
corrects what it leaves open (docs/arena.md).
"""
