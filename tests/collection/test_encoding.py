"""Runs that are encoded a few at a time make the collection that they make all at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayespool import build_collection, read_collection, read_runs, run_from_frame
from bayespool.collection import Collection, qrels_from_frame
from bayespool.collection.encoding import Encoding
from bayespool.errors import InputError
from bayespool.experiments import simulate_example


def read(folder: Path) -> Collection:
    return read_collection(
        folder / "qrels.txt",
        folder / "new",
        pool=folder / "pool",
        organizations=folder / "organizations.csv",
        scores=True,
    )


def test_batches_make_the_same_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_example().write(tmp_path)
    whole = read(tmp_path)
    sizes: list[int] = []
    encode = Encoding.encode

    def counted(self: Encoding, runs: list[object]) -> object:
        sizes.append(len(runs))
        return encode(self, runs)  # type: ignore[arg-type]

    monkeypatch.setattr(Encoding, "encode", counted)
    for batch, fewest in ((1, 1), (200_000, 2)):
        sizes.clear()
        monkeypatch.setattr("bayespool.collection.readers.BATCH", batch)
        parts = read(tmp_path)
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


def test_ties_wait_for_documents_that_later_runs_have() -> None:
    """Tied documents stand by descending id, whatever numbers they got first."""
    qrels = qrels_from_frame({"1": {"m": 1}, "2": {"m": 1}})
    encoding = Encoding(qrels, scores=True)
    tied = run_from_frame({"1": {"b": 1.0, "z": 1.0, "a": 2.0, "m": 1.0}, "2": {"c": 0.0, "d": -0.0}}, "r")
    (encoded,) = encoding.encode([tied])
    assert encoded.tied is not None
    assert encoded.tied.tolist() == [False, False, True, True, False, True]
    assert encoded.length.tolist() == [4, 2]
    assert encoded.document[0] == 3  # the judged document is the first, then those of the run as they come
    late = run_from_frame({"1": {"y": 1.0, "b": 1.0}}, "s")
    encoding.encode([late])
    pairs = encoding.finish()
    assert pairs.doc_ids.to_pylist() == ["a", "b", "m", "y", "z", "c", "d", "m"]
    assert pairs.n_present.tolist() == [5, 3]
    assert pairs.judged.tolist() == [2, 7]
    collection = build_collection([tied, late], qrels)
    names = collection.doc_ids.to_pylist()
    assert [names[pair] for pair in collection.document[0, 0]] == ["a", "z", "m", "b"]
    assert [names[pair] for pair in collection.document[1, 0] if pair >= 0] == ["y", "b"]


def test_a_run_without_ranks_is_refused_where_they_are_asked_for() -> None:
    encoding = Encoding(qrels_from_frame({"1": {"m": 1}}), order="rank")
    with pytest.raises(InputError, match="has no ranks to order by"):
        encoding.encode([run_from_frame({"1": {"a": 1.0}}, "r")])
