"""Options say what their settings say, on the page and in every command; and what the shell offers."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bayespool.cli import commands
from bayespool.cli.parameters import (
    GROUPS,
    _judges as named_files,
    _with_threshold as with_threshold,
    offered,
)
from bayespool.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = commands()
OPTIONS = [
    (command, parameter)
    for command, entry in COMMANDS.items()
    for parameter in entry.params
    if parameter.param_type_name == "option"
]


def test_tables_of_the_page_are_those_of_the_commands(tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "docs" / "options.py"))["write_options"](tmp_path)
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert re.findall(r"_generated/options_in_(\w+)\.md$", page, flags=re.MULTILINE) == list(GROUPS)
    tables = "".join((tmp_path / f"options_in_{group}.md").read_text("utf-8") for group in GROUPS)
    flags = {flag for entry in COMMANDS.values() for p in entry.params for flag in p.opts if "-" in flag}
    assert {flag for flag in flags if f"`{flag}`" not in tables} == set()
    assert all(f"| `{name}` |" in (tmp_path / "commands.md").read_text("utf-8") for name in COMMANDS)


def test_an_option_says_the_same_in_every_command_and_whether_it_may_be_repeated() -> None:
    said: dict[str, set[str]] = {}
    for command, parameter in OPTIONS:
        said.setdefault(parameter.opts[0], set()).add(parameter.help.strip())
        says = "may be repeated" in parameter.help
        assert parameter.multiple == says or parameter.opts[0] == "--measure", (command, parameter.opts)
    # what pools are drawn from is not what is left out of one; one measure or several; a file or a folder;
    # the draws of a posterior or those of them that are written; what is planned or what is guaranteed;
    # evidence, or what was drawn; of runs or of differences; what is there or what is planned; a strategy's
    # budget or that of what to judge next; the posterior that is written or that chooses; what an experiment
    # on pools takes for true, and whom it reports; rows of runs or of pairs
    several = "by measure output qrels table control draws columns until judged scope level judgments budget"
    several += " estimator estimators truth top sort"
    assert {flag for flag, helps in said.items() if len(helps) > 1} <= {f"--{n}" for n in several.split()}


def test_options_are_those_of_the_commands_that_need_them() -> None:
    def having(flag: str) -> set[str]:
        return {command for command, parameter in OPTIONS if flag in parameter.opts}

    with_pools = {"leave-out", "pool-width", "common-topics", "score", "compare", "impute"}
    with_pools |= {"judge-next", "audit", "plan", "budgets", "judges"}
    assert having("--pool-depth") == with_pools
    assert having("--known-depth") == with_pools | {"reversals", "check predictions"}
    assert {"score", "compare", "impute", "judge-next", "leave-out", "check predictions"} <= having("--judge")


def test_two_judges_of_one_name_are_refused() -> None:
    for given in [["x=a.txt", "x=b.txt"], ["a.txt", "more/a.txt"], ["x=a.txt", "x"]]:
        with pytest.raises(InputError, match=r"two judges are called '[ax]'; --judge NAME=FILE"):
            named_files(tuple(given))


def test_a_judge_is_named_by_its_file_or_before_it(tmp_path: Path) -> None:
    there = tmp_path / "x=y.txt"
    there.write_text("")
    assert named_files(("a=b.txt", "more/c.txt")) == {"a": Path("b.txt"), "c": Path("more/c.txt")}
    assert named_files((str(there),)).popitem()[1] == there  # a file whose name has an equals sign


def test_the_threshold_is_of_measures_that_count_and_do_not_say_it() -> None:
    texts = "P@5 P( rel = 1 )@5 P(rel=3)@5 map@100-l3 recall.5,10 RBP(p=0.8)@5 Judged@10"
    counted = ["P(rel=2)@5", "P@5", "P(rel=3)@5", "AP(rel=3)@100", "R(rel=2)@5", "R(rel=2)@10"]
    assert with_threshold(texts, 2) == [*counted, "RBP(rel=2,p=0.8)@5", "Judged@10"]
    gains = ["nDCG@10", "DCG@10", "SDCG@10", "ERR@20", "INST@10"]  # as trec_eval's -l leaves nDCG alone
    assert [with_threshold(text, 2) for text in gains] == [[text] for text in gains]
    assert with_threshold("P@5", None) == ["P@5"]


# --- what the shell offers ----------------------------------------------------------------------------------

COMPLETE = """
import sys
from bayespool.cli import main
sys.argv = ["bayespool"]
try:
    main()
finally:
    print([name for name in ("numpy", "pandas", "bayespool.scoring.estimators") if name in sys.modules])
"""


def completed(more: Mapping[str, str]) -> list[str]:
    """Lines of a completing process, the last of which says what heavy modules it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", COMPLETE],
        capture_output=True,
        text=True,
        env=os.environ | more,
        check=True,
        timeout=60,
    )
    return done.stdout.splitlines()


def test_names_are_completed_one_by_one() -> None:
    for kind, typed, expected in (
        ("estimators", "posterior-s", ["posterior-smoothed"]),
        ("estimators", "background,sm", ["background,smoothed"]),
        ("estimators", "d", ["default"]),
        ("estimators", "smoothed,sm", []),  # it is there already
        ("measures", "nDCG@1", ["nDCG@10"]),
        ("models", "ratio,ev", ["ratio,evidence"]),
        ("strategy", "combm", ["combmax", "combmin", "combmed", "combmnz"]),
        ("strategies", "pa", ["paper"]),
        ("", "q", []),  # the shell's own: files
    ):
        assert offered(kind, typed) == expected
    assert all(name.startswith("posterior-") for name in offered("posteriors", ""))


def test_completion_as_a_process_loads_nothing_heavy() -> None:
    for typed, expected in [
        ("score --estimators posterior-ra", ["posterior-ratio", "posterior-rankings"]),
        ("jud", ["judge-next", "judges"]),
        ("score --engine n", ["nuts"]),
    ]:
        words = f"bayespool {typed}"
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        *found, heavy = completed({"_BAYESPOOL_COMPLETE": "bash_complete", **asked})
        assert [line.removeprefix("plain,") for line in found] == expected
        assert heavy == "[]", typed
    for shell in ["bash", "zsh", "fish"]:
        if shell != "bash" or shutil.which("bash"):  # whose version click asks for
            script = "\n".join(completed({"_BAYESPOOL_COMPLETE": f"{shell}_source"}))
            assert f"_BAYESPOOL_COMPLETE={shell}_complete" in script
