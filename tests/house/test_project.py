"""What the project says of itself is true: dependencies, version, pages, Makefile, workflows, recipes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import bayespool
from bayespool.notes import SEVERITIES
from bayespool.scoring import estimators

ROOT = Path(__file__).resolve().parents[2]


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


PROJECT = tomllib.loads(text_of("pyproject.toml"))["project"]
CITATION = yaml.safe_load(text_of("CITATION.cff"))
ADDRESSES = tomllib.loads(text_of("bayespool/tables/addresses.toml"))
MADE = {"options.md", "bibliography.md"}  # of data
MOST_WORDS = 30_000
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAKEFILE, CI, CHANGELOG = text_of("Makefile"), text_of(".ci/run"), text_of("CHANGELOG.md")
(TARGETS,) = re.findall(r"^\.PHONY: help (.+)$", MAKEFILE, flags=re.MULTILINE)
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github/workflows").glob("*.yml")
}

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


def test_every_dependency_has_its_reason() -> None:
    page, extras = text_of("docs/developers/dependencies.md"), PROJECT["optional-dependencies"]
    headings = {f"`bayespool[{extra}]`": names for extra, names in extras.items()}
    for heading, requirements in ({"## To run": PROJECT["dependencies"]} | headings).items():
        assert page.count(heading) == 1, heading
        section = page.split(heading)[1].split("\n## ")[0]
        rows = re.findall(r"^\| `([^`]+)` \| ([\d.]+) \| (.+) \|$", section, flags=re.MULTILINE)
        assert {name: version for name, version, _ in rows} == lowest_versions(requirements), heading
        assert all(len(reason.split()) > 1 for _, _, reason in rows), heading


def test_version_pythons_and_links_are_the_same_everywhere() -> None:
    assert "version" in PROJECT["dynamic"]
    files = [*(ROOT / "bayespool").rglob("*.py"), ROOT / "docs" / "conf.py", ROOT / "pyproject.toml"]
    saying = [path.name for path in files if f'"{bayespool.__version__}"' in path.read_text(encoding="utf-8")]
    assert saying == ["__init__.py"]
    assert (ROOT / "bayespool" / "py.typed").is_file()

    named = [c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    (supported,) = re.findall(r'^supported="([^"]+)"$', CI, flags=re.MULTILINE)
    (of_ci,) = [step["with"]["python-version"] for step in steps("ci") if "python" in step.get("uses", "")]
    assert sorted(supported.split()) == sorted(of_ci.split()) == sorted(named)
    assert PROJECT["requires-python"] == f">={min(named, key=lambda v: int(v.split('.')[1]))}"

    assert all(command in text_of("README.md") for command in ("make demo", "make test"))


def test_changelog_and_citation_are_of_this_release() -> None:
    assert re.findall(r"^## \[([^\]]+)\]", CHANGELOG, flags=re.MULTILINE)[0] == "Unreleased"
    kinds = set(re.findall(r"^### (.+)$", CHANGELOG, flags=re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    releases = re.findall(r"^## \[(\d[^\]]+)\] - (\S+)$", CHANGELOG, flags=re.MULTILINE)
    assert releases[0] == (bayespool.__version__, CITATION["date-released"].isoformat())
    assert CITATION["title"].startswith("bayespool: ")
    assert {name: CITATION[name] for name in ("cff-version", "type", "version")} == {
        "cff-version": "1.2.0",
        "type": "software",
        "version": bayespool.__version__,
    }
    assert (CITATION["license"], CITATION["authors"]) == (PROJECT["license"], PROJECT["authors"])
    assert CITATION.get("repository-code", "") == ADDRESSES["repository"]
    assert CITATION.get("url", "") == ADDRESSES["site"]


_OURS = re.compile(
    r"\b(?:[\w-]+\.)?(?:github|gitlab)\.(?:io|com)/bayespool|\bbayespool\.(?:github|gitlab|readthedocs)\.io|"
    r"(?:pypi\.org/project|github\.com/[\w-]+|codeberg\.org/[\w-]+)/bayespool|\bbayespool\.(?:org|com|dev)\b"
)


def test_addresses_of_ours_are_those_of_the_setting() -> None:
    """A site or repository that is not there is a dead link: one file names them, and CITATION.cff."""
    found = {"x github.com/bayespool/bayespool", "bayespool.github.io", "https://pypi.org/project/bayespool"}
    assert all(_OURS.search(text) for text in found)
    assert not _OURS.search("bayespool.commands of github.com/terrierteam/ir_measures")
    setting = {ROOT / "CITATION.cff", ROOT / "bayespool" / "tables" / "addresses.toml", Path(__file__)}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    kinds = {".md", ".py", ".toml", ".cff", ".txt", ".ipynb", ".yml", ".html", ".json", ".rst", ".csv"}
    named = [ROOT / name for name in listed.stdout.split("\0") if name]
    named = named or [path for path in ROOT.rglob("*") if path.is_file() and ".git" not in path.parts]
    texts = [path for path in named if path.suffix in kinds and path.is_file() and path not in setting]
    assert len(texts) > 500
    hits = [path.name for path in texts if _OURS.search(path.read_text(encoding="utf-8", errors="ignore"))]
    assert hits == []


PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES += [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "developers").glob("*.md"))]


def plain(page: Path) -> str:
    """Return a page without its code."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^(```+|~~~+).*?^\1$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts and MyST make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{1,4} (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_links_of_pages_lead_to_files_and_headings_that_are_there() -> None:
    n_links, n_anchors = 0, 0
    for page in PAGES:
        targets = re.findall(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", plain(page), flags=re.MULTILINE)
        for target in (one or other for one, other in targets):
            place, _, anchor = target.partition("#")
            if re.match(r"https?:|mailto:", place):
                continue
            there = (page.parent / place if place else page).resolve()
            assert there.exists(), (page.name, target)
            assert "docs/notebooks/" not in target, "a code host does not follow the link docs/notebooks"
            n_links += 1
            if anchor and there.suffix == ".md":
                n_anchors += 1
                assert anchor in anchors(there), (page.name, target)
    assert min(n_links / 4, n_anchors) > 25


def test_pages_are_read_without_building_and_the_index_lists_all_of_them() -> None:
    """A code host shows directives and roles of MyST as they are written."""
    docs = [page for page in PAGES if page.parent.name == "docs"]
    left = r"\{(?:doc|ref|term|py:\w+)\}`|^(?:```|:{3,})\{|^% "
    wrong = {
        page.name: re.findall(left, page.read_text(encoding="utf-8"), flags=re.MULTILINE) for page in PAGES
    }
    assert {name: found for name, found in wrong.items() if found} == {}
    listed = re.findall(r"^- \[[^\]]+\]\((?:\.\./)?(\S+)\)", text_of("docs/index.md"), flags=re.MULTILINE)
    assert len(set(listed)) == len(listed)
    notebooks = {f"notebooks/{path.name}" for path in NOTEBOOKS}
    assert set(listed) == {page.name for page in docs} - {"index.md"} | {"api.rst"} | notebooks
    pictures = {
        name
        for page in PAGES
        for name in re.findall(r"_static/[\w.-]+\.(?:png|svg)", page.read_text("utf-8"))
    }
    assert pictures == {f"_static/{path.name}" for path in (ROOT / "docs/_static").glob("*.[ps][nv]g")}
    made = r"<!-- table: .*?<!-- end of table -->|^```.*?^```$|<!-- .*? -->"  # and code, and what it prints
    texts = [page.read_text(encoding="utf-8") for page in docs if page.name not in MADE]
    words = sum(len(re.sub(made, "", text, flags=re.DOTALL | re.MULTILINE).split()) for text in texts)
    assert words <= MOST_WORDS, f"{words} words: the pages are read in two hours"


def test_tables_of_pages_are_those_of_the_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    import outputs
    import reference_tables

    assert text_of("docs/options.md") == reference_tables.page(), "make outputs"
    for page in outputs.PAGES:
        text = page.read_text(encoding="utf-8")
        assert outputs.with_tables(text) == text, f"{page.name}: make outputs"


def test_each_kind_of_note_has_its_row() -> None:
    page = text_of("docs/answer-a-reviewer.md").split("## What each note means")[1].split("\n## ")[0]
    parts = re.split(r"^Severity \d", page, flags=re.MULTILINE)[1:]
    kinds = [
        re.findall(r"^\| `([\w-]+)` \| [^|]+ \| [^|]+ \|$", part, flags=re.MULTILINE) for part in parts[:2]
    ]
    kinds.append(re.findall(r"`([a-z]+-?[a-z]+)` \(", parts[2]))
    said = {kind: severity for severity, of in enumerate(kinds) for kind in of}
    assert said == SEVERITIES
    assert sum(map(len, kinds)) == len(SEVERITIES)


@pytest.mark.parametrize("repository", ["", "https://code.example/bayespool"])
def test_the_readme_of_a_release_has_no_dead_link(repository: str) -> None:
    """Its relative links lead nowhere on an index of packages: they are absolute there, or no links."""
    made = runpy.run_path(str(ROOT / ".ci" / "metadata.py"))
    text = made["readme"](text_of("README.md"), repository)
    targets = re.findall(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", text, flags=re.MULTILINE)
    assert [t for t in targets if not (t[0] or t[1]).startswith("https://")] == []
    assert len(targets) == (18 if repository else 0)
    assert ("`bayespool docs quickstart`" in text) == (not repository)
    urls = made["urls"]("", repository)
    assert set(urls) == ({"Repository", "Issues", "Changelog"} if repository else set())
    assert set(made["urls"]("https://site.example", "")) == {"Documentation"}


def test_citation_has_the_four_papers() -> None:
    papers = {(paper["authors"][0]["family-names"], paper["year"]): paper for paper in CITATION["references"]}
    assert list(papers) == [("Webber", 2009), ("Ravana", 2010), ("Lipani", 2015), ("Lipani", 2017)]
    pages = re.sub(r"\s+", " ", text_of("docs/models.md") + text_of("docs/pooling.md")).lower()
    named = set()
    for (_, year), paper in papers.items():
        assert paper["type"] == "conference-paper"
        assert set(paper) >= {"title", "collection-title", "notes"}
        assert all(set(author) == {"family-names", "given-names"} for author in paper["authors"])
        assert f"({year}). {paper['title'].lower()}." in pages
        assert re.fullmatch(r"10\.1145/\d+\.\d+", paper.get("doi", "")) or year == 2010, "ADCS gave no DOI"
        named |= set(re.findall(r"[a-z-]+", paper["notes"].partition("estimator")[2].partition(", and b")[0]))
    assert len(named & set(estimators.ESTIMATORS)) == 6
    assert named - set(estimators.ESTIMATORS) <= {"s", "and"}


def test_recorded_benchmarks_say_command_and_day_and_no_place() -> None:
    text = text_of("benchmarks/results.md")
    assert all(words in text for words in ("two cores", "GiB of memory", "Python 3.11"))
    assert re.search(r"/(home|root|tmp|work|Users)/|localhost", text) is None
    recorded = []
    for part in text.split("\n## ")[1:]:
        command = re.match(r"`python benchmarks/(\w+\.py)[^`\n]*`\n\n20\d\d-\d\d-\d\d", part)
        assert command is not None, f"a command, and then the day: {part[:60]}"
        recorded.append(command[1])
    assert len(recorded) == len(set(recorded)) > 4
    assert all((ROOT / "benchmarks" / name).is_file() for name in recorded)


def test_what_is_passed_over_by_the_audit_has_a_reason() -> None:
    text = text_of("pyproject.toml")
    tools = tomllib.loads(text)["tool"]
    for skipped in tools["bandit"]["skips"]:
        (line,) = [line for line in text.splitlines() if f'"{skipped}"' in line]
        assert len(line.split("#")[1].split()) > 3
    assert all(len(why.split()) > 3 for why in tools["bayespool-audit"]["passed-over"].values())
    lines = [
        line for path in (ROOT / "bayespool").rglob("*.py") for line in path.read_text("utf-8").splitlines()
    ]
    excused = [line for line in lines if "nosec" in line]
    assert all(len(line.split("nosec")[1].split("#", 1)[1].split()) > 2 for line in excused)
    assert len(excused) < 10


def test_notebooks_have_the_outputs_of_their_code_and_leave_drawing_to_the_functions() -> None:
    """Only the lesson on models draws what no function does: curves of numbers that it makes itself."""
    assert len(NOTEBOOKS) == 3
    by_hand = re.compile(
        r"\b(ax|axis|axes|panel|plt)\.(plot|hlines|vlines|bar|barh|hist|scatter|step|errorbar)\("
    )
    drawing = {path.stem for path in NOTEBOOKS if by_hand.search(path.read_text(encoding="utf-8"))}
    assert drawing == {"how-the-models-work"}
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)], path.name
        kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
        assert {"stream", "execute_result", "display_data"} >= kinds != set(), path.name
        code = "\0".join("".join(cell["source"]) for cell in cells)
        digest = hashlib.blake2b(code.encode(), digest_size=8).hexdigest()
        assert notebook["metadata"].get("code") == digest, f"{path.name}: make outputs"


