"""Cards of collections: facts by hand, errors as of the experiments, only cautions that apply, read back."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from real import read_real
from rich.console import Console
from small import small
from toys import from_rankings, toy_collection

from bayespool import Card, describe_collection, load_example, read_result
from bayespool.collection import Collection
from bayespool.errors import InputError, NoCollectionError
from bayespool.experiments import cards, leave_out
from bayespool.experiments.cards import _cautions, _smallest
from bayespool.measures.parsing import parse_measures
from bayespool.pooling import describe_pool
from bayespool.posterior import find_kinds
from bayespool.report.result import content, print_result
from bayespool.report.stored import result_of_json

FAST: dict[str, Any] = {"estimators": "posterior-ratio(draws=60)"}
NOTHING = pd.DataFrame({"measure": [], "group": [], "smallest": []})


@cache
def graded_example() -> Card:
    return describe_collection(load_example(), ["P@10", "nDCG@10"], graded=True, **FAST)


def test_facts_of_the_toy() -> None:
    """Judged: 10 documents of relevance 0, 5 of 1 and 2 of 2; topic 3 has no relevant one; ``j`` is
    explained by no run. North alone brought b c f, p r, b; south h i k, v w, d.
    """
    card = describe_collection(toy_collection(), "P@3", **FAST)
    facts = {fact: (n, text) for fact, n, _, text in card.to_frame("facts").itertuples(index=False)}
    assert facts == {
        "topics": (3, "2 with a document of relevance 1 or more, 2 of 2, 1 without"),
        "judgments": (17, "of relevance 0: 10, 1: 5, 2: 2"),
        "relevant": (7, "41.2 % of them; per topic 0 to 4, median 3"),
        "pooled runs": (4, "of 2 organizations, to depth 3; 5 runs at hand"),
        "hidden documents": (12, "judged documents that only one organization brought; 50.0 % relevant"),
        "explained": (16 / 17, "by these runs, 1 of 17 judgments not; 0 holes in their pool"),
        "ranks kept": (6, "of a run and topic, at most"),
        "unjudged": (0, "top 3 of 4 pooled runs"),
    }
    assert card.to_frame()["shown"].tolist()[4:6] == ["12", "94.1 %"]


@pytest.mark.slow
def test_errors_are_those_of_the_experiments() -> None:
    """Near ones of organizations left out, far ones of kinds of them; a new run's differences are larger."""
    example, card = load_example(), graded_example()
    kinds = {name: f"kind {k}" for k, kind in enumerate(find_kinds(example), 1) for name in kind}
    names = [example.organizations[o] for o in example.organization]
    runs = {r: {"k": kinds[name]} for r, name in zip(example.run_ids, names, strict=True) if name in kinds}
    typed = example.with_attributes(runs=runs)
    asked: dict[str, Any] = {"measures": ["P@10", "nDCG@10"], "posterior_settings": "draws=60"}
    asked["estimators"] = ["as-judged", "posterior-ratio"]
    rows = card.to_frame("measures").set_index(["measure", "group"])
    for group, leaving in {"new, near": {}, "new, far": {"by": "k"}}.items():
        result = leave_out(typed, **asked, **leaving)  # type: ignore[arg-type]
        summary = result.to_frame("summary").set_index(["measure", "estimator"])
        for measure in asked["measures"]:
            plain, posterior = (summary.loc[(measure, name)] for name in asked["estimators"])
            row = rows.loc[(measure, group)]
            assert row["as_judged_bias"] == plain["bias"] < 0
            for column in ("n_runs", "mae", "coverage_95", "width"):
                assert row[column] == posterior[column], column
            assert row["smallest"] > rows.loc[(measure, "of the pool"), "smallest"] > 0
    assert rows.groupby("group")["smallest"].count().to_dict() == {
        "new, far": 2, "new, near": 2, "of the pool": 2,
    }  # fmt: skip
    ungraded = describe_collection(example, ["P@10", "nDCG@10"], **FAST).to_frame("measures")
    assert ungraded["group"].tolist() == ["of the pool"] * 2
    assert ungraded["smallest"].tolist() == rows.xs("of the pool", level="group")["smallest"].tolist()
    assert set(ungraded) == {"measure", "group", "smallest"}


