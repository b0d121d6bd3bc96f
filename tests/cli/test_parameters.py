"""Options of the commands say what their settings say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome

from bayespool.cli import commands
from bayespool.cli.help import group_of
from bayespool.cli.parameters import _judges as named_files, _with_threshold as with_threshold
from bayespool.errors import InputError

COMMANDS = commands()
CHECKS = {f"check {name}" for name in ("predictions", "simulation", "engines", "regression", "unexplained")}


def test_an_option_says_the_same_in_every_command() -> None:
    said: dict[str, set[str]] = {}
    for command in COMMANDS.values():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                said.setdefault(parameter.opts[0], set()).add(parameter.help.strip())
    different = {flag for flag, helps in said.items() if len(helps) > 1}
    # what pools are drawn from is not what is left out of one; one measure or several; a file or a folder;
    # the draws of a posterior or those of them that are written
    shared = {"--by", "--measure", "--output", "--qrels", "--table", "--control", "--draws", "--columns"}
    shared |= {"--until", "--judged"}  # what is planned or what is guaranteed; evidence, or what was drawn
    shared |= {
        "--scope",
        "--level",
        "--judgments",
    }  # of runs or of differences; what is there or what is planned
    # a strategy's budget or that of what to judge next; the posterior that is written or that chooses; what
    # an experiment on pools takes for true, and whom it reports; rows of runs or of pairs
    assert different <= shared | {"--budget", "--estimator", "--estimators", "--truth", "--top", "--sort"}


def test_an_option_has_one_default() -> None:
    for flag, default in [
        *(("--seed", 1), ("--max-holes", None), ("--pooled-runs", None)),
        *(
            ("--known-depth", None),
            ("--pool-strategy", None),
            ("--pool-seed", 1),
            ("--pool-depth", None),
            ("--jobs", -1),
            ("--top", 100),
            ("--engine", "laplace"),
        ),
    ]:
        found = [
            p.default
            for n, c in COMMANDS.items()
            for p in c.params
            if flag in p.opts and not (flag == "--top" and (n == "budgets" or group_of(p) == "Output"))
        ]
        assert set(found) == {default}, (flag, default)


def test_depths_mean_one_thing() -> None:
    with_pools = {"leave-out", "pool-width", "common-topics", "score", "compare", "impute"}
    with_pools |= {"judge-next", "audit", "plan", "budgets", "judges"}
    found = {n for n, c in COMMANDS.items() if any("--pool-depth" in p.opts for p in c.params)}
    assert found == with_pools
    reading = {n for n, c in COMMANDS.items() if any("--known-depth" in p.opts for p in c.params)}
    assert reading == with_pools | {"reversals", *CHECKS}


def test_wrong_options_are_told_before_anything_is_read(run: Callable[..., Outcome], tmp_path: Path) -> None:
    for options, message in [
        (("--estimators", "oracle"), "no estimator 'oracle'"),
        (("-m", "MAP"), "MAP"),
        (("--known-depth", 0), "--known-depth"),
        (("--pool-depth", 0), "--pool-depth"),
        (("--prior", "mu"), "prior 'mu' is not of the form"),
    ]:
        for command in ["leave-out", "pool-width", "common-topics"]:
            done = run(command, "--qrels", tmp_path / "nowhere", "--pool", tmp_path / "nowhere", *options)
            assert done.status in (1, 2), (command, options)
            assert message in done.err, (command, options)
            assert "nowhere" not in done.err, (command, options)


def test_a_cutoff_below_the_pool_is_told_before_anything_is_read(
    run: Callable[..., Outcome], tmp_path: Path
) -> None:
    done = run("pool-width", "--qrels", tmp_path / "no", "--pool", tmp_path / "no", "--pool-depth", 5)
    assert done.status == 1
    assert "P@10 looks deeper than the pools, which are judged to depth 5" in done.err


# --- labels of second judges --------------------------------------------------------------------------------


def test_every_command_that_estimates_takes_judges() -> None:
    found = {n for n, c in COMMANDS.items() if any("--judge" in p.opts for p in c.params)}
    assert {"score", "compare", "impute", "judge-next", "leave-out", *CHECKS} <= found


def test_a_judge_is_named_by_its_file_or_before_it(tmp_path: Path) -> None:
    file, odd = tmp_path / "input.llm.txt.gz", tmp_path / "a=b.txt"
    assert named_files((str(file),)) == {"llm": file}
    assert named_files(
        (
            f"gpt={file}",
            str(file),
        )
    ) == {"gpt": file, "llm": file}
    assert named_files((f"gpt-4=x={file}",)) == {"gpt-4": Path(f"x={file}")}
    # a file that is there may have = in its name
    assert named_files((str(odd),)) == {str(tmp_path / "a"): Path("b.txt")}
    odd.write_text("1 0 a 1\n")
    assert named_files((str(odd),)) == {"a=b": odd}
    assert named_files((f"named={odd}",)) == {"named": odd}
    assert named_files(()) == {}


def test_two_judges_of_one_name_are_refused() -> None:
    for given in [["x=a.txt", "x=b.txt"], ["a.txt", "more/a.txt"], ["x=a.txt", "x"]]:
        with pytest.raises(InputError, match=r"two judges are called '[ax]'; --judge NAME=FILE"):
            named_files(tuple(given))


def test_the_threshold_is_of_measures_that_count_and_do_not_say_it() -> None:
    texts = "P@5 P( rel = 1 )@5 P(rel=3)@5 map@100-l3 recall.5,10 RBP(p=0.8)@5 Judged@10"
    counted = ["P(rel=2)@5", "P@5", "P(rel=3)@5", "AP(rel=3)@100", "R(rel=2)@5", "R(rel=2)@10"]
    assert with_threshold(texts, 2) == [*counted, "RBP(rel=2,p=0.8)@5", "Judged@10"]
    gains = ["nDCG@10", "DCG@10", "SDCG@10", "ERR@20", "INST@10"]  # as trec_eval's -l leaves nDCG alone
    assert [with_threshold(text, 2) for text in gains] == [[text] for text in gains]
    assert with_threshold("P@5", None) == ["P@5"]


# --- what is given twice ------------------------------------------------------------------------------------


def test_an_option_of_one_value_is_given_once(run: Callable[..., Outcome]) -> None:
    for twice in [
        *(("--estimators", "all"), ("--columns", "mean"), ("--seed", "1"), ("--order", "rank")),
        *(("--each-its-own",), ("--lenient",), ("--relevance-threshold", "2"), ("--report", "a.html")),
    ]:
        done = run("score", "a.run", "--qrels", "nowhere", *twice, *twice)
        assert (done.status, done.out) == (1, ""), twice
        assert (
            done.err == f"error: {twice[0]} is given twice; give it once: one of the two would be lost\n"
        ), twice


def test_every_option_has_one_value_or_says_that_it_may_be_repeated() -> None:
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                says = "may be repeated" in parameter.help
                assert parameter.multiple == says or parameter.opts[0] == "--measure", (name, parameter.opts)


def test_files_given_together_are_joined(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    for name in ("qrels.txt", "organizations.csv"):
        first, *lines = (written / name).read_text().splitlines(keepends=True)
        header = first if name.endswith("csv") else ""
        half = len(lines) // 2
        (tmp_path / f"one-{name}").write_text(first + "".join(lines[:half]))
        (tmp_path / f"two-{name}").write_text(header + "".join(lines[half:]))
    asked = (written / "new", "--pool", written / "pool", "--each-its-own", "--estimators", "background")
    whole = run(
        "score", *asked, "--qrels", written / "qrels.txt", "--organizations", written / "organizations.csv"
    )
    parts = [tmp_path / f"{n}-{name}" for name in ("qrels.txt", "organizations.csv") for n in ("one", "two")]
    flags = ("--qrels", "--qrels", "--organizations", "--organizations")
    joined = run("score", *asked, *(part for pair in zip(flags, parts, strict=True) for part in pair))
    assert (joined.status, joined.out) == (0, whole.out)
