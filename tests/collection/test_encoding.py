"""Runs that are encoded a few at a time make the collection that they make all at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bayespool import read_collection, read_runs
from bayespool.collection.encoding import Encoding
from bayespool.experiments import simulate_example


def test_batches_make_the_same_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_example().write(tmp_path)
    files = {"pool": tmp_path / "pool", "organizations": tmp_path / "organizations.csv"}
    read = partial(read_collection, tmp_path / "qrels.txt", tmp_path / "new", **files, scores=True)
    whole, sizes, encode = read(), list[int](), Encoding.encode

    def counted(self: Encoding, runs: list[object]) -> object:
        sizes.append(len(runs))
        return encode(self, runs)  # type: ignore[arg-type]

    monkeypatch.setattr(Encoding, "encode", counted)
    for batch, fewest in ((1, 1), (200_000, 2)):
        sizes.clear()
        monkeypatch.setattr("bayespool.collection.readers.BATCH", batch)
        parts = read()
        assert min(sizes[:-1]) >= fewest
        assert len(sizes) > 2
        assert sum(sizes) == len(whole.run_ids)
        assert parts.fingerprint == whole.fingerprint
        assert np.array_equal(np.asarray(parts.score), np.asarray(whole.score), equal_nan=True)


def test_files_are_read_in_their_order_over_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_example().write(tmp_path)
    monkeypatch.setattr("bayespool.collection.readers.BATCH", 1)
    done: list[tuple[int, int]] = []
    runs = read_runs(tmp_path / "pool", progress=lambda n, total: done.append((n, total)))
    assert [run.run_id for run in runs] == sorted(run.run_id for run in runs)
    assert done == [(n, len(runs)) for n in range(1, len(runs) + 1)]
