"""Pooling strategies: which documents of the contributing runs are judged."""

from bayespool.pooling.active import ActiveSampling
from bayespool.pooling.bandits import EpsilonGreedy, MaxMean, Thompson, Ucb1Tuned
from bayespool.pooling.by_rank import Take
from bayespool.pooling.choosing import Chosen, choose, equal_shares, inclusion_of_topic, order_of_topic
from bayespool.pooling.front import MoveToFront
from bayespool.pooling.hedge import Hedge
from bayespool.pooling.registry import (
    STRATEGIES,
    StrategyEntry,
    parse_strategy,
    register_strategy,
    strategy_text,
)
from bayespool.pooling.retrieved import Retrieved, retrieved_by
from bayespool.pooling.sampling import Sampling, Stratified, Uniform
from bayespool.pooling.strategy import Adaptive, FixedOrder, Strategy

__all__ = [
    "STRATEGIES",
    "ActiveSampling",
    "Adaptive",
    "Chosen",
    "EpsilonGreedy",
    "FixedOrder",
    "Hedge",
    "MaxMean",
    "MoveToFront",
    "Retrieved",
    "Sampling",
    "Strategy",
    "StrategyEntry",
    "Stratified",
    "Take",
    "Thompson",
    "Ucb1Tuned",
    "Uniform",
    "choose",
    "equal_shares",
    "inclusion_of_topic",
    "order_of_topic",
    "parse_strategy",
    "register_strategy",
    "retrieved_by",
    "strategy_text",
]
