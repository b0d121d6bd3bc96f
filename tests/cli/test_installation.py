"""What is found of an installation, broken ones too."""

from __future__ import annotations

import importlib.metadata

import pytest

from bayespool.cli import installation
from bayespool.cli.installation import examine, packages, timings


def by_name() -> dict[str, installation.Package]:
    return {package.name: package for package in packages()}


def test_missing_old_and_failing_packages_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ["click>=999", "nothing-of-this-name>=1", "rich>=1", "sphinx>=8; extra == 'docs'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: needed)

    def fail(name: str) -> None:
        raise OSError(f"{name}: wrong\n  architecture")

    monkeypatch.setattr(installation.importlib, "import_module", fail)
    found = by_name()
    assert list(found) == ["Python", "bayespool", "click", "nothing-of-this-name", "rich", "arviz"]
    assert found["click"].problem == f"{found['click'].version} is installed, and >=999 is needed"
    assert found["nothing-of-this-name"].problem == "is not installed"
    assert found["rich"].problem == "cannot be imported: OSError: rich: wrong architecture"


def test_a_source_tree_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "metadata", missing)
    assert "only on the path" in by_name()["bayespool"].problem


def test_a_fit_that_fails_is_told_and_the_others_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fit(estimator: str, **settings: object) -> None:
        asked.append((estimator, settings.get("engine", "laplace")))
        if settings:
            raise RuntimeError("no compiler")

    said: list[str] = []
    monkeypatch.setattr(installation, "_fit", fit)
    first, again, nuts = timings(said.append)
    assert asked == [("posterior-combined", "laplace")] * 2 + [("posterior-background", "nuts")]
    assert said == ["first fit, Laplace", "next fit, Laplace", "short fit, NUTS"]
    assert first.seconds is not None
    assert again.problem == ""
    assert (nuts.seconds, nuts.problem) == (None, "RuntimeError: no compiler")
    assert examine(quick=True).timings == ()
    assert examine().problems == ("short fit, NUTS: RuntimeError: no compiler",)
