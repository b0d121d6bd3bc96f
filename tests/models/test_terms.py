"""Formulas of effects: their grammar, what is refused, and what they say on the example."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from columns import with_columns
from each import cases

from bayespool import (
    PosteriorEstimator,
    check_models,
    complete,
    fit,
    leave_out,
    load_example,
    read_result,
    score,
)
from bayespool.collection import Collection
from bayespool.collection.attributes import Attributes
from bayespool.errors import InputError
from bayespool.evidence.columns import standardized
from bayespool.inference import Laplace
from bayespool.measures import parse_measure
from bayespool.models import MODELS, ModelSpec, model_named
from bayespool.models.terms import Terms, find_factor, parse_terms
from bayespool.posterior import ScoringProblem
from bayespool.scoring.estimators import estimator_labels, named_estimators, parse_estimator

BOTH = "ratio + (1 | type) + length"


def test_a_formula_is_written_in_one_way() -> None:
    assert parse_terms(" (1|type)+length ") == (Terms(("type",), ("length",)), "(1 | type) + length")
    spec = model_named("ratio+length + ( 1|type )")
    assert (spec.name, spec.base) == ("ratio + length + (1 | type)", "ratio")
    assert spec.prior_names[-3:] == ("sigma_slope", "sigma_type", "length")
    assert model_named("ratio") is MODELS["ratio"]


@cases(
    "text",
    [
        "(1 | type",
        "(x | type)",
        "1",
        "",
        "length +",
        "(1 | run type)",
        "type:length",
        "(1 | type) - length",
        "type * length",
    ],
)
def test_other_formulas_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="no effect"):
        parse_terms(text)


@cases(
    ("model", "wrong"),
    [
        (
            "combined + (1 | type)",
            "combined is a mixture of models; add effects to one model: ratio or rankings",
        ),
        ("background + length", "model background has no slopes for length"),
        ("ratio + (1 | topic)", "the model has 'topic' itself; leave it out, or rename the column"),
        ("ratio +", "no effect '' in '+'"),
        ("ratio + log_rank", "the model has 'log_rank' itself"),
        ("ratio + type + (1 | type)", "'type' is in the formula twice"),
        ("ratoi + (1 | type)", "no model 'ratoi"),
    ],
)
def test_models_that_cannot_be_are_refused_when_they_are_named(model: str, wrong: str) -> None:
    with pytest.raises(InputError) as refused:
        PosteriorEstimator(model=model)
    assert wrong in str(refused.value)


def test_priors_are_those_of_the_formula() -> None:
    given = {"sigma_type": "HalfNormal(0.2)", "length": "Normal(0.5, 0.3)"}
    spec = model_named(PosteriorEstimator(model=BOTH, priors=given).model).with_priors(given)
    assert str(spec.effects["type"].scale) == "HalfNormal(0.2)"
    assert spec.predictors["length"] == (0.5, 0.3)
    with pytest.raises(InputError, match=r"prior of length: Cauchy\(0, 1\) is not normal"):
        PosteriorEstimator(model=BOTH, priors={"length": "Cauchy(0, 1)"})
    with pytest.raises(InputError, match="has no prior 'sigma_type'"):
        PosteriorEstimator(model="ratio", priors=given)


@cases(
    ("estimator", "wrong"),
    [
        (
            "posterior-ratio + (1 | types)",
            "no column 'types'; it has type of runs and language, length of topics",
        ),
        ("posterior-ratio + type", "type has texts, which are levels: 'neural'; write (1 | type), or"),
        ("ratio + (1 | type)", "no estimator 'ratio'; did you mean 'posterior-ratio'?"),
        ("background + (1 | type)", "background takes no effects"),
        ("posterior-difference + (1 | type)", "posterior-difference takes no effects"),
        ("posterior-ratio + (1 | language)", "language has 2 levels, more than 1: 'de', 'en'; merge levels"),
    ],
)
def test_columns_that_are_not_there_are_refused_before_anything_is_computed(
    estimator: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayespool.models.terms.MOST_LEVELS", 1)
    monkeypatch.setattr("bayespool.posterior.PosteriorEstimator.estimate", None)
    for ask in (score, leave_out):
        with pytest.raises(InputError) as refused:
            ask(with_columns(), measures="P@10", estimators=["as-judged", estimator])
        assert wrong in str(refused.value)


def test_a_collection_without_columns_says_where_they_come_from() -> None:
    with pytest.raises(InputError, match=r"no column .type.; give columns beside --organizations"):
        score(load_example(), estimators="posterior-ratio + (1 | type)")


def test_levels_are_those_of_the_pool() -> None:
    given = with_columns()
    types = given.runs.columns["type"] | {"new-a": "quantum"}
    factor = find_factor(dataclasses.replace(given, runs=Attributes({"type": types})), "type")
    assert factor.levels == ("lexical", "neural", "unknown", "(new)")
    of = dict(zip(given.run_ids, factor.level, strict=True))
    assert (of["new-a"], of[given.run_ids[2]]) == (3, 2)
    topics = find_factor(given, "language")
    assert (topics.levels, topics.of, topics.level[:3]) == (("de", "en"), "topic", (1, 0, 1))


def test_numbers_are_in_standard_deviations_of_the_pool() -> None:
    given = with_columns()
    sizes = {run: str(k) for k, run in enumerate(given.pooled_run_ids)} | {"new-a": "1000"}
    given = dataclasses.replace(given, runs=Attributes({"size": sizes}))
    of_runs, lengths = standardized(given, "run", "size"), standardized(given, "topic", "length")
    assert of_runs is not None
    assert lengths is not None
    pooled = of_runs[given.pooled]
    assert (pooled.mean(), pooled.std()) == pytest.approx((0, 1), abs=1e-12)
    assert of_runs[given.run_index("new-b")] == 0  # which has none: average
    assert lengths.std() == pytest.approx(1)


def test_names_are_told_from_settings_and_from_each_other() -> None:
    texts = named_estimators("posterior-ratio(draws=50, mu=Normal(-2, 1)) + (1 | type),posterior-ratio")
    assert texts == ("posterior-ratio(draws=50, mu=Normal(-2, 1)) + (1 | type)", "posterior-ratio")
    few, many = (parse_estimator(f"posterior-ratio(draws={n})+(1|type)") for n in (50, 60))
    assert few.name == "posterior-ratio + (1 | type)"
    labels = [f"posterior-ratio(draws={n}) + (1 | type)" for n in (50, 60)]
    assert estimator_labels([few, many]) == tuple(labels)
    assert [parse_estimator(label) for label in labels] == [few, many]


@pytest.fixture(scope="module")
def scores() -> Any:
    estimators = ["posterior-ratio", "posterior-ratio + (1 | type)"]
    return score(with_columns(), measures="P@10", estimators=estimators, posterior_settings="draws=60")


def test_columns_without_a_formula_change_no_byte(scores: Any) -> None:
    plain = score(
        load_example(), measures="P@10", estimators="posterior-ratio", posterior_settings="draws=60"
    )
    one, other = (s["P@10", "posterior-ratio"].draws for s in (plain, scores))
    assert one.scores().tobytes() == other.scores().tobytes()


def test_a_name_with_a_bar_is_a_name_in_tables_and_files(scores: Any, tmp_path: Path) -> None:
    name = "posterior-ratio + (1 | type)"
    assert r"(1 \| type)" in scores.to_markdown()
    assert "(1 | type)" in scores.to_html()
    scores.to_latex()
    scores.save(tmp_path / "scores.json")
    again = read_result(tmp_path / "scores.json").to_frame()
    assert set(again.estimator) == {"posterior-ratio", name}
    assert "webber-park-2009" in {citation.key for citation in scores.citations()}
    assert scores.to_arviz(name)["posterior"]["P_10"].sizes["run_id"] == 2
    scores.write_report(tmp_path / "scores.html")
    assert name in (tmp_path / "scores.html").read_text(encoding="utf-8")


def test_what_is_unknown_is_said(scores: Any) -> None:
    said = " ".join(scores.notes())
    run = with_columns().run_ids[2]
    assert f"1 run has no type, '{run}' for one: a level of its own, 'unknown'" in said
    types = dataclasses.replace(with_columns(), runs=Attributes({"type": dict.fromkeys(pooled(), "x")}))
    asked = {"measures": "P@10", "estimators": "posterior-ratio(draws=20) + (1 | type)"}
    said = " ".join(score(types, **asked).notes())
    assert "'new-a', 'new-b' are of a type that no run of the pool has, or of none" in said
    assert "have no type" not in said  # which is the same, said twice


def test_a_column_that_is_the_same_everywhere_is_said_to_teach_nothing() -> None:
    given = with_columns().with_attributes(
        topics={topic: {"length": 7} for topic in with_columns().query_ids}
    )
    (said,) = score(given, "new-b", "P@10", estimators="posterior-ratio(draws=20) + length").notes()
    assert said.endswith("length is the same wherever it is known: no slope is learned")


@cases(
    ("table", "effect", "wrong"),
    [
        (
            {"nope": {"size": 3}},
            "size",
            "no run of the collection has a size: the table has 'nope', the coll",
        ),
        ({"new-a": {"size": 3}, "new-b": {"size": "n/a"}}, "size", "which are levels: 'n/a'; write"),
        ({"new-a": {"size": 3}, "new-b": {"size": "inf"}}, "size", "which are levels: 'inf'; write"),
        ({"new-a": {"size": None}}, "size", "no column 'size'"),
    ],
)
def test_a_table_that_says_nothing_of_the_runs_is_refused(
    table: dict[str, dict[str, Any]], effect: str, wrong: str
) -> None:
    table = {run: {**row, "type": "neural"} for run, row in table.items()}
    with pytest.raises(InputError) as refused:
        score(load_example().with_attributes(runs=table), estimators=f"posterior-ratio + {effect}")
    assert wrong in str(refused.value)


def pooled() -> tuple[str, ...]:
    return with_columns().pooled_run_ids


def draws_of(spec: ModelSpec, collection: Collection) -> Any:
    problem = ScoringProblem(collection, (), parse_measure("P@10"), "complete")
    prepared = problem.prepare(spec, {})
    return Laplace(draws=200).fit(prepared.spec, prepared.evidence, 1, known=()).draws()


def test_indicators_are_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of types that do not differ within organizations, which the engine takes in either form."""
    names = sorted(set(load_example().organizations))
    example = load_example()
    types = {
        run: "ab"[names.index(example.organizations[o]) % 2]
        for run, o in zip(example.run_ids, example.organization, strict=True)
    }
    given = dataclasses.replace(example, runs=Attributes({"type": types}))
    spec = model_named("ratio + (1 | type)")
    as_slopes = draws_of(spec, given)
    monkeypatch.setattr(ModelSpec, "crossed", lambda self, evidence: {})
    as_effects = draws_of(spec, given)
    for name in as_effects:
        np.testing.assert_allclose(as_slopes[name], as_effects[name], atol=1e-4, err_msg=name)


