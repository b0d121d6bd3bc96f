"""Results as pages: one HTML file each, which needs nothing else."""

from bayespool.pages.results import read_result
from bayespool.pages.writing import check_report, write_report

__all__ = ["check_report", "read_result", "write_report"]
