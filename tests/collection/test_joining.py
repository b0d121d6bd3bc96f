"""Judgments and organizations of several files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from trec_files import judgments_of

from bayespool.collection import qrels_of, read_qrels
from bayespool.collection.joining import join_organizations, join_qrels
from bayespool.errors import InputError, InputWarning


@pytest.fixture
def rounds(tmp_path: Path) -> list[Path]:
    """Judgments of two rounds, which have topic 2 in common."""
    (tmp_path / "one.txt").write_text("\n1 0 a 1\n2 0 a 0\n")
    with gzip.open(tmp_path / "two.txt.gz", "wt") as file:
        file.write("2 0 b 2\n2 0 aa 1\n3 0 a 1\n")
    return [tmp_path / "one.txt", tmp_path / "two.txt.gz"]


def test_rounds_are_joined(rounds: list[Path]) -> None:
    joined = qrels_of(rounds)
    rows = [("1", "a", 1), ("2", "a", 0), ("2", "b", 2), ("2", "aa", 1), ("3", "a", 1)]
    assert (judgments_of(joined), joined.path) == (rows, rounds[0])


def test_a_contradiction_is_named_with_files_and_lines(rounds: list[Path], tmp_path: Path) -> None:
    (tmp_path / "three.txt").write_text("1 0 b 1\n2 0 a 1\n")
    with pytest.raises(InputError) as caught:
        qrels_of([*rounds, tmp_path / "three.txt"])
    assert (caught.value.path, caught.value.line) == (tmp_path / "three.txt", 2)
    assert caught.value.reason == f"document a of topic 2 has relevance 1 here and 0 in {rounds[0]}, line 3"


def test_what_files_say_alike_counts_once(rounds: list[Path]) -> None:
    with pytest.warns(InputWarning, match="2 judgments of several files given together: the same in each"):
        joined = join_qrels([read_qrels(rounds[0]), read_qrels(rounds[0])])
    assert judgments_of(joined) == judgments_of(read_qrels(rounds[0]))


def test_sources_without_a_file_are_named_so() -> None:
    with pytest.raises(InputError, match="run 'r' belongs to 'b' here and to 'a' in another source"):
        join_organizations([(None, {"r": "a"}), (None, {"r": "b"})])
