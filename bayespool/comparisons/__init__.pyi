from .comparing import Gate as Gate, compare as compare, gate as gate
from .comparison import Comparison as Comparison
from .draws import (
    Agreement as Agreement,
    DrawComparison as DrawComparison,
    SignificantDraws as SignificantDraws,
    agree_on_draws as agree_on_draws,
    compare_across as compare_across,
    compare_runs_by_draws as compare_runs_by_draws,
    rank_probabilities as rank_probabilities,
    significant_draws as significant_draws,
    simultaneous_order as simultaneous_order,
)
from .leaderboard import Leaderboard as Leaderboard, compact_letters as compact_letters
from .outcomes import (
    Reversals as Reversals,
    brier_score as brier_score,
    calibration_table as calibration_table,
)
from .planning import (
    ComparisonPlan as ComparisonPlan,
    PairVariances as PairVariances,
    plan_comparison as plan_comparison,
)
from .reliability import (
    Reliability as Reliability,
    SystemScores as SystemScores,
    VarianceComponents as VarianceComponents,
    dependability as dependability,
    generalizability as generalizability,
    reliability as reliability,
    system_scores as system_scores,
    variance_components as variance_components,
)
from .reversing import (
    FIT_JUDGMENTS as FIT_JUDGMENTS,
    count_reversals as count_reversals,
    judgment_ranks as judgment_ranks,
    judgment_subset as judgment_subset,
)
from .sentences import comparison_sentence as comparison_sentence
from .several import compare_table as compare_table, score_several as score_several
from .significance import (
    SignificanceTest as SignificanceTest,
    adjust_p_values as adjust_p_values,
    dunnett as dunnett,
    effect_sizes as effect_sizes,
    paired_t as paired_t,
    randomization as randomization,
    tukey_hsd as tukey_hsd,
    wilcoxon as wilcoxon,
)
