"""Pooling strategies: which documents of the contributing runs are judged."""

from bayespool.pooling.by_rank import Depth, Take
from bayespool.pooling.by_weight import DCG, RRF
from bayespool.pooling.choosing import Chosen, choose, equal_shares, order_of_topic
from bayespool.pooling.fusion import CombAnz, CombMax, CombMed, CombMin, CombMnz, CombSum
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
    "Depth",
    "FixedOrder",
    "Retrieved",
    "Strategy",
    "StrategyEntry",
    "Take",
    "choose",
    "equal_shares",
    "order_of_topic",
    "parse_strategy",
    "register_strategy",
    "retrieved_by",
    "strategy_text",
]
