"""What may not matter does not matter: orders, chunks, processes, companions; to the byte."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from graded_example import graded
from left_out import POINTS
from small import small
from wide import note_of, wide

from bayespool import read_collection
from bayespool.collection import Collection
from bayespool.errors import BayespoolWarning, InputError
from bayespool.experiments import load_example, simulate_example
from bayespool.measures import MEASURES, Measure, parse_measure
from bayespool.measures.base import with_ideal
from bayespool.scoring import ALL_ESTIMATORS, Scores, score

COMBINED = "posterior-combined"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    simulate_example().write(tmp_path)
    return tmp_path


def read(folder: Path, runs: list[Path], *, listed: str = "", **settings: object) -> Collection:
    """The example with some runs to score; ``listed`` puts those that are not in its list into one of that
    name, or each into one of its own (``each``), or leaves them out.
    """
    organizations = folder / "organizations.csv"
    lines = [line for line in organizations.read_text().splitlines() if not line.startswith("new-")]
    if listed:
        lines += [f"{run.stem},{listed if listed != 'each' else f'of-{run.stem}'}" for run in runs]
    chosen = folder / f"organizations-{listed or 'unlisted'}.csv"
    chosen.write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        return read_collection(
            folder / "qrels.txt", runs, pool=folder / "pool", organizations=chosen, **settings
        )  # type: ignore[arg-type]


def copies(folder: Path, n: int) -> list[Path]:
    """``new-b`` and n copies of it under names of their own."""
    made = [folder / "new" / "new-b.run"]
    (folder / "copies").mkdir(exist_ok=True)
    for i in range(n):
        path = folder / "copies" / f"variant-{i:02}.run"
        shutil.copy(made[0], path)
        made.append(path)
    return made


def of_run(scores: Scores, run: str, measure: str = "P@10") -> bytes:
    found = scores[measure, COMBINED]
    assert found.draws is not None
    return found.draws.amount[:, scores.run_ids.index(run)].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("listed", ["", "mine"])
def test_copies_of_a_run_change_no_byte_of_it(example: Path, listed: str) -> None:
    found = set()
    for n in (0, 20):
        collection = read(example, copies(example, n), listed=listed)
        scores = score(
            collection, collection.given_run_ids, "P@10", estimators=COMBINED, posterior_settings="draws=100"
        )
        found.add(of_run(scores, "new-b"))
        told = note_of(scores, "new-b", scores.measures[0])
        assert (
            f"{n + 1} runs that the list of organizations lacks are treated as one organization" in told
        ) == (n > 0 and not listed)
    assert len(found) == 1


@pytest.mark.slow
@pytest.mark.parametrize("each", ["listed", pytest.param("each_its_own", marks=pytest.mark.at_a_desk)])
def test_copies_of_other_organizations_do_not_narrow_its_interval(example: Path, each: str) -> None:
    """What is shared has one effect, that of the organization whose run comes first by name."""

    def spread(n: int) -> tuple[float, float]:
        runs = copies(example, n)
        collection = (
            read(example, runs, listed="each") if each == "listed" else read(example, runs, each_its_own=True)
        )
        scores = score(
            collection, collection.given_run_ids, "P@10", estimators=COMBINED, posterior_settings="draws=4000"
        )
        at = scores.run_ids.index("new-b")
        found = scores["P@10", COMBINED]
        assert found.std is not None
        return float(found.value[at]), float(found.std[at])

    (value, std), (value_beside, std_beside) = spread(0), spread(20)
    assert std_beside == pytest.approx(std, rel=0.05)
    assert value_beside == pytest.approx(value, abs=0.001)


@pytest.mark.slow
def test_orders_of_runs_of_files_and_of_measures_change_nothing(example: Path) -> None:
    new = sorted((example / "new").iterdir())
    pool = sorted((example / "pool").iterdir())
    names = [path.stem for path in new]
    found = []
    for runs, pooled, measures in (
        (new, pool, ["P@5", "P@20", "P@10"]),
        (new[::-1], pool[::-1], ["P@10", "P@5", "P@20"]),
        (new, pool[7:] + pool[:7], ["P@20", "P@10", "P@5"]),
    ):
        collection = read_collection(
            example / "qrels.txt", runs, pool=pooled, organizations=example / "organizations.csv"
        )
        assert collection.given_run_ids == tuple(path.stem for path in runs)
        scores = score(collection, collection.given_run_ids, measures, posterior_settings="draws=250")
        frame = wide(scores).set_index(["run_id", "measure"]).sort_index()
        found.append((frame, [of_run(scores, run, m) for run in names for m in ("P@5", "P@10", "P@20")]))
    (frame, draws), *others = found
    for other_frame, other_draws in others:
        assert frame.equals(other_frame)
        assert draws == other_draws


@pytest.mark.slow
def test_a_run_that_shares_nothing_changes_nothing(example: Path) -> None:
    """Beside a run that has no unjudged document in common, and rankings longer than all others."""
    longer = example / "longer.run"
    lines = [
        f"{q} Q0 {f'only-here-{q}-{rank}'} {rank} {1000 - rank} longer"
        for q in load_example().query_ids
        for rank in range(1, 301)
    ]
    known = load_example()
    judged = int(np.flatnonzero(known.judged & ~known.in_pool(known.run_index(["new-b"])))[0])
    topic = known.query_ids[known.pair_topic[judged]]
    lines.append(
        f"{topic} Q0 {known.doc_id(judged)} 301 1 longer"
    )  # a run of which nothing is judged is refused
    longer.write_text("\n".join(lines) + "\n")
    b = example / "new" / "new-b.run"
    for model in ("posterior-combined", "posterior-background"):
        found = set()
        for runs in ([b], [b, longer], [longer, b]):
            collection = read(example, runs, listed="mine")
            scores = score(
                collection,
                collection.given_run_ids,
                ["P@10", "P@30"],
                estimators=model,
                posterior_settings="draws=100",
            )
            estimates = [scores[m, model] for m in ("P@10", "P@30")]
            at = scores.run_ids.index("new-b")
            found.add(b"".join(e.draws.amount[:, at].tobytes() for e in estimates if e.draws is not None))
        assert len(found) == 1, model


@pytest.mark.slow
def test_measures_beside_change_no_byte() -> None:
    example = load_example()
    alone = score(example, ["new-b"], "P@10", estimators=COMBINED, posterior_settings="draws=250")
    for measures in (["P@5", "P@10"], ["P@100", "P@10", "P(rel=2)@10"]):
        beside = score(example, ["new-b"], measures, estimators=COMBINED, posterior_settings="draws=250")
        assert of_run(beside, "new-b") == of_run(alone, "new-b"), measures


# --- a score is its own ---

ALONE = "new-a"
BESIDE = ("new-a", "new-b", "north-1")
FAMILIES = [name for name in MEASURES if not MEASURES[name].describes_judgments]
# Below the pool depth of 10, and with other parameters.
DEEP = ["AP@100", "nDCG(dcg='exp-log2')@20", "P(rel=2)@30", "AP(ideal='judged')@10"]


def measures() -> list[Measure]:
    return [parse_measure(text) for text in [*(f"{name}@10" for name in FAMILIES), *DEEP]]


def numbers_of(scores: Scores, run: str, measure: Measure) -> list[np.ndarray]:
    """All numbers of a run under a measure: bounds and estimates."""
    (bounds,) = (b for b in scores.bounds if b.measure == measure)
    row = scores.run_ids.index(run)
    ends = [bounds.low, bounds.high, bounds.least, bounds.most]
    numbers = [values.amount[row] for values in ends] + [bounds.n_unjudged[row]]
    for e in (e for e in scores.estimates if e.measure == measure):
        numbers += [e.per_topic[row], e.value[row : row + 1]]
    return numbers


@pytest.mark.parametrize(
    "has_levels", [pytest.param(False, marks=(pytest.mark.slow, pytest.mark.at_a_desk)), True]
)
@pytest.mark.filterwarnings("ignore::bayespool.errors.InputWarning")  # no document has relevance 2
def test_what_is_scored_beside_a_run_changes_none_of_its_bytes(has_levels: bool) -> None:
    """But for posteriors, where a document of two runs has one relevance in a draw."""
    collection = (graded(small()) if has_levels else load_example()).unpool(["north-1"])
    estimators = [name for name in ALL_ESTIMATORS if not name.startswith("posterior-")]
    estimators = list(POINTS) if has_levels else estimators
    alone_and_beside = [
        score(collection, runs, measures(), estimators=estimators) for runs in (ALONE, BESIDE)
    ]
    for measure in measures():
        alone, beside = (numbers_of(scores, ALONE, measure) for scores in alone_and_beside)
        assert len(alone) > 20, measure
        for a, b in zip(alone, beside, strict=True):
            assert a.tobytes() == b.tobytes(), measure
        other = numbers_of(alone_and_beside[1], "new-b", measure)
        assert any(a.tobytes() != b.tobytes() for a, b in zip(alone, other, strict=True)), measure


def test_only_an_ideal_of_a_run_s_own_is_changed() -> None:
    asked = [parse_measure(text) for text in ("P@10", "nDCG@10", "AP(ideal='judged')@10")]
    changed = ["P@10", "nDCG(ideal='shared')@10", "AP(ideal='judged')@10"]
    assert [str(measure) for measure in with_ideal(asked, "shared")] == changed
    with pytest.raises(InputError, match="ideal cannot be 'mine'"):
        with_ideal(asked, "mine")  # type: ignore[arg-type]