def test_the_smallest_difference_of_a_new_run_has_its_posterior_variance() -> None:
    v = cards._variances(load_example(), parse_measures("P@10")[0], **FAST, random_seed=1)
    assert v is not None
    error = math.sqrt((v.topic_variance / v.n_topics).mean())
    assert _smallest(v) < _smallest(v, error**2) < 2 * _smallest(v)
    assert max(v.topic_specific_error.max(), v.common_error.max()) < 1e-30  # runs of the pool are judged
    assert math.isnan(_smallest(None, 1.0))


@pytest.mark.filterwarnings("ignore:no document of the qrels has relevance 3")
def test_a_measure_that_no_run_has_a_score_of_detects_nothing() -> None:
    card = describe_collection(small(), "P(rel=3)@10", **FAST)
    assert card.to_frame("measures")["smallest"].isna().all()
    assert not any("detect" in note for note in card.notes())


def test_with_few_organizations_nothing_is_far() -> None:
    card = describe_collection(small(), "P@10", graded=True, **FAST)
    assert card.to_frame("measures")["group"].tolist() == ["of the pool", "new, near"]
    assert "far: not tried with fewer than 8 organizations" in card.table("measures").views[0].note
    assert "4 organizations made the pool" in " ".join(card.notes())


def cautions(collection: Collection, measures: object = "P@3", frame: pd.DataFrame = NOTHING) -> str:
    parsed = parse_measures(measures)
    return "\n".join(_cautions(collection, describe_pool(collection), parsed, frame))


def test_only_cautions_that_apply() -> None:
    """Each of the facts alone, on collections without the others."""
    example = load_example()
    assert cautions(example, ["P@10", "nDCG@5"]) == ""
    assert cautions(example, ["AP@100", "P@10", "P@20"]) == (
        "AP@100, P@20 look below the pool depth of 10: do not compare even runs of the pool as judged"
    )
    assert cautions(example, ["P(rel=3)@10", "P(rel=2)@10"]) == (
        "do not score by P(rel=3)@10: no document is judged as relevant as that"
    )
    few = "2 organizations made the pool: do not trust intervals of other kinds of runs; judge "
    assert cautions(toy_collection()) == f"{few}some of their documents (judge-next)"
    without = toy_collection(pooled_run_ids=(), pool_depth=0)
    assert cautions(without).startswith("no pool is known: do not read intervals as evidence")
    assert "\n" not in cautions(without)
    runs = {run: {"1": run + "xy"} for run in "abcde"}
    levels = dict.fromkeys("abcde", 1)
    names = {run: run.upper() for run in runs}
    pooled: dict[str, Any] = {"organizations": names, "pooled_run_ids": tuple(runs), "pool_depth": 1}
    assert cautions(from_rankings(runs, {"1": levels}, **pooled), "P@1") == (
        "no document is judged nonrelevant: do not use judged precision, nor what rests on it "
        "(interpolated, smoothed, condensed-list)"
    )
    assert cautions(from_rankings(runs, {"1": {**levels, "a": 0, "x": 0}}, **pooled), "P@1") == (
        "do not take these runs for the whole pool: they do not explain 16.7 % of the judgments"
    )


def test_cautions_of_a_graded_collection() -> None:
    rows = [
        ("P@3", "of the pool", float("nan"), float("nan"), 0.05),
        ("P@3", "new, near", -0.02, 0.95, 0.06),
        ("P@3", "new, far", -0.0301, 0.85, 0.07),
        ("AP@3", "of the pool", float("nan"), float("nan"), float("nan")),
        ("AP@3", "new, near", -0.0001, 1.0, 0.06),
    ]
    frame = pd.DataFrame(rows, columns=["measure", "group", "as_judged_bias", "coverage_95", "smallest"])
    assert cautions(load_example(), "P@3", frame).splitlines() == [
        "do not compare new runs with pooled ones as judged; mean error: P@3 -0.020, far -0.030",
        "do not rely on 95 % intervals of new runs; coverage: P@3 far 85.0 %",
        "do not expect 20 topics to detect differences below 0.050 in P@3",
    ]
    assert cautions(load_example(), "P@3", frame.assign(as_judged_bias=0.0, coverage_95=0.9)).count("\n") == 0