def test_log_odds_are_filled_in_as_they_are_computed_apart() -> None:
    estimator = f"posterior-{BOTH}"
    found = complete(
        with_columns(), ["new-a", "new-b"], "P@10", estimators=estimator, posterior_settings="draws=30"
    )
    (posterior,) = found.posteriors
    parts = tuple(dataclasses.replace(part, linear=None) for part in posterior.mixture.components)
    apart = dataclasses.replace(posterior, mixture=dataclasses.replace(posterior.mixture, components=parts))
    for topic in range(4):
        documents, chosen = found.unknowns.on_topic(topic), np.arange(120)[::-2]
        cells = found.cell_effects(topic)[0]
        of = chosen, topic, documents, found.unknowns.run[documents], cells
        assert posterior.log_odds(*of).tobytes() == apart.log_odds(*of).tobytes()


def test_a_container_has_levels_as_coordinates() -> None:
    tree = fit(with_columns(), "P@10", "ratio + (1 | type) + (1 | language) + length", draws=30)["posterior"]
    assert tree["type_effect"].dims == ("chain", "draw", "type")
    assert tree.coords["type"].values.tolist() == ["lexical", "neural", "unknown", "(new)"]
    assert tree.coords["language"].values.tolist() == ["de", "en"]
    assert tree.coords["predictor"].values.tolist() == ["precision", "run_precision", "length"]
    assert {"sigma_type", "sigma_language", "standard_type"} < set(tree.data_vars)


