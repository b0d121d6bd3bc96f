"""Models of a reader's own, one of each form."""

from __future__ import annotations

import dataclasses

from bayespool.models import Chances, Effect, Linear, ModelSpec, Prior

OWN_OF_DOCUMENTS = ModelSpec(
    name="mine",
    description="by how many runs have a document, and how good its own is",
    evidence="documents",
    coefficients={"level": Prior("Normal", (-2.0, 1.5)), "slope": Prior("Normal", (0.0, 1.0))},
    effects={"organization": Effect("organization", Prior("HalfNormal", (0.7,)))},
    hidden=Linear("level", slopes="slope", effects=("organization",)),
    predictors={"support": (1.0, 1.0), "delta_precision": (0.0, 5.0)},
)
OWN_OF_COUNTS = ModelSpec(
    name="mine",
    description="half as likely as what is judged of the run",
    evidence="counts",
    coefficients={"a": Prior("Normal", (-0.5, 1.5)), "c": Prior("Beta", (3.0, 3.0))},
    effects={"run": Effect("run"), "organization": Effect("organization")},
    judged=Linear("a", effects=("run",)),
    hidden=Chances(Linear("a", effects=("run",)), factor="c"),
)
BARE = dataclasses.replace(
    OWN_OF_DOCUMENTS,
    coefficients={"level": Prior("Normal", (-2.0, 1.5))},
    hidden=Linear("level", effects=("organization",)),
    predictors={},
)
WITH_CELLS = dataclasses.replace(
    OWN_OF_DOCUMENTS,
    effects={
        **OWN_OF_DOCUMENTS.effects,
        "interaction": Effect("organization_topic", Prior("HalfNormal", (0.5,))),
    },
    hidden=Linear("level", slopes="slope", effects=("organization", "interaction")),
)
"""Effects of organization × topic beside slopes: what the models of documents of the package have, but small,
so that a graph of it is compiled in a third of the time."""

OWN = {
    "documents": OWN_OF_DOCUMENTS, "counts": OWN_OF_COUNTS, "no predictors": BARE, "interaction": WITH_CELLS,
}  # fmt: skip
