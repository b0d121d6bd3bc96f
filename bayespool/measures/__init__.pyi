from .average_precision import AveragePrecision as AveragePrecision, ContextPrecision as ContextPrecision
from .base import (
    MEASURES as MEASURES,
    Additive as Additive,
    Ideal as Ideal,
    Measure as Measure,
    Normalized as Normalized,
    Tally as Tally,
    register_measure as register_measure,
)
from .errors import (
    kendall_tau_b as kendall_tau_b,
    mean_absolute_error as mean_absolute_error,
    mean_error as mean_error,
    overtaken_runs as overtaken_runs,
    rank_biased_overlap as rank_biased_overlap,
    root_mean_squared_error as root_mean_squared_error,
    system_rank_error as system_rank_error,
    tau_ap as tau_ap,
)
from .estimates import Diagnostics as Diagnostics, Estimates as Estimates, Estimator as Estimator
from .gain import DCG as DCG, NDCG as NDCG, SDCG as SDCG
from .parsing import parse_measure as parse_measure, parse_measures as parse_measures
from .populations import estimate_population as estimate_population, population_draws as population_draws
from .precision import (
    ERR as ERR,
    Judged as Judged,
    NonrelevantShare as NonrelevantShare,
    Precision as Precision,
    Recall as Recall,
    ReciprocalRank as ReciprocalRank,
    Success as Success,
)
from .rank_biased import INST as INST, RBP as RBP
from .values import Values as Values, equal_tailed_interval as equal_tailed_interval
