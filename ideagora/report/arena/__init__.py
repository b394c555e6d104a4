"""The arena's page, plots and terminal views."""
