"""The report room: shows what is in a run's folder, and computes no figure itself."""

from ideagora.report.run.write import write_report

__all__ = ["write_report"]