def test_what_contributing_names_is_there() -> None:
    text = text_of("CONTRIBUTING.md")
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    described = re.findall(r"`((?:bayespool|docs|tests|benchmarks|research)/[\w/.]+|\.ci/\w+)`", text)
    made = set(re.findall(r"^# (?:new file|add to|in): (\S+)$", text, flags=re.MULTILINE))
    assert len(linked) >= 5
    assert len(described) > 8
    assert [name for name in {*linked, *described} - made if not (ROOT / name).exists()] == []
    assert set(re.findall(r"`make ([\w-]+)`", text)) <= {"help", *TARGETS.split()}
    said = re.findall(r"A module has at most (\d+) lines", text)
    tested = re.findall(r"^MOST_LINES = (\d+)$", text_of("tests/house/test_architecture.py"), re.MULTILINE)
    assert said == tested != []


# --- the Makefile ------------------------------------------------------------------------------------------


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
def test_make_says_what_is_wrong_with_python(tmp_path: Path) -> None:
    too_old = 'case "$*" in --version) echo Python 3.9.2;; *version_info*) exit 1;; esac'
    old = write_command(tmp_path / "old", too_old)
    bare = write_command(tmp_path / "bare", 'case "$*" in *ensurepip*) exit 1;; esac')
    for target, python, told in (
        ("demo", "not-there", ["no working Python under the name 'not-there'"]),
        ("test", "not-there", ["no working Python under the name 'not-there'"]),
        ("test", old, ["is Python 3.9.2, too old: 3.11 or newer is needed"]),
        ("test", bare, ["its module venv or ensurepip is missing", "apt-get install python3-venv"]),
    ):
        done = run_make(target, f"PYTHON={python}", f"VENV={tmp_path}/env")
        assert done.returncode != 0, python
        assert all(words in done.stderr for words in told), done.stderr
        assert not (tmp_path / "env").exists(), python


