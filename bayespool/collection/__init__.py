"""Runs and judgments as dense integer arrays: who ranked what where, who contributed what to the pool.

This is the only place that orders a ranking and the only one that knows organizations.

Documents are *pair codes*: every (topic, document) that a run retrieved or an assessor judged has one
integer, numbered by topic and then by document id in byte order. ``relevance[pair]`` is therefore a flat
array and each question about a ranking one vectorized look-up; within a topic a larger code is a larger
document id, which is what trec_eval's tie rule asks for.
"""

from bayespool.collection.build import (
    USER_ORGANIZATION,
    build_collection,
    collection_of,
    encoding_of,
    unjudged_collection,
)
from bayespool.collection.contents import Collection, IntArray
from bayespool.collection.contributors import sole_contributor
from bayespool.collection.encoding import Order
from bayespool.collection.judges import Judge, add_judges, judged_by
from bayespool.collection.negatives import LISTED, UNJUDGED, Negative, Negatives
from bayespool.collection.no_pool import say_no_pool, warn_of_no_pool
from bayespool.collection.own import OwnJudgments, check_own_judgments
from bayespool.collection.pools import DepthPool, Pool
from bayespool.collection.rankings import Rankings, blocks, longest, ranked, rows, within

__all__ = [
    "LISTED",
    "UNJUDGED",
    "USER_ORGANIZATION",
    "Collection",
    "DepthPool",
    "IntArray",
    "Judge",
    "Negative",
    "Negatives",
    "Order",
    "OwnJudgments",
    "Pool",
    "Rankings",
    "add_judges",
    "blocks",
    "build_collection",
    "check_own_judgments",
    "collection_of",
    "encoding_of",
    "judged_by",
    "longest",
    "ranked",
    "rows",
    "say_no_pool",
    "sole_contributor",
    "unjudged_collection",
    "warn_of_no_pool",
    "within",
]
