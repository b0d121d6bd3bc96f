"""Lists of systems, and runs of a system that leave the pool together."""

from __future__ import annotations

from pathlib import Path

import pytest
from trec_files import refused

from bayespool import load_example
from bayespool.collection.systems import systems_of, with_systems
from bayespool.errors import InputError


def test_a_list_that_says_nothing_clear_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "systems.csv"
    for text, reason in {
        "run_id,system\na,x\na,y\n": "run 'a' is 'y' here and 'x' before",
        "run_id,system\na,\n": "run 'a' has no system",
        "run_id,system\n": "lists no run",
        "run_id,other\na,x\n": "system",
    }.items():
        path.write_text(text)
        assert reason in str(refused(systems_of, path)), text


def test_replicates_are_of_one_organization_and_leave_together() -> None:
    example = load_example()
    merged = with_systems(example, (("north-1", "s"), ("south-1", "s"), ("elsewhere", "t")))
    of = dict(zip(merged.run_ids, merged.organization, strict=True))
    north = example.organizations.index("north")
    assert of["north-1"] == of["south-1"] == of["north-2"] == north
    assert of["south-2"] == example.organizations.index("south")
    alone, together = (c.unpool(organization="north") for c in (example, merged))
    gone = {run for run in example.pooled_run_ids if run not in together.pooled_run_ids}
    assert gone == {*example.pooled_run_ids} - {*alone.pooled_run_ids} | {"south-1"}
    with pytest.raises(InputError, match="no run of the list of systems"):
        with_systems(example, (("elsewhere", "t"),))