@needs_make
def test_make_never_clears_a_folder_that_is_no_environment(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work", encoding="utf-8")
    done = run_make("test", f"PYTHON={sys.executable}", f"VENV={mine}")
    assert done.returncode != 0
    assert "is not a virtual environment" in done.stderr
    assert (mine / "thesis.txt").read_text(encoding="utf-8") == "years of work"

    for name in ("kept", "kept-lowest", "env", "env-lowest"):
        (tmp_path / name).mkdir()
    for name in ("env", "env-lowest"):
        (tmp_path / name / "pyvenv.cfg").touch()
    for name in ("kept", "env"):
        done = run_make("-f", str(ROOT / "Makefile"), "clean", f"VENV={name}", folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "kept-lowest", "mine"]


@needs_make
def test_help_of_make_lists_every_target() -> None:
    assert re.findall(r"^make (\S+)  ", run_make("help").stdout, flags=re.MULTILINE) == TARGETS.split()


# --- what GitHub runs --------------------------------------------------------------------------------------


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in WORKFLOWS[name]["jobs"].values() for step in job.get("steps", [])]


def test_workflows_run_the_script_of_ci_or_a_target_of_the_makefile() -> None:
    commands = {name: [step["run"] for step in steps(name) if "run" in step] for name in WORKFLOWS}
    assert commands == {
        "ci": [".ci/run"],
        "docs": ["make docs"],
        "release": ['make dist TAG="$GITHUB_REF_NAME"'],
    }
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert {"docs", "dist"} <= set(TARGETS.split())
    assert re.search(r"^TAG \?=", MAKEFILE, flags=re.MULTILINE)
    main = {"push": {"branches": ["main"]}}
    assert {name: workflow[True] for name, workflow in WORKFLOWS.items()} == {  # to YAML 1.1 "on" is true
        "ci": {**main, "pull_request": None, "workflow_call": None},
        "docs": main,
        "release": {"push": {"tags": ["v*"]}},
    }


def test_only_a_job_that_publishes_may_write_and_it_runs_no_code_of_ours() -> None:
    publishing = {"actions/deploy-pages", "actions/download-artifact", "pypa/gh-action-pypi-publish"}
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}, name
        assert "group" in workflow["concurrency"], name
        for job_name, job in workflow["jobs"].items():
            assert ("permissions" in job) == ("environment" in job) == (job_name == "publish"), job_name
            if job_name == "publish":
                assert "build" in job["needs"]
                assert {step.get("uses", "").partition("@")[0] for step in job["steps"]} <= publishing
        for used in [step["uses"] for step in steps(name) if "uses" in step]:
            assert re.fullmatch(r"(actions|pypa)/[\w-]+@(v|release/v)\d+", used), "of one major version"


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
