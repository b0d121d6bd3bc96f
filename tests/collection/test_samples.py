"""Published samples: told by their lines, read, and what is known of the documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from trec_files import refused

from bayespool import build_collection
from bayespool.collection import Collection, Qrels, read_qrels
from bayespool.collection.samples import Sample
from bayespool.errors import InputError, InputWarning

STRATA = "1 0 a 1 2\n1 0 b 1 0\n1 0 c 2 -1\n1 0 d 2 1\n1 0 e 2 -1\n2 0 a 2 0\n2 0 f 2 -1\n"
PRELS = (
    "1\ta\t2\t1\t0.5\n1\tb\t0\t0\t0.25\n1\tc\t1\t2\t0.1\n1\td\t-999\t1\t0.1\n2\te\t1\t1\tNA\n2\tf\t0\t4\t1\n"
)
RUN = {"1": dict(zip("abcdex", range(6, 0, -1), strict=True)), "2": {"f": 2.0, "a": 1.0, "x": 0.5}}

Read = Callable[..., Qrels]

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_text(text: str, *, strict: bool = True) -> Qrels:
        path = tmp_path / "qrels.txt"
        path.write_text(text)
        return read_qrels(path, strict=strict)

    return read_text


def swapped(text: str) -> str:
    """The text with its last two columns in the other order."""
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
    collection = build_collection({"r": RUN}, qrels, **options)  # type: ignore[arg-type]
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
    assert by_name(collection, sample.weighing(collection.judged)) == by_name(collection, sample.inclusion)
    assert "4 of 7 documents in 2 strata" in collection.scope_notes[0]
    gone = np.array([collection.doc_id(p) in "ce" for p in range(len(collection.relevance))])
    smaller = collection.without_judgments(gone)
    assert smaller.sample is not None
    assert by_name(smaller, smaller.sample.inclusion) == {"1a": 1, "1b": 1, "1d": 1, "2a": 0.5}
    assert len({c.fingerprint for c in (collection, smaller, collection_of(read(swapped(STRATA)))[0])}) == 2


def test_probabilities_and_listed_documents_that_were_left_out_by_lot(read: Read) -> None:
    collection, sample = collection_of(read(PRELS))
    assert by_name(collection, sample.inclusion) == {"1a": 0.5, "1b": 1, "1c": 1, "2f": 1}
    assert by_name(collection, sample.weighing(collection.judged))["2e"] == 1  # counts once
    assert sample.stratum is None
    assert sample.candidates.all()
    four = read("1 0 a 1\n1 0 b -1\n1 0 c -1\n2 0 f 0\n2 0 a -1\n")
    assert build_collection({"r": RUN}, four).sample is None
    collection, sample = collection_of(four, negative="sampled")
    assert by_name(collection, sample.inclusion) == {"1a": 1 / 3, "2f": 0.5}
    assert sample.as_trec_eval
