"""Estimators by name: what registers itself is known wherever names are, with all that is said of it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from compared import printed
from small import small
from wide import wide

from bayespool.comparisons import compare, reversals
from bayespool.corrections import CondensedList
from bayespool.corrections.base import Corrected, PointCorrection
from bayespool.errors import InputError
from bayespool.experiments import leave_out, load_example
from bayespool.measures import Estimates, parse_measures
from bayespool.options import describe_estimator
from bayespool.report.terminal import print_result
from bayespool.scoring import (
    ALL_ESTIMATORS,
    DEFAULT_ESTIMATORS,
    ESTIMATOR_NAMES,
    ESTIMATORS,
    PAIRED_ESTIMATORS,
    named_estimators,
    parse_estimator,
    register_estimator,
    score,
)
from bayespool.scoring.estimators import refuse_too_many_draws, with_common_topics
from bayespool.tables.markup import Arrangement

BY_LABELS = ("judge-filled", "judge-rates", "prediction-powered", "precise", "conformal-risk-control")
POSTERIORS = (
    "combined",
    "background",
    "interpolated",
    "smoothed",
    "odds-ratio",
    "ratio",
    "anti-precision",
    "evidence",
    "rankings",
)


@pytest.fixture(autouse=True)
def registry_as_it_was():
    before = dict(ESTIMATORS)
    yield
    ESTIMATORS.clear()
    ESTIMATORS.update(before)


def define_half():
    """What the file of a new correction holds: one line and the class."""

    @register_estimator("half", label="half\nway", description="the middle of the bounds", source="Toy 2026")
    @dataclass(frozen=True, kw_only=True)
    class Half(PointCorrection):
        share: float = 0.5

        @property
        def name(self):
            return "half"

        def correct(self, collection, found):
            return Corrected(found.lower + self.share * found.residual)

    return Half


def define_bound():
    """An estimator that is no correction of the package's and not even a dataclass."""

    @register_estimator("upper-bound", description="T")
    class UpperBound:
        name = "upper-bound"

        def estimate(self, collection, run_ids=None, measures="P@10"):
            from bayespool.evidence import judgment_counts

            found = []
            for measure in parse_measures(measures):
                counts = judgment_counts(collection, run_ids, cutoffs=measure.cutoff, rel=measure.rel)
                upper = counts.upper[:, :, 0]
                found.append(
                    Estimates(
                        self.name,
                        measure,
                        counts.run_ids,
                        counts.query_ids,
                        upper,
                        upper.mean(axis=1),
                        collection.fingerprint,
                    )
                )
            return tuple(found)

    return UpperBound


def test_names_are_in_the_order_of_tables() -> None:
    assert (
        "as-judged",
        "background",
        "interpolated",
        "smoothed",
        "systems-adjustment",
        "topics-adjustment",
        "anti-precision",
        "condensed-list",
        "froebe-bootstrap",
        "lu-moffat-culpepper",
        "horvitz-thompson",
        "inferred-ap",
        "inferred-ndcg",
        "stat-ap",
        *BY_LABELS,
        *(f"posterior-{model}" for model in POSTERIORS),
    ) == ESTIMATOR_NAMES
    assert (
        *(n for n in ESTIMATOR_NAMES[1:8] if n != "topics-adjustment"),
        "posterior-combined",
    ) == DEFAULT_ESTIMATORS
    rivals = ("froebe-bootstrap", "lu-moffat-culpepper")
    assert ("as-judged", *DEFAULT_ESTIMATORS[:-1], *rivals, DEFAULT_ESTIMATORS[-1]) == ALL_ESTIMATORS
    assert repr(ALL_ESTIMATORS) == repr(tuple(ALL_ESTIMATORS))
    assert list(ALL_ESTIMATORS) != ALL_ESTIMATORS


