"""The report and terminal views of a run."""
