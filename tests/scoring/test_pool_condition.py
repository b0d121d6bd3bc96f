"""What headings and sentences say of the evidence where organizations cannot be left out of a pool."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from published_sample import write_sample
from toys import toy_collection

from bayespool.collection import Collection, qrels_from_frame
from bayespool.errors import NoPoolWarning
from bayespool.pooling import describe_pool, read_collection
from bayespool.scoring.readable import pool_condition


def condition(collection: Collection) -> str:
    return pool_condition({"pool": dataclasses.asdict(describe_pool(collection))})


def test_conditions_say_what_posteriors_rest_on(tmp_path: Path) -> None:
    toy = toy_collection()
    assert condition(toy) == ""
    alone = dataclasses.replace(toy, pooled=np.zeros_like(toy.pooled))
    assert condition(alone) == "no pool, posteriors on priors alone"
    own = alone.add_judgments(qrels_from_frame({"1": {"l": 1, "d": 0}}))
    assert condition(own) == "no pool, posteriors on priors and judgments of your own"
    assert condition(toy.unpool(["s1", "s2"])) == "a pool of one organization, posteriors on priors alone"
    sample, _, run = write_sample(tmp_path)
    with pytest.warns(NoPoolWarning):
        read = read_collection(sample, run)
    assert condition(read) == "no pool, posteriors on the published sample"
