from .bandits import (
    EpsilonGreedy as EpsilonGreedy,
    Hedge as Hedge,
    MaxMean as MaxMean,
    MoveToFront as MoveToFront,
    Thompson as Thompson,
    Ucb1Tuned as Ucb1Tuned,
)
from .choosing import (
    Contributions as Contributions,
    Membership as Membership,
    PoolPlan as PoolPlan,
    PoolSelection as PoolSelection,
    choose as choose,
    count_contributions as count_contributions,
    equal_shares as equal_shares,
    inclusion_probabilities as inclusion_probabilities,
    judging_order as judging_order,
    restrict_judgments as restrict_judgments,
    selection_frame as selection_frame,
    selection_qrels as selection_qrels,
)
from .discovery import (
    PoolReport as PoolReport,
    describe_pool as describe_pool,
    discover_pool as discover_pool,
)
from .fusion import (
    RRF as RRF,
    Borda as Borda,
    CombAnz as CombAnz,
    CombMax as CombMax,
    CombMed as CombMed,
    CombMin as CombMin,
    CombMnz as CombMnz,
    CombSum as CombSum,
    Condorcet as Condorcet,
    Depth as Depth,
    DiscountedGain as DiscountedGain,
    Take as Take,
)
from .loading import (
    read_collection as read_collection,
    read_collections as read_collections,
    read_contributors as read_contributors,
)
from .pools import StrategyPool as StrategyPool, pool_of_strategy as pool_of_strategy
from .rank_biased import RBPA as RBPA, RBPB as RBPB, RBPC as RBPC
from .registry import (
    STOPPING_RULES as STOPPING_RULES,
    STRATEGIES as STRATEGIES,
    LeastYield as LeastYield,
    NonrelevantRun as NonrelevantRun,
    StoppingRule as StoppingRule,
    TargetRecall as TargetRecall,
    estimated_recall as estimated_recall,
    parse_stopping_rule as parse_stopping_rule,
    parse_strategy as parse_strategy,
    register_strategy as register_strategy,
    stops_at as stops_at,
)
from .sampling import (
    ActiveSampling as ActiveSampling,
    Sampling as Sampling,
    Stratified as Stratified,
    Uniform as Uniform,
)
from .strategy import (
    Adaptive as Adaptive,
    FixedOrder as FixedOrder,
    Strategy as Strategy,
    TopicRankings as TopicRankings,
)
