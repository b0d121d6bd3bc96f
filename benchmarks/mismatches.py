"""What is found, and what intervals hold, where runs and judgments belong together in part only?

    BAYESPOOL_COLLECTIONS=folder python benchmarks/mismatches.py [COLLECTION …] [--kinds KIND …]

Each collection is made into one whose known runs are not the runs that were judged: ``whole``, as it is;
``half``, ``fifth``, ``twentieth``: all organizations were judged, and the runs of this share are known;
``deep``: the known runs end at rank 10, or at a third of a shallower pool; ``rounds``: one half of the
organizations was judged in a first round, the other half in a second one, without what was judged before; the
known runs are of the second; ``cumulated``: three quarters were judged in earlier rounds, and of the known
last quarter's runs the first two ranks; ``another year``: half of the organizations was judged, and runs of
the other half are known.

In each, organizations (near) and clusters of runs (far) are left out, the pool is discovered, and each run is
scored by the default posterior. The truth has their judgments back. A row has the pool found with the share
of judgments that it explains (medians), and for each measure the mean absolute error as judged and of the
estimate, its bias, and the share of 95 % intervals that contain the truth.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import warnings
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
from at_hand import collections_folder, forget_pool, read

from bayespool import Collection, PosteriorEstimator, describe_pool, discover_pool, score
from bayespool.collection.rankings import rows
from bayespool.evidence import cluster_runs
from bayespool.reading import UNJUDGED

NAMES = ("dl21-passage", "covid-round4", "trec2011-medical", "trec2-adhoc", "trec8-adhoc")
KINDS = ("whole", "half", "fifth", "twentieth", "deep", "rounds", "cumulated", "another year")
SHARES = {"half": 0.5, "fifth": 0.2, "twentieth": 0.05}
Mask = npt.NDArray[np.bool_]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", metavar="COLLECTION", help="default: all")
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--folds", type=int, default=8, help="organizations left out, and 1/3 clusters")
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    parser.add_argument("--measures", nargs="*", default=["P@10", "nDCG@10"])
    asked = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore")
    print("| collection | kind | left out | pool | explained | measure | as judged | MAE | bias | in 95 % |")
    print("| --- | --- | --- | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for name in asked.collections or NAMES:
        whole = discover_pool(read(folder / name, found=True))
        for kind in asked.kinds:
            if kind == "deep" and whole.pool_depth < 10:
                continue
            frame = pd.DataFrame(graded_runs(whole, kind, asked))
            for left_out, part in frame.groupby("left_out", sort=False):
                print_rows(name, kind, str(left_out), part)


def print_rows(name: str, kind: str, left_out: str, frame: pd.DataFrame) -> None:
    """A row for each measure."""
    for measure, part in frame.groupby("measure", sort=False):
        error, middle = part["value"] - part["truth"], part.median(numeric_only=True)
        print(
            f"| {name} | {kind} | {left_out} | {middle['n_pooled']:.0f} of {middle['n_known']:.0f} to "
            f"{middle['depth']:.0f}, {middle['holes']:.0f} holes | {middle['explained']:.0%} | {measure} | "
            f"{(part['as_judged'] - part['truth']).abs().mean():.4f} | {error.abs().mean():.4f} | "
            f"{error.mean():+.4f} | {part['holds'].mean():.0%} |",
            flush=True,
        )


def graded_runs(whole: Collection, kind: str, asked: argparse.Namespace) -> Iterator[dict[str, object]]:
    """A row for each run left out and measure."""
    known, judged, truth = mismatch(whole, kind)
    rng = np.random.default_rng(2)
    organization = known.organization[known.pooled]
    names = np.unique(organization)
    for o in rng.permutation(names)[: asked.folds]:
        left_out = np.flatnonzero(known.pooled & (known.organization == o))
        yield from _graded(known, judged, truth, left_out, "near", asked)
    clusters = [c.run_ids for c in cluster_runs(known, 6) if not c.stays] if len(names) > 2 else []
    for i in rng.permutation(len(clusters))[: max(1, asked.folds // 3)]:
        yield from _graded(known, judged, truth, known.run_index(clusters[i]), "far", asked)


def _graded(
    known: Collection,
    judged: Collection,
    truth: npt.NDArray[np.int16],
    left_out: npt.NDArray[np.intp],
    place: str,
    asked: argparse.Namespace,
) -> Iterator[dict[str, object]]:
    """Rows of some runs, scored without the judgments that they alone brought."""
    gone = [known.run_ids[i] for i in left_out]
    stays = judged.unpool([run for run in gone if judged.pooled[judged.run_index(run)[0]]])
    collection = dataclasses.replace(known, relevance=stays.relevance)
    others = [run for i, run in enumerate(known.run_ids) if known.pooled[i] and run not in gone]
    index = np.concatenate([known.run_index(others), left_out])
    few = discover_pool(_of_runs(collection, index), others)
    report = describe_pool(few)
    few = few.judged_at_most(truth >= 0)
    fuller = dataclasses.replace(few, relevance=truth)
    settings = {"run_ids": gone, "measures": asked.measures}
    scores = score(
        few,
        estimators="posterior-combined",
        posterior_settings=PosteriorEstimator(draws=asked.draws),
        **settings,
    ).to_frame()
    right = score(fuller, estimators="as-judged", **settings).to_frame()
    for (_, row), true in zip(scores.iterrows(), right["value"], strict=True):
        yield {
            "left_out": place, "run_id": row["run_id"], "measure": row["measure"],
            "truth": true, "value": row["value"], "as_judged": row["as_judged"], "std": row["std"],
            "lower": row["lower"], "upper": row["upper"],
            "holds": row["lower"] - 1e-9 <= true <= row["upper"] + 1e-9,
            "n_pooled": report.n_pooled_runs, "n_known": len(others), "depth": report.depth,
            "holes": report.n_holes, "explained": 1 - report.n_unexplained / report.n_judged,
        }  # fmt: skip


def mismatch(whole: Collection, kind: str) -> tuple[Collection, Collection, npt.NDArray[np.int16]]:
    """Known runs, marked as pooled; the pool that was judged, of the same pairs; and all judgments."""
    rng = np.random.default_rng(1)
    order = rng.permutation(np.unique(whole.organization[whole.pooled]))
    if kind == "whole":
        return whole, whole, whole.relevance
    if kind in SHARES:
        chosen = order[: max(3, math.ceil(SHARES[kind] * len(order)))]  # one of them is left out
        return dataclasses.replace(whole, pooled=np.isin(whole.organization, chosen)), whole, whole.relevance
    if kind == "deep":
        document = np.array(whole.document)
        document[:, :, 10 if whole.pool_depth > 20 else whole.pool_depth // 3 :] = -1
        return dataclasses.replace(whole, document=document, score=None), whole, whole.relevance
    n_first = len(order) * (3 if kind == "cumulated" else 2) // 4
    first = whole.pooled & np.isin(whole.organization, order[:n_first])
    last = whole.pooled & ~first
    if kind == "another year":
        judged = whole.unpool([whole.run_ids[i] for i in np.flatnonzero(last)])
        return dataclasses.replace(judged, pooled=last), judged, whole.relevance
    earlier = whole.with_pool(first, whole.pool).in_pool() & whole.judged
    depth = 2 if kind == "cumulated" else max(1, whole.pool_depth // 2)
    residual = dataclasses.replace(whole, document=_without(whole, earlier), score=None)
    now = residual.with_pool(last, depth).in_pool()
    judged = residual.without_judgments(~earlier & ~now).with_pool(last, depth)
    return judged, judged, whole.relevance


def _of_runs(collection: Collection, index: npt.NDArray[np.intp]) -> Collection:
    """The collection with some of its runs, none pooled."""
    part = dataclasses.replace(
        collection,
        run_ids=tuple(collection.run_ids[i] for i in index),
        document=rows(collection.document, index),
        score=None,
        organization=collection.organization[index],
        pooled=collection.pooled[index],
        pool=collection.pool.select_runs(index),
        given_run_ids=(),
    )
    return forget_pool(part)


def _without(collection: Collection, gone: Mask) -> npt.NDArray[np.int32]:
    """Rankings without some documents, those below moved up."""
    document = np.array(collection.document)
    document[np.append(gone, False)[document]] = UNJUDGED
    order = np.argsort(document < 0, axis=2, kind="stable")
    return np.take_along_axis(document, order, axis=2)


if __name__ == "__main__":
    main()
