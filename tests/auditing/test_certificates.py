"""Certificates: read back as they were, and nothing in them can be changed unseen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from audits import answers, planned

from bayespool import read_audit
from bayespool.auditing import Audit
from bayespool.errors import InputError

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


DIGEST = "the digest of the judgments and settings"
BROKEN = "holds no whole audit"


@cache
def certificate() -> tuple[Audit, str]:
    """An audit with a second round, and its certificate."""
    found = planned()
    found = found.go_on(answers(found, 7), budget=8)
    found = found.go_on(answers(found, 12), budget=8)
    with TemporaryDirectory() as folder:
        found.save(f"{folder}/audit.json")
        return found, Path(folder, "audit.json").read_text()


def judgment(document: dict[str, Any], *, everywhere: bool) -> None:
    step = document["steps"][3]
    step["relevance"] = 1 - min(step["relevance"], 1)
    for row in document["documents"] if everywhere else ():
        if (row["query_id"], row["doc_id"]) == (step["query_id"], step["doc_id"]):
            row["relevance"] = step["relevance"]


def swapped(document: dict[str, Any]) -> None:
    a, b = document["steps"][1], document["steps"][2]
    for name in ("query_id", "doc_id"):
        a[name], b[name] = b[name], a[name]


def graver(document: dict[str, Any]) -> None:
    """Another relevance of the same worth."""
    for table in ("steps", "documents"):
        for row in document[table]:
            row["relevance"] = 2 if row["relevance"] == 1 else row["relevance"]


def of_metadata(**changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["metadata"].update(changed)


def of_step(i: int, **changed: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["steps"][i].update(changed)


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "judgment": (lambda d: judgment(d, everywhere=False), r"step 4: relevance \d, and \d among"),
    "judgment everywhere": (lambda d: judgment(d, everywhere=True), r"step 4: estimate is .* written"),
    "relevance of the same worth": (graver, DIGEST),
    "probability": (of_step(5, probability=0.05), "step 6: probability is .*0.05 written"),
    "seed": (of_metadata(random_seed=2), "step 1: seed 2 and the judgments before draw"),
    "document": (swapped, "step 2: seed 1 and the judgments before draw document"),
    "interval of a step": (of_step(2, lower=0.9), "step 3: lower is .*, and 0.9 written"),
    "interval": (of_metadata(interval=[0.4, 0.5]), "the interval is not the one of the last"),
    "level": (of_metadata(ci_prob=0.5), "step .: (lower|upper) is"),
    "chance": (lambda d: d["documents"][0].update(chance=0.99), "step 1: probability is"),
    "contribution": (lambda d: d["documents"][0].update(high=0.9), "step 1: "),
    "known": (of_step(9, known=5), "step 10: |step 11: |the digest"),
    "a step left out": (lambda d: d["steps"].pop(), DIGEST),
    "run": (of_metadata(runs=["other"]), "the digest of what is drawn from"),
    "width to stop at": (of_metadata(until=0.5), DIGEST),
    "pool": (lambda d: d["metadata"]["pool"].update(depth=99), DIGEST),
    "collection": (of_metadata(fingerprint="0"), DIGEST),
    "estimator": (lambda d: d["metadata"]["estimator"].update(name="posterior-odds-ratio"), DIGEST),
    "evidence": (of_metadata(evidence_against_posterior=99.5), "evidence_against_posterior is"),
    "number of judgments": (of_metadata(n_judged=99), "n_judged is 12, and 99 written"),
    "an end": (of_metadata(is_done=True), "is_done is 0, and 1 written"),
    "level of a step": (of_step(0, ci_prob=0.5), "step 1: ci_prob is 0.95, and 0.5 written"),
    "a step that counts": (of_step(-1, is_judged=True), "is_judged is 0, and 1 written"),
    "no interval": (lambda d: d["metadata"].pop("interval"), BROKEN),
    "no number": (of_step(0, lower="low"), BROKEN),
    "a step of later ones": (of_step(0, known=4), BROKEN),
    "no seed": (lambda d: d["metadata"].pop("random_seed"), BROKEN),
}


def test_every_change_is_found(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    for what, (change, words) in CHANGES.items():
        document = json.loads(certificate()[1])
        change(document)
        path.write_text(json.dumps(document))
        with pytest.raises(InputError) as refused:
            read_audit(path)
        assert re.search(words, str(refused.value)), what
