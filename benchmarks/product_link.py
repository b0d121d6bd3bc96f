"""What NUTS would cost where the Laplace engine has code of its own for a product of chances.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/product_link.py [--draws 1000] [--cores 1]

The chance of a judged document under the models interpolated and smoothed is a product, `Product`, and no
linear predictor. On the embedded example, TREC-8 pooled to depth 10 and Medical 2011 the organization of the
most runs leaves the pool, and these models are fitted for its runs at P@10; and once more without any pool.
Printed are seconds of wall clock: of Laplace, of NUTS' compilation, its first sample and the next with
another seed; what stands in a leave-out experiment, each organization once, where numbers of runs and
organizations change with each and so every model is compiled anew; and how far apart the engines are: ends of
the 95 % interval of the log odds of the mean chance of hidden documents, had a new organization retrieved
them, as a share of NUTS' width. Then how many lines there are for the product alone.
"""

from __future__ import annotations

import argparse
import ast
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from at_hand import collections_folder, read
from laplace_check import log_odds_of_mean

from bayespool import Collection, inference, load_example, parse_measure
from bayespool.inference import NUTS, Fit, Laplace
from bayespool.posterior import PreparedModel, ScoringProblem

MODELS = ("interpolated", "smoothed")
ALONE = {  # definitions that only a product needs, by file
    "inference/kernels.py": ("product_terms", "add_weights", "add_product", "covariances"),
    "inference/laplace.py": ("_factor",),
    "models/structure.py": ("Product",),
}
IN_DENSITY = r"product|add_weights|covariances|residual|expected|_held|_SUM_PRECISION"


def main() -> None:
    """Print the table and the lines."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000, help="per chain of four; Laplace makes four times")
    parser.add_argument("--cores", type=int, default=1, help="chains of NUTS at the same time")
    asked = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore")
    laplace, nuts = Laplace(draws=asked.draws, chains=4), NUTS(draws=asked.draws, cores=asked.cores)
    whole = load_example()
    for name in MODELS:  # loops are compiled
        prepared = ScoringProblem(whole, ("new-a",), parse_measure("P@10"), "complete").prepare(name, {})
        laplace.fit(prepared.spec, prepared.evidence, 1)
    print(
        "| evidence | model | Laplace, s | NUTS compiles, s | samples | again | leave-out: Laplace | NUTS |",
        end="",
    )
    print(" apart | NUTS' checks |\n| --- | --- " + "| ---: " * 7 + "| --- |")
    for title, collection, runs, n_organizations in cases(folder):
        for name in MODELS:
            prepared = ScoringProblem(collection, runs, parse_measure("P@10"), "complete").prepare(name, {})
            print(f"| {title} | {name} {row(prepared, laplace, nuts, n_organizations)} |", flush=True)
    print(f"\n{told_lines()}")


def cases(folder: Path) -> Iterator[tuple[str, Collection, tuple[str, ...], int]]:
    """Title, collection, runs to score, and how many organizations may be left out in turn."""
    for title, whole in (
        ("the example", load_example()),
        ("TREC-8 to depth 10", read(folder / "trec8-adhoc").truncate_pool(10)),
        ("Medical 2011", read(folder / "trec2011-medical")),
    ):
        of_pooled = whole.organization[whole.pooled]
        most = int(np.bincount(of_pooled).argmax())
        runs = tuple(whole.run_ids[r] for r in np.flatnonzero(whole.pooled) if whole.organization[r] == most)
        reduced = whole.unpool(organization=whole.organizations[most])
        yield title, reduced, runs, len(np.unique(of_pooled))
        yield f"{title}, no pool", whole.with_pool(np.zeros(len(whole.run_ids), dtype=bool), 0), runs, 0


def row(prepared: PreparedModel, laplace: Laplace, nuts: NUTS, n_organizations: int) -> str:
    """Times, distances and problems of one model."""
    times = [time.perf_counter()]
    fast = laplace.fit(prepared.spec, prepared.evidence, 1)
    times.append(time.perf_counter())
    compiled = nuts.compile(prepared.graph())
    times.append(time.perf_counter())
    for seed in (1, 2):
        sampled = compiled.sample(random_seed=seed, data=prepared.evidence.arrays())
        times.append(time.perf_counter())
    of_laplace, compilation, first, again = np.diff(times)
    left_out = "| – | – "
    if n_organizations:
        left_out = f"| {n_organizations * of_laplace:.1f} | {n_organizations * (compilation + first):.0f} "
    problems = "; ".join(sampled.diagnostics.problems) or "pass"
    text = f"| {of_laplace:.2f} | {compilation:.1f} | {first:.1f} | {again:.1f} {left_out}"
    failed = ", fails its check" * bool(fast.diagnostics.problems)
    return f"{text}| {apart(prepared, fast, sampled)}{failed} | {problems}"


def apart(prepared: PreparedModel, one: Fit, reference: Fit) -> str:
    """The largest distance of the ends of an interval, as a share of its width; nothing without a pool."""
    if not len(prepared.evidence.n_hidden):
        return "–"
    ends = np.quantile([log_odds_of_mean(prepared, fit) for fit in (one, reference)], [0.025, 0.975], axis=1)
    return f"{np.abs(ends[:, 0] - ends[:, 1]).max() / np.diff(ends[:, 1])[0]:.2f}"


def told_lines() -> str:
    """How many lines there are for a product alone, by file."""
    package, told, total = Path(inference.__file__).parent.parent, [], 0
    for file, names in ALONE.items():
        tree = ast.parse((package / file).read_text(encoding="utf-8"))
        n = sum(
            (node.end_lineno or node.lineno) - node.lineno + 1
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names
        )
        told.append(f"{file} {n} ({', '.join(names)})")
        total += n
    density = (package / "inference/density.py").read_text(encoding="utf-8").splitlines()
    n = sum(bool(re.search(IN_DENSITY, line)) for line in density)
    n_all = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in package.glob("inference/*.py"))
    return (
        f"lines for a product alone: {total + n}; "
        + "; ".join([*told, f"inference/density.py {n}"])
        + (f"; all of inference/ {n_all}")
    )


if __name__ == "__main__":
    main()
