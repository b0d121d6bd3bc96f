"""What ``doctor`` prints, and when it says that something is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from commands import Outcome

from bayespool.cli import installation
from bayespool.cli.installation import Installation, Package, Timing

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "_static" / "result.schema.json"
MACHINE = {
    "system": "Linux x86_64",
    "cores": 2,
    "memory_free_mib": 20_000,
    "compiled_loops": None,
    "collections": None,
}
BROKEN = Installation(
    packages=(Package("numpy", None, ">=1.26", "is not installed"),),
    machine=MACHINE,
    timings=(Timing("short fit, NUTS", None, "RuntimeError: no compiler"),),
)


def test_what_is_broken_ends_with_status_1(
    run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "examine", lambda **_: BROKEN)
    done = run("doctor")
    assert done.status == 1
    assert "numpy    –               >=1.26  BROKEN: is not installed" in done.out
    assert "short fit, NUTS  BROKEN: RuntimeError: no compiler" in done.out
    assert done.err == "error: 2 things are broken; see above\n"
    as_json = run("doctor", "--json")
    assert as_json.status == 1
    found = json.loads(as_json.out)
    assert found["notes"] == ["numpy: is not installed", "short fit, NUTS: RuntimeError: no compiler"]
    assert found["tables"]["timings"] == [
        {"name": "short fit, NUTS", "seconds": None, "problem": "RuntimeError: no compiler"}
    ]
    assert {"name": "cores", "state": 2} in found["tables"]["machine"]


def test_a_quick_look_at_this_installation(run: Callable[..., Outcome]) -> None:
    done = run("doctor", "--quick", "--json", "-q")
    assert done.status == 0, done.out
    document = json.loads(done.out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    tables = document["tables"]
    assert tables["timings"] == []
    assert {"Python", "numpy", "pymc", "click"} <= {row["name"] for row in tables["packages"]}
    assert max(map(len, run("doctor", "--quick").out.splitlines())) <= 200
