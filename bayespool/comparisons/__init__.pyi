from .agreement import (
    Agreement as Agreement,
)
from .agreement import (
    agree_on_draws as agree_on_draws,
)
from .agreement import (
    compare_across as compare_across,
)
from .agreement import (
    is_compared_across as is_compared_across,
)
from .agreement import (
    with_shared_draws as with_shared_draws,
)
from .comparing import (
    DEFAULT_COMPARED as DEFAULT_COMPARED,
)
from .comparing import (
    compare as compare,
)
from .comparing import (
    compare_scores as compare_scores,
)
from .comparison import (
    AS_THEY_STAND as AS_THEY_STAND,
)
from .comparison import (
    Comparison as Comparison,
)
from .draws import (
    DrawComparison as DrawComparison,
)
from .draws import (
    Scope as Scope,
)
from .draws import (
    compare_draws as compare_draws,
)
from .draws import (
    population_draws as population_draws,
)
from .draws import (
    rank_probabilities as rank_probabilities,
)
from .grading import (
    brier_score as brier_score,
)
from .grading import (
    calibration_table as calibration_table,
)
from .outcomes import (
    MOST_HOLES as MOST_HOLES,
)
from .outcomes import (
    Outcome as Outcome,
)
from .outcomes import (
    Reversals as Reversals,
)
from .reliability import (
    VarianceComponents as VarianceComponents,
)
from .reliability import (
    dependability as dependability,
)
from .reliability import (
    generalizability as generalizability,
)
from .reliability import (
    variance_components as variance_components,
)
from .repeated_tests import (
    DRAW_TESTS as DRAW_TESTS,
)
from .repeated_tests import (
    SignificantDraws as SignificantDraws,
)
from .repeated_tests import (
    significant_draws as significant_draws,
)
from .reversing import (
    FIT_JUDGMENTS as FIT_JUDGMENTS,
)
from .reversing import (
    reversals as reversals,
)
from .settings import (
    ComparingSettings as ComparingSettings,
)
from .settings import (
    ReversalSettings as ReversalSettings,
)
from .shallow import (
    judgment_ranks as judgment_ranks,
)
from .shallow import (
    judgment_subset as judgment_subset,
)
from .significance import (
    Control as Control,
)
from .significance import (
    SignificanceTest as SignificanceTest,
)
from .significance import (
    adjust_p_values as adjust_p_values,
)
from .significance import (
    p_values as p_values,
)
from .significance import (
    paired_t as paired_t,
)
from .significance import (
    randomization as randomization,
)
from .significance import (
    tukey_hsd as tukey_hsd,
)
from .significance import (
    tukey_significant as tukey_significant,
)
from .significance import (
    wilcoxon as wilcoxon,
)
from .surfaces import (
    rmse_surface as rmse_surface,
)
