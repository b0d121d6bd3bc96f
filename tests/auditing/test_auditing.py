"""Audits of the small collection, of a run and of the best of several, and their certificates."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from audits import FAST, answers, planned, true_values
from hypothesis import given, settings, strategies as st
from small import small, small_with_failed_queries

from bayespool import audit, compare, load_example, qrels_from_frame, read_audit, read_result, score
from bayespool.arrays import FloatArray
from bayespool.auditing import Audit, Urn
from bayespool.auditing.auditing import document_digest
from bayespool.auditing.differences import confidence_sequence, uniforms, walk
from bayespool.errors import InputError, InputWarning
from bayespool.reading.scope import select_lines

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def judged(found: Audit, n: int | None = None, **settings: float) -> Audit:
    return found.continue_with(answers(found, n), **settings)


def test_before_any_judgment_the_interval_is_the_bounds() -> None:
    found = planned()
    assert found.interval == (found.urn.least, found.urn.most)
    assert (found.n_judged, len(found)) == (0, 10)
    assert found.sentences()[0].endswith("the bounds, before any judgment")


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_its_posterior_is_that_of_score_and_compare(measure: str) -> None:
    """Before any judgment; in a run alone, and in a difference of two runs that share unjudged documents."""
    runs, asked = ["new-a", "new-b"], {"estimators": "posterior-ratio", "posterior_settings": "draws=100"}
    alone = audit(small(), runs[0], measure, estimators="posterior-ratio(draws=100)", budget=1)
    pair = audit(small(), runs, measure, estimators="posterior-ratio(draws=100)", budget=1)
    by_score = score(small(), runs[0], measure, **asked).to_frame().iloc[0]
    table = compare(small(), runs, measure, **asked).differences()
    by_compare = table[(table["scope"] == "these-topics") & table["lower"].notna()].iloc[0]
    for found, mean, ends in (
        (alone, by_score["value"], by_score[["lower", "upper"]]),
        (pair, by_compare["difference"], by_compare[["lower", "upper"]]),
    ):
        lower, upper = found.posterior_ends()
        assert upper[0] - lower[0] > 0.01
        assert (found.urn.mean, lower[0], upper[0]) == pytest.approx((mean, *ends), abs=1e-12)
        assert f"the posterior says {mean:.4f}" in found.sentences()[1]


def test_its_posterior_interval_goes_with_mean_and_deviation() -> None:
    """And comes to a point at the value, where all is judged."""
    found = judged(planned(), 6)
    (lower, upper), forecast, urn = found.posterior_ends(), found.forecast, found.urn
    ends = np.array(found.details["posterior_intervals"][0]) - urn.mean
    left = forecast.std[-1] / urn.std
    expected = np.clip(forecast.mean[-1] + ends * left, *(end[-1] for end in found._bounds))
    assert (lower[-1], upper[-1]) == pytest.approx(tuple(expected), abs=1e-12)
    while not found.is_done:
        found = judged(found, budget=30)
    (truth,) = true_values("P@10", found.run_ids)
    assert [end[-1] for end in found.posterior_ends()] == pytest.approx([truth, truth])


def test_an_audit_that_goes_on_to_the_end_gives_the_value() -> None:
    found = planned()
    while not found.is_done:
        found = judged(found, budget=15)
    (truth,) = true_values("P@10", found.run_ids)
    assert found.interval == pytest.approx((truth, truth))
    assert found.estimates[-1] == pytest.approx(truth)
    assert found.differences[0].forecast.mean[-1] == pytest.approx(truth)
    assert found.sentences()[-2] == f"stop: all is judged ({found.differences[0].width:.4f})"
    low, high = found.differences[0].intervals
    assert ((low <= truth) & (truth <= high)).all()


def test_rounds_of_judging_keep_what_was_drawn() -> None:
    """A second round appends to the first; judgments in one go or in two are the same audit."""
    first = planned()
    second = judged(first, 6, budget=12)
    assert second.n_known.tolist() == [0] * 10 + [6] * 8
    assert (
        second.differences[0].walked.documents[:10].tolist() == first.differences[0].walked.documents.tolist()
    )
    assert judged(second, 9).n_known.tolist() == [*second.n_known, 9, 9, 9]  # 12 wait, as before
    third = judged(judged(second, 9), 18)
    assert (
        third.differences[0].intervals[0].tolist() == judged(second, 18).differences[0].intervals[0].tolist()
    )
    assert third.differences[0].intervals[0][:6].tolist() == second.differences[0].intervals[0].tolist()


def test_judgments_of_documents_that_were_not_drawn_are_told() -> None:
    """The list of a later round, with the certificate of an earlier one."""
    first = planned()
    later = judged(first, 6, budget=12)
    with pytest.warns(InputWarning, match="judgments: 8 judgments passed over, of documents that this audit"):
        again = first.continue_with(answers(later))
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
    assert found.sentences()[2].startswith(f"{runs[0]} is better than {runs[1]}: p ")
    turned = judged(audit(load_example(), runs[::-1], "P@10", budget=500, **FAST))
    assert turned.interval == pytest.approx((b - a, b - a))


def test_ratios_have_conservative_intervals_and_say_so() -> None:
    for text in ("nDCG@10", "RR@10"):
        done = judged(planned(text, budget=999))
        (truth,) = true_values(text, done.run_ids)
        low, high = done.differences[0].intervals
        assert ((low <= truth) & (truth <= high)).all(), text
        assert done.expected_gap > 0, text
        assert any("is no sum of gains" in note for note in done.notes()), text


def test_an_interval_that_is_empty_is_told() -> None:
    """At a level of 20 % the ends cross for some seeds, and for these alone the note says so."""
    whole = judged(planned(budget=999))
    relevance = whole.relevance
    audits = [dataclasses.replace(whole, random_seed=s, ci_prob=0.2, relevance=relevance) for s in range(20)]
    crossed = [found for found in audits if found.differences[0].width < 0]
    assert 0 < len(crossed) < 20
    assert [
        found for found in audits if any("the interval is empty" in note for note in found.notes())
    ] == crossed


def test_lists_have_probabilities_in_the_second_column() -> None:
    found = judged(planned(), 4)
    lines = [line.split() for line in found.to_format(".txt").decode().splitlines()]
    assert [float(line[1]) for line in lines] == pytest.approx(
        found.differences[0].walked.probability.tolist(), rel=1e-5
    )
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
    turned = 1 - min(int(found.relevance[found.differences[0].walked.documents[0]]), 1)
    for one, relevance, words in (
        (found, turned, r"has relevance \d, and \d before"),
        (graded, 9, "at most 2"),
    ):
        i = int(one.differences[0].walked.documents[0])
        with pytest.raises(InputError, match=words):
            one.continue_with(qrels_from_frame({one.urn.query_ids[i]: {one.urn.doc_ids[i]: relevance}}))


DIGEST = "audit.json: digest is "
BROKEN = "holds no whole audit"


@cache
def certificate() -> tuple[Audit, str]:
    """An audit with a second round, and its certificate."""
    found = planned()
    found = found.continue_with(answers(found, 7), budget=8)
    found = found.continue_with(answers(found, 12), budget=8)
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


def with_note(metadata: dict[str, Any]) -> None:
    metadata["notes"].append("checked by the organizers")
    metadata["note_kinds"].append("scope")


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "judgment": (
        lambda d: judgment(d, everywhere=False),
        r"steps, row 4: relevance is \d, and by the rest of the file \d",
    ),
    "judgment everywhere": (lambda d: judgment(d, everywhere=True), "steps, row 4: estimate is "),
    "relevance of the same worth": (graver, DIGEST),
    "probability": (of_step(5, probability=0.05), "steps, row 6: probability is 0.05, and by"),
    "seed": (of_metadata(random_seed=2), "steps, row 1: query_id is "),
    "document": (swapped, "steps, row 2: (query|doc)_id is "),
    "interval of a step": (of_step(2, lower=0.9), "steps, row 3: lower is 0.9, and by"),
    "interval": (of_metadata(interval=[0.4, 0.5]), r"interval is \[0.4, 0.5\], and by"),
    "level": (of_metadata(ci_prob=0.5), "steps, row .: (lower|upper) is"),
    "chance": (lambda d: d["documents"][0].update(chance=0.99), "steps, row 1: probability is"),
    "contribution": (lambda d: d["documents"][0].update(high=0.9), "steps, row 1: "),
    "known": (of_step(9, known=5), "steps, row 1[01]: |digest is"),
    "a step left out": (lambda d: d["steps"].pop(), "summary is "),
    "title": (of_metadata(title="Verified"), "title is Verified, and by the rest of the file Audit"),
    "sentence": (lambda d: d["metadata"]["summary"].pop(0), r"summary is \['the posterior says"),
    "note": (lambda d: with_note(d["metadata"]), "notes is "),
    "caption": (lambda d: d["metadata"]["tables"]["steps"].update(caption="x"), "tables is "),
    "heading": (
        lambda d: d["metadata"]["tables"]["steps"]["columns"]["lower"].update(label="at least"),
        "tables is ",
    ),
    "version of words": (of_metadata(bayespool="0.0.1", title="Verified"), DIGEST),
    "something more": (of_metadata(approved=True), "approved is not of an audit"),
    "a column more": (of_step(0, approved=True), "holds no result"),
    "a table more": (lambda d: d.update(approvals=[{"by": "x"}]), "holds no result"),
    "a true number": (of_metadata(is_done=0), "is_done is 0, and by the rest of the file False"),
    "run": (of_metadata(runs=["other"]), "urn_digest is "),
    "width to stop at": (of_metadata(until=0.5), "is_done is False, and by the rest of the file True"),
    "pool": (lambda d: d["metadata"]["pool"].update(depth=99), DIGEST),
    "collection": (of_metadata(fingerprint="0"), DIGEST),
    "estimator": (lambda d: d["metadata"]["estimator"].update(name="posterior-odds-ratio"), "citations is "),
    "evidence": (of_metadata(evidence_against_posterior=99.5), "evidence_against_posterior is 99.5, and"),
    "number of judgments": (of_metadata(n_judged=99), "n_judged is 99, and by the rest of the file 12"),
    "an end": (of_metadata(is_done=True), "is_done is True, and by the rest of the file False"),
    "level of a step": (
        of_step(0, ci_prob=0.5),
        "steps, row 1: ci_prob is 0.5, and by the rest of the file 0.95",
    ),
    "a step that counts": (of_step(-1, is_judged=True), "is_judged is True, and"),
    "no interval": (lambda d: d["metadata"].pop("interval"), BROKEN),
    "no number": (of_step(0, lower="low"), "steps, row 1: lower is low, and by"),
    "a step of later ones": (of_step(0, known=4), "steps, row 1: known is 4, and by the rest of the file 0"),
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


def shown(path: Path) -> str:
    """What is printed and reported of a certificate."""
    again = read_audit(path)
    return f"{again.summary()}{again.to_markdown()}{again.page()}"


@pytest.mark.parametrize("n", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_refused_or_changes_nothing_that_is_shown(n: int, tmp_path: Path) -> None:
    path, whole = tmp_path / "audit.json", certificate()[1].encode()
    path.write_bytes(whole)
    before, rng, n_refused = shown(path), np.random.default_rng(n), 0
    for place, bit in zip(rng.integers(len(whole), size=n), rng.integers(8, size=n), strict=True):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << bit
        path.write_bytes(flipped)
        try:
            assert shown(path) == before, f"bit {bit} of byte {place}"
        except InputError:
            n_refused += 1
    assert n_refused > n / 2


def test_words_of_another_version_are_not_compared_and_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    document = json.loads(certificate()[1])
    document["metadata"].update(bayespool="0.0.1", title="Proof", summary=["P@10 of new-b is 0.9"])
    document["metadata"]["digest"] = document_digest(document)
    path.write_text(json.dumps(document))
    with pytest.warns(InputWarning, match="made by bayespool 0.0.1: its numbers are compared, its words are"):
        assert (read_audit(path).title, "is 0.9" in str(read_audit(path).summary())) == ("Audit", False)


def test_a_forger_with_the_right_digest_is_found(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    document = json.loads(certificate()[1])
    document["metadata"]["summary"][0] = document["metadata"]["summary"][0].replace("95 %", "99 %")
    document["metadata"]["digest"] = document_digest(document)
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"summary is .* 99 %.*, and by the rest of the file .* 95 %"):
        read_audit(path)


def test_what_is_read_as_a_result_says_that_it_is_not_verified(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    path.write_text(certificate()[1])
    note = "not verified: bayespool audit --verify, or read_audit, checks a certificate (.json)"
    assert read_result(path).notes()[0] == note
    assert note not in read_audit(path).notes()


RUNS = ("south-1", "north-1", "south-2", "west-1")


@cache
def four_planned(measure: str = "P@10") -> Audit:
    """Four runs that left the pool, with twenty documents drawn."""
    found = audit(load_example(), (), measure, **{"budget": 20, "unpool": RUNS, **FAST})
    return found


def to_the_end(found: Audit, budget: int = 30) -> Audit:
    while not found.is_done:
        found = found.continue_with(answers(found), budget=budget)
    return found


def test_all_differences_have_the_same_draws_and_share_the_error() -> None:
    found = to_the_end(four_planned())
    first = found.differences[0]
    assert first.interval_ci_prob == pytest.approx(1 - 0.05 / 3)
    for one in found.differences:
        assert one.walked.documents.tolist() == first.walked.documents.tolist()
        assert one.walked.probability.tolist() == first.walked.probability.tolist()
        assert one.p_values[0] < 0.05
    alone = dataclasses.replace(found, urns=(found.urn,), run_ids=found.run_ids[:2])
    thrice = dataclasses.replace(found, urns=(found.urn,) * 3)
    assert thrice.p_values == pytest.approx([min(1, 3 * p) for p in alone.p_values])


def test_probabilities_are_as_the_sum_of_what_differences_need() -> None:
    """At the first draw, before any judgment: Σ |c| × (√(m(1 − m)) + 1)."""
    found = four_planned()
    size = sum(np.maximum(np.abs(urn.low), np.abs(urn.high)) for urn in found.urns)
    m = found.urns[0].chance.clip(0.01, 0.99)
    odds = size * (np.sqrt(m * (1 - m)) + 1)
    first = found.differences[0].walked
    assert first.probability[0] == pytest.approx(odds[first.documents[0]] / odds.sum())


@pytest.mark.parametrize("text", ["P@10", "nDCG@10"])
def test_it_says_who_is_the_best_and_stops(text: str) -> None:
    found = to_the_end(four_planned(text))
    values = dict(zip(RUNS, true_values(text, RUNS), strict=True))
    for each in found.differences:
        low, high = each.interval
        assert low <= values[each.compared[0]] - values[each.compared[1]] <= high
    verdicts = set(found.leader_is.values())
    assert verdicts <= {"better", "worse"}
    best = verdicts == {"better"}
    assert (max(values, key=values.__getitem__) == found.run_ids[0]) == best
    said = "north-1 is the best of 4 runs; guaranteed at 95 % by "
    assert found.sentences()[1].startswith(said) == best
    assert found.sentences()[-2] == "stop: each difference has a sign"
    assert found.n_judged < len(found.urns[0])


def test_a_run_with_the_same_documents_is_equal() -> None:
    found, _ = simulated(np.random.default_rng(5), "right")
    nothing = np.zeros(len(found.n_known))
    same = dataclasses.replace(found.urns[0], low=nothing, high=nothing, least=-0.1, most=0.1)
    found = dataclasses.replace(found, urns=(*found.urns, same), run_ids=(*found.run_ids, "e"))
    assert found.leader_is["e"] == "equal"
    assert any(text.startswith("a is equal to e; guaranteed") for text in found.sentences())
    assert not any("is the best" in text for text in found.sentences())
    first, waits = int(found.differences[0].walked.documents[0]), np.full(len(found.n_known), -1)
    assert dataclasses.replace(found, relevance=waits).leader_is["e"] == "open"
    waits[first] = found.relevance[first]
    assert dataclasses.replace(found, relevance=waits).leader_is["e"] == "equal"


def test_a_list_without_a_new_judgment_or_with_another_one_is_told() -> None:
    found = four_planned()
    with pytest.warns(InputWarning, match="no judgment is new"):
        again = found.continue_with(found.qrels())
    assert again.n_judged == 0
    first, urn = found.continue_with(answers(found, 1)), found.urns[0]
    i = int(first.differences[0].walked.documents[0])
    turned = {urn.query_ids[i]: {urn.doc_ids[i]: int(1 - min(first.relevance[i], 1))}}
    with pytest.raises(InputError, match="keeps its judgments"):
        first.continue_with(qrels_from_frame(turned))


def test_it_informs_a_collection() -> None:
    found = four_planned()
    done = found.continue_with(answers(found))
    example = load_example().unpool(organization="north")
    for organization in ("south", "west"):
        example = example.unpool(organization=organization)
    assert int(done.apply_to(example).is_own.sum()) == 20


@cache
def certificate_of_four(folder: Path) -> str:
    found = four_planned()
    found.continue_with(answers(found), budget=10).save(folder / "leader.json")
    return (folder / "leader.json").read_text()


def test_a_certificate_is_read_back_and_goes_on(tmp_path: Path) -> None:
    text = certificate_of_four(tmp_path)
    again = read_audit(tmp_path / "leader.json")
    assert again.leader_is.keys() == set(again.run_ids[1:])
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == text
    assert (
        to_the_end(again).metadata["interval"]
        == to_the_end(four_planned().continue_with(answers(four_planned()), budget=10)).metadata["interval"]
    )
    four_planned().save(tmp_path / "empty.json")
    assert read_audit(tmp_path / "empty.json").n_judged == 0


def turn_a_judgment(document: dict[str, Any]) -> None:
    row = next(row for row in document["documents"] if row["relevance"] >= 0)
    row["relevance"] = 1 - min(row["relevance"], 1)


CHANGES_OF_FOUR: dict[str, Callable[[dict[str, Any]], Any]] = {
    "steps, row .*: probability is 0.123": lambda d: d["steps"][-1].update(probability=0.123),
    "holds no whole": lambda d: d["metadata"]["runs"].reverse(),  # another leader
    r"documents, row \d+: relevance is \d, and by the rest of the file \d": turn_a_judgment,
    "differences, row 2: leader_is is better, and by the rest of the file open": lambda d: d["differences"][
        1
    ].update(leader_is="better"),
    "differences, row 3: lower is 0.123": lambda d: d["differences"][2].update(lower=0.123),
    "steps, row 1: (query|doc)_id is": lambda d: d["metadata"].update(random_seed=2),
}


def test_every_change_of_differences_is_found(tmp_path: Path) -> None:
    text = certificate_of_four(tmp_path)
    for words, change in CHANGES_OF_FOUR.items():
        document = json.loads(text)
        change(document)
        (tmp_path / "changed.json").write_text(json.dumps(document))
        with pytest.raises(InputError, match=words):
            read_audit(tmp_path / "changed.json")


def simulated(rng: np.random.Generator, model: str) -> tuple[Audit, np.ndarray]:
    """Four runs over 60 documents; a model that is right, useless or adverse; the truth of differences."""
    places = (rng.random((4, 60)) < 0.5).astype(float) / 100
    p = 1 / (1 + np.exp(-rng.normal(-0.5, 1.5, 60)))
    m = {"right": p, "useless": rng.permutation(p), "adverse": 1 - p}[model]
    worth = (rng.random(60) < p).astype(float)
    places = places[np.argsort(-(places @ m), kind="stable")]
    used = (places != places[0]).any(axis=0)
    n, chance, names = int(used.sum()), m[used], tuple(map(str, np.flatnonzero(used)))
    spread, urns = np.sqrt(chance * (1 - chance)), []
    for c in (places[0] - places[1:])[:, used]:
        least, most = np.minimum(c, 0).sum(), np.maximum(c, 0).sum()
        ends = (0.0, 0.0, least, most, 0.0, 1.0)
        urns.append(Urn(names, names, c, c, chance, spread, np.zeros(n), *ends, (0.0, 1.0)))
    relevance, seed = worth[used].astype(np.int64), int(rng.integers(10**6))
    given = {"n_known": np.arange(n), "random_seed": seed, "ci_prob": 0.95, "until": None, "details": {}}
    found = Audit(
        urns=tuple(urns), run_ids=("a", "b", "c", "d"), measure="P@10", relevance=relevance, **given
    )
    return found, places @ worth


@pytest.mark.slow
@pytest.mark.parametrize("model", ["useless", "adverse"])
def test_no_difference_is_ever_missed_in_19_of_20_audits(model: str) -> None:
    missed, n = 0, 200
    for seed in range(n):
        found, values = simulated(np.random.default_rng([seed, 2]), model)
        ends = [each.intervals for each in found.differences]
        truth = zip(ends, values[0] - values[1:], strict=True)
        missed += any(((low > t + 1e-9) | (high < t - 1e-9)).any() for (low, high), t in truth)
    assert missed <= n * 0.05 + 3 * np.sqrt(n * 0.05 * 0.95)


def test_its_figure_has_the_closest_run_first() -> None:
    found = four_planned()
    done = found.continue_with(answers(found), budget=5)
    (figure,) = done.figures()
    assert b"<svg" in figure.render()
    closest_first = sorted(done.differences, key=lambda each: each.interval[0])
    drawn = done.draw()
    assert len(drawn.legends) == 1
    panels = [axes.get_ylabel() for axes in drawn.axes]
    assert panels == [f"P@10 of {each.name}" for each in closest_first]


# --- documents that nobody can judge ------------------------------------------------------------------------


def test_an_audit_goes_on_without_a_document_that_nobody_can_judge(tmp_path: Path) -> None:
    """It is named, and worse for each end; its late judgment counts, and changes no draw."""
    first = planned(budget=8)
    third = int(first.walked.documents[2])
    name = first.urn.query_ids[third], first.urn.doc_ids[third]
    lines = answers(first)
    pairs = list(zip(lines.query_id.to_pylist(), lines.doc_id.to_pylist(), strict=True))
    kept = [i for i, pair in enumerate(pairs) if pair != name]
    without = first.continue_with(select_lines(lines, np.array(kept)))
    assert (without.n_judged, without.missing, len(without)) == (8, (third,), 16)
    assert any(f"without a judgment of {name[1]} of topic {name[0]}" in note for note in without.notes())
    assert "by 7 judgments" in without.sentences()[0]
    without.save(tmp_path / "audit.json")
    read = read_audit(tmp_path / "audit.json")
    assert read.interval == without.interval
    late = read.continue_with(lines)
    assert late.walked.documents.tolist()[:16] == without.walked.documents.tolist()
    assert late.missing == ()
    assert without.interval[0] <= late.interval[0] <= late.interval[1] <= without.interval[1]
    assert late.width < without.width


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10**6), st.sets(st.integers(0, 39), min_size=1, max_size=6), st.data())
def test_the_interval_contains_those_of_all_judgments_that_are_missing(
    seed: int, skipped: set[int], data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    low = rng.normal(size=40) / 40
    high = low + rng.random(40) / 200
    chance, worth = rng.random(40), rng.integers(0, 2, 40).astype(float)
    passed = np.isin(np.arange(40), list(skipped))
    known = np.arange(30) // 5 * 5

    def ends(worth: FloatArray) -> tuple[FloatArray, FloatArray]:
        walked = walk(low, high, chance, worth, known, uniforms(seed, 30), None, passed)
        least, most = np.minimum(low, 0).sum(), np.maximum(high, 0).sum()
        return confidence_sequence(walked, least, most, 0.0, 0.0, 0.5)

    missing = np.where(passed, np.nan, worth)
    filled = np.where(passed, data.draw(st.sampled_from((0.0, 0.5, 1.0))), worth)
    (lower, upper), (one, other) = ends(missing), ends(filled)
    assert (lower <= one + 1e-9).all()
    assert (upper >= other - 1e-9).all()


def test_the_guarantee_holds_whatever_is_not_judged() -> None:
    """Assessors who skip relevant documents alone, at random half of them: 200 audits, ever missed in 5 %."""
    n, n_missed = 60, 0
    rng = np.random.default_rng(5)
    for seed in range(200):
        contribution, chance = np.full(n, 1 / n), rng.random(n)
        worth = (rng.random(n) < chance).astype(float)
        passed = (worth == 1) & (rng.random(n) < 0.5)
        told = np.where(passed, np.nan, worth)
        walked = walk(contribution, contribution, chance, told, np.arange(n), uniforms(seed, n), None, passed)
        low, high = confidence_sequence(walked, 0.0, 1.0, 0.0, 0.0, 0.95)
        n_missed += bool((low > worth.mean() + 1e-9).any() or (high < worth.mean() - 1e-9).any())
    assert n_missed <= 200 * 0.05 + 3 * np.sqrt(200 * 0.05 * 0.95)


def test_topics_that_a_run_lacks_are_noted() -> None:
    found = audit(small_with_failed_queries(), ["new-a", "new-b"], "P@10", budget=1, **FAST)
    about = "P@10 of new-a − new-b (2 of 8 topics missing from new-b, counted as 0): "
    assert found.sentences()[0].startswith(about)
    assert not any("missing" in note for note in found.notes())
