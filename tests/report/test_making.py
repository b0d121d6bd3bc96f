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


def test_without_a_command_it_says_so_and_long_lists_are_cut() -> None:
    section = _making({"bayespool": "1", "runs": [f"r{i}" for i in range(20)], "e": 0.03, "none": None})
    assert section.command == ""
    assert "from Python" in section.sentences[-1]
    rows = dict(section.tables[0].rows)
    assert rows["runs"].endswith("r11 and 8 more")
    assert rows["e"] == "0.03"
    assert "none" not in rows
    # what is a setting and a field of its own stands once
    estimators = [{"name": "x", "draws": 250}]
    section = _making(
        {"settings": {"estimators": estimators, "measures": ["P@10"]}, "estimators": estimators}
    )
    assert list(section.tables[0].rows) == [("settings: measures", "P@10"), ("estimators: x: draws", "250")]
