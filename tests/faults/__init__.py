"""Faults on purpose: damaged files, kills, a model that fails. ``make faults`` runs all and prints a table.

``tests/project/test_faults.py`` runs a short sample of the same cases in the suite.
"""
