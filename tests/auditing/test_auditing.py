"""Audits of the small collection, and their certificates."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from audits import FAST, answers, planned, true_values

from bayespool import audit, load_example, qrels_from_frame, read_audit
from bayespool.auditing import Audit
from bayespool.errors import InputError, InputWarning

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def judged(found: Audit, n: int | None = None, **settings: float) -> Audit:
    return found.go_on(answers(found, n), **settings)


def test_before_any_judgment_the_interval_is_the_bounds() -> None:
    found = planned()
    assert found.interval == (found.urn.least, found.urn.most)
    assert (found.n_judged, len(found)) == (0, 10)
    assert found.summary()[0].endswith("the bounds, before any judgment")


def test_an_audit_that_goes_on_to_the_end_gives_the_value() -> None:
    found = planned()
    while not found.is_done:
        found = judged(found, budget=15)
    (truth,) = true_values("P@10", found.run_ids)
    assert found.interval == pytest.approx((truth, truth))
    assert found.estimates[-1] == pytest.approx(truth)
    assert found.foretold.mean[-1] == pytest.approx(truth)
    assert found.summary()[-2] == f"stop: all is judged ({found.width:.4f})"
    low, high = found.intervals
    assert ((low <= truth) & (truth <= high)).all()


def test_rounds_of_judging_keep_what_was_drawn() -> None:
    """A second round appends to the first; judgments in one go or in two are the same audit."""
    first = planned()
    second = judged(first, 6, budget=12)
    assert second.known.tolist() == [0] * 10 + [6] * 8
    assert second.walked.chosen[:10].tolist() == first.walked.chosen.tolist()
    assert judged(second, 9).known.tolist() == [*second.known, 9, 9, 9]  # 12 wait, as before
    third = judged(judged(second, 9), 18)
    assert third.intervals[0].tolist() == judged(second, 18).intervals[0].tolist()
    assert third.intervals[0][:6].tolist() == second.intervals[0].tolist()


def test_judgments_out_of_turn_wait() -> None:
    found = planned()
    i = int(found.walked.chosen[3])
    known = answers(found, 6)
    columns = known.query_id.to_pylist(), known.doc_id.to_pylist(), known.relevance.tolist()
    by_topic: dict[str, dict[str, int]] = {}
    for query_id, doc_id, relevance in zip(*columns, strict=True):
        is_fourth = (query_id, doc_id) == (found.urn.query_ids[i], found.urn.doc_ids[i])
        by_topic.setdefault(query_id, {})[doc_id] = -1 if is_fourth else relevance
    gap = found.go_on(qrels_from_frame(by_topic))
    assert gap.n_judged == 3
    assert gap.notes() == ("2 judgments count only when the documents drawn before are judged",)
    whole = gap.go_on(answers(found, 4))
    assert (whole.n_judged, whole.notes()) == (6, ())


def test_judgments_of_documents_that_were_not_drawn_are_told() -> None:
    """The list of a later round, with the certificate of an earlier one."""
    first = planned()
    later = judged(first, 6, budget=12)
    with pytest.warns(InputWarning, match="judgments: 8 judgments passed over, of documents that this audit"):
        again = first.go_on(answers(later))
    assert again.n_judged == 10


def test_a_pair_is_ordered_at_any_time() -> None:
    runs = ("new-a", "new-b")
    found = audit(load_example(), runs, "P@10", budget=500, **FAST)
    found = judged(found)
    a, b = true_values("P@10", runs)
    assert found.interval == pytest.approx((a - b, a - b))
    less, more = found.p_values
    assert (less < 0.05) == (found.interval[0] > 0)
    assert (more < 0.05) == (found.interval[1] < 0)
    assert found.summary()[2].startswith(f"{runs[0]} is better than {runs[1]}: p ")
    turned = judged(audit(load_example(), runs[::-1], "P@10", budget=500, **FAST))
    assert turned.interval == pytest.approx((b - a, b - a))


def test_ratios_have_conservative_intervals_and_say_so() -> None:
    for text in ("nDCG@10", "AP@20", "RR@10"):
        done = judged(planned(text, budget=999))
        (truth,) = true_values(text, done.run_ids)
        low, high = done.intervals
        assert ((low <= truth) & (truth <= high)).all(), text
        assert done.looseness > 0, text
        assert any("is no sum of gains" in note for note in done.notes()), text


def test_an_interval_that_is_empty_is_told() -> None:
    """At a level of 20 % the ends cross for some seeds, and for these alone the note says so."""
    whole = judged(planned(budget=999))
    relevance = whole.relevance
    audits = [dataclasses.replace(whole, random_seed=s, ci_prob=0.2, relevance=relevance) for s in range(20)]
    crossed = [found for found in audits if found.width < 0]
    assert 0 < len(crossed) < 20
    assert [found for found in audits if any("no value is left" in note for note in found.notes())] == crossed


def test_lists_have_probabilities_in_the_second_column() -> None:
    found = judged(planned(), 4)
    lines = [line.split() for line in found.in_format(".txt").decode().splitlines()]
    assert [float(line[1]) for line in lines] == pytest.approx(found.walked.probability.tolist(), rel=1e-5)
    assert [line[3] == "-1" for line in lines] == [False] * 4 + [True] * (len(found) - 4)


def test_what_is_wrong_is_told() -> None:
    for run, measure, words in (
        ("new-a", "ERR@10", "ERR@10 cannot be audited"),
        ("north-1", "P@10", "P@10 of north-1: no unjudged document changes it"),
    ):
        with pytest.raises(InputError, match=words):
            audit(load_example(), run, measure, **FAST)
    found = judged(planned(), 1)
    graded = planned("DCG@10", budget=1)
    turned = 1 - min(int(found.relevance[found.walked.chosen[0]]), 1)
    for one, relevance, words in (
        (found, turned, r"has relevance \d, and \d before"),
        (graded, 9, "at most 2"),
    ):
        i = int(one.walked.chosen[0])
        with pytest.raises(InputError, match=words):
            one.go_on(qrels_from_frame({one.urn.query_ids[i]: {one.urn.doc_ids[i]: relevance}}))


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
