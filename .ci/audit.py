"""Fails if a package that bayespool needs to run is installed in a version with a known vulnerability.

pip-audit asks the package index for advisories. Where the index cannot be reached or has none, nothing is
known, and that is said: it is no reason to fail.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SECONDS = 300


def needed() -> dict[str, str]:
    """Installed versions of what bayespool needs, and of what that needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, str] = {}
    left = [(text, ("",)) for text in project["dependencies"]]
    while left:
        text, extras = left.pop()
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        asked = requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in extras)
        if name in found or not asked:
            continue
        try:
            there = distribution(name)
        except PackageNotFoundError:
            continue
        found[name] = there.version
        left += [(more, ("", *requirement.extras)) for more in there.requires or ()]
    return found


def audit(versions: dict[str, str], ignored: list[str]) -> list[dict] | None:
    """What pip-audit found of each package; None where it came to no answer."""
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder, "pinned.txt")
        pinned.write_text("".join(f"{name}=={version}\n" for name, version in sorted(versions.items())))
        command = [sys.executable, "-m", "pip_audit", "-r", str(pinned), "--no-deps", "--disable-pip"]
        command += ["--format", "json", "--progress-spinner", "off", "--timeout", "10"]
        command += [part for name in ignored for part in ("--ignore-vuln", name)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
            return json.loads(done.stdout)["dependencies"]
        except (subprocess.TimeoutExpired, ValueError, KeyError):
            return None


def main() -> None:
    """Print what is known; fail where that is a vulnerability."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    passed_over = tools["bayespool-audit"]["passed-over"]
    for name, reason in passed_over.items():
        print(f"passed over: {name}: {reason}")
    versions = needed()
    answers = audit(versions, list(passed_over))
    if answers is None:
        print(f"no package index answers: nothing is known of {len(versions)} packages")
        return
    found = [
        f"{answer['name']} {answer['version']}: {advisory['id']}, "
        f"mended in {', '.join(advisory['fix_versions'])}"
        for answer in answers
        for advisory in answer.get("vulns", ())
    ]
    if found:
        sys.exit("known vulnerabilities:\n" + "\n".join(found))
    unknown = [answer["name"] for answer in answers if "skip_reason" in answer]
    n = len(answers) - len(unknown)
    print(f"{n} packages without a known vulnerability; of {len(unknown)} the package index knows nothing")


if __name__ == "__main__":
    main()
