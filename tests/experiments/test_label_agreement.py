"""Agreement of labels with judgments and with each other, without a pool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from commands import Outcome
from scipy.stats import mannwhitneyu
from statsmodels.stats.inter_rater import cohens_kappa

from bayespool.errors import InputError
from bayespool.experiments import compare_judges
from bayespool.reading import Labels, Qrels, labels_from_frame, qrels_from_frame

Levels = dict[str, dict[str, int]]


def drawn(n: int = 160) -> tuple[Levels, Levels, Levels]:
    """Judgments from 0 to 2 of four topics, labels near them, and labels of two values that lack a topic."""
    rng = np.random.default_rng(3)
    people: Levels = {q: {f"d{i}": int(rng.integers(3)) for i in range(n // 4)} for q in "abcd"}
    near = {
        q: {d: int(np.clip(x + rng.integers(-1, 2), 0, 3)) for d, x in of.items()} for q, of in people.items()
    }
    binary = {q: {d: int(x + rng.integers(3) > 2) for d, x in people[q].items()} for q in "abc"}
    return people, near, binary


def test_agreement_is_that_of_other_software() -> None:
    people, near, binary = drawn()
    people["a"]["d0"] = -1  # listed and not judged
    labels = {"near": labels_from_frame(near), "binary": labels_from_frame(binary)}
    check = compare_judges(labels, qrels_from_frame(people), "nDCG(rel=2)@10")
    frame = check.to_frame().set_index(["judge", "reference"])
    assert list(frame.index) == [("near", "people"), ("binary", "people"), ("near", "binary")]
    sides = {"people": (people, 2), "near": (near, 2), "binary": (binary, 1)}
    for (judge, reference), row in frame.iterrows():
        (label, cut), (other, least) = sides[judge], sides[reference]
        pairs = [
            (label[q][d], other[q][d])
            for q in label
            for d in label[q]
            if q in other and (reference != "people" or other[q][d] >= 0)
        ]
        x, y = np.array(pairs).T
        assert (row["n"], row["n_relevant"]) == (len(pairs), (y >= least).sum())
        assert (row["label_from"], row["relevant_from"]) == (cut, least)
        assert row["agreement"] == pytest.approx(((x >= cut) == (y >= least)).mean())
        table = [[int(((x >= cut) == a)[(y >= least) == b].sum()) for b in (0, 1)] for a in (0, 1)]
        assert row["kappa"] == pytest.approx(cohens_kappa(table).kappa)
        u = mannwhitneyu(x[y >= least], x[y < least]).statistic
        assert row["auc"] == pytest.approx(u / ((y >= least).sum() * (y < least).sum()))
        for name in ("agreement", "kappa", "auc"):
            assert row[f"{name}_lower"] < row[name] < row[f"{name}_upper"]
    assert len(check.sentences()) == 3
    again = compare_judges(labels, qrels_from_frame(people), "nDCG(rel=2)@10")
    assert again.to_frame().equals(check.to_frame())


def test_copies_are_asked_for_and_one_topic_has_no_interval() -> None:
    labels = labels_from_frame({"q": {f"d{i}": i % 2 for i in range(60)}})
    judgments = qrels_from_frame({"q": {f"d{i}": i % 2 for i in range(60)}})
    check = compare_judges({"llm": labels}, judgments)
    assert check.notes()[0] == "llm and people agree on all of 60 documents: is one a copy of the other?"
    assert check.sentences() == ("llm agrees with people on 1.0000 of 60 documents; κ 1.0000",)
    half = labels_from_frame({"q": {f"d{i}": 0.5 + i % 2 for i in range(60)}})
    several = compare_judges({"llm": [labels, half]}, judgments)  # of means
    assert several.to_frame()["label_from"].tolist() == [1.25]


def test_what_cannot_be_compared() -> None:
    labels = {"llm": labels_from_frame({"q": {"a": 1, "b": 0}})}
    cases: list[tuple[dict[str, Labels], Qrels | None, str]] = [
        (labels, None, "1 judge and no judgments to compare with; give --qrels, or a second --judge"),
        (labels, qrels_from_frame({"q": {"c": 1}}), "no document has a label of llm and one of people"),
        (
            {"same": labels_from_frame({"q": {"a": 0, "b": 0}})},
            qrels_from_frame({"q": {"a": 1}}),
            "all labels say",
        ),
    ]
    for given, judgments, said in cases:
        with pytest.raises(InputError) as error:
            compare_judges(given, judgments)
        assert said in str(error.value)


def test_the_command_needs_no_pool(run: Callable[..., Outcome], tmp_path: Path) -> None:
    people, near, binary = drawn()
    names = {"people.json": people, "near.json": near, "binary.json": binary}
    for name, content in names.items():
        (tmp_path / name).write_text(json.dumps(content))
    judges = [x for name in ("near", "binary") for x in ("--judge", f"{name}={tmp_path / name}.json")]
    done = run("judges", *judges, "--qrels", tmp_path / "people.json")
    assert done.status == 0, done.err
    assert "near agrees with people on" in done.out
    done = run("judges", *judges, "-o", tmp_path / "agreement")
    assert (done.status, "near agrees with binary on" in done.out) == (0, True), done.err
    assert "give --qrels, or a second --judge" in run("judges", *judges[:2]).err
    done = run("judges", *judges, "--qrels", tmp_path / "people.json", "--intervals")
    assert (done.status, "--intervals without runs; give --pool" in done.err) == (1, True)
