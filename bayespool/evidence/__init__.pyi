from .bounds import (
    Bounds as Bounds,
    JudgmentCounts as JudgmentCounts,
    condensed_counts as condensed_counts,
    judgment_counts as judgment_counts,
    score_bounds as score_bounds,
)
from .composition import (
    RunCluster as RunCluster,
    cluster_runs as cluster_runs,
    composition_effects as composition_effects,
)
from .held_out import HeldOutCounts as HeldOutCounts, held_out_counts as held_out_counts
from .ideals import (
    MISSING as MISSING,
    NONRELEVANT as NONRELEVANT,
    RELEVANT as RELEVANT,
    Estimand as Estimand,
    count_within as count_within,
    states as states,
    values_on_fuller as values_on_fuller,
)
from .labels import (
    GradeCounts as GradeCounts,
    LabelConfusion as LabelConfusion,
    LabelLift as LabelLift,
    auc as auc,
    favored_organizations as favored_organizations,
    grade_counts as grade_counts,
    kappas as kappas,
    label_lift as label_lift,
)
from .predictor_table import (
    DocumentTable as DocumentTable,
    document_table as document_table,
    hidden_document_table as hidden_document_table,
)
from .predictors import (
    COMPOSITION_PREDICTORS as COMPOSITION_PREDICTORS,
    PREDICTORS as PREDICTORS,
    DocumentContext as DocumentContext,
    Predictor as Predictor,
    register_predictor as register_predictor,
)
