"""Tests mirror the tree: whoever opens a module knows where its test is."""

from __future__ import annotations

from pathlib import Path

from each import of_each

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, TESTS = ROOT / "bayespool", ROOT / "tests"
FILES, TEST_FILES = sorted(PACKAGE.rglob("*.py")), sorted(TESTS.rglob("test_*.py"))

# Test file → modules that it tests beside the one that it is named after, if it is named after one.
TESTS_TOO = {
    # parts of a whole that is tested as one
    "experiments/test_judge_checks": {"experiments/judge_tables"},
    "experiments/test_predictions": {"experiments/fitting", "posterior/combination"},
    "comparisons/test_comparing": {"comparisons/comparison"},
    "comparisons/test_reversing": {"comparisons/outcomes"},
    "evidence/test_judged": {"evidence/states"},
    "experiments/test_budgeting": {"experiments/budget_folds", "experiments/budget_results"},
    "experiments/test_folds": {"experiments/fold_results"},
    "inference/test_cells": {"inference/cell_kernels"},
    "inference/test_nuts": {"inference/fit"},
    "posterior/test_completion": {"posterior/steps"},
    "posterior/test_estimator": {"posterior/preparation"},
    # one test for all members of a family
    "inference/test_density": {
        f"models/{file}" for file in ("anti_precision", "document", "ratio", "structure")
    },
    "models/test_graphs": {
        f"models/{file}" for file in ("background", "formulas", "interpolated", "odds_ratio", "smoothed")
    },
    "models/test_spec": {"models/registry"},
    "pooling/test_contributions": {"pooling/listing"},
    "pooling/test_choosing": {"pooling/retrieved", "pooling/strategy"},
    "pooling/test_orders": {"pooling/by_rank"},
    "pooling/test_sampling": {"pooling/active"},
    "evidence/test_predictor_table": {
        f"evidence/{file}"
        for file in (
            "composition_predictors",
            "context",
            "other_run_predictors",
            "own_run_predictors",
            "predictor",
        )
    },
    "test_options": {
        "comparisons/settings",
        "experiments/check_settings",
        "scoring/settings",
        "experiments/budget_settings",
    },
    "whole/test_own_judgments": {"collection/own"},
    "whole/test_own_measures": {"evidence/bounds", "measures/base"},
    # what is handed over in memory, and what type checkers say of calls
    "collection/test_frames": {"collection/columns"},
    "whole/test_in_memory": {"collection/no_pool", "collection/irds", "collection/sources"},
    "whole/test_typing": {"posterior/keywords"},
    # what is printed and written is tested where a reader sees it
    "cli/test_check": {"report/checks"},
    "cli/test_impute": {"report/imputing"},
    "cli/test_judge_next": {"report/judging"},
    "cli/test_pooling": {"report/budgets", "report/pooling"},
    "cli/test_process": {"__main__"},
    "cli/test_random_pools": {"report/random_pools"},
    "cli/test_refusals": {"cli/options"},
    "cli/test_written": set(),
    "report/test_text": {"report/terminal"},
    "test_suggestions": set(),
    "test_texts": set(),
    "whole/test_architecture": {"__init__"},
}
# Two constants, which every test uses that needs them.
WITHOUT_A_TEST = {"collection/resources"}
MOST_LINES_OF_A_TEST = 700


def place(path: Path, root: Path) -> str:
    """``folder/file`` without the suffix, below a root."""
    return path.relative_to(root).with_suffix("").as_posix()


def own_test(module: str) -> str:
    folder, slash, file = module.rpartition("/")
    return f"{folder}{slash}test_{file}"


@of_each(FILES)
def test_module_has_its_test(path: Path) -> None:
    """Each folder of modules has a folder of tests, each module a file, or it is said where else to look."""
    module = place(path, PACKAGE)
    if module.endswith("/__init__"):
        assert any((TESTS / module).parent.glob("test_*.py"))
        return
    has_its_own = (TESTS / f"{own_test(module)}.py").is_file()
    elsewhere = [test for test, modules in TESTS_TOO.items() if module in modules]
    assert has_its_own + len(elsewhere) + (module in WITHOUT_A_TEST) == 1, (
        f"write tests/{own_test(module)}.py, or say in TESTS_TOO which other file tests the module, not both"
    )


def test_what_is_said_of_other_tests_is_so() -> None:
    modules = {place(path, PACKAGE) for path in FILES}
    assert set(TESTS_TOO) <= {place(path, TESTS) for path in TEST_FILES}
    assert set().union(WITHOUT_A_TEST, *TESTS_TOO.values()) <= modules


@of_each(TEST_FILES)
def test_file_of_tests_stands_where_one_looks_for_it(path: Path) -> None:
    test = place(path, TESTS)
    named_after = {own_test(place(module, PACKAGE)) for module in FILES}
    assert test in named_after or test in TESTS_TOO or path.parent in (TESTS / "whole", TESTS / "fuzz")
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert n_lines <= MOST_LINES_OF_A_TEST, f"{n_lines} lines: would two files read better?"
