"""Documents taken out, and topics that count: values by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayespool import read_collection, score
from bayespool.collection import Collection, build_collection
from bayespool.errors import InputError, InputWarning
from bayespool.pooling import read_contributors
from bayespool.pooling.collection_files import read_collections

RUN = {"q1": {"q1": 9.0, "a": 8.0, "b": 7.0, "c": 6.0}, "q2": {"a": 3.0, "b": 2.0, "q2": 1.0}}
QRELS = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 0, "b": 2, "d": 1}, "q3": {"e": 1}}
ROUND = {"q1": {"a": 1, "c": -1}, "q2": {"a": 0, "d": 1}}  # −1: listed, and not judged in that round

pytestmark = [
    pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning"),
    pytest.mark.filterwarnings("ignore::bayespool.errors.OrganizationWarning"),
]


def as_judged(measure: str = "P@2", **options: Any) -> list[float]:
    collection = read_collection(QRELS, RUN, **options)
    return score(collection, measures=measure, estimators="background").bounds[0].lower[0].tolist()


def test_the_document_that_is_the_query_is_taken_out() -> None:
    assert as_judged() == [0.5, 0.5, 0.0]
    assert as_judged(exclude="query") == [0.5, 0.5, 0.0]
    assert as_judged("RR@1", exclude="query") == [1.0, 0.0, 0.0]
    upper = score(read_collection(QRELS, RUN, exclude="query"), measures="P@2", estimators="background")
    assert upper.bounds[0].upper[0].tolist() == [0.5, 0.5, 0.0]  # it is not unjudged


def test_documents_of_an_earlier_round_are_neither_unjudged_nor_relevant(tmp_path: Path) -> None:
    """Of q1 q1 b c are left, and c alone is relevant; of q2 b and q2, and b is the whole ideal ranking."""
    assert as_judged(exclude=ROUND) == [0.0, 0.5, 0.0]
    assert as_judged("nDCG@2", exclude=ROUND) == [0.0, 1.0, 0.0]
    path = tmp_path / "round1.txt"
    path.write_text("".join(f"{q} 0 {d} {r}\n" for q, of_q in ROUND.items() for d, r in of_q.items()))
    assert as_judged("nDCG@2", exclude=path) == [0.0, 1.0, 0.0]
    assert as_judged("nDCG@2", exclude=["query", path]) == [pytest.approx(1 / np.log2(3)), 1.0, 0.0]


def test_lists_of_documents(tmp_path: Path) -> None:
    path = tmp_path / "excluded.txt"
    path.write_text("q1 q1\nq1 a\n\nq2 a\nq1 a\n")
    for exclude in (path, str(path), {"q1": ["q1", "a"], "q2": ["a"]}):
        assert as_judged(exclude=exclude) == [0.5, 0.5, 0.0]
        collection = read_collection(QRELS, RUN, exclude=exclude)
        assert collection.scope_notes[0].endswith("3 documents of runs and 2 judgments")
        assert collection.fingerprint != read_collection(QRELS, RUN).fingerprint
    with pytest.warns(InputWarning, match="to be taken out"):
        read_collection(QRELS, RUN, exclude={"q1": ["nowhere"]})
    with pytest.raises(InputError, match="nothing is left"):
        read_collection(QRELS, RUN, exclude={q: list(of_q) for q, of_q in RUN.items()})


def test_topics_of_the_run_of_a_file_and_of_a_list(tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv"
    path.write_text("q1\twhat is asked\nq9\tnowhere judged\n")
    assert as_judged(topics="run") == [0.5, 0.5]
    assert as_judged(topics=["q3", "q2"]) == [0.5, 0.0]
    with pytest.warns(InputWarning, match="1 topic .* not in the qrels"):
        assert as_judged(topics=path) == [0.5]
    with pytest.raises(InputError, match="none of the topics"):
        as_judged(topics=["q9"])
    scores = score(read_collection(QRELS, RUN, topics="run"), measures="P@2", estimators="background")
    assert any("2 of the 3 topics" in note for note in scores.metadata["pool_notes"])


def test_runs_of_other_topics_have_no_common_mean() -> None:
    fold = {"q3": {"e": 1.0}}
    with pytest.raises(InputError, match="other topics") as error:
        read_collection(QRELS, {"mine": RUN, "fold": fold}, topics="run")
    assert "--topics" in (error.value.hint or "")
    with pytest.raises(InputError, match="no run to score"):
        read_collection(QRELS, pool={"a": RUN}, topics="run")
    both = {"mine": RUN, "other": {**RUN, "q7": {"x": 1.0}}}  # q7 is not judged and makes no difference
    assert read_collection(QRELS, both, topics="run").query_ids == ("q1", "q2")


def contributors(**options: Any) -> Collection:
    return read_contributors({"a": RUN}, **options)  # type: ignore[arg-type]


def test_they_are_taken_out_of_runs_that_make_a_pool() -> None:
    for qrels in (None, QRELS):
        collection = contributors(qrels=qrels, exclude="query", topics=["q1"])
        assert collection.query_ids == ("q1",)
        assert collection.length.tolist() == [[3]]
        assert len(collection.scope_notes) == 2
    assert build_collection(RUN, QRELS, exclude="query", topics="run").length.tolist() == [[3, 2]]


def test_a_file_of_a_collection_names_them(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 q1 1 3 x\nq1 Q0 a 2 2 x\nq1 Q0 b 3 1 x\nq2 Q0 a 1 1 x\n")
    (tmp_path / "out.txt").write_text("q1 b\n")
    (tmp_path / "one.toml").write_text(
        'qrels = "qrels.txt"\npool = "run.txt"\nexclude = ["query", "out.txt"]\ntopics = "qrels"\n'
    )
    collection = read_collections(tmp_path / "one.toml")["one"]
    assert collection.length.tolist() == [[1, 1]]
