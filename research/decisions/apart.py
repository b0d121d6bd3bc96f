"""Whether intervals of differences hold without a pool: two runs apart, or as variants of one system.

    python research/decisions/apart.py [--pairs 20] [--draws 400] [--collections dl21-passage,...]

Of each collection pairs of organizations, or of runs of one, are drawn at random and leave the pool; then
nobody knows which runs were pooled. `compare` gives the difference of a run of each, with both runs of one
organization and with each of its own. The truth is the difference when the two are judged as they were: the
judgments of the smaller pool and of their own documents, so that ideal rankings have the same documents.
By kind of pair, measure and way: the share of 95 % intervals of the difference that contain the
truth, the mean width and the mean absolute error. Measures look no deeper than the pool, and pairs count of
which everything is judged then.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings

import numpy as np
import pandas as pd
from shared import contributors, forget_pool, head, markdown, read

from bayespool import Collection, compare

MEASURES = ("P", "nDCG")
COLLECTIONS = ("trec2-adhoc", "trec8-adhoc", "trec2011-medical", "dl21-passage", "covid-round4")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=20, help="pairs of each kind and collection")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--collections", default=",".join(COLLECTIONS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, object]] = []
    for name in asked.collections.split(","):
        whole = read(name, **({"order": "rank"} if name.startswith("dl") else {}))
        for kind in ("two organizations", "one organization"):
            for pair in drawn_pairs(whole, kind, asked.pairs, np.random.default_rng(1)):
                rows += graded(whole, pair, asked.draws, {"collection": name, "runs of": kind})
    frame = pd.DataFrame(rows)
    head("collection", "runs of", "measure", "pairs", "apart", "together", "widths", "errors")
    for every in (frame, frame.assign(collection="all")):
        for key, group in every.groupby(["collection", "runs of", "measure"], sort=False):
            ways = [group[group["way"] == way] for way in ("apart", "together")]
            shares = [f"{way['inside'].mean():.2f}" for way in ways]
            pairs = [" / ".join(f"{way[name].mean():.3f}" for way in ways) for name in ("width", "error")]
            markdown((*key, len(ways[0]), *shares, *pairs))


def drawn_pairs(whole: Collection, kind: str, n: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw pairs of pooled runs, of two organizations or of one."""
    members = [runs for _, runs in contributors(whole)]
    several = [runs for runs in members if len(runs) > 1]
    pairs: list[tuple[str, str]] = []
    for _ in range(n):
        if kind == "two organizations":
            first, second = rng.choice(len(members), 2, replace=False)
            pairs.append((str(rng.choice(members[first])), str(rng.choice(members[second]))))
        elif several:
            run, other = rng.choice(several[rng.integers(len(several))], 2, replace=False)
            pairs.append((str(run), str(other)))
    return list(dict.fromkeys(pairs))


def graded(
    whole: Collection, pair: tuple[str, str], draws: int, key: dict[str, str]
) -> list[dict[str, object]]:
    """Return rows of a pair, by measure and way; none where the campaign left a document unjudged."""
    places = whole.run_index(pair)
    owners = np.unique(whole.organization[places])
    leaving = [r for r, o in zip(whole.run_ids, whole.organization, strict=True) if o in owners]
    pooled = [run for run in leaving if run in whole.pooled_run_ids]
    alone = forget_pool(whole.unpool(pooled))
    others = [run for run in pooled if run not in pair]
    judged = whole.unpool(others) if others else whole
    measures = [f"{name}@{min(10, whole.pool_depth)}" for name in MEASURES]
    truth = compare(judged, pair, measures, estimators="as-judged").differences().set_index("measure")
    if (truth["bound_upper"] - truth["bound_lower"] > 1e-9).any():
        return []
    rows = []
    for way in ("apart", "together"):
        organization = alone.organization.copy()
        organization[places] = owners[0] if way == "together" else list(alternatives(alone, owners))
        collection = dataclasses.replace(alone, organization=organization)
        found = compare(collection, pair, measures, scope="these-topics", posterior_settings=f"draws={draws}")
        frame = found.differences().query("estimator != 'as-judged'").set_index("measure")
        for measure, row in frame.iterrows():
            true = truth.loc[measure, "difference"]
            inside = row["lower"] - 1e-9 <= true <= row["upper"] + 1e-9
            numbers = {"inside": inside, "width": row["upper"] - row["lower"]}
            numbers |= {"error": abs(row["difference"] - true)}
            plain = str(measure).partition("@")[0].partition("(")[0]
            rows.append({**key, "measure": plain, "way": way, **numbers})
    return rows


def alternatives(collection: Collection, owners: np.ndarray) -> tuple[int, int]:
    """Return two organizations that differ: those of the runs, or another one in place of the second."""
    other = next(o for o in range(len(collection.organizations)) if o != owners[0])
    return int(owners[0]), int(owners[1] if len(owners) > 1 else other)


if __name__ == "__main__":
    main()
