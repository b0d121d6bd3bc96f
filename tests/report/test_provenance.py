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


def test_without_a_command_metadata_stay_as_they_are() -> None:
    with command_line(["demo"]):
        pass
    assert with_provenance({"a": 1}) == {"a": 1}
    assert "command" not in made_by()


def test_versions_are_those_at_hand() -> None:
    found = versions()
    assert found["bayespool"] == __version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
