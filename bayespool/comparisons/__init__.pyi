from .agreement import (
    Agreement as Agreement,
    agree_on_draws as agree_on_draws,
    compare_across as compare_across,
)
from .comparing import compare as compare
from .comparison import Comparison as Comparison
from .draws import (
    DrawComparison as DrawComparison,
    compare_draws as compare_draws,
    rank_probabilities as rank_probabilities,
)
from .grading import (
    brier_score as brier_score,
    calibration_table as calibration_table,
)
from .outcomes import Reversals as Reversals
from .reliability import (
    VarianceComponents as VarianceComponents,
    dependability as dependability,
    generalizability as generalizability,
    variance_components as variance_components,
)
from .repeated_tests import SignificantDraws as SignificantDraws, significant_draws as significant_draws
from .reversing import reversals as reversals
from .shallow import (
    judgment_ranks as judgment_ranks,
    judgment_subset as judgment_subset,
)
from .significance import (
    SignificanceTest as SignificanceTest,
    adjust_p_values as adjust_p_values,
    paired_t as paired_t,
    randomization as randomization,
    tukey_hsd as tukey_hsd,
    wilcoxon as wilcoxon,
)
from .surfaces import (
    rmse_surface as rmse_surface,
)
