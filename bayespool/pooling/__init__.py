"""Pooling strategies: which documents of the contributing runs are judged."""

from bayespool.pooling.by_rank import Take
from bayespool.pooling.choosing import Chosen, choose, equal_shares, order_of_topic
from bayespool.pooling.contributions import (
    Contributions,
    Membership,
    contributions_of,
    contributions_to,
)
from bayespool.pooling.listing import qrels_of
from bayespool.pooling.registry import (
    STRATEGIES,
    StrategyEntry,
    parse_strategy,
    register_strategy,
    strategy_text,
)
from bayespool.pooling.retrieved import Retrieved, retrieved_by
from bayespool.pooling.strategy import Adaptive, FixedOrder, Strategy

__all__ = [
    "STRATEGIES",
    "Adaptive",
    "Chosen",
    "Contributions",
    "FixedOrder",
    "Membership",
    "Retrieved",
    "Strategy",
    "StrategyEntry",
    "Take",
    "choose",
    "contributions_of",
    "contributions_to",
    "equal_shares",
    "order_of_topic",
    "parse_strategy",
    "qrels_of",
    "register_strategy",
    "retrieved_by",
    "strategy_text",
]
