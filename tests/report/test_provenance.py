"""Results of commands say which command wrote them; those of scripts are the same on every machine."""

from __future__ import annotations

import platform

import numpy as np

from bayespool import __version__
from bayespool.report import versions
from bayespool.report.provenance import MADE_BY, command_line, made_by, with_provenance


def test_the_command_is_as_it_was_typed() -> None:
    with command_line(["score", "../my runs/a.run", "-m", "P(rel=2)@10", "--qrels", "q.txt"]):
        made = with_provenance({"fingerprint": "ab"})
    assert made["fingerprint"] == "ab"
    assert made[MADE_BY]["command"] == "bayespool score '../my runs/a.run' -m 'P(rel=2)@10' --qrels q.txt"
    assert with_provenance({"a": 1}) == {"a": 1}, "without a command"
    assert "command" not in made_by()
    found = versions()
    assert (found["bayespool"], found["numpy"]) == (__version__, np.__version__)
    assert found["python"] == platform.python_version()
