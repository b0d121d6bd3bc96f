"""What the project says of itself is true: dependencies, version, notebooks, the README's two commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import bayespool
from bayespool.scoring import estimators

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

needs_make = pytest.mark.skipif(
    shutil.which("make") is None or os.name != "posix", reason="make is not on this machine"
)


def lowest_versions(requirements: list[str]) -> dict[str, str]:
    found = {}
    for requirement in requirements:
        parts = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)(,<[\d.]+)?(; python_version .*)?", requirement)
        assert parts is not None, f"{requirement}: a name and its lowest version"
        assert found.setdefault(parts[1], parts[2]) == parts[2], f"{parts[1]} has two lowest versions"
    return found


@pytest.mark.parametrize(
    ("heading", "requirements"),
    [
        ("## To run", PROJECT["dependencies"]),
        *((f"`bayespool[{extra}]`", names) for extra, names in PROJECT["optional-dependencies"].items()),
    ],
)
def test_every_dependency_has_its_reason(heading: str, requirements: list[str]) -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    assert page.count(heading) == 1
    section = page.split(heading)[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| ([\d.]+) \| (.+) \|$", section, flags=re.MULTILINE)
    assert {name: version for name, version, _ in rows} == lowest_versions(requirements)
    assert all(len(reason.split()) > 1 for _, _, reason in rows)


def test_version_stands_in_one_place() -> None:
    assert "version" in PROJECT["dynamic"]
    files = [*(ROOT / "bayespool").rglob("*.py"), ROOT / "docs" / "conf.py", ROOT / "pyproject.toml"]
    saying = [path.name for path in files if f'"{bayespool.__version__}"' in path.read_text(encoding="utf-8")]
    assert saying == ["__init__.py"]


def test_pythons_are_the_same_everywhere() -> None:
    named = [c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    declared = re.search(r'^supported="([^"]+)"$', script, flags=re.MULTILINE)
    assert declared is not None
    assert sorted(declared[1].split()) == sorted(named)
    assert PROJECT["requires-python"] == f">={min(named, key=lambda v: int(v.split('.')[1]))}"


def test_package_says_it_is_typed() -> None:
    assert (ROOT / "bayespool" / "py.typed").is_file()


def test_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[([^\]]+)\]", text, flags=re.MULTILINE)
    assert versions[0] == "Unreleased"
    kinds = set(re.findall(r"^### (.+)$", text, flags=re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_changelog_has_the_release() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[(\d[^\]]+)\] - (\S+)$", text, flags=re.MULTILINE)
    assert releases[0] == (bayespool.__version__, CITATION["date-released"].isoformat())


def test_citation_is_of_this_version() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] == "software"
    assert CITATION["title"].startswith("bayespool: ")
    assert CITATION["version"] == bayespool.__version__
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["authors"] == PROJECT["authors"]
    assert CITATION["repository-code"] == PROJECT["urls"]["Repository"]
    assert CITATION["url"] == PROJECT["urls"]["Documentation"]


def test_citation_has_the_four_papers() -> None:
    papers = {(paper["authors"][0]["family-names"], paper["year"]): paper for paper in CITATION["references"]}
    assert list(papers) == [("Webber", 2009), ("Ravana", 2010), ("Lipani", 2015), ("Lipani", 2017)]
    formulas = (ROOT / "docs" / "formulas.md").read_text(encoding="utf-8")
    pooling = (ROOT / "docs" / "pooling.md").read_text(encoding="utf-8")
    pages = re.sub(r"\s+", " ", formulas + pooling).lower()
    for (_, year), paper in papers.items():
        assert paper["type"] == "conference-paper"
        assert set(paper) >= {"title", "collection-title", "notes"}
        assert all(set(author) == {"family-names", "given-names"} for author in paper["authors"])
        assert f"({year}). {paper['title'].lower()}." in pages
        assert re.fullmatch(r"10\.1145/\d+\.\d+", paper.get("doi", "")) or year == 2010, "ADCS gave no DOI"
    named = {
        word
        for paper in papers.values()
        for word in re.findall(r"[a-z-]+", paper["notes"].partition("estimator")[2].partition(", and b")[0])
    }
    assert len(named & set(estimators.ESTIMATORS)) == 6
    assert named - set(estimators.ESTIMATORS) <= {"s", "and"}


def test_links_of_the_package_are_of_one_home() -> None:
    urls = PROJECT["urls"]
    assert set(urls) == {"Documentation", "Repository", "Issues", "Changelog"}
    assert urls["Issues"] == f"{urls['Repository']}/issues"
    assert urls["Changelog"] == f"{urls['Repository']}/blob/main/CHANGELOG.md"


def test_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_recorded_benchmarks_say_command_and_day_and_no_place() -> None:
    folder = ROOT / "benchmarks" / "results"
    pages = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\((\w+\.md)\)", index)) == {path.name for path in pages}
    for words in ("two cores", "GiB of memory", "Python 3.11"):
        assert words in index
    recorded = set()
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for part in text.split("\n## ")[1:]:
            command = re.match(r"`python benchmarks/(\w+\.py)[^`\n]*`\n\n20\d\d-\d\d-\d\d", part)
            assert command is not None, f"{page.name}: a command, and then the day: {part[:60]}"
            assert (ROOT / "benchmarks" / command[1]).is_file(), command[1]
            assert command[1] not in recorded, f"{command[1]} is recorded twice"
            recorded.add(command[1])
        assert re.search(r"/(home|root|tmp|work|Users)/|localhost", text) is None, page.name
    assert len(recorded) > 10


def test_notebooks_are_kept_without_outputs() -> None:
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert cells, path.name
        ran = [n for n, cell in enumerate(cells, 1) if cell["outputs"] or cell["execution_count"] is not None]
        assert ran == [], f"{path.name}: clear the outputs of the code cells {ran}"


def test_notebooks_leave_drawing_to_the_functions() -> None:
    """Only the lesson on models draws what no function does: curves of numbers that it makes itself."""
    by_hand = re.compile(
        r"\b(ax|axis|axes|panel|plt)\.(plot|hlines|vlines|bar|barh|hist|scatter|step|errorbar)\("
    )
    drawing = {path.stem for path in NOTEBOOKS if by_hand.search(path.read_text(encoding="utf-8"))}
    assert drawing == {"how-the-models-work"}


def test_notebooks_stand_in_the_table_of_contents() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^notebooks/(\S+)$", index, flags=re.MULTILINE))
    assert listed == {path.stem for path in NOTEBOOKS}


def run_make(*arguments: str, folder: Path = ROOT, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run make on a machine's bare environment: not the one of the make that may be running these tests."""
    left_out = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "VIRTUAL_ENV", "PYTHON", "VENV"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out} | changes
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def write_command(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@needs_make
@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_says_that_python_is_missing(target: str, tmp_path: Path) -> None:
    done = run_make(target, "PYTHON=python-that-is-not-there", f"VENV={tmp_path}/env")
    assert done.returncode != 0
    assert "no working Python under the name 'python-that-is-not-there'" in done.stderr
    assert not (tmp_path / "env").exists()


@needs_make
def test_make_says_that_python_is_too_old(tmp_path: Path) -> None:
    old = write_command(
        tmp_path / "python",
        'case "$*" in --version) echo Python 3.9.2;; *version_info*) exit 1;; esac',
    )
    done = run_make("test", f"PYTHON={old}", f"VENV={tmp_path}/env")
    assert done.returncode != 0
    assert "is Python 3.9.2, too old: 3.11 or newer is needed" in done.stderr
    assert not (tmp_path / "env").exists()


@needs_make
def test_make_says_that_the_venv_module_is_missing(tmp_path: Path) -> None:
    bare = write_command(tmp_path / "python", 'case "$*" in *ensurepip*) exit 1;; esac')
    done = run_make("test", f"PYTHON={bare}", f"VENV={tmp_path}/env")
    assert done.returncode != 0
    assert "its module venv or ensurepip is missing" in done.stderr
    assert "apt-get install python3-venv" in done.stderr
    assert not (tmp_path / "env").exists()


@needs_make
def test_make_never_clears_a_folder_that_is_no_environment(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    done = run_make("test", f"PYTHON={sys.executable}", f"VENV={tmp_path}")
    assert done.returncode != 0
    assert "is not a virtual environment" in done.stderr
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "years of work"


@needs_make
def test_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^\.PHONY: help (.+)$", makefile, flags=re.MULTILINE)
    done = run_make("help")
    assert re.findall(r"^make (\S+)  ", done.stdout, flags=re.MULTILINE) == targets.split()


@needs_make
def test_make_clean_removes_an_environment_and_nothing_else(tmp_path: Path) -> None:
    for name in ("kept", "kept-lowest", "env", "env-lowest"):
        (tmp_path / name).mkdir()
    for name in ("env", "env-lowest"):
        (tmp_path / name / "pyvenv.cfg").touch()
    for name in ("kept", "env"):
        done = run_make("-f", str(ROOT / "Makefile"), "clean", f"VENV={name}", folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "kept-lowest"]


@needs_make
@pytest.mark.slow
def test_make_says_that_no_index_can_be_reached(tmp_path: Path) -> None:
    done = run_make(
        "test",
        f"PYTHON={sys.executable}",
        f"VENV={tmp_path}/env",
        PIP_CONFIG_FILE=os.devnull,
        PIP_EXTRA_INDEX_URL="",
        PIP_FIND_LINKS="",
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_RETRIES="0",
    )
    assert done.returncode != 0
    assert "pip cannot reach a package index" in done.stderr
    assert not (tmp_path / "env" / ".bayespool-test").exists()
