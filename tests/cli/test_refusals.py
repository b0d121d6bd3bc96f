"""Input that cannot be used is told, and nothing is written."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import FAST, Outcome, arguments, campaign, everything_in

from bayespool.posterior import PosteriorEstimator


def set_column(path: Path, line: int, column: int, value: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    fields = lines[line - 1].split()
    fields[column] = value
    lines[line - 1] = " ".join(fields)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def truncate_gz(folder: Path) -> None:
    path = folder / "new" / "new-a.run"
    data = gzip.compress(path.read_bytes())
    (folder / "new" / "new-a.run.gz").write_bytes(data[: len(data) // 2])
    path.unlink()


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty qrels": (lambda f: (f / "qrels.txt").write_bytes(b""), r"qrels\.txt: is empty"),
    "a run in the place of qrels": (
        lambda f: (f / "qrels.txt").write_bytes((f / "new" / "new-a.run").read_bytes()),
        r"qrels\.txt, line 1: looks like a run \(query_id Q0 doc_id rank score tag\), not like judgments",
    ),
    "relevance that is no number": (
        lambda f: set_column(f / "qrels.txt", 7, 3, "yes"),
        r"qrels\.txt, line 7: relevance 'yes' is not an integer",
    ),
    "document twice in a topic": (
        lambda f: set_column(
            f / "new" / "new-a.run", 12, 2, (f / "new" / "new-a.run").read_text().split()[2]
        ),
        r"new-a\.run, line 12: document D\d+ is repeated in topic 701 \(first on line 1\)",
    ),
    "run of the pool without an organization": (
        lambda f: shutil.copy(f / "new" / "new-a.run", f / "pool" / "stranger.run"),
        r"organizations\.csv: 1 run of the pool has no organization, 'stranger' for one",
    ),
    "two runs of one name": (
        lambda f: shutil.copy(f / "new" / "new-a.run", f / "new" / "north-1.run"),
        r"north-1\.run: two runs are called 'north-1'; the other is .*north-1\.run",
    ),
    "truncated gz": (truncate_gz, r"new-a\.run\.gz: the gzip data are truncated or damaged"),
    "no pool": (lambda f: shutil.rmtree(f / "pool"), r"pool: no such file or folder"),
}


def assert_refused(
    done: Outcome, message: str, folder: Path, before: dict[str, bytes], status: int = 1, case: str = ""
) -> None:
    """One clear line, nothing printed as a result, nothing written or touched."""
    assert (done.status, done.out) == (status, ""), case
    last = done.err.splitlines()[-1]
    if status == 1:
        assert last.startswith("error: ")
    assert re.search(message, done.err), (case, done.err)
    assert "Traceback" not in done.err
    assert everything_in(folder) == before, case


def test_unusable_input_is_told_and_nothing_is_written(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "example"
    for case, (spoil, message) in UNUSABLE.items():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(small_files, folder)
        spoil(folder)
        before = everything_in(folder)
        done = run(*arguments(folder), *FAST, "-o", folder / "result.csv", "-o", folder / "other.json")
        assert_refused(done, message, folder, before, case=case)


def test_wrong_option_is_told_and_nothing_is_written(
    run: Callable[..., Outcome], small_example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong, message in [
        (
            ["-m", "AP"],
            r"measure 'AP': it needs a cutoff, which says .*; write AP@10, or AP@1000 for whole runs",
        ),
        (["--estimators", "background(e=7)"], r"constant e cannot be 7; at least 0 and at most 1"),
        (
            ["--estimators", "posterior-background", "--posterior", "zz=Normal(0,1)"],
            r"no estimator asked for has a prior 'zz'",
        ),
        (
            ["--reading", "max_holes=1.5"],
            r"max_holes cannot be 1\.5; below 1 a share of a run's documents, else",
        ),
        (["--common-topics", "999"], r"common topics \['999'\] are not among the topics"),
        (["-o", "result.txt"], r"result\.txt: cannot write \.txt; use \.csv, \.json, \.parquet"),
        (["-o", "folder.csv"], r"folder\.csv: is a folder; name a file"),
        (["-o", "nowhere/result.csv"], r"nowhere/result\.csv: there is no folder nowhere; make it first"),
    ]:
        (small_example / "folder.csv").mkdir(exist_ok=True)
        before = everything_in(small_example)
        monkeypatch.chdir(small_example)
        fast = [] if "--estimators" in wrong else FAST
        asked = arguments(small_example)[: -2 if "--reading" in wrong else None]
        done = run(*asked, *fast, "-o", "result.csv", *wrong)
        assert_refused(done, message, small_example, before, case=" ".join(wrong))
        assert "estimating" not in done.err, wrong


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_folder_without_permission_is_told(run: Callable[..., Outcome], small_example: Path) -> None:
    locked = small_example / "locked"
    locked.mkdir(mode=0o500)
    done = run(*arguments(small_example), *FAST, "-o", locked / "result.csv")
    assert done.status == 1
    assert "permission denied" in done.err


def test_full_disk_and_too_little_memory_are_told(
    run: Callable[..., Outcome], small_example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def fail(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 745. GiB")

    before, asked = everything_in(small_example), (*arguments(small_example), *FAST)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        done = run(*asked, "-o", small_example / "result.csv")
    assert done.status == 1
    assert "result.csv: cannot be written: No space left on device" in done.err
    assert done.out.startswith("P@10")  # the table is not lost with the file
    assert everything_in(small_example) == before
    monkeypatch.setattr("bayespool.scoring.score", fail)
    message = r"error: there is not enough memory \(Unable to allocate 745\. GiB\); ask"
    assert_refused(run(*asked, "-o", small_example / "result.csv"), message, small_example, before)


def test_example_that_cannot_be_written_is_told(run: Callable[..., Outcome], tmp_path: Path) -> None:
    for place in ["afile", "afile/below"]:
        (tmp_path / "afile").write_bytes(b"a file")
        done = run("demo", "--write", tmp_path / place)
        assert_refused(done, "afile.*: cannot be made: ", tmp_path, {"afile": b"a file"})


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), ZeroDivisionError("a bug")])
def test_ctrl_c_ends_with_130_and_nothing_written(
    run: Callable[..., Outcome], small_example: Path, monkeypatch: pytest.MonkeyPatch, raised: BaseException
) -> None:
    """And a bug keeps its traceback."""

    def interrupted(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(PosteriorEstimator, "estimate", interrupted)
    before, path = everything_in(small_example), small_example / "result.csv"
    asked = (*arguments(small_example), "-o", path)
    if isinstance(raised, ZeroDivisionError):
        with pytest.raises(ZeroDivisionError):
            run(*asked)
    else:
        done = run(*asked)
        assert (done.status, done.out) == (130, "")
        assert "Traceback" not in done.err
    assert everything_in(small_example) == before


def test_what_is_no_result_is_an_error_in_one_line(
    run: Callable[..., Outcome], small_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_files)
    for words, said in [
        ("nowhere.json", "nowhere.json: there is no such file or folder"),
        ("qrels.txt", "cannot read a result from .txt"),
        ("pool", "pool: holds no results"),
        ("qrels.txt -o report.pdf", "report.pdf: cannot write a report into .pdf; use .html, .htm"),
    ]:
        done = run("report", *words.split())
        assert (done.status, said in done.err, done.err.count("\n")) == (1, True, 1), words


# --- before files are read ----------------------------------------------------------------------------------

NOWHERE = ("--qrels", "nowhere.qrels", "--pool", "nowhere.runs")
WRONG: dict[str, tuple[tuple[str, str, str], ...]] = {
    "score nowhere.run": (
        ("-m", "P@zero", "measure 'P@zero'"),
        ("-m", "MAP", "measure 'MAP'"),
        ("--estimators", "foreground", "no estimator 'foreground'; known: as-judged, background"),
        ("--estimators", "background(e=7)", "constant e cannot be 7"),
        ("--posterior", "drawz=3", "drawz"),
        ("--posterior", "draws=many", "draws"),
        ("--posterior", "draws=0", "draws"),
        ("--posterior", "engine=stan", "engine"),
        ("--posterior", "mu=Foo(1)", "Foo"),
        ("--posterior", "zz=Normal(0,1)", "zz"),
        ("--posterior", "mu=Normal(0,-1)", "mu"),
        ("--posterior", "mu=Normal(0", "mu=Normal(0"),
        ("--scope", "nonsense", "'nonsense' is not one of"),
        ("--random-seed", "many", "'many' is not a valid integer"),
        ("--reading", "ordered=rank", "unknown key 'ordered'; did you mean 'order'?"),
        ("--reading", "order=random", "order cannot be 'random'; known: score, single-precision, rank"),
        ("--judge", "=", "give a name and a file"),
        ("--pool-strategy", "nonsense", "no strategy 'nonsense'"),
        ("--columns", "nonsense", "no column 'nonsense'"),
        ("-o", "nowhere/x.csv", "there is no folder nowhere"),
        ("--figure", "x.gif", "x.gif"),
        ("--figure-width", "column", "--figure-width without a figure"),
        ("--report", "x.pdf", "x.pdf"),
    ),
    "compare nowhere.run nowhere.b.run": (
        ("--table", "nonsense", "'nonsense' is not one of"),
        ("--control", "nonsense", "'nonsense' is not one of"),
        ("--columns", "nonsense", "nonsense"),
    ),
    "budgets": (
        ("--strategies", "nonsense", "no strategy 'nonsense'"),
        ("--budgets", "many", "--budgets many: not whole numbers"),
        ("--jobs", "0", "jobs"),
        ("--jobs", "many", "'many' is not a valid integer"),
        ("-o", "nowhere/x", "there is no folder nowhere"),
    ),
    "judge-next --unpool north": (
        ("--estimators", "as-judged", "'as-judged' is no posterior"),
        ("--posterior", "ratio(draws=50)", "name it among the estimators: posterior-ratio"),
        ("--goal", "luck", "'luck' is not one of"),
    ),
    "pool": (
        ("--strategy", "nonsense", "no strategy 'nonsense'"),
        ("--strategy", "take(k=x)", "take"),
        ("--reading", "each_its_own", "unknown key 'each_its_own'"),
    ),
}
"""Values that no file makes right, by command and option, with a part of what is said."""


def test_wrong_value_is_told_before_a_file_is_read(
    run: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command, cases in WRONG.items():
        for option, value, said in cases:
            done = run(*command.split(), *NOWHERE, option, value)
            assert (done.status in (1, 2), done.out) == (True, ""), (command, option, value)
            assert said in " ".join(done.err.split()), (command, option, value)
            assert "nowhere." not in done.err.replace(f"{option} {value}", ""), (command, option, value)
            assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


BOUNDS: dict[str, tuple[tuple[str, str], ...]] = {
    "score": (
        ("--ci-prob", "7"),
        ("--ci-prob", "nan"),
        ("--repool-to", "0"),
        ("--known-depth", "0"),
        ("--random-seed", "-1"),
    ),
    "compare": (("--level", "7"), ("--rope", "-1"), ("--announce", "2"), ("--tests", "nonsense")),
    "plan": (("--power", "2"), ("--judgments", "0"), ("--difference", "0")),
    "judge-next": (("--budget", "0"), ("--until", "0")),
    "reversals": (("--judgments", "0"), ("--level", "0")),
    "random-pools": (("--widths", "0"), ("--samples", "0"), ("--common", "0"), ("--topic-samples", "3")),
    "leave-out": (("--top", "0"), ("--top", "101"), ("--by", "cluster --clusters 0")),
    "check predictions": (("--folds", "0"), ("--models", "combined")),
    "budgets": (("--budgets", "0"),),
}
"""Numbers out of their bounds, which the function checks."""
WITH_RUNS = ("score", "compare", "plan", "judge-next")


def test_number_out_of_its_bounds_is_told_and_nothing_is_written(
    run: Callable[..., Outcome], small_example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_example)
    before = everything_in(small_example)
    for command, cases in BOUNDS.items():
        for option, value in cases:
            runs = ["new"] if command in WITH_RUNS else []
            done = run(*command.split(), *runs, *campaign(small_example), option, *value.split())
            assert_refused(
                done,
                "cannot be|must be|is not|without|no ",
                small_example,
                before,
                done.status,
                f"{command} {option} {value}",
            )
            assert done.status in (1, 2)


# --- statuses -----------------------------------------------------------------------------------------------


def test_statuses_are_those_of_the_page(run: Callable[..., Outcome], small_example: Path) -> None:
    """0, 1 and 2; 130 is what `test_ctrl_c_ends_with_130_and_nothing_written` sees."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text("utf-8")
    assert re.findall(r"^\| (\d+) \| ", page, flags=re.MULTILINE) == ["0", "1", "2", "130"]
    assert run(*arguments(small_example), *FAST).status == 0
    assert run("score", "-h").status == 0
    assert run(*arguments(small_example), "--estimators", "foreground").status == 1  # input
    assert run(*arguments(small_example), *FAST, "-o", small_example / "no" / "x.csv").status == 1  # output
    assert run(*arguments(small_example), "--random-seed", "many").status == 2
    assert run("scor").status == 2
    assert run().status == 2
