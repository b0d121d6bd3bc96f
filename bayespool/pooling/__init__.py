"""Pooling strategies: which documents of the contributing runs are judged."""

from bayespool.pooling.by_rank import Depth, Take
from bayespool.pooling.by_weight import DCG, RRF
from bayespool.pooling.choosing import Chosen, Shares, choose, equal_shares, order_of_topic, shares_of
from bayespool.pooling.contributions import (
    Contributions,
    Membership,
    contributions_of,
    contributions_to,
)
from bayespool.pooling.fusion import CombAnz, CombMax, CombMed, CombMin, CombMnz, CombSum
from bayespool.pooling.listing import judged_by, qrels_of
from bayespool.pooling.rank_biased import RBPA, RBPB, RBPC
from bayespool.pooling.registry import (
    STRATEGIES,
    StrategyEntry,
    parse_strategy,
    register_strategy,
    strategy_text,
)
from bayespool.pooling.retrieved import Retrieved, retrieved_by
from bayespool.pooling.strategy import Adaptive, FixedOrder, Strategy
from bayespool.pooling.voting import Borda, Condorcet

__all__ = [
    "DCG",
    "RBPA",
    "RBPB",
    "RBPC",
    "RRF",
    "STRATEGIES",
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
    "FixedOrder",
    "Membership",
    "Retrieved",
    "Shares",
    "Strategy",
    "StrategyEntry",
    "Take",
    "choose",
    "contributions_of",
    "contributions_to",
    "equal_shares",
    "judged_by",
    "order_of_topic",
    "parse_strategy",
    "qrels_of",
    "register_strategy",
    "retrieved_by",
    "shares_of",
    "strategy_text",
]
