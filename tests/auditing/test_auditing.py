"""Audits of the small collection: what is drawn, judged, said and refused."""

from __future__ import annotations

import dataclasses

import pytest
from audits import FAST, answers, planned, true_values

from bayespool import audit, load_example, qrels_from_frame
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
