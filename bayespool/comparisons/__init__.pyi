from .agreement import (
    Agreement as Agreement,
    agree_on_draws as agree_on_draws,
    compare_across as compare_across,
    is_compared_across as is_compared_across,
    with_shared_draws as with_shared_draws,
)
from .comparing import (
    DEFAULT_COMPARED as DEFAULT_COMPARED,
    compare as compare,
    compare_scores as compare_scores,
)
from .comparison import (
    AS_THEY_STAND as AS_THEY_STAND,
    Comparison as Comparison,
)
from .draws import (
    DrawComparison as DrawComparison,
    Scope as Scope,
    compare_draws as compare_draws,
    population_draws as population_draws,
    rank_probabilities as rank_probabilities,
)
from .grading import (
    brier_score as brier_score,
    calibration_table as calibration_table,
)
from .outcomes import (
    MOST_HOLES as MOST_HOLES,
    Outcome as Outcome,
    Reversals as Reversals,
)
from .reliability import (
    VarianceComponents as VarianceComponents,
    dependability as dependability,
    generalizability as generalizability,
    variance_components as variance_components,
)
from .repeated_tests import (
    DRAW_TESTS as DRAW_TESTS,
    SignificantDraws as SignificantDraws,
    significant_draws as significant_draws,
)
from .reversing import (
    FIT_JUDGMENTS as FIT_JUDGMENTS,
    reversals as reversals,
)
from .settings import (
    ComparingSettings as ComparingSettings,
    ReversalSettings as ReversalSettings,
)
from .shallow import (
    judgment_ranks as judgment_ranks,
    judgment_subset as judgment_subset,
)
from .significance import (
    Control as Control,
    SignificanceTest as SignificanceTest,
    adjust_p_values as adjust_p_values,
    p_values as p_values,
    paired_t as paired_t,
    randomization as randomization,
    tukey_hsd as tukey_hsd,
    tukey_significant as tukey_significant,
    wilcoxon as wilcoxon,
)
from .surfaces import (
    rmse_surface as rmse_surface,
)
