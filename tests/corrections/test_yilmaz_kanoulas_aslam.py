"""infNDCG and infAP of a published stratified sample: values of NIST's sample_eval."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from published_sample import INF_AP, INF_NDCG, write_sample

from bayespool import build_collection, read_collection
from bayespool.corrections import HorvitzThompson, InferredAP, InferredNDCG

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")


def test_values_are_those_of_sample_eval(tmp_path: Path) -> None:
    qrels, _, run = write_sample(tmp_path)
    collection = read_collection(qrels, run)
    (ap,) = InferredAP().estimate(collection, "r", "AP@1000")
    (ndcg,) = InferredNDCG().estimate(collection, "r", "nDCG@1000")
    assert ap.per_topic[0] == pytest.approx(INF_AP, abs=1e-11)
    assert ndcg.per_topic[0] == pytest.approx(INF_NDCG, abs=1e-11)
    assert ndcg.notes == ("documents that could not be sampled count as not relevant: 9",)


def test_at_a_cutoff_by_hand(tmp_path: Path) -> None:
    """Of the run's top 3 a (2) is of a stratum judged in full, and b (1) and c of one of which a half is: it
    counts twice, and so do the two of the ideal ranking, 2 1 1.
    """
    run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1 2\n1 0 b 2 1\n1 0 c 2 -1\n")
    collection = build_collection({"r": run}, path)
    (found,) = InferredNDCG().estimate(collection, "r", "nDCG@3")
    gained, ideal = 2 + 2 * 1 / np.log2(3), 2 + 1 / np.log2(3) + 1 / 2
    assert found.per_topic[0, 0] == pytest.approx(gained / ideal, abs=1e-12)
    (weighted,) = HorvitzThompson(within_bounds=False).estimate(collection, "r", "P@3")
    assert weighted.per_topic[0, 0] == pytest.approx((1 + 2) / 3, abs=1e-12)
