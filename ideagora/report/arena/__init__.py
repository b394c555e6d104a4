"""Page, plots and terminal views of an arena."""
