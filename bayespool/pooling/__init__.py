"""Pooling strategies: which documents of the contributing runs are judged."""

from bayespool.pooling.by_rank import Take
from bayespool.pooling.choosing import Chosen, choose, equal_shares, order_of_topic
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
