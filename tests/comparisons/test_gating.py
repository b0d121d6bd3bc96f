"""`gate`: verdicts by hand, both ways, the margin, and what it refuses."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayespool import Gate, gate, load_example, rc_context, read_collection
from bayespool.collection import Collection
from bayespool.comparisons import compare
from bayespool.errors import InputError
from bayespool.pooling import describe_pool
from bayespool.posterior import PosteriorEstimator

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]
NEW = ("new-a", "new-b")


def gated(*runs: str, **settings: Any) -> Gate:
    return gate(load_example(), runs, "P@10", estimators="posterior-ratio(draws=100)", **settings)


def test_verdicts_both_ways() -> None:
    worse, better = gated(*NEW), gated(*reversed(NEW))
    assert (worse.verdict, worse.status) == ("worse", 1)
    assert (better.verdict, better.status) == ("better or equal", 0)
    assert better.sentence.startswith(
        "better or equal: the P@10 of new-a − new-b on topics like these is +0.2"
    )
    assert "\n" not in better.sentence
    assert str(better) == better.sentence
    assert worse.difference == pytest.approx(-better.difference)
    assert better.metadata["gate"]["run_ids"] == ["new-b", "new-a"]
    assert json.loads(json.dumps(better.metadata))["gate"]["verdict"] == "better or equal"
    assert better.metadata["settings"]["probability"] == 0.95


def test_a_gate_says_what_compare_says_of_the_pair() -> None:
    compared = compare(
        load_example(), NEW, "P@10", estimators="posterior-ratio", posterior_settings="draws=100"
    )
    for scope in ("these-topics", "population"):
        (row,) = (
            compared.differences()
            .query(f"estimator != 'as-judged' and scope == '{scope}'")
            .to_dict("records")
        )
        found = gated(*reversed(NEW), scope=scope)
        assert found.difference == pytest.approx(row["difference"])
        assert (found.lower, found.upper) == pytest.approx((row["lower"], row["upper"]))
        assert found.prob_not_worse == pytest.approx(row["prob_greater"] + row["prob_equal"])


def test_everything_judged_the_chance_is_that_of_the_t_test() -> None:
    """With nothing unjudged half the p-value of the paired t test is the probability of the other order."""
    pair = ("north-2", "lake-1")
    per_topic = compare(load_example(), pair, "P@10", estimators="as-judged").scores.estimates[0].per_topic
    lead = per_topic[1] - per_topic[0]
    for margin in (0.0, 0.05, 0.1):
        p = stats.ttest_1samp(lead, -margin, alternative="less").pvalue  # of a lead at least -margin
        found = gate(load_example(), pair, "P@10", estimators="posterior-ratio(draws=2000)", margin=margin)
        assert found.prob_not_worse == pytest.approx(p, abs=0.02)
        assert found.status == (0 if p > 0.97 else 1 if p < 0.03 else 2 if 0.07 < p < 0.93 else found.status)


def test_the_margin_and_the_probability_decide() -> None:
    equal = gated("new-a", "new-b", margin=0.5)
    assert (equal.status, equal.prob_not_worse) == (0, 1)
    assert "at least -0.5 is over 0.999" in equal.sentence
    told = gated("new-b", "lake-1")
    assert told.verdict == "cannot be told"
    assert told.status == 2
    assert 0.05 < told.prob_not_worse < 0.95
    likely = max(told.prob_not_worse, 1 - told.prob_not_worse)
    assert gated("new-b", "lake-1", probability=likely - 0.01).status == (told.prob_not_worse < 0.5)
    assert gated("new-b", "lake-1", probability=likely + 0.01).status == 2


def test_the_interval_has_the_package_default_probability() -> None:
    with rc_context({"ci_prob": 0.5}):
        narrow = gated(*NEW)
    assert "(50 % interval" in narrow.sentence
    assert narrow.upper - narrow.lower < gated(*NEW).upper - gated(*NEW).lower


QRELS = {q: {"r": 1, "s": int(q > "3"), "n": 0, "m": 0} for q in "123456"}


def of_files(
    old: str, new: str, *, qrels: dict[str, dict[str, int]] = QRELS, measures: str = "P@2", **settings: Any
) -> Gate:
    """Gate of two runs of six topics, of one letter for each document, without a pool."""
    runs = {
        name: {q: {d: -i for i, d in enumerate(docs)} for q in qrels}
        for name, docs in {"old": old, "new": new}.items()
    }
    with warnings.catch_warnings(action="ignore"):
        return gate(read_collection(qrels, runs), measures=measures, **settings)


def test_without_a_pool_only_a_posterior_by_name_decides() -> None:
    for settings in (None, "draws=50"):
        found = of_files("nx", "rs", posterior_settings=settings)
        assert found.status == 2
        assert found.prob_not_worse > 0.95
        assert "no pool, posteriors on priors alone); the probability" in found.sentence
        assert "only a posterior that is named decides (--estimators posterior-combined)" in found.sentence
    for named in ("posterior-combined(draws=50)", "posterior-combined", PosteriorEstimator(draws=50)):
        found = of_files("nx", "rs", estimators=named)
        assert found.status == 0
        assert "posterior-combined; no pool, posteriors on priors alone)" in found.sentence
        assert found.metadata["gate"]["conditions"] == ["no pool, posteriors on priors alone"]
    # new: 9 of 12 judged relevant; of old x is unjudged on six topics
    assert found.sentence.endswith(
        "; on these topics it is between +0.250 and +0.750 whatever the unjudged documents are."
    )
    decided = found.metadata["gate"]
    assert (decided["bound_lower"], decided["bound_upper"]) == pytest.approx((0.25, 0.75))
    recall = of_files("nx", "rs", measures="R@2", estimators="posterior-combined(draws=50)").sentence
    assert " whatever the unjudged documents in their reach are. Ideal ranking of R@2: all judged" in recall


def test_without_a_pool_runs_that_are_judged_in_full_are_decided_on() -> None:
    found = of_files("nm", "rs")
    assert (found.status, found.metadata["gate"]["conditions"]) == (0, [])
    assert "no pool" not in found.sentence


def test_without_a_value_nothing_can_be_told() -> None:
    sparse = {q: {"r": 1} for q in "123456"}
    found = of_files("xyr", "rz", qrels=sparse, estimators="posterior-combined")
    assert (found.status, found.verdict) == (2, "cannot be told")
    assert found.sentence == (
        "cannot be told: the P@2 of new − old on topics like these has no estimate (posterior-combined: "
        "needs documents judged nonrelevant); on these topics it is between -0.500 and +1.000 whatever the "
        "unjudged documents are."
    )
    decided = json.loads(json.dumps(found.metadata["gate"], allow_nan=False))
    assert (decided["difference"], decided["prob_not_worse"]) == (None, None)


def test_the_line_says_why_a_pool_is_in_doubt() -> None:
    collection = load_example()
    few = collection.with_pool(np.isin(collection.run_ids, ["north-1", "lake-1"]), 3)
    reasons = describe_pool(few).doubts
    assert reasons
    found = gate(few, NEW, "P@3", estimators="posterior-ratio(draws=50)")
    assert f"the pool is in doubt: {reasons[0]}" in found.sentence


WRONG: tuple[tuple[tuple[Any, ...], dict[str, Any], str], ...] = (
    ((["new-a"],), {}, "1 run; name two"),
    ((["new-a", "new-a"],), {}, "1 run; name two"),
    (([*NEW, "lake-1"],), {}, "3 runs; name two"),
    ((NEW, "AntiP@10"), {}, "higher for worse runs"),
    ((NEW, ["P@5", "P@10"]), {}, "choose one"),
    ((NEW,), {"probability": 0.5}, "probability cannot be 0.5; above 0.5 and below 1"),
    ((NEW,), {"margin": -0.1}, "margin cannot be -0.1"),
    ((NEW,), {"scope": "topics"}, "scope cannot be 'topics'"),
    ((NEW,), {"estimators": "posterior-smothed"}, "no posterior; did you mean 'posterior-smoothed'"),
    ((["new-a", "new-c"],), {}, "new-c"),
)


def test_what_cannot_be_gated_is_refused() -> None:
    for given, settings, said in WRONG:
        with pytest.raises(InputError, match=said):
            gate(load_example(), *given, **settings)


@pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")
def test_on_priors_alone_compare_and_gate_decide_by_a_posterior_that_is_named() -> None:
    """The first 5 to 7 of a's top 10 are relevant, b's first three are not, and the rest is unjudged: the
    bounds of the difference are -.1 and 1, and the posterior is sure. With two more of b judged nonrelevant
    no judgment can turn the order, and no posterior is needed.
    """
    topics = [f"{t:02}" for t in range(30)]
    runs = {run: {t: {f"{run}{i}": 10 - i for i in range(10)} for t in topics} for run in "ab"}

    def collection(n_judged: int) -> Collection:
        judged = {
            t: {f"a{i}": 1 for i in range(5 + k % 3)} | {f"b{i}": 0 for i in range(n_judged)}
            for k, t in enumerate(topics)
        }
        return read_collection(judged, runs)

    open_, sure = collection(3), collection(5)
    for asked, decides in (({}, False), ({"estimators": "posterior-combined"}, True)):
        found = compare(open_, ("a", "b"), "P@10", posterior_settings="draws=50", **asked)
        table = found.significance()
        assert table["prob_significant"].dropna().tolist() == [1.0]
        assert (table["p_adjusted"] < 1e-9).all()
        assert table["significant"].isna().all() == (not decides)
        (sentence,) = found.sentences()
        assert ("of 0.600 is significant" in sentence) == decides
        assert ("of 0.600 would be significant at 0.05 if all that is unjudged were" in sentence) != decides
        assert sentence.endswith("on priors alone, too uncertain to declare significant.") != decides
        headings = [t.caption for t in found.read() if "significance at" in t.caption]
        assert all(heading.endswith("; no pool, posteriors on priors alone") for heading in headings)
        text = " ".join(str(t.notes) for t in found.read())
        assert ("only if it is named (--estimators posterior-combined)" in text) != decides
        named = "posterior-combined" if decides else None
        gated_ = gate(open_, ("b", "a"), "P@10", estimators=named, posterior_settings="draws=50")
        assert gated_.status == (0 if decides else 2)
    table = compare(sure, ("a", "b"), "P@10", posterior_settings="draws=50").significance()
    assert table["significant"].all()


def test_ids_that_match_only_without_a_suffix_give_no_verdict() -> None:
    """A third of the topics of the new run have ids of passages, so that it is worse for its names alone."""
    qrels = {str(t): {f"d{i}": int(i < 4) for i in range(8)} for t in range(12)}
    old = {q: {f"d{i}": -i for i in range(4)} for q in qrels}
    new = {q: {f"d{i}" + "#1" * (int(q) < 4): -i for i in (0, 1, 2, 7)} for q in qrels}
    with warnings.catch_warnings(action="ignore"):
        collection = read_collection(qrels, {"old": old, "new": new})
        found = gate(collection, ["old", "new"], "P@4", estimators="posterior-combined(draws=50)")
        compared = compare(collection, ["old", "new"], "P@4", estimators=PosteriorEstimator(draws=50))
    condition = "33.3 % of the top of new judged only if a suffix of ids were cut"
    assert found.status == 2
    assert condition in found.metadata["gate"]["conditions"]
    assert condition in found.sentence
    assert "decide nothing (--reading documents=best-passage)" in found.sentence
    assert compared.significance()["significant"].isna().all()
    assert condition in compared.sentences()[0]
    assert "would be significant at 0.05 if all that is unjudged were nonrelevant" in compared.sentences()[0]
    assert "; no verdict" in compared.sentences()[0]
    (heading, note), *_ = (
        (v.title, v.note) for table in compared.tables() for v in table.views if "significance" in v.title
    )
    assert condition in heading
    assert "No verdict, whatever p is, of runs with ids that match only if a suffix is cut." in note
