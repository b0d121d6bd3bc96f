"""What may not matter does not matter: orders, chunks, processes, companions; to the byte."""

from __future__ import annotations

import dataclasses
import shutil
import warnings
from pathlib import Path

import pytest
from wide import note_of, wide

from bayespool import load_example, read_collection, score
from bayespool.collection import Collection
from bayespool.errors import BayespoolWarning
from bayespool.experiments import simulate_example
from bayespool.scoring import Scores

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
    found = scores[COMBINED, measure]
    assert found.draws is not None
    return found.draws.amount[:, scores.run_ids.index(run)].tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("listed", ["", "mine"])
def test_copies_of_a_run_change_no_byte_of_it(example: Path, listed: str) -> None:
    found = set()
    for n in (0, 20):
        collection = read(example, copies(example, n), listed=listed)
        scores = score(collection, collection.given_run_ids, "P@10", estimators=COMBINED, draws=100)
        found.add(of_run(scores, "new-b"))
        told = note_of(scores, "new-b", scores.measures[0])
        assert (f"{n + 1} runs without a listed organization count as one organization" in told) == (
            n > 0 and not listed
        )
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
        scores = score(collection, collection.given_run_ids, "P@10", estimators=COMBINED, draws=4000)
        at = scores.run_ids.index("new-b")
        found = scores[COMBINED, "P@10"]
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
        scores = score(collection, collection.given_run_ids, measures, draws=250)
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
    longer.write_text("\n".join(lines) + "\n")
    b = example / "new" / "new-b.run"
    for model in ("posterior-combined", "posterior-background"):
        found = set()
        for runs in ([b], [b, longer], [longer, b]):
            collection = read(example, runs, listed="mine")
            scores = score(
                collection, collection.given_run_ids, ["P@10", "P@30"], estimators=model, draws=100
            )
            estimates = [scores[model, m] for m in ("P@10", "P@30")]
            at = scores.run_ids.index("new-b")
            found.add(b"".join(e.draws.amount[:, at].tobytes() for e in estimates if e.draws is not None))
        assert len(found) == 1, model


@pytest.mark.slow
def test_measures_beside_change_no_byte() -> None:
    example = load_example()
    alone = score(example, ["new-b"], "P@10", estimators=COMBINED, draws=250)
    for measures in (["P@5", "P@10"], ["P@100", "P@10", "P(rel=2)@10"]):
        beside = score(example, ["new-b"], measures, estimators=COMBINED, draws=250)
        assert of_run(beside, "new-b") == of_run(alone, "new-b"), measures


@pytest.mark.slow
def test_other_seeds_are_other_draws_and_a_copy_gives_the_same() -> None:
    def draws(collection: Collection, seed: int) -> bytes:
        settings = {"estimators": COMBINED, "draws": 50, "random_seed": seed}
        return of_run(score(collection, ["new-b"], "P@10", **settings), "new-b")  # type: ignore[arg-type]

    example = load_example()
    found = [draws(example, 1), draws(example, 2), draws(dataclasses.replace(example), 1)]
    assert found[0] == found[2] != found[1]
