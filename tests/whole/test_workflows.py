"""What GitHub runs is `.ci/run` and targets of the Makefile, with no more rights than it needs."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in FILES}
EVENTS = {name: workflow[True] for name, workflow in WORKFLOWS.items()}  # to YAML 1.1 "on" is true
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in WORKFLOWS[name]["jobs"].values() for step in job.get("steps", [])]


def commands(name: str) -> list[str]:
    return [step["run"] for step in steps(name) if "run" in step]


def test_each_workflow_has_its_commands() -> None:
    assert {name: commands(name) for name in WORKFLOWS} == {
        "ci": [".ci/run"],
        "docs": ["make docs"],
        "release": ['make dist TAG="$GITHUB_REF_NAME"'],
    }


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_step_runs_the_script_of_ci_or_a_target_of_the_makefile(name: str) -> None:
    (targets,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, flags=re.MULTILINE)
    variables = re.findall(r"^([A-Z_]+) \?=", MAKEFILE, flags=re.MULTILINE)
    for command in commands(name):
        if command == ".ci/run":
            assert os.access(ROOT / ".ci" / "run", os.X_OK)
            continue
        program, target, *settings = command.split(" ")
        assert program == "make"
        assert target in targets.split()
        assert {setting.partition("=")[0] for setting in settings} <= set(variables)


def test_workflows_start_where_contributing_says() -> None:
    assert EVENTS == {
        "ci": {"push": {"branches": ["main"]}, "pull_request": None, "workflow_call": None},
        "docs": {"push": {"branches": ["main"]}},
        "release": {"push": {"tags": ["v*"]}},
    }


@pytest.mark.parametrize("name", WORKFLOWS)
def test_only_a_job_that_publishes_may_write_and_it_runs_no_code_of_ours(name: str) -> None:
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {"contents": "read"}
    assert "group" in workflow["concurrency"]
    for job_name, job in workflow["jobs"].items():
        assert ("permissions" in job) == ("environment" in job) == (job_name == "publish")
        if job_name == "publish":
            assert "build" in job["needs"]
            used = [step.get("uses", "").partition("@")[0] for step in job["steps"]]
            assert set(used) <= {
                "actions/deploy-pages",
                "actions/download-artifact",
                "pypa/gh-action-pypi-publish",
            }


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_of_one_major_version(name: str) -> None:
    for step in steps(name):
        if "uses" in step:
            assert re.fullmatch(r"(actions|pypa)/[\w-]+@(v|release/v)\d+", step["uses"]), step["uses"]


def test_ci_has_every_supported_python() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (supported,) = re.findall(r'^supported="([^"]+)"$', script, flags=re.MULTILINE)
    (versions,) = [step["with"]["python-version"] for step in steps("ci") if "python" in step.get("uses", "")]
    assert sorted(versions.split()) == supported.split()


def test_a_release_is_published_after_ci_and_as_its_tag_says() -> None:
    jobs = WORKFLOWS["release"]["jobs"]
    assert jobs["publish"]["needs"] == ["ci", "build"]
    assert jobs["ci"]["uses"] == "./.github/workflows/ci.yml"
    check_tag = runpy.run_path(str(ROOT / ".ci" / "release.py"))["check_tag"]
    wheel = Path("bayespool-0.2.0-py3-none-any.whl")
    check_tag("", wheel)
    check_tag("v0.2.0", wheel)
    with pytest.raises(SystemExit, match=r"the tag v0\.3\.0 is not v0\.2\.0"):
        check_tag("v0.3.0", wheel)