def test_words_say_how_to_cite_it_and_how_it_is_graded() -> None:
    card = graded_example()
    unpooled, cited, rights = card.sentences()
    assert unpooled.endswith(": new-b 22.0 %, new-a 9.0 %.")
    assert cited.startswith("Cite the papers of the campaign, the collection as ")
    assert f" {load_example().fingerprint}, and bayespool " in cited
    assert rights.startswith("Rights: ")
    ungraded = describe_collection(toy_collection(), "P@3", **FAST)
    assert "--graded" in ungraded.sentences()[1]
    assert "bayespool" in {citation.key for citation in card.citations()}
    assert repr(card) == "<Card: P@10, nDCG@10; graded>"
    assert repr(ungraded) == "<Card: P@3; not graded>"


def same(one: Card, other: Card) -> None:
    for a, b in zip(one.tables(), other.tables(), strict=True):
        pd.testing.assert_frame_equal(a.frame, b.frame, check_dtype=False)
        assert [str(text) for text in a.read()] == [str(text) for text in b.read()]
    for name in ("notes", "sentences", "citations"):
        assert getattr(one, name)() == getattr(other, name)(), name
    assert (repr(one), one.title, one.command) == (repr(other), other.title, other.command)


@pytest.mark.parametrize("graded", [True, False])
def test_it_is_read_back_without_the_collection(graded: bool, tmp_path: Path) -> None:
    card = graded_example() if graded else describe_collection(toy_collection(), "P@3", **FAST)
    text = content(card, ".json")
    back = result_of_json(text.encode() if isinstance(text, str) else text)
    assert isinstance(back, Card)
    same(card, back)
    assert content(back, ".json") == text
    card.save(tmp_path / "card.json")
    again = read_result(tmp_path / "card.json")
    assert isinstance(again, Card)
    same(card, again)
    again.write_report(tmp_path / "card.html")
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    for words in (card.title, "judged documents that only one organization brought", *card.sentences()[1:]):
        assert words.replace("'", "&#39;") in page


def lines(card: Card) -> list[str]:
    console = Console(width=100, force_terminal=True, color_system=None)
    with console.capture() as capture:
        print_result(card, console)
    return capture.get().splitlines()


def test_it_fits_on_a_screen() -> None:
    shown = lines(graded_example())
    assert len(shown) <= 52
    assert max(map(len, shown)) <= 100


def test_the_card_of_a_real_collection_fits_on_a_screen(collections: Path) -> None:
    card = describe_collection(read_real(collections / "dl21-passage"), ["P@10", "nDCG@10"])
    assert len(lines(card)) <= 46  # a graded one has six more
    assert 0.02 < card.to_frame("measures")["smallest"].min() < 0.15


def test_same_inputs_give_the_same_bytes() -> None:
    one, other = (describe_collection(small(), "AP@20", random_seed=3, **FAST) for _ in range(2))
    assert content(one, ".json") == content(other, ".json")
    assert one.metadata["settings"]["random_seed"] == 3


def test_what_cannot_be_described_is_refused() -> None:
    for given, settings, message in (
        (None, {}, "NoneType where a Collection is expected"),
        (small(), {"measures": "nonsense"}, "nonsense"),
        (small(), {"random_seed": -1}, "random_seed cannot be -1"),
        (small(), {"estimators": "as-judged"}, "'as-judged' is no posterior"),
        (toy_collection(pooled_run_ids=(), pool_depth=0), {"graded": True}, "no pooled run to leave out"),
        (toy_collection(pooled_run_ids=("n1", "n2")), {"graded": True}, "only one organization"),
    ):
        error = NoCollectionError if given is None else InputError
        with pytest.raises(error, match=message):
            describe_collection(given, **settings)  # type: ignore[arg-type]


def test_columns_that_formulas_may_name_are_facts() -> None:
    example = load_example()
    types = {run: {"type": "neural"} for run in example.run_ids}
    documents = pd.DataFrame({"document": example.doc_ids.to_pylist()[:9], "bm25": np.arange(9.0)})
    card = describe_collection(example.with_attributes(runs=types, documents=documents))
    facts = card.to_frame("facts").set_index("fact")
    assert facts.loc["columns", ["amount", "details"]].tolist() == [2, "type of runs; bm25 of documents"]
    assert "columns" not in describe_collection(example).to_frame("facts")["fact"].tolist()
