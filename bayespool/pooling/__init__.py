"""Pooling strategies: which documents of the contributing runs are judged."""

from bayespool.pooling.active import ActiveSampling
from bayespool.pooling.bandits import EpsilonGreedy, MaxMean, Thompson, Ucb1Tuned
from bayespool.pooling.by_rank import Depth, Take
from bayespool.pooling.by_weight import DCG, RRF
from bayespool.pooling.choosing import (
    Chosen,
    Shares,
    choose,
    equal_shares,
    inclusion_of_topic,
    order_of_topic,
)
from bayespool.pooling.contributions import Contributions, Membership, contributions_of, contributions_to
from bayespool.pooling.discovery import PoolReport, describe_pool, discover_pool
from bayespool.pooling.front import MoveToFront
from bayespool.pooling.fusion import CombAnz, CombMax, CombMed, CombMin, CombMnz, CombSum
from bayespool.pooling.hedge import Hedge
from bayespool.pooling.listing import choice_frame, judged_by, qrels_of
from bayespool.pooling.loading import read_collection, read_contributors
from bayespool.pooling.plan import PoolPlan
from bayespool.pooling.pools import StrategyPool, pool_of_strategy
from bayespool.pooling.rank_biased import RBPA, RBPB, RBPC
from bayespool.pooling.registry import STRATEGIES, parse_strategy, register_strategy
from bayespool.pooling.retrieved import Retrieved
from bayespool.pooling.sampling import Sampling, Stratified, Uniform
from bayespool.pooling.strategy import Adaptive, FixedOrder, Strategy
from bayespool.pooling.voting import Borda, Condorcet

__all__ = [
    "DCG",
    "RBPA",
    "RBPB",
    "RBPC",
    "RRF",
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
    "EpsilonGreedy",
    "FixedOrder",
    "Hedge",
    "MaxMean",
    "Membership",
    "MoveToFront",
    "PoolPlan",
    "PoolReport",
    "Retrieved",
    "Sampling",
    "Shares",
    "Strategy",
    "StrategyPool",
    "Stratified",
    "Take",
    "Thompson",
    "Ucb1Tuned",
    "Uniform",
    "choice_frame",
    "choose",
    "contributions_of",
    "contributions_to",
    "describe_pool",
    "discover_pool",
    "equal_shares",
    "inclusion_of_topic",
    "judged_by",
    "order_of_topic",
    "parse_strategy",
    "pool_of_strategy",
    "qrels_of",
    "read_collection",
    "read_contributors",
    "register_strategy",
]