@pytest.mark.parametrize("model", ["background", "interpolated", "smoothed", "odds_ratio", "rankings"])
def test_models_of_all_kinds_take_effects(model: str) -> None:
    """Scores lie within the bounds, and a type that all runs share changes little."""
    estimator = f"posterior-{model.replace('_', '-')}"
    given = dataclasses.replace(
        with_columns(), runs=Attributes({"type": dict.fromkeys(with_columns().run_ids, "x")})
    )
    rows = score(
        given,
        "new-a",
        "P@10",
        estimators=[estimator, f"{estimator} + (1 | type)"],
        posterior_settings="draws=150",
    ).to_frame()
    plain, with_effect = rows.to_dict("records")
    assert (
        with_effect["bound_lower"]
        <= with_effect["lower"]
        <= with_effect["upper"]
        <= with_effect["bound_upper"]
    )
    assert with_effect["value"] == pytest.approx(plain["value"], abs=0.5 * plain["std"])


@pytest.mark.slow
def test_the_sampler_finds_what_the_approximation_does() -> None:
    """Types that differ within organizations: means, and the ends of intervals of scores."""
    model, runs = "ratio + (1 | type)", ["new-a", "new-b"]
    one = fit(with_columns(), "P@10", model, run_ids=runs)
    other = fit(with_columns(), "P@10", model, run_ids=runs, engine="nuts", draws=1000, chains=4)
    assert other.attrs["engine"] == "nuts"
    for name in ("mu", "beta", "type_effect", "sigma_type", "organization_effect"):
        laplace, nuts = (tree["posterior"][name].stack(sample=("chain", "draw")) for tree in (one, other))
        off = np.abs(laplace.mean("sample").values - nuts.mean("sample").values)
        assert off.max() < 0.2 * float(nuts.std("sample").max()), name
        assert laplace.std("sample").values == pytest.approx(nuts.std("sample").values, rel=0.2), name
    ends = [
        np.quantile(tree["predictions"]["P_10"].values.reshape(-1, 2), [0.025, 0.5, 0.975], axis=0)
        for tree in (one, other)
    ]
    np.testing.assert_allclose(ends[0], ends[1], atol=0.01001)


def test_checks_take_models_with_effects() -> None:
    checks = check_models(with_columns(), models=["ratio", "ratio+(1|type)"], posterior_settings="draws=20")
    assert set(checks.to_frame().model) == {"ratio", "ratio + (1 | type)"}
    with pytest.raises(InputError, match="no column 'types'"):
        check_models(with_columns(), models="ratio + (1 | types)")
