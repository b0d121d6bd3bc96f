"""Measures of every family, for tests that hold for all."""

from __future__ import annotations

FAMILIES = (
    "P@10", "P(rel=2)@10", "Success(rel=2)@5", "RR@10", "R@10", "AP@10", "nDCG@10",
    "nDCG(ideal='judged')@10", "nDCG(dcg='exp-log2')@5", "DCG@10", "SDCG@10", "RBP(p=0.8)@10", "ERR@10",
    "INST@10", "AntiP@10",
)  # fmt: skip
"""Every family but that of Judged, and some of another threshold, ideal or gain."""

BELOW_THE_POOL = ("R@20", "AP@15", "P@20")
"""Measures that look deeper than the example's pool."""
