"""Containers hold what they are made of, and are the same after a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayespool.tables import build_container, container_bytes
from bayespool.tables.containers import container_of_bytes


def made() -> Any:
    """Two chains of three draws of two runs, and the runs' bounds."""
    return build_container(
        {
            "posterior": {"P_10": np.arange(12.0).reshape(2, 3, 2) / 7, "mu": np.ones((2, 3))},
            "constant_data": {"n": np.array([3, 4])},
        },
        dims={"P_10": ("run_id",), "n": ("run_id",)},
        coords={"run_id": ("a", "b"), "query_id": ("1",)},
        attrs={"random_seed": 1},
        texts={"P_10": {"measure": "P@10"}},
    )


def test_groups_of_draws_have_chains_and_others_have_not() -> None:
    sampled = ["posterior", "posterior_predictive", "predictions", "prior", "prior_predictive"]
    sampled += ["log_likelihood", "sample_stats"]
    groups = {name: {f"{name}_x": np.zeros((2, 3))} for name in [*sampled, "observed_data"]}
    tree = build_container(groups, dims={"observed_data_x": ("run_id", "query_id")}, coords={})
    axes = {name: tree[name][f"{name}_x"].dims for name in groups}
    assert axes == dict.fromkeys(sampled, ("chain", "draw")) | {"observed_data": ("run_id", "query_id")}


def test_container_is_the_same_after_a_file() -> None:
    read = container_of_bytes(container_bytes(made()))
    assert read.identical(made())
    assert container_of_bytes(container_bytes(read)).identical(made())
    with pytest.raises((OSError, ValueError)):
        container_of_bytes(b"no such thing")
