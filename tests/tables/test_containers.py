"""Containers hold what they are made of, and are the same after a file."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from bayespool.tables import build_container, container_bytes
from bayespool.tables.containers import container_of_bytes, variable_name


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


def test_container_has_groups_axes_and_texts() -> None:
    tree = made()
    assert set(tree.children) == {"posterior", "constant_data"}
    posterior = tree["posterior"].to_dataset()
    assert posterior["P_10"].dims == ("chain", "draw", "run_id")
    assert posterior["P_10"].sel(run_id="b").values.tolist() == [[1 / 7, 3 / 7, 5 / 7], [1, 9 / 7, 11 / 7]]
    assert posterior["mu"].dims == ("chain", "draw")
    assert "query_id" not in posterior.coords, "no variable has that axis"
    assert tree["constant_data"]["n"].dims == ("run_id",)
    assert (tree.attrs, posterior.attrs) == ({"random_seed": 1}, {})
    assert (posterior["P_10"].attrs, posterior["mu"].attrs) == ({"measure": "P@10"}, {})


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


@pytest.mark.slow
def test_file_does_not_say_when_it_was_made() -> None:
    """HDF5 counts whole seconds."""
    data = container_bytes(made())
    time.sleep(1.1)
    assert container_bytes(made()) == data
    assert container_bytes(container_of_bytes(data)) == data


def test_variable_name_is_an_identifier() -> None:
    names = {"P@10": "P_10", "nDCG@10": "nDCG_10", "RBP(p=0.5,rel=2)@10": "RBP_p_0_5_rel_2_10"}
    assert {text: variable_name(text) for text in names} == names
    assert all(map(str.isidentifier, names.values()))
