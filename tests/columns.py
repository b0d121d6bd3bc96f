"""The example with columns of runs and topics."""

from __future__ import annotations

import dataclasses
from functools import cache

from bayespool import load_example
from bayespool.collection import Collection
from bayespool.collection.attributes import Attributes


@cache
def with_columns() -> Collection:
    """Types that differ within organizations (one run has none), languages of topics, and their lengths."""
    example = load_example()
    kinds = {run: "neural" if k % 3 == 0 else "lexical" for k, run in enumerate(example.run_ids) if k != 2}
    languages = {topic: "de" if k % 2 else "en" for k, topic in enumerate(example.query_ids)}
    lengths = {topic: str(k % 5 + 1) for k, topic in enumerate(example.query_ids)}
    topics = Attributes({"language": languages, "length": lengths})
    return dataclasses.replace(example, runs=Attributes({"type": kinds}), topics=topics)
