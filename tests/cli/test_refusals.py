"""Input that cannot be used is told, and nothing is written."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import FAST, Outcome, arguments, everything_in

from bayespool.cli import commands
from bayespool.cli.help import group_of
from bayespool.posterior import PosteriorEstimator


def append(path: Path, text: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


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


def no_relevant(folder: Path) -> None:
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} 0\n" for q, _, d, _ in lines))


def other_topics(folder: Path) -> None:
    path = folder / "new" / "new-b.run"
    path.write_text("".join(f"1{line}\n" for line in path.read_text().splitlines()))


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("something")


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty qrels": (lambda f: (f / "qrels.txt").write_bytes(b""), r"qrels\.txt: is empty"),
    "blank qrels": (lambda f: (f / "qrels.txt").write_bytes(b" \n\n"), r"qrels\.txt: is empty"),
    "empty run": (lambda f: (f / "new" / "new-a.run").write_bytes(b""), r"new/new-a\.run: is empty"),
    "empty run of the pool": (lambda f: (f / "pool" / "x.run").write_bytes(b""), r"pool/x\.run: is empty"),
    "empty organizations": (
        lambda f: (f / "organizations.csv").write_bytes(b""),
        r"organizations\.csv: is empty",
    ),
    "organizations without a run": (
        lambda f: (f / "organizations.csv").write_text("run_id,organization\n"),
        r"organizations\.csv: lists no run",
    ),
    "no run in the folder": (
        lambda f: [p.unlink() for p in (f / "new").iterdir()],
        r"new: no file in this folder",
    ),
    "run with a column too few": (
        lambda f: append(f / "new" / "new-a.run", "701 Q0 D9 1 0.5\n"),
        r"new-a\.run, line 2001: expected 6 columns, found 5",
    ),
    "run with a column too many": (
        lambda f: append(f / "new" / "new-a.run", "701 Q0 D9 1 0.5 tag more\n"),
        r"new-a\.run, line 2001: expected 6 columns, found 7",
    ),
    "a run in the place of qrels": (
        lambda f: (f / "qrels.txt").write_bytes((f / "new" / "new-a.run").read_bytes()),
        r"qrels\.txt, line 1: looks like a run \(query_id Q0 doc_id rank score tag\), not like judgments",
    ),
    "qrels among the runs": (
        lambda f: (f / "new" / "new-c.run").write_bytes((f / "qrels.txt").read_bytes()),
        r"new-c\.run, line 1: looks like judgments or labels \(.*\), not like a run; give judgments as the",
    ),
    "qrels with a column too few": (
        lambda f: append(f / "qrels.txt", "701 0 D9\n"),
        r"qrels\.txt, line 1182: expected 4 columns, found 3",
    ),
    "organizations without a header": (
        lambda f: (f / "organizations.csv").write_text("north-1,north\n"),
        r"organizations\.csv, line 1: the header names 'north-1, north', not run_id and organization",
    ),
    "organizations with a column too few": (
        lambda f: append(f / "organizations.csv", "new-a\n"),
        r"organizations\.csv, line 23: expected 2 columns as in the header, found 1",
    ),
    "relevance that is no number": (
        lambda f: set_column(f / "qrels.txt", 7, 3, "yes"),
        r"qrels\.txt, line 7: relevance 'yes' is not an integer",
    ),
    "relevance with a point": (
        lambda f: set_column(f / "qrels.txt", 7, 3, "1.5"),
        r"qrels\.txt, line 7: relevance '1\.5' is not",
    ),
    "score that is no number": (
        lambda f: set_column(f / "pool" / "west-1.run", 12, 4, "high"),
        r"west-1\.run, line 12: score 'high' is not a number",
    ),
    "score that is NaN": (
        lambda f: set_column(f / "pool" / "west-1.run", 12, 4, "nan"),
        r"west-1\.run, line 12: score is NaN",
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
    "run with two organizations": (
        lambda f: append(f / "organizations.csv", "north-1,south\n"),
        r"organizations\.csv, line 23: run 'north-1' belongs to 'south' here and to 'north' on line \d+",
    ),
    "run without any topic of the qrels": (
        other_topics,
        r"new-b\.run: none of its topics is in the qrels: it has '1701', '1702', '1703' …, the qrels '701'",
    ),
    "qrels without a relevant document": (no_relevant, r"qrels\.txt: no document is relevant"),
    "two runs of one name": (
        lambda f: shutil.copy(f / "new" / "new-a.run", f / "new" / "north-1.run"),
        r"north-1\.run: holds a run named 'north-1', as does .*north-1\.run",
    ),
    "truncated gz": (truncate_gz, r"new-a\.run\.gz: the gzip data are truncated or damaged"),
    "binary file": (
        lambda f: (f / "new" / "new-a.run").write_bytes(b"\x7fELF\0\0"),
        r"new-a\.run: is binary or UTF-16",
    ),
    "folder as qrels": (
        lambda f: replace_by_folder(f / "qrels.txt"),
        r"qrels\.txt: is a folder where a file is expected",
    ),
    "folder as organizations": (
        lambda f: replace_by_folder(f / "organizations.csv"),
        r"organizations\.csv: is a folder where a file is expected",
    ),
    "no qrels": (lambda f: (f / "qrels.txt").unlink(), r"qrels\.txt: no such file"),
    "no pool": (lambda f: shutil.rmtree(f / "pool"), r"pool: no such file or folder"),
    "no organizations": (lambda f: (f / "organizations.csv").unlink(), r"organizations\.csv: no such file"),
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
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "example"
    for case, (spoil, message) in UNUSABLE.items():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(written, folder)
        spoil(folder)
        before = everything_in(folder)
        done = run(*arguments(folder), *FAST, "-o", folder / "result.csv", "-o", folder / "other.json")
        assert_refused(done, message, folder, before, case=case)


def test_wrong_option_is_told_and_nothing_is_written(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong, message in [
        (["-m", "AP"], r"measure 'AP': it needs a cutoff, which says how deep .*; write AP@1000"),
        (["-m", "Bpref"], r"unsupported measure 'Bpref': bayespool does not have Bpref"),
        (["-m", "P@0"], r"cutoff and rel must be at least 1"),
        (["-m", "P(rel=0)@10"], r"cutoff and rel must be at least 1"),
        (["-m", ""], r"unknown measure ''"),
        (["--estimators", "foreground"], r"no estimator 'foreground'; known: as-judged"),
        (["--estimators", "background(e=7)"], r"constant e = 7 is not between 0 and 1"),
        (["--estimators", "background,background(e=0.03)"], r"two estimators are called 'background'"),
        (["--estimators", "posterior-background", "--prior", "mu"], r"prior 'mu' is not of the form name="),
        (
            ["--estimators", "posterior-background", "--prior", "mu=Normal(0"],
            r"prior 'Normal\(0' is not a dist",
        ),
        (["--estimators", "posterior-background", "--prior", "mu=Foo(1)"], r"prior of mu: .*Foo"),
        (
            ["--estimators", "posterior-background", "--prior", "mu=Normal(0,-1)"],
            r"prior of mu: .* is not a density",
        ),
        (
            ["--estimators", "posterior-background", "--prior", "mu=Normal(1e308,1e308)"],
            r"prior of mu: Normal\(1e308,1e308\) is too large; its numbers are at most 1e\+100",
        ),
        (
            ["--estimators", "posterior-background", "--prior", f"mu=Normal({10**400},1)"],
            r"prior of mu: Normal\(10{400},1\) is too large",
        ),
        (
            ["--estimators", "posterior-background", "--prior", "zz=Normal(0,1)"],
            r"no estimator asked for has a prior 'zz'",
        ),
        (
            ["--estimators", "posterior-background(draws=100000000)"],
            r"draws cannot be 100000000; .* most 10,0",
        ),
        (["-m", "P@99999999999"], r"P\(rel=1\)@99999999999: no ranking is as long; at most 1000000"),
        (["-m", "P@٣"], r"unknown measure 'P@٣'"),
        (["--known-depth", "9" * 20], r"known_depth cannot be 9{20}; at most 2,147,483,647"),
        (["--max-holes", "1.5"], r"max_holes cannot be 1\.5; below 1 a share of a run's documents, else"),
        (["--max-holes", "nan"], r"max_holes cannot be nan; at least 0"),
        (["--ci-prob", "1.5"], r"ci_prob cannot be 1\.5"),
        (["--ci-prob", "nan"], r"ci_prob cannot be nan"),
        (["--pooled-runs", "ghost"], r"no run 'ghost' in the collection"),
        (["--common-topics", "999"], r"common topics \['999'\] are not among the topics"),
        (["-o", "result.txt"], r"result\.txt: cannot write \.txt; use \.csv, \.json, \.parquet"),
        (["-o", "new"], r"new: cannot write a file without ending"),
        (["-o", "folder.csv"], r"folder\.csv: is a folder; name a file"),
        (["-o", "nowhere/result.csv"], r"nowhere/result\.csv: there is no folder nowhere; make it first"),
    ]:
        (example / "folder.csv").mkdir(exist_ok=True)
        before = everything_in(example)
        monkeypatch.chdir(example)
        fast = [] if "--estimators" in wrong else FAST
        done = run(*arguments(example), *fast, "-o", "result.csv", *wrong)
        assert_refused(done, message, example, before, case=" ".join(wrong))


def test_unknown_common_topics_are_told_before_anything_is_estimated(
    run: Callable[..., Outcome], example: Path
) -> None:
    done = run(*arguments(example), "--common-topics", "999", "--estimators", "background,posterior-combined")
    assert done.status == 1
    assert "estimating" not in done.err


def test_wrong_usage_is_told(run: Callable[..., Outcome], example: Path) -> None:
    for wrong, message in [
        (["--chains", "0"], r"--chains"),
        (["--draws", "many"], r"--draws"),
        (["--draws", "100000000"], r"--draws.* 1<=x<=10000000"),
        (["--seed", "-1"], r"--seed"),
        (["--estimand", "half"], r"--estimand"),
        (["--engine", "hmc"], r"--engine"),
        (["--order", "date"], r"--order"),
        (["--color"], r"--color"),
        (["--pool-depth", "0"], r"--pool-depth"),
    ]:
        before = everything_in(example)
        done = run(*arguments(example), *FAST, "-o", example / "result.csv", *wrong)
        assert_refused(done, message, example, before, status=2)


def test_qrels_are_needed(run: Callable[..., Outcome], example: Path) -> None:
    before = everything_in(example)
    assert_refused(run("score", example / "new"), "--qrels", example, before, status=2)
    assert_refused(run(), "Usage: .*bayespool", example, before, status=2)


def test_bad_output_is_told_before_any_work(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("files were read")

    monkeypatch.setattr("bayespool.pooling.loading.read_collection", refuse)
    done = run(*arguments(example), "-o", example / "good.csv", "-o", example / "bad.txt")
    assert done.status == 1
    assert "bad.txt: cannot write .txt" in done.err
    assert not (example / "good.csv").exists()


def test_bad_figure_is_told_before_any_work(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in ["score", "demo", "compare", "reversals", "judges"]:

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("files were read")

        monkeypatch.setattr("bayespool.pooling.loading.read_collection", refuse)
        files = {"demo": [], "reversals": arguments(example)[2:-1]}.get(command, arguments(example)[1:])
        labels = ["--judge", example / "qrels.txt"] if command == "judges" else []
        done = run(
            command, *files, *labels, "--figure", example / "good.pdf", "--figure", example / "bad.jpg"
        )
        assert done.status == 1, command
        assert "bad.jpg: cannot draw .jpg; use .pdf, .png, .svg" in done.err, command
        assert not (example / "good.pdf").exists(), command


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_folder_without_permission_is_told(run: Callable[..., Outcome], example: Path) -> None:
    locked = example / "locked"
    locked.mkdir(mode=0o500)
    done = run(*arguments(example), *FAST, "-o", locked / "result.csv")
    assert done.status == 1
    assert "permission denied" in done.err


def test_full_disk_is_told(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = everything_in(example)
    monkeypatch.setattr(os, "fsync", full)
    done = run(*arguments(example), *FAST, "-o", example / "result.csv")
    assert done.status == 1
    assert "result.csv: cannot be written: No space left on device" in done.err
    assert done.out.startswith("P@10")  # the table is not lost with the file
    assert everything_in(example) == before


def test_too_little_memory_is_told(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 745. GiB")

    monkeypatch.setattr("bayespool.scoring.score", fail)
    before = everything_in(example)
    done = run(*arguments(example), *FAST, "-o", example / "result.csv")
    assert_refused(
        done, r"error: there is not enough memory \(Unable to allocate 745\. GiB\); ask", example, before
    )


def test_example_that_cannot_be_written_is_told(run: Callable[..., Outcome], tmp_path: Path) -> None:
    for place in ["afile", "afile/below"]:
        (tmp_path / "afile").write_bytes(b"a file")
        done = run("demo", "--write", tmp_path / place)
        assert_refused(done, "afile.*: cannot be made: ", tmp_path, {"afile": b"a file"})


@pytest.mark.parametrize("compiled", [False, True])
def test_ctrl_c_ends_with_130_and_nothing_written(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        if compiled:  # what comes out of a function of numba's
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        raise KeyboardInterrupt

    monkeypatch.setattr(PosteriorEstimator, "estimate", interrupted)
    before = everything_in(example)
    done = run(*arguments(example), "-o", example / "result.csv")
    assert (done.status, done.out) == (130, "")
    assert "Traceback" not in done.err
    assert everything_in(example) == before


def test_bug_keeps_its_traceback(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(PosteriorEstimator, "estimate", broken)
    before = everything_in(example)
    with pytest.raises(ZeroDivisionError):
        run(*arguments(example), "-o", example / "result.csv")
    assert everything_in(example) == before


# --- each option of each command ----------------------------------------------------------------------------

COMMANDS = commands()
WRONG: dict[str, tuple[str, ...]] = {
    "announce": ("0.1", "half"),
    "budgets": ("0", "many"),
    "ci_prob": ("7", "nan"),
    "estimator": ("foreground", "background"),
    "estimators": ("foreground", "background(e=7)"),
    "table_format": ("docx",),
    "cluster": ("nowhere",),
    "jobs": ("0", "many"),
    "judges": ("=",),
    "level": ("7",),
    "measures": ("P@zero", "MAP"),
    "models": ("nonsense", "combined"),
    "n_common": ("0", "many"),
    "output": ("nowhere/x.csv",),
    "folder": ("nowhere/x",),
    "pool_strategy": ("nonsense", "take(k=x)"),
    "priors": ("mu", "mu=Foo(1)", "zz=Normal(0,1)", "mu=Normal(0", "mu=Normal(0,-1)", "mu=Normal(1e308,1)"),
    "rope": ("-1",),
    "scopes": ("nonsense",),
    "strategies": ("nonsense",),
    "strategy": ("nonsense",),
    "tests": ("nonsense",),
    "top": ("0", "101"),
    "until": ("0",),
    "widths": ("0", "many"),
}
"""Values that no file makes right; those of choices and of numbers with bounds are made up by the test."""
OF_FILES = {
    *("qrels", "pool", "organizations", "own_judgments", "judged", "go_on", "verify", "run_types", "write"),
    *("unpool", "pooled_run_ids", "exclude", "common_topics", "types", "pool_type", "target_type"),
}
"""Files, and runs, topics and types, which are known once files are read."""
NEEDED = {
    "score": ["nowhere.run"],
    "impute": ["nowhere.run", "-o", "out"],
    "judge-next": ["nowhere.run"],
    "audit": ["nowhere.run"],
    "report": ["nowhere.json"],
    "compare": ["nowhere.run", "nowhere.b.run"],
    "judges": ["nowhere.run", "--judge", "x=nowhere.labels"],
    "pool": ["--strategy", "take"],
}


def wrong_values() -> Iterator[tuple[str, str, str]]:
    """Command, option and value."""
    for command, entry in COMMANDS.items():
        for parameter in entry.params:
            if parameter.param_type_name != "option" or parameter.is_flag or parameter.name in OF_FILES:
                continue
            if parameter.name in ("topics", "exclude_runs"):
                continue  # any text may be a file, or a run
            if parameter.name == "top" and group_of(parameter) == "Output":
                values = ("0", "many")  # rows to print, as many as one likes
            elif parameter.name in WRONG:
                values = WRONG[parameter.name]
            elif (least := getattr(parameter.type, "min", None)) is not None:
                values = (str(least - 1), "many")
            else:
                values = ("??",)  # a choice, or it should stand above
            for value in values:
                yield command, parameter.opts[0], value


def test_wrong_value_of_any_option_is_told_before_a_file_is_read(
    run: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in COMMANDS:
        monkeypatch.chdir(tmp_path)
        names = {parameter.name for parameter in COMMANDS[command].params}
        given = list(NEEDED.get(command, []))
        given += ["--qrels", "nowhere.qrels"] if "qrels" in names else []
        given += ["--pool", "nowhere.runs"] if "pool" in names else []
        late = []
        for name, option, value in wrong_values():
            if name == command:
                done = run(*command.split(), *given, option, value)
                told = done.status in (1, 2) and done.out == "" and "Traceback" not in done.err
                if not told or "nowhere." in done.err:
                    late.append((option, value, done.err))
        assert late == [], command
        assert list(tmp_path.iterdir()) == [], command


NOT_ESTIMATED = {"score", "compare", "demo", "pool", "report"}  # they take it, or no measure


def test_a_measure_of_the_judgments_is_no_measure_to_estimate(
    run: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in [name for name in COMMANDS if name not in NOT_ESTIMATED]:
        monkeypatch.chdir(tmp_path)
        given = [*NEEDED.get(command, []), "--qrels", "nowhere.qrels", "--pool", "nowhere.runs"]
        done = run(*command.split(), *given, "-m", "Judged@10")
        assert done.status == 1, command
        assert "describes the judgments" in done.err, command


def test_the_loop_over_options_is_one() -> None:
    looked_at = list(wrong_values())
    assert len(looked_at) > 300
    assert {command for command, _, _ in looked_at} == set(COMMANDS)


def test_a_file_of_gigabytes_is_not_opened_for_a_wrong_option(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(example / "qrels.txt", "wb") as file:
        file.truncate(2**33)  # without a byte on the disk

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the judgments were read")

    monkeypatch.setattr("bayespool.collection.sources.read_qrels", refuse)
    with pytest.raises(AssertionError, match="the judgments were read"):
        run(*arguments(example), *FAST)
    for wrong in (["--pool-strategy", "nonsense"], ["--estimators", "foreground"], ["-o", "x.docx"]):
        done = run(*arguments(example), *wrong)
        assert done.status == 1
        assert done.err.startswith("error: ")


# --- statuses -----------------------------------------------------------------------------------------------


def test_statuses_are_those_of_the_page(run: Callable[..., Outcome], example: Path) -> None:
    """0, 1 and 2; 130 is what `test_ctrl_c_ends_with_130_and_nothing_written` sees."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text("utf-8")
    assert re.findall(r"^\| (\d+) \| ", page, flags=re.MULTILINE) == ["0", "1", "2", "130"]
    assert run(*arguments(example), *FAST).status == 0
    assert run("score", "-h").status == 0
    assert run(*arguments(example), "--estimators", "foreground").status == 1  # input
    assert run(*arguments(example), *FAST, "-o", example / "no" / "x.csv").status == 1  # output
    assert run(*arguments(example), "--draws", "many").status == 2
    assert run("scor").status == 2
    assert run().status == 2


