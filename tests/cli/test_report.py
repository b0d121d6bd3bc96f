"""The command ``report``, and ``score --report``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Outcome

from bayespool.experiments import simulate_example


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    return folder


@pytest.fixture
def here(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """A command as it is typed in the folder of the example."""
    monkeypatch.chdir(example)
    return run


def test_what_is_no_result_is_an_error_in_one_line(here: Callable[..., Outcome]) -> None:
    for words, said in [
        (("report", "nowhere.json"), "nowhere.json: there is no such file or folder"),
        (("report", "qrels.txt"), "cannot read a result from .txt"),
        (("report", "pool"), "pool: holds no results"),
        (("report", "qrels.txt", "-o", "report.pdf"), "report.pdf: a report is an .html file"),
    ]:
        done = here(*words)
        assert done.status == 1, (words, said)
        assert said in done.err, (words, said)
        assert done.err.count("\n") == 1, (words, said)
