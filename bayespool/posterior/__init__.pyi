from .completion import Completion as Completion
from .containers import fit as fit
from .difference import PosteriorDifference as PosteriorDifference
from .distance import (
    PoolDistance as PoolDistance,
    distance_from_pool as distance_from_pool,
    find_kinds as find_kinds,
    new_interaction as new_interaction,
    new_organization_effect as new_organization_effect,
    new_slope_effect as new_slope_effect,
    new_slopes as new_slopes,
    slope_effect as slope_effect,
    stretch_with_few as stretch_with_few,
    with_kinds as with_kinds,
)
from .estimator import (
    MODEL_NAMES as MODEL_NAMES,
    PosteriorEstimator as PosteriorEstimator,
    complete as complete,
)
from .fitting import fit_prepared as fit_prepared
from .graphs import model_graph as model_graph
from .judge_order import PosteriorJudgeOrder as PosteriorJudgeOrder
from .mixtures import (
    FittedModel as FittedModel,
    Mixture as Mixture,
    NewKind as NewKind,
    ThresholdPosterior as ThresholdPosterior,
    held_out_totals as held_out_totals,
    stacking_weights as stacking_weights,
)
from .preparation import PreparedModel as PreparedModel, ScoringProblem as ScoringProblem
from .thresholds import Threshold as Threshold
from .unknowns import Unknowns as Unknowns, find_unknowns as find_unknowns
