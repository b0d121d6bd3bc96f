"""Results as text and files: number formatting, and nothing that computes."""

from bayespool.report.experiments import print_leave_out, write_leave_out
from bayespool.report.files import check_output, check_paper_output, write_scores
from bayespool.report.folder import check_folder
from bayespool.report.imputing import print_imputations, write_imputations
from bayespool.report.text import print_scores

__all__ = [
    "check_folder",
    "check_output",
    "check_paper_output",
    "print_imputations",
    "print_leave_out",
    "print_scores",
    "write_imputations",
    "write_leave_out",
    "write_scores",
]
