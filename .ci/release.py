"""Checks the sdist and the wheel in a folder: what they hold, and that the wheel works on its own.

``python .ci/release.py dist`` fails with a sentence where something is missing or too much, and
``python .ci/release.py dist v0.2.0`` also where the tag is of another version.
`make dist` builds both and calls it.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
# What the tests read beside the package and themselves.
NEEDED = ("tests", "docs", "notebooks", "benchmarks", "research", ".ci", ".github", "bayespool")
FILES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "Makefile",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
)
MADE = {"__pycache__", "_build", "_api", "_generated", ".ipynb_checkpoints", ".hypothesis"}


def files_below(*folders: str) -> set[str]:
    """Files of the checkout in some folders, without what tools leave there."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    names = [path.relative_to(ROOT).as_posix() for path in found if not MADE & set(path.parts)]
    return {name for name in names if not name.startswith("docs/notebooks/")}  # a link to notebooks


def check_tag(tag: str, wheel: Path) -> None:
    """A tag, where there is one, is v and the version of the wheel."""
    version = wheel.name.split("-")[1]
    if tag and tag != f"v{version}":
        sys.exit(f"the tag {tag} is not v{version}, the version of {wheel.name}")


def check_wheel(path: Path) -> None:
    """The package with its pages, and its metadata, nothing else."""
    names = {PurePosixPath(name) for name in zipfile.ZipFile(path).namelist()}
    package = {str(name) for name in names if name.parts[0] == "bayespool"}
    pages = {f"bayespool/pages/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    if other := package ^ (files_below("bayespool") | pages):
        sys.exit(f"{path.name}: not the files of bayespool/ and the pages: {sorted(other)}")
    if "bayespool/py.typed" not in package:
        sys.exit(f"{path.name}: without bayespool/py.typed nobody's type checker reads the package")
    others = {name.parts[0] for name in names} - {"bayespool"}
    if [other.endswith(".dist-info") for other in others] != [True]:
        sys.exit(f"{path.name}: more than the package: {sorted(others)}")
    print(f"{path.name}: {len(package)} files of the package, and nothing else")


def check_sdist(path: Path) -> None:
    """All that builds, tests and documents the package."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = ({*files_below(*NEEDED), *FILES}) - names
    if missing:
        sys.exit(f"{path.name} lacks {sorted(missing)}")
    print(f"{path.name}: {len(names)} files, with all that the tests read")


def demo(wheel: Path) -> None:
    """Install a wheel into an empty environment and score the embedded example there."""
    start = time.monotonic()
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "env"), with_pip=True)
        programs = Path(folder, "env", "Scripts" if os.name == "nt" else "bin")

        def run(*command: str) -> str:
            program = str(programs / command[0])
            done = subprocess.run(
                [program, *command[1:]], cwd=folder, env=kept, text=True, stdout=subprocess.PIPE, check=False
            )
            if done.returncode:
                sys.exit(f"{' '.join(command)} ends with exit code {done.returncode}:\n{done.stdout}")
            return done.stdout

        pip = ("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile")
        run(*pip, str(wheel.resolve()))
        version = run("bayespool", "--version").split()[1]
        if version != wheel.name.split("-")[1]:
            sys.exit(f"{wheel.name} says that it is version {version}")
        where = run("python", "-c", "import bayespool; print(bayespool.__file__)").strip()
        if not Path(where).is_relative_to(Path(folder, "env").resolve()):
            sys.exit(f"the environment is not empty: bayespool is imported from {where}")
        if "Only a run and qrels" not in run("bayespool", "docs", "only-qrels"):
            sys.exit(f"{wheel.name}: bayespool docs prints no page")
        printed = run("bayespool", "demo")
    if "new-a" not in printed or "truth of the simulation" not in printed:
        sys.exit(f"bayespool demo prints no scores:\n{printed}")
    print(printed)
    print(f"{wheel.name}: installed and demoed in an empty environment in {time.monotonic() - start:.0f} s")


def main(folder: Path, tag: str = "") -> None:
    """Check the one sdist and the one wheel of a folder."""
    (sdist,) = folder.glob("bayespool-*.tar.gz")
    (wheel,) = folder.glob("bayespool-*.whl")
    check_tag(tag, wheel)
    check_sdist(sdist)
    check_wheel(wheel)
    demo(wheel)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