@pytest.mark.slow
@pytest.mark.parametrize("first", ["bayespool.posterior", "bayespool.corrections.lipani"])
def test_the_order_does_not_depend_on_what_is_imported_first(first: str) -> None:
    code = (
        f"import {first}; from bayespool.scoring.estimators import ESTIMATOR_NAMES; print(*ESTIMATOR_NAMES)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == list(ESTIMATOR_NAMES)


def test_every_entry_says_what_it_is() -> None:
    for name, entry in ESTIMATORS.items():
        assert entry.name == name
        assert 0 < len(entry.description) < 80
        assert entry.label.count("\n") == 1
        own = ("judge-rates", "posterior-evidence", "posterior-rankings")
        assert entry.source or name in (*own, "posterior-combined")
        assert bool(entry.citations) == (name not in own)
        assert entry.needs_settings == (name == "topics-adjustment")
        assert entry.needs_sample == (name in ("horvitz-thompson", "inferred-ap", "inferred-ndcg", "stat-ap"))
        assert entry.needs_judge == (name in BY_LABELS)
        assert (entry.kind == "posterior") == name.startswith("posterior-")


def test_a_new_correction_is_scored_compared_and_left_out_by_name() -> None:
    half = define_half()
    before_posteriors = ESTIMATOR_NAMES.index("posterior-combined") - 1
    assert (ESTIMATOR_NAMES[before_posteriors], ALL_ESTIMATORS[-2]) == ("half", "half")
    assert "half" not in DEFAULT_ESTIMATORS
    collection = load_example()
    scores = score(collection, ["new-a", "new-b"], "P@10", estimators=["half", "as-judged"])
    frame = wide(scores)
    np.testing.assert_allclose(frame["half"], (frame["bound_lower"] + frame["bound_upper"]) / 2, rtol=1e-12)
    low = score(collection, "new-a", "P@10", estimators="half(share=0)")
    assert wide(low)["half"].tolist() == wide(low)["bound_lower"].tolist()
    assert low.metadata["estimators"] == [{"name": "half", "estimand": "complete", "share": 0}]

    left = leave_out(collection, "P@10", estimators=["half", "background(e=0.5)"]).to_frame()
    values = left.pivot(index="run_id", columns="estimator", values="value")
    np.testing.assert_allclose(values["half"], values["background"], rtol=1e-12)
    both = compare(collection, ["new-a", "new-b"], "P@10", estimators=["half"])
    assert set(both.differences()["method"]) == {"as-judged", "half"}
    turned = reversals(collection, measures="P@10", estimators=["half"], judgments=[500], fitted=False)
    assert set(turned.rates()["method"]) == {"as-judged", "half"}
    assert parse_estimator("half(share=0.25)") == half(share=0.25)


def test_a_setting_of_a_text_goes_before_that_of_all() -> None:
    parsed = parse_estimator("posterior-ratio(draws=500)", draws=100, chains=2)
    assert (parsed.draws, parsed.chains) == (500, 2)
    assert parse_estimator("posterior-ratio", draws=100).draws == 100


def test_a_new_estimator_is_known_by_name() -> None:
    define_bound()
    scores = score(load_example(), "new-a", "P@10", estimators=["upper-bound", "condensed-list"])
    np.testing.assert_allclose(wide(scores)["upper-bound"], wide(scores)["bound_upper"], rtol=1e-12)
    left = leave_out(load_example(), "P@10", estimators="upper-bound").to_frame()
    np.testing.assert_allclose(left["value"], left["bound_upper"], rtol=1e-12)
    with pytest.raises(InputError, match="upper-bound"):
        parse_estimator("upper-bound(share=1)")


def test_the_help_of_commands_lists_what_is_registered(run) -> None:
    define_half()
    shown = run("score", "--help").out
    assert "the middle of the bounds" in shown
    assert all(name in shown for name in ESTIMATOR_NAMES)
    assert "posterior-evidence" not in run("check", "--help").out


def test_pairs_are_each_correction_and_its_posterior() -> None:
    assert named_estimators("pairs") == (
        *("background", "posterior-background", "interpolated", "posterior-interpolated"),
        *("smoothed", "posterior-smoothed", "systems-adjustment", "posterior-ratio"),
        *("anti-precision", "posterior-anti-precision"),
    )
    papers = [ESTIMATORS[name].citations for name in PAIRED_ESTIMATORS]
    assert papers[::2] == papers[1::2]
    (*pairs, adjustment) = with_common_topics("pairs", ("701", "702"))
    assert tuple(pairs) == PAIRED_ESTIMATORS
    assert adjustment.name == "topics-adjustment"


def test_a_correction_stands_beside_its_posterior() -> None:
    asked = ["interpolated", "posterior-interpolated", "background", "posterior-background"]
    scores = score(load_example(), measures="P@10", estimators=asked, draws=50)
    pairs, wide_ = scores.to_frame("pairs"), wide(scores)
    assert list(pairs["run_id"]) == ["new-a", "new-a", "new-b", "new-b"]
    assert list(pairs["correction"]) == ["interpolated", "background"] * 2
    assert list(pairs["estimator"]) == ["posterior-interpolated", "posterior-background"] * 2
    assert pairs["corrected"].tolist() == wide_[["interpolated", "background"]].to_numpy().ravel().tolist()
    of_one = scores["posterior-background", "P@10"].to_frame()
    assert pairs["value"].tolist()[1::2] == of_one["value"].tolist()
    assert pairs["upper"].tolist()[1::2] == of_one["upper"].tolist()
    (shown,) = scores.read()
    assert shown.header[:3] == ("run", "correction", "lower")
    assert [row[1] for row in shown.rows] == ["interpolated", "background"] * 2
    (best, *_) = scores.read(Arrangement(top=1))
    assert {row[0] for row in best.rows} == {"new-a"}
    (chosen,) = scores.read(Arrangement(columns=["background", "posterior-background"]))
    assert chosen.header[1:] == ("back\xad\nground", "posterior\nbackground", "95 %\ninterval")


def test_estimators_without_a_pair_keep_their_table() -> None:
    asked = ["background", "posterior-background", "smoothed"]
    scores = score(load_example(), measures="P@10", estimators=asked, draws=50)
    all_of_them, pairs = scores.read()
    assert "smooth\xad\ned" in all_of_them.header
    assert [row[1] for row in pairs.rows] == ["background"] * 2
    assert "pairs" not in [table.name for table in score(load_example(), estimators="background").tables()]


def test_the_table_of_the_documentation_has_it(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs"))
    from reference_tables import estimators

    define_half()
    table = estimators().splitlines()
    assert len(table) == 2 + len(ESTIMATOR_NAMES)
    assert "| `half` | the middle of the bounds | Toy 2026 | all |" in table
    assert table[2].endswith("| Ravana & Moffat 2010, §3 | all |")
    assert table[3].endswith("| Ravana & Moffat 2010, §3 | default, all, pairs |")


def test_the_label_heads_the_column() -> None:
    define_half()
    found = score(load_example(), "new-a", "P@10", estimators=["half", "smoothed"])
    lines = printed(lambda console: print_result(found, console), width=200).splitlines()
    assert lines[2].split() == ["resid-", "un-", "half", "smooth-"]
    assert lines[3].split()[-3:] == ["judged", "way", "ed"]


def test_a_class_defined_again_replaces_itself_and_no_other() -> None:
    define_half()
    again = define_half()
    assert ESTIMATORS["half"].make is again
    with pytest.raises(InputError, match="there is an estimator 'half' already"):
        register_estimator("half", description="another")(CondensedList)
    with pytest.raises(InputError, match="already"):
        register_estimator("background", description="another")(again)


def test_rivals_are_asked_for_with_their_settings_and_left_out() -> None:
    asked = [
        "froebe-bootstrap(distribution='pool',n_bootstraps=20,quantile=60)",
        "lu-moffat-culpepper(shape='zipf',loss='b')",
    ]
    bootstrap, fitted = (describe_estimator(parse_estimator(text)) for text in asked)
    assert (
        bootstrap.items()
        >= {"distribution": "pool", "n_bootstraps": 20, "quantile": 60, "loss": "rmse"}.items()
    )
    assert fitted.items() >= {"shape": "zipf", "loss": "b", "persistence": 0.95}.items()
    left = leave_out(small(), ["P@10", "nDCG@10"], estimators=asked).to_frame()
    assert set(left["estimator"]) == {"froebe-bootstrap", "lu-moffat-culpepper"}
    assert left["value"].notna().all()
    assert left["lower"].isna().all()
    with pytest.raises(InputError, match="'run', 'pool', 'run-and-pool'"):
        parse_estimator("froebe-bootstrap(distribution='poisson')")


def test_an_estimator_is_described_by_what_it_is_compared_by() -> None:
    text = "posterior-smoothed(priors={'c': 'Beta(1, 1)'}, progress=True)"
    described = describe_estimator(parse_estimator(text))
    of_text = {"name": "posterior-smoothed", "model": "smoothed", "priors": {"c": "Beta(1, 1)"}}
    defaults = {"engine": "laplace", "draws": 1000, "tune": 1000, "chains": 4, "target_accept": 0.95}
    others = {"estimand": "complete", "joint": False, "together": False, "shift": None, "random_seed": 1}
    assert described == of_text | defaults | others
    assert json.loads(json.dumps(described)) == described
    half = dataclasses.replace(define_half()(share=0.25), estimand="pooled")
    assert describe_estimator(half) == {"name": "half", "estimand": "pooled", "share": 0.25}
    assert describe_estimator(define_bound()()) == {"name": "upper-bound"}


def test_draws_that_take_too_much_memory_are_refused() -> None:
    many = {"n_measures": 10, "n_runs": 1000, "n_topics": 10_000}
    for estimator in ("prediction-powered(n_draws=1000000)", "posterior-ratio(draws=1000000)"):
        with pytest.raises(InputError, match="ask for fewer draws"):
            refuse_too_many_draws([parse_estimator(estimator)], **many)
    refuse_too_many_draws([parse_estimator("judge-rates")], **many)


def test_a_text_may_have_several_estimators() -> None:
    """As on the command line."""
    found = score(load_example(), "new-b", "P@10", estimators="background(e=0.05), as-judged").to_frame()
    assert found["estimator"].tolist() == ["background", "as-judged"]
    assert found["value"].tolist() == pytest.approx([0.35 + 0.05 * 0.22, 0.35])
