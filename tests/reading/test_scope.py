"""Documents taken out, topics that count, and published samples: values by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trec_files import refused

from bayespool import read_collection, score
from bayespool.collection import Collection, build_collection
from bayespool.errors import InputError, InputWarning
from bayespool.pooling import read_contributors
from bayespool.pooling.loading import read_collections
from bayespool.reading import Qrels, read_qrels
from bayespool.reading.samples import Sample

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
    assert "--reading topics=FILE" in (error.value.hint or "")
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


STRATA = "1 0 a 1 2\n1 0 b 1 0\n1 0 c 2 -1\n1 0 d 2 1\n1 0 e 2 -1\n2 0 a 2 0\n2 0 f 2 -1\n"
PRELS = (
    "1\ta\t2\t1\t0.5\n1\tb\t0\t0\t0.25\n1\tc\t1\t2\t0.1\n1\td\t-999\t1\t0.1\n2\te\t1\t1\tNA\n2\tf\t0\t4\t1\n"
)
RANKED = {"1": dict(zip("abcdex", range(6, 0, -1), strict=True)), "2": {"f": 2.0, "a": 1.0, "x": 0.5}}

Read = Callable[..., Qrels]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_text(text: str, *, strict: bool = True) -> Qrels:
        path = tmp_path / "qrels.txt"
        path.write_text(text)
        return read_qrels(path, strict=strict)

    return read_text


def swapped(text: str) -> str:
    rows = [line.split() for line in text.splitlines()]
    return "".join(f"{a} {b} {c} {e} {d}\n" for a, b, c, d, e in rows)


def test_fully_judged_strata_are_numbered_from_one(read: Read) -> None:
    assert read("1 0 a 1 0\n1 0 b 2 2\n").stratum.tolist() == [1, 2]
    assert read("1 0 a 0 1\n1 0 b 2 2\n").stratum.tolist() == [1, 2]
    with pytest.raises(InputError, match="which is the stratum") as error:
        read("1 0 a 1 1\n1 0 b 2 2\n")
    assert error.value.path is not None
    with pytest.raises(InputError, match="which is the stratum"):
        read("1 0 a -1 1\n1 0 b 2 -1\n")


def test_prels(read: Read) -> None:
    """What another method chose, 0 and 2, is certain; −999 was not sampled; NA is no probability."""
    qrels = read(PRELS)
    assert qrels.doc_id.to_pylist() == list("abcdef")
    assert qrels.relevance.tolist() == [2, 0, 1, -1, 1, 0]
    np.testing.assert_array_equal(qrels.inclusion, [0.5, 1.0, 1.0, 0.1, np.nan, 1.0])
    assert qrels.stratum is None


def test_a_probability_beside_the_relevance(read: Read) -> None:
    """As in the Legal track; documents may be numbers."""
    text = "1 0 101 2 0.5\n1 0 102 0 0.25\n1 0 103 1 1\n2 0 101 0 1.0\n"
    for qrels in (read(text), read(swapped(text))):
        assert qrels.doc_id.to_pylist() == ["101", "102", "103", "101"]
        assert qrels.relevance.tolist() == [2, 0, 1, 0]
        assert qrels.inclusion.tolist() == [0.5, 0.25, 1.0, 1.0]


def test_other_columns_are_no_sample(read: Read) -> None:
    for text in (
        "1 Q0 a 1 0.9\n1 Q0 b 2 0.8\n",  # a run without a tag
        "1 0 a 0 3 x\n1 0 b 0 3 x\n",
        "1 1 a 1 new\n1 2 a 0 new\n",
    ):
        refused(read, text)


def test_bad_lines_and_repeated_documents(read: Read) -> None:
    with pytest.raises(InputError, match="stratum") as error:
        read(STRATA + "2 0 g 2\n")
    assert error.value.line == 8
    with pytest.warns(InputWarning, match="1 line skipped"):
        assert len(read(STRATA + "2 0 g 2\n", strict=False).relevance) == 7
    with pytest.raises(InputError, match="document a is repeated in topic 1"):
        read(STRATA + "1 0 a 1 0\n")


def collection_of(qrels: Qrels, **options: str) -> tuple[Collection, Sample]:
    collection = build_collection({"r": RANKED}, qrels, **options)  # type: ignore[arg-type]
    assert collection.sample is not None
    return collection, collection.sample


def by_name(collection: Collection, values: np.ndarray) -> dict[str, float]:
    return {
        collection.query_ids[t] + collection.doc_id(pair): value
        for pair, (t, value) in enumerate(zip(collection.pair_topic, values.tolist(), strict=True))
        if value == value and value != -1
    }


def test_the_sample_of_a_collection(read: Read) -> None:
    collection, sample = collection_of(read(STRATA))
    assert by_name(collection, sample.inclusion) == {"1a": 1, "1b": 1, "1d": 1 / 3, "2a": 0.5}
    strata = {"1a": 0, "1b": 0, "1c": 1, "1d": 1, "1e": 1, "2a": 1, "2f": 1}
    assert by_name(collection, sample.stratum) == strata
    assert by_name(collection, sample.rates) == {q: (1.0, 2 / 5)[s] for q, s in strata.items()}
    assert by_name(collection, sample.judgment_inclusion(collection.judged)) == by_name(
        collection, sample.inclusion
    )
    assert "4 of 7 documents in 2 strata" in collection.scope_notes[0]
    gone = np.array([collection.doc_id(p) in "ce" for p in range(len(collection.relevance))])
    smaller = collection.without_judgments(gone)
    assert smaller.sample is not None
    assert by_name(smaller, smaller.sample.inclusion) == {"1a": 1, "1b": 1, "1d": 1, "2a": 0.5}
    assert len({c.fingerprint for c in (collection, smaller, collection_of(read(swapped(STRATA)))[0])}) == 2


def test_probabilities_and_listed_documents_that_were_left_out_by_lot(read: Read) -> None:
    collection, sample = collection_of(read(PRELS))
    assert by_name(collection, sample.inclusion) == {"1a": 0.5, "1b": 1, "1c": 1, "2f": 1}
    assert by_name(collection, sample.judgment_inclusion(collection.judged))["2e"] == 1  # counts once
    assert sample.stratum is None
    assert sample.candidates.all()
    four = read("1 0 a 1\n1 0 b -1\n1 0 c -1\n2 0 f 0\n2 0 a -1\n")
    assert build_collection({"r": RANKED}, four).sample is None
    collection, sample = collection_of(four, negative="sampled")
    assert by_name(collection, sample.inclusion) == {"1a": 1 / 3, "2f": 0.5}
    assert sample.as_trec_eval
