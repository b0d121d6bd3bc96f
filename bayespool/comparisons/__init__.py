"""Comparisons of runs: differences, ranks and probabilities over draws of completed judgments; significance
tests, separability, reversals; reliability of the whole comparison.
"""

from bayespool.comparisons.agreement import (
    Agreement,
    agree_on_draws,
    compare_across,
    is_compared_across,
    with_shared_draws,
)
from bayespool.comparisons.comparing import DEFAULT_COMPARED, compare, compare_scores
from bayespool.comparisons.comparison import AS_THEY_STAND, Comparison
from bayespool.comparisons.draws import (
    DrawComparison,
    Scope,
    compare_draws,
    population_draws,
    rank_probabilities,
)
from bayespool.comparisons.grading import brier_score, calibration_table
from bayespool.comparisons.outcomes import MOST_HOLES, Outcome, Reversals
from bayespool.comparisons.reliability import (
    VarianceComponents,
    dependability,
    generalizability,
    variance_components,
)
from bayespool.comparisons.repeated_tests import DRAW_TESTS, SignificantDraws, significant_draws
from bayespool.comparisons.reversing import FIT_JUDGMENTS, reversals
from bayespool.comparisons.shallow import judgment_ranks, judgment_subset
from bayespool.comparisons.significance import (
    Control,
    SignificanceTest,
    adjust_p_values,
    p_values,
    paired_t,
    randomization,
    tukey_hsd,
    tukey_significant,
    wilcoxon,
)
from bayespool.comparisons.surfaces import rmse_surface

__all__ = [
    "AS_THEY_STAND",
    "DEFAULT_COMPARED",
    "DRAW_TESTS",
    "FIT_JUDGMENTS",
    "MOST_HOLES",
    "Agreement",
    "Comparison",
    "Control",
    "DrawComparison",
    "Outcome",
    "Reversals",
    "Scope",
    "SignificanceTest",
    "SignificantDraws",
    "VarianceComponents",
    "adjust_p_values",
    "agree_on_draws",
    "brier_score",
    "calibration_table",
    "compare",
    "compare_across",
    "compare_draws",
    "compare_scores",
    "dependability",
    "generalizability",
    "is_compared_across",
    "judgment_ranks",
    "judgment_subset",
    "p_values",
    "paired_t",
    "population_draws",
    "randomization",
    "rank_probabilities",
    "reversals",
    "rmse_surface",
    "significant_draws",
    "tukey_hsd",
    "tukey_significant",
    "variance_components",
    "wilcoxon",
    "with_shared_draws",
]
