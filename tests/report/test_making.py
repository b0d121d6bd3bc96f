"""How a result was made: what is needed to repeat it."""

from __future__ import annotations

from bayespool.report.page import _making


def test_command_versions_seed_and_fingerprint_are_there() -> None:
    section = _making(
        {
            "bayespool": "1",
            "fingerprint": "ab12",
            "estimators": [{"name": "x", "random_seed": 7, "draws": 250}],
            "made_by": {"command": "bayespool score a.run", "versions": {"bayespool": "1", "numpy": "2"}},
        }
    )
    said = " ".join(section.sentences)
    assert section.command == "bayespool score a.run"
    assert "bayespool 1, numpy 2" in said
    assert "ab12" in said
    assert "Random seed: 7." in said
    rows = list(section.tables[0].rows)
    assert rows == [
        ("fingerprint", "ab12"),
        ("estimators: x: random_seed", "7"),
        ("estimators: x: draws", "250"),
    ]
