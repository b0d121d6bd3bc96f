"""Tests mirror the tree: whoever opens a module knows where its test is. Planted faults are up to date."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from each import cases
from planted.faults import FAULTS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, TESTS = ROOT / "bayespool", ROOT / "tests"
FILES, TEST_FILES = sorted(PACKAGE.rglob("*.py")), sorted(TESTS.rglob("test_*.py"))

# Modules without a file of tests of their own → where they are tested: parts of a whole tested as one,
# members of a family, and what is printed, written or handed over in memory, where a reader sees it.
TESTED_IN = {
    "__main__": "cli/test_messages",
    "arrays": "whole/test_typing",
    "auditing/differences": "auditing/test_auditing auditing/test_urns",
    "auditing/starting": "auditing/test_auditing",
    "cli/commands": "cli/test_parameters",
    "cli/files": "cli/test_refusals cli/test_parameters",
    "cli/functions": "cli/test_parameters",
    "reading/archives": "scoring/test_prepared",
    "collection/collection": "collection/test_attributes collection/test_contents collection/test_own",
    "collection/packing": "scoring/test_prepared",
    "reading/records": "collection/test_judges reading/test_frames",
    "reading/samples": "reading/test_scope",
    "reading/sources": "whole/test_in_memory reading/test_readers",
    "comparisons/compared": "comparisons/test_comparing comparisons/test_contrasts",
    "comparisons/comparison": "comparisons/test_comparing comparisons/test_tables",
    "comparisons/contrast_sentences": "comparisons/test_contrasts",
    "comparisons/outcomes": "comparisons/test_reversing comparisons/test_reversal_tables",
    "comparisons/stored": "comparisons/test_tables",
    "corrections/angelopoulos": "corrections/test_predictions_put_right",
    "corrections/condensed": "corrections/test_amounts",
    "corrections/divekar_majumder": "corrections/test_predictions_put_right",
    "corrections/oosterhuis": "corrections/test_predictions_put_right",
    "corrections/random_samples": "corrections/test_of_samples",
    "evidence/bounds": "evidence/test_held_out whole/test_own_measures",
    "evidence/columns": "models/test_terms",
    "experiments/budget_results": "experiments/test_random_pools",
    "experiments/budgeting": "experiments/test_random_pools",
    "experiments/design": "experiments/test_leaving_out experiments/test_random_pools",
    "experiments/graded_runs": "experiments/test_leaving_out experiments/test_random_pools",
    "experiments/hidden": "experiments/test_checks",
    "experiments/judge_agreement": "experiments/test_judge_checks",
    "experiments/judge_disputes": "experiments/test_judge_checks",
    "experiments/leave_out_results": "experiments/test_leaving_out experiments/test_several",
    "experiments/preparing": "scoring/test_prepared",
    "experiments/predictions": "experiments/test_checks",
    "experiments/random_pool_results": "experiments/test_random_pools",
    "experiments/settings": "experiments/test_own_estimators cli/test_pooling",
    "inference/fit": "inference/test_nuts inference/test_diagnostics",
    "inference/points": "inference/test_modes",
    "inference/totals": "inference/test_laplace",
    "inference/variables": "inference/test_laplace",
    "measures/average_precision": "measures/test_extremes",
    "measures/base": "whole/test_own_measures measures/test_extremes",
    "measures/precision": "measures/test_of_rankings measures/test_recall",
    "measures/rank_biased": "measures/test_of_rankings",
    "models/formulas": "models/test_graphs models/test_structure",
    "models/registry": "inference/test_density models/test_graphs models/test_spec "
    "posterior/test_partial_pool",
    "pooling/candidates": "pooling/test_discovery",
    "pooling/fusion": "pooling/test_choosing pooling/test_voting",
    "pooling/rank_biased": "pooling/test_voting",
    "pooling/strategy": "pooling/test_choosing",
    "posterior/drawing": "posterior/test_completion",
    "posterior/fitting": "posterior/test_partial_pool posterior/test_estimator",
    "posterior/lots": "posterior/test_partial_pool",
    "posterior/mixtures": "posterior/test_partial_pool",
    "notes": "report/test_notes",
    "scoring/asked": "test_question",
    "posterior/notes": "posterior/test_second_judges posterior/test_estimator",
    "posterior/preparation": "posterior/test_estimator",
    "posterior/thresholds": "posterior/test_completion",
    "posterior/unknowns": "posterior/test_completion",
    "posterior/work": "posterior/test_estimator",
    "report/provenance": "report/test_page",
    "report/saving": "report/test_files",
    "report/stored": "report/test_result scoring/test_scores",
    "report/terminal": "report/test_result scoring/test_score_tables",
    "scoring/judging_influence": "scoring/test_judging",
    "scoring/pools": "cli/test_pooling",
    "scoring/readable": "scoring/test_score_tables",
    "scoring/scoring": "scoring/test_estimators",
}
MOST_LINES_OF_A_TEST = 700
# They have no logic of their own.
WITHOUT_A_FAULT = {"__init__", "__main__", "arrays"}


def place(path: Path, root: Path) -> str:
    """``folder/file`` without the suffix, below a root."""
    return path.relative_to(root).with_suffix("").as_posix()


def own_test(module: str) -> str:
    folder, slash, file = module.rpartition("/")
    return f"{folder}{slash}test_{file}"


@cases("path", FILES)
def test_module_has_its_test(path: Path) -> None:
    """Each folder of modules has a folder of tests, each module a file, or it is said where else to look."""
    module = place(path, PACKAGE)
    if module.endswith("__init__"):
        assert any((TESTS / module).parent.rglob("test_*.py"))
        return
    has_its_own = (TESTS / f"{own_test(module)}.py").is_file()
    assert has_its_own + (module in TESTED_IN) == 1, (
        f"write tests/{own_test(module)}.py, or say in TESTED_IN which other files test the module, not both"
    )


@cases("path", TEST_FILES)
def test_file_of_tests_stands_where_one_looks_for_it(path: Path) -> None:
    """In the folder of a room, of a module or a part of one; or of the whole, of hostile inputs, house."""
    rooms = {module.parent.relative_to(PACKAGE) for module in FILES}
    assert path.parent.relative_to(TESTS) in {*rooms, Path("whole"), Path("fuzz"), Path("house")}
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert n_lines <= MOST_LINES_OF_A_TEST, f"{n_lines} lines: would two files read better?"


def test_what_is_said_of_other_tests_is_so() -> None:
    named = {test for tests in TESTED_IN.values() for test in tests.split()}
    assert named <= {place(path, TESTS) for path in TEST_FILES}
    assert set(TESTED_IN) <= {place(path, PACKAGE) for path in FILES}


def test_planted_faults_can_be_planted_and_every_room_has_one() -> None:
    """Whether tests find them is asked by hand: ``make planted``."""
    for fault in FAULTS:  # `planted` fails where the text is not there once
        compile(fault.planted(fault.path(ROOT).read_text(encoding="utf-8")), fault.module, "exec")
        assert fault.tests, fault.name
        for name in fault.tests.split():
            assert (TESTS / name).exists(), f"{fault.name}: tests/{name}"
    page = (ROOT / "docs" / "developers" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("\n## Rooms\n")[1].split("\n## ")[0]
    rooms = set(re.findall(r"^\| `(\w+)/?` \| ", table, flags=re.MULTILINE))
    assert {fault.room for fault in FAULTS} == rooms - WITHOUT_A_FAULT
    assert len(FAULTS) >= 60
    assert max(Counter(fault.name for fault in FAULTS).values()) == 1
    assert max(Counter((fault.module, fault.before) for fault in FAULTS).values()) == 1
