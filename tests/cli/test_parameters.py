"""Options of the commands say what their settings say."""

from __future__ import annotations

import pytest

from bayespool.cli import commands
from bayespool.cli.parameters import _judges as named_files, _with_threshold as with_threshold
from bayespool.errors import InputError

COMMANDS = commands()


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


def test_depths_mean_one_thing() -> None:
    with_pools = {"leave-out", "pool-width", "common-topics", "run-types", "score", "compare", "impute"}
    with_pools |= {"judge-next", "audit", "plan", "budgets", "judges"}
    found = {n for n, c in COMMANDS.items() if any("--pool-depth" in p.opts for p in c.params)}
    assert found == with_pools
    reading = {n for n, c in COMMANDS.items() if any("--known-depth" in p.opts for p in c.params)}
    assert reading == with_pools | {"reversals", "check predictions"}


# --- labels of second judges --------------------------------------------------------------------------------


def test_every_command_that_estimates_takes_judges() -> None:
    found = {n for n, c in COMMANDS.items() if any("--judge" in p.opts for p in c.params)}
    assert {"score", "compare", "impute", "judge-next", "leave-out", "check predictions"} <= found


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


def test_every_option_has_one_value_or_says_that_it_may_be_repeated() -> None:
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                says = "may be repeated" in parameter.help
                assert parameter.multiple == says or parameter.opts[0] == "--measure", (name, parameter.opts)
