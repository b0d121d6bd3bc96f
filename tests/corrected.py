"""One correction of one run of the toy."""

from __future__ import annotations

from typing import Any

import pytest
from toys import toy_collection

from bayespool.collection import Collection
from bayespool.corrections.base import PointCorrection
from bayespool.estimates import Estimates


def estimate(
    correction: PointCorrection, measure: str = "P@5", run_id: str = "u", collection: Collection | None = None
) -> Estimates:
    (result,) = correction.estimate(collection or toy_collection(), run_id, measure)
    return result


def topics_of(correction: PointCorrection, measure: str = "P@5", run_id: str = "u") -> list[float]:
    return estimate(correction, measure, run_id).per_topic[0].tolist()


def close(*expected: float) -> Any:
    return pytest.approx(list(expected), abs=1e-12)
