"""Pooling strategies: which documents of the contributing runs are judged."""

# the order of registration is that of lists
from bayespool.pooling.by_rank import RRF, Depth, DiscountedGain, Take

# isort: split
from bayespool.pooling.sampling import ActiveSampling, Sampling, Stratified, Uniform

# isort: split
from bayespool.pooling.bandits import EpsilonGreedy, Hedge, MaxMean, MoveToFront, Thompson, Ucb1Tuned
from bayespool.pooling.choosing import (
    Chosen,
    Contributions,
    Membership,
    Shares,
    choice_frame,
    choose,
    contributions_of,
    contributions_to,
    equal_shares,
    inclusion_of_topic,
    judged_by,
    order_of_topic,
    qrels_of_choice,
)
from bayespool.pooling.collection_files import read_collections
from bayespool.pooling.discovery import PoolReport, describe_pool, discover_pool
from bayespool.pooling.fusion import Borda, CombAnz, CombMax, CombMed, CombMin, CombMnz, CombSum, Condorcet
from bayespool.pooling.loading import read_collection, read_contributors
from bayespool.pooling.pools import PoolPlan, StrategyPool, pool_of_strategy
from bayespool.pooling.rank_biased import RBPA, RBPB, RBPC
from bayespool.pooling.registry import STRATEGIES, parse_strategy, register_strategy
from bayespool.pooling.stopping import (
    STOPPING_RULES,
    LeastYield,
    NonrelevantRun,
    StoppingRule,
    TargetRecall,
    estimated_recall,
    parse_stopping_rule,
    stops_at,
)
from bayespool.pooling.strategy import Adaptive, FixedOrder, Strategy, TopicRankings

__all__ = [
    "RBPA",
    "RBPB",
    "RBPC",
    "RRF",
    "STOPPING_RULES",
    "STRATEGIES",
    "ActiveSampling",
    "Adaptive",
    "Borda",
    "Chosen",
    "CombAnz",
    "CombMax",
    "CombMed",
    "CombMin",
    "CombMnz",
    "CombSum",
    "Condorcet",
    "Contributions",
    "Depth",
    "DiscountedGain",
    "EpsilonGreedy",
    "FixedOrder",
    "Hedge",
    "LeastYield",
    "MaxMean",
    "Membership",
    "MoveToFront",
    "NonrelevantRun",
    "PoolPlan",
    "PoolReport",
    "Sampling",
    "Shares",
    "StoppingRule",
    "Strategy",
    "StrategyPool",
    "Stratified",
    "Take",
    "TargetRecall",
    "Thompson",
    "TopicRankings",
    "Ucb1Tuned",
    "Uniform",
    "choice_frame",
    "choose",
    "contributions_of",
    "contributions_to",
    "describe_pool",
    "discover_pool",
    "equal_shares",
    "estimated_recall",
    "inclusion_of_topic",
    "judged_by",
    "order_of_topic",
    "parse_stopping_rule",
    "parse_strategy",
    "pool_of_strategy",
    "qrels_of_choice",
    "read_collection",
    "read_collections",
    "read_contributors",
    "register_strategy",
    "stops_at",
]
