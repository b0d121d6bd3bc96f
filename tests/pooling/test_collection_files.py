"""Collections that TOML files describe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bayespool.errors import InputError
from bayespool.experiments import simulate_example
from bayespool.options import ReadingSettings
from bayespool.pooling import read_collection, read_collections

LINES = ['qrels = "qrels.txt"', 'pool = "pool"', 'organizations = "organizations.csv"']


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's files; files are added to it, and none is changed."""
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    return folder


@pytest.fixture
def toml(folder: Path) -> Callable[..., Path]:
    """A file of lines below those that are always needed."""

    def write(*lines: str, name: str = "example.toml", first: list[str] = LINES) -> Path:
        (folder / name).write_text("\n".join([*first, *lines]))
        return folder / name

    return write


def test_a_file_has_the_arguments_of_read_collection(
    toml: Callable[..., Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")  # paths are those of the file
    plain = toml()
    other = toml('name = "to depth 5"', "known_depth = 5", 'order = "rank"', name="other.toml")
    read = read_collections([plain, other])
    assert list(read) == ["example", "to depth 5"]
    files = {"pool": folder / "pool", "organizations": folder / "organizations.csv"}
    assert read["example"].fingerprint == read_collection(folder / "qrels.txt", **files).fingerprint  # type: ignore[arg-type]
    assert read["to depth 5"].pool_depth == 5
    assert read_collections(plain).keys() == {"example"}


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_several_runs_and_judges_may_be_named(toml: Callable[..., Path], folder: Path) -> None:
    lines = [LINES[0], 'pool = ["pool/north-*.run", "pool/west-1.run", "pool/east-1.run"]']
    lines_of_qrels = (folder / "qrels.txt").read_text().splitlines(keepends=True)
    (folder / "labels.txt").write_text("".join(lines_of_qrels[:40]).replace(" 0\n", " 5\n"))
    path = toml("[judges]", 'llm = "labels.txt"', name="few.toml", first=lines)
    collection = read_collections(path)["few"]
    assert set(collection.run_ids) == {"north-1", "north-2", "west-1", "east-1"}
    assert [judge.name for judge in collection.judges] == ["llm"]


@pytest.mark.filterwarnings("ignore::bayespool.errors.PoolWarning")
def test_options_hold_for_files_that_say_nothing(toml: Callable[..., Path]) -> None:
    plain, other = toml(), toml("known_depth = 7", name="other.toml")
    read = read_collections([plain, other], settings=ReadingSettings(known_depth=4))
    assert [collection.pool_depth for collection in read.values()] == [4, 7]


def test_what_a_file_cannot_say_is_told_with_its_line(toml: Callable[..., Path]) -> None:
    for line, message in (
        (
            'orders = "rank"',
            r"example\.toml, line 4: unknown key 'orders'; did you mean 'order'\? known: name, ",
        ),
        ('runs = "pool"', r"line 4: unknown key 'runs'; known: name, qrels, pool, "),
        ('order = "date"', r"line 4: order cannot be 'date'; known: score, single-precision, rank"),
        ("known_depth = 0", r"line 4: known_depth cannot be 0; at least 1"),
        ('strict = "no"', r"line 4: strict cannot be 'no'; true or false"),
        ("pool_strategy = 3", r"line 4: pool_strategy cannot be 3; a text in quotes"),
        ("pooled_run_ids = [1]", r"line 4: pooled_run_ids cannot be 1; a text in quotes"),
        ('name = "a/b"', r"line 4: a collection cannot be called 'a/b'; take letters"),
        (
            'judges = "no.txt"',
            r"line 4: judges cannot be 'no\.txt': .*no\.txt: no such file or folder; paths",
        ),
        ("[judges]\nllm = 3", r"line 4: judges cannot be 3; a text in quotes"),
        ("known_depth 10", r"example\.toml, line 4: is no TOML: .*; write lines such as key"),
        ('max_holes = "few"', "max_holes cannot be 'few'; a number"),
    ):
        with pytest.raises(InputError, match=message):
            read_collections(toml(line))


def test_files_that_are_not_there_are_told_before_any_is_read(
    toml: Callable[..., Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayespool.pooling.collection_files.read_collection", None)
    wrong = toml(first=['qrels = "no.txt"', *LINES[1:]], name="wrong.toml")
    with pytest.raises(InputError, match=r"wrong\.toml, line 1: qrels cannot be 'no\.txt': .*no such file"):
        read_collections([toml(), wrong])
    with pytest.raises(InputError, match=r'wrong\.toml: pool is missing; add a line pool = "runs"'):
        read_collections(toml(first=LINES[:1], name="wrong.toml"))
    with pytest.raises(InputError, match=r"nothing\.toml: no such file"):
        read_collections(folder / "nothing.toml")
    again = toml('name = "Example"', name="again.toml")
    with pytest.raises(InputError, match="two collections are called 'Example'; give one another name"):
        read_collections([toml(), again])
    with pytest.raises(InputError, match="two collections are called 'example'"):
        read_collections([toml(), toml()])


def test_an_unusable_collection_is_told_with_its_file(toml: Callable[..., Path], folder: Path) -> None:
    path = toml(first=['qrels = "pool/west-1.run"', *LINES[1:]])
    with pytest.raises(InputError, match="looks like a run") as caught:
        read_collections(path)
    assert caught.value.__notes__ == [f"in the collection that {path} describes"]
