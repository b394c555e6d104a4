"""Reports and terminal views of a run's folder. No figures are computed here."""

from ideagora.report.run.write import write_report

__all__ = ["write_report"]
