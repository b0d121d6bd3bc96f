"""Warnings of many folds are given once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from toys import toy_collection

from bayespool.collection import Collection
from bayespool.corrections import Background
from bayespool.errors import DiagnosticsWarning
from bayespool.experiments import leave_out
from bayespool.measures import Estimates


@dataclass(frozen=True)
class Doubtful(Background):
    version = "1"

    @property
    def name(self) -> str:
        return "doubtful"

    def estimate(self, collection: Collection, *rest: Any) -> tuple[Estimates, ...]:
        warnings.warn(f"look {len(collection.pooled_run_ids)} times again", DiagnosticsWarning, stacklevel=2)
        return super().estimate(collection, *rest)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_of_folds_are_given_once(n_jobs: int, tmp_path: Path) -> None:
    collection = toy_collection(pooled_run_ids=("n1", "n2", "s1"))
    for _ in range(2):  # worked out, then read back
        with pytest.warns(
            DiagnosticsWarning, match="^in 2 of 2 folds: look 1 times again and the like$"
        ) as caught:
            found = leave_out(collection, "P@3", estimators=[Doubtful()], n_jobs=n_jobs, folder=tmp_path)
        assert len(caught) == 1
        texts = ["look 1 times again", "look 2 times again"]
        assert found.warnings == tuple(("DiagnosticsWarning", text) for text in texts)