def test_a_list_of_more_organizations_than_were_read_is_one_short_warning(
    run: Callable[..., Outcome], example: Path
) -> None:
    append(example / "organizations.csv", "".join(f"ghost-{i},north\n" for i in range(40)))
    done = run(*arguments(example), *FAST)
    assert done.status == 0
    said = [line for line in done.err.splitlines() if line.startswith("warning: ")]
    path = example / "organizations.csv"
    assert said == [
        f"warning: {path}: 40 listed runs were not read: 'ghost-0', 'ghost-1', 'ghost-2' …",
    ]


def test_priors_of_the_wrong_family_are_refused_before_files_are_read(
    run: Callable[..., Outcome], tmp_path: Path
) -> None:
    for prior, said in [
        ("mu=Beta(1, 1)", "the laplace engine takes Normal or Logistic, not Beta(1, 1)"),
        ("sigma_topic=Normal(0, 1)", "Normal(0, 1) reaches below 0, and a scale does not"),
    ]:
        for command in ["score", "check predictions", "judge-next", "leave-out"]:
            runs = ["my.run"] if command in ("score", "judge-next") else []
            files = ["--qrels", str(tmp_path / "none.txt"), "--pool", str(tmp_path / "none")]
            done = run(*command.split(), *runs, *files, "-m", "P@10", "--prior", prior)
            assert done.status == 1, (command, prior)
            assert said in done.err, (command, prior)


def test_an_unknown_type_is_refused_before_runs_are_read(run: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "types.csv").write_text("run_id,type\na,manual\nb,automatic\n")
    files = ["--qrels", str(tmp_path / "none.txt"), "--pool", str(tmp_path / "none")]
    types = ("--by", "type", "--run-types", tmp_path / "types.csv", "--types", "manul")
    done = run("leave-out", *files, *types)
    assert done.status == 1
    assert "no run of the pool has the type 'manul'; did you mean 'manual'" in done.err
