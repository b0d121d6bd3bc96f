"""What judgments that are chosen one way or another are worth to the runs of an organization left out.

    python research/decisions/judge_next.py [COLLECTION ...] [-m P@10] [--every 4] [--rules judge-next,random]
        [--jobs 2] [--output TABLE.csv]
    python research/decisions/judge_next.py --until .02 .04 [COLLECTION ...]
    python research/decisions/judge_next.py --leave-out automatic [COLLECTION ...]

By default TREC-8 to depth 10, DL 2021 and Medical 2011. Each organization in turn, or every fourth, is left
out of the pool (or all runs of a type), and its runs are scored together. Then as many judgments as 5, 10,
20, 50 and 100 times its runs are asked of the full judgments, chosen by `judge_next` (anew at each stage and
half-way between), at random, by Take@N over all topics, or topic by topic with equal shares by move-to-front
or MaxMean. Mean width of the 95 % intervals, MAE and calibration by stage; what judge-next expected its
widths to be, over what they were; and how many judgments each rule needs for the width that Take@N has. With
--until judging goes on in steps of ten until every interval is that narrow (docs/judge-more.md, figures in
judge-next). Runs that have nothing unjudged left count with width 0, and do not count as covered or not.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from shared import contributors, read, run_types

from bayespool import Collection, judge_next, parse_measure
from bayespool.evidence import score_bounds
from bayespool.experiments import central_share, pit_range
from bayespool.pooling import TopicRankings, equal_shares, judging_order, parse_strategy
from bayespool.randomness import key_of
from bayespool.scoring import parse_estimator

STAGES = (0, 5, 10, 20, 50, 100)
STEP = 10  # judgments between two looks at the stopping rule
RULES = ("judge-next", "random", "take", "move-to-front", "max-mean")
WHERE: dict[str, tuple[dict[str, Any], int | None]] = {
    "trec8-adhoc": ({"max_holes": 0}, 10),
    "dl21-passage": ({"order": "rank"}, None),
    "trec2011-medical": ({}, None),
}


class Fold(NamedTuple):
    """An organization left out, and its runs at a state of judging: ``judged`` of the full collection."""

    whole: Collection
    organization: str
    runs: tuple[str, ...]
    removed: tuple[str, ...]
    measure: Any
    estimator: Any

    def answers(self) -> np.ndarray:
        """Relevance of everything: what nobody judged is taken for nonrelevant."""
        return np.maximum(self.whole.relevance, 0)

    def collection(self, judged: np.ndarray) -> Collection:
        pair = np.flatnonzero(judged)
        smaller = self.whole.unpool(self.removed)
        return smaller.with_own_judgments(pair, self.answers()[pair]) if len(pair) else smaller

    def is_open(self, collection: Collection) -> np.ndarray:
        return score_bounds(collection, self.runs, self.measure).has_unjudged

    def scored(self, collection: Collection) -> list[dict[str, Any]]:
        """Estimate, interval and randomized PIT bounds of each run."""
        truth = score_bounds(self.whole, self.runs, self.measure).low
        (e,) = self.estimator.estimate(collection, self.runs, self.measure)
        means, (lower, upper) = e.draws.means().mean(axis=0), e.draws.interval()
        pit, is_open = pit_range(e.draws.totals(), truth.totals()), self.is_open(collection)
        return [
            {
                "organization": self.organization, "run_id": run, "truth": truth.means()[i],
                "estimate": means[i], "lower": lower[i], "upper": upper[i], "pit_lower": pit[0][i],
                "pit_upper": pit[1][i], "is_open": bool(is_open[i]),
            }
            for i, run in enumerate(self.runs)
        ]  # fmt: skip

    def chosen_next(self, collection: Collection, n: int, until: float | None = None) -> Any:
        """What `judge_next` says; nothing where nothing is open."""
        if not self.is_open(collection).any():
            return None
        asked = {"budget": n, "until": until, "estimators": self.estimator}
        return judge_next(collection, self.runs, self.measure, **asked)


def folds_of(whole: Collection, measure: str, estimator: str, of_type: Sequence[str] = ()) -> Iterator[Fold]:
    """Organizations that contributed, each with its pooled runs, or with those of a type."""
    for name, pooled in contributors(whole):
        runs = tuple(run for run in pooled if run in of_type or not of_type)
        if runs:
            removed = tuple(of_type) or runs
            made = parse_estimator(estimator, random_seed=1)
            yield Fold(whole, name, runs, removed, parse_measure(measure), made)


def spend(fold: Fold, rules: Sequence[str] = RULES) -> list[dict[str, Any]]:
    """Estimates of the runs of an organization after each stage of judging, by each rule."""
    warnings.simplefilter("ignore")
    n_runs, rows = len(fold.runs), []
    nothing = np.zeros(len(fold.whole.relevance), dtype=bool)
    at_first = fold.scored(fold.collection(nothing))
    for rule in rules:
        judged, expected = nothing.copy(), np.full(n_runs, np.nan)
        rows += [{**row, "rule": rule, "stage": 0, "n_told": 0} for row in at_first]
        for before, stage in pairwise(STAGES):
            for target in ((before + stage) * n_runs // 2, stage * n_runs):
                n_new = target - int(judged.sum())
                if rule == "judge-next":
                    chosen = fold.chosen_next(fold.collection(judged), n_new)
                    if chosen is not None:
                        judged[chosen.pair], expected = True, chosen.remaining
                else:
                    judged[ordered(rule, fold, judged, n_new)] = True
            rows += [
                {**row, "rule": rule, "stage": stage, "n_told": int(judged.sum()), "expected_width": width}
                for row, width in zip(fold.scored(fold.collection(judged)), expected, strict=True)
            ]
    return rows


def stop(fold: Fold, until: Sequence[float]) -> list[dict[str, Any]]:
    """Judge for the runs of an organization until their intervals are narrow enough, for each width.
    −1 judgments are expected where those looked ahead will not do.
    """
    warnings.simplefilter("ignore")
    judged, rows = np.zeros(len(fold.whole.relevance), dtype=bool), []
    for width in sorted(until, reverse=True):
        ahead = fold.chosen_next(fold.collection(judged), 1, width)
        n_needed = 0 if ahead is None else ahead.n_needed
        n_expected = -1 if n_needed is None else int(judged.sum()) + n_needed
        while True:
            here = fold.scored(fold.collection(judged))
            chosen = fold.chosen_next(fold.collection(judged), STEP)
            if chosen is None or max(row["upper"] - row["lower"] for row in here) <= width:
                break
            judged[chosen.pair] = True
        told = {"until": width, "n_told": int(judged.sum()), "n_expected": n_expected}
        rows += [{**row, **told} for row in here]
    return rows


def ordered(rule: str, fold: Fold, judged: np.ndarray, n_new: int) -> np.ndarray:
    """Pair codes of the next documents to judge by a rule that asks no model."""
    smaller = fold.whole.unpool(fold.removed)
    document = smaller.document[smaller.run_index(fold.runs), :, : fold.measure.cutoff]
    document = np.where((document >= 0) & np.append(smaller.relevance < 0, False)[document], document, -1)
    topics = [topic_of(smaller, document[:, t], t) for t in range(len(smaller.query_ids))]
    if rule in ("random", "take"):
        lot, pair = (np.concatenate(x) for x in zip(*[(t.lot, t.pair) for t in topics], strict=True))
        rank = np.full(len(smaller.relevance), document.shape[2])
        there = document >= 0
        np.minimum.at(rank, document[there], np.nonzero(there)[2])
        order = pair[np.lexsort((lot, rank[pair] if rule == "take" else 0 * lot))]
    else:
        shares = equal_shares(np.array([len(t) for t in topics]), int(judged.sum()) + n_new)
        asked = {"rel": fold.measure.rel, "random_seed": 1}
        parts = [
            judging_order(parse_strategy(rule), t, fold.answers(), int(n), **asked)
            for t, n in zip(topics, shares, strict=True)
            if n
        ]
        order = np.concatenate([np.zeros(0, dtype=int), *parts])
    return order[~judged[order]][:n_new]


def topic_of(collection: Collection, document: np.ndarray, t: int) -> TopicRankings:
    """The candidates of a topic as runs retrieve them; a strategy knows no gaps in a ranking."""
    document = np.take_along_axis(document, np.argsort(document < 0, axis=1, kind="stable"), axis=1)
    pair = np.unique(document[document >= 0])
    position = np.where(document >= 0, np.searchsorted(pair, document), -1).astype(np.int32)
    lot = np.random.default_rng(key_of("benchmark", collection.query_ids[t])).random(len(pair))
    return TopicRankings(query_id=collection.query_ids[t], pair=pair, document=position, score=None, lot=lot)


def measured(rows: list[dict[str, Any]]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    held = (table["lower"] - 1e-9 <= table["truth"]) & (table["truth"] <= table["upper"] + 1e-9)
    error = (table["estimate"] - table["truth"]).abs()
    return table.assign(width=table["upper"] - table["lower"], error=error, inside=held.astype(float))


def in_95(rows: pd.DataFrame) -> float:
    return central_share(rows["pit_lower"], rows["pit_upper"], 0.95) if len(rows) else np.nan


def report(table: pd.DataFrame) -> None:
    by, is_open = ["rule", "stage"], table[table["is_open"]]
    means = table.groupby(by)[["width", "error"]].mean().join(is_open.groupby(by)["inside"].mean())
    means["PIT in 95 %"] = is_open.groupby(by)[["pit_lower", "pit_upper"]].apply(in_95)
    means["open"] = is_open.groupby(by).size()
    for what in means:
        print(f"\n{what}\n{means[what].unstack().round(4).to_string()}")
    foreseen = table[table["expected_width"].notna()].groupby("stage")[["expected_width", "width"]].mean()
    print(
        f"\nexpected over actual width\n{(foreseen['expected_width'] / foreseen['width']).round(3).to_dict()}"
    )
    width = means["width"].unstack()
    for stage in STAGES[2:-1] if "take" in width.index else ():
        goal = -width.loc["take", stage]
        needed = {
            rule: round(float(np.interp(goal, -width.loc[rule], width.columns)), 1) for rule in width.index
        }
        print(f"judgments per run for the width of {stage} of take: {needed}")


def report_stopping(table: pd.DataFrame) -> None:
    """Means over organizations; ``of these`` are the judgments of those for which a number was expected."""
    for title, chosen in (("all", table), ("where anything was judged", table[table["n_told"] > 0])):
        print(f"\norganizations: {title}")
        for until, group in chosen.groupby("until"):
            fold = group.drop_duplicates("organization")
            foreseen, is_open = fold[fold["n_expected"] >= 0], group[group["is_open"]]
            row = {
                "until": until, "organizations": len(fold), "runs": len(group),
                "widest": group["width"].max(),
                "width": group["width"].mean(), "MAE": group["error"].mean(), "PIT in 95 %": in_95(group),
                "inside": group["inside"].mean(), "inside, open": is_open["inside"].mean(),
                "judgments": fold["n_told"].mean(), "of these": foreseen["n_told"].mean(),
                "expected": foreseen["n_expected"].mean(), "not expected": len(fold) - len(foreseen),
            }  # fmt: skip
            print({name: round(float(value), 4) for name, value in row.items()})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", default=list(WHERE))
    parser.add_argument("-m", "--measure", default="P@10")
    parser.add_argument("--estimator", default="posterior-combined")
    parser.add_argument("--every", type=int, default=1, help="organization is left out")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rules", default=",".join(RULES))
    parser.add_argument("--until", type=float, nargs="*", default=[])
    parser.add_argument("--leave-out", help="type of runs to leave out")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = []
    for name in asked.collections:
        settings, depth = WHERE.get(name, ({}, None))
        whole, of_type = read(name, depth, **settings), []
        if asked.leave_out:
            types = run_types(whole, name)
            of_type = [run for run in whole.pooled_run_ids if types.get(run) == asked.leave_out]
        work = (
            partial(stop, until=asked.until) if asked.until else partial(spend, rules=asked.rules.split(","))
        )
        folds = list(folds_of(whole, asked.measure, asked.estimator, of_type))[:: asked.every]
        parts = joblib.Parallel(n_jobs=asked.jobs)(joblib.delayed(work)(fold) for fold in folds)
        tables.append(measured([row for rows in parts for row in rows]).assign(collection=name))
        print(f"\n{name}: {tables[-1]['run_id'].nunique()} runs")
        (report_stopping if asked.until else report)(tables[-1])
        if asked.output:
            pd.concat(tables).to_csv(asked.output, index=False)


if __name__ == "__main__":
    main()
