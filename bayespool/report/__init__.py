"""Results as text and files: number formatting, and nothing that computes."""

from bayespool.report.files import check_output, write_scores
from bayespool.report.text import print_scores

__all__ = ["check_output", "print_scores", "write_scores"]
