"""What judgments that are chosen one way or another are worth to the runs of an organization left out.

    python benchmarks/judge_next.py [COLLECTION ...] [-m P@10] [--jobs 2] [--output TABLE.csv]
    python benchmarks/judge_next.py --until .02 .04 [COLLECTION ...]
    python benchmarks/judge_next.py --leave-out automatic [COLLECTION ...]

BAYESPOOL_COLLECTIONS is the folder of the unpacked collections; by default TREC-8 to depth 10, DL 2021 and
Medical 2011. Each organization in turn is left out of the pool, and its runs are scored together. Then as
many judgments as 5, 10, 20, 50 and 100 times its runs are asked of the full judgments, chosen by

- judge-next: `bayespool.judge_next`, asked anew at each of these stages and half-way between;
- random: any unjudged document in the top n of the runs;
- take: the best ranks first, over all topics;
- move-to-front, max-mean: topic by topic with equal shares, from the same documents.

After each stage the runs are scored with these judgments. Tables: mean width of the 95 %
intervals, MAE and the share of intervals that hold the truth, by stage; what judge-next expected its widths
to be, over what they were; and how many judgments each rule needs for the width that Take@N has after 10, 20
and 50 per run. With ``--until`` judging goes on in steps of ten until every interval is that narrow, so that
up to nine judgments are made too many: widths, share of intervals that hold the truth, judgments made, and
judgments that were expected, of all organizations and of those where anything was judged. Where all that are
looked ahead were not expected to do, nothing counts as expected; how many these are is a column. With
``--leave-out`` all runs of a type leave the pool, not those of an organization. Runs that have nothing
unjudged left count with width 0, and do not count as covered or not.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from at_hand import collections_folder, read

from bayespool import Collection, parse_measure
from bayespool.collection import read_run_types
from bayespool.errors import BayespoolWarning
from bayespool.evidence import score_bounds
from bayespool.experiments.grading import central_share, pit_range
from bayespool.experiments.parallel import completed
from bayespool.measures import Measure
from bayespool.pooling import TopicRankings, equal_shares, order_of_topic, parse_strategy
from bayespool.randomness import key_of
from bayespool.scoring import parse_estimator
from bayespool.scoring.judging import plan
from bayespool.scoring.judging_influence import find_influence, find_target

STAGES = (0, 5, 10, 20, 50, 100)
STEP = 10  # judgments between two looks at the stopping rule
RULES = ("judge-next", "random", "take", "move-to-front", "max-mean")
WHERE: dict[str, tuple[dict[str, Any], int | None]] = {
    "trec8-adhoc": ({"max_holes": 0}, 10),
    "dl21-passage": ({"order": "rank"}, None),
    "trec2011-medical": ({}, None),
}


class Fold(NamedTuple):
    """An organization left out."""

    organization: str
    runs: tuple[str, ...]
    removed: tuple[str, ...]
    rules: tuple[str, ...]
    measure: str
    seed: int


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", default=list(WHERE))
    parser.add_argument("-m", "--measure", default="P@10")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rules", default=",".join(RULES))
    parser.add_argument("--until", type=float, nargs="*", default=[])
    parser.add_argument("--leave-out", help="type of runs to leave out")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    folder, tables = collections_folder(parser), []
    for name in asked.collections:
        settings, depth = WHERE.get(name, ({}, None))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayespoolWarning)
            whole = read(folder / name, **settings)
        whole = whole if depth is None else whole.truncate_pool(depth)
        types = read_run_types(folder / name / "run-types.csv") if asked.leave_out else {}
        folds = folds_of(whole, tuple(asked.rules.split(",")), asked.measure, types, asked.leave_out)
        work = partial(stop, until=asked.until) if asked.until else spend
        rows = [row for rows in completed(work, whole, list(folds), n_jobs=asked.jobs) for row in rows]
        tables.append(pd.DataFrame(rows).assign(collection=name))
        (report_stopping if asked.until else report)(tables[-1])
        if asked.output:
            pd.concat(tables).to_csv(asked.output, index=False)


def folds_of(
    whole: Collection, rules: tuple[str, ...], measure: str, types: Mapping[str, str], left_out: str | None
) -> Iterator[Fold]:
    """Organizations that contributed, each with its pooled runs, or with those of a type."""
    pooled = [r for r in np.flatnonzero(whole.pooled) if types.get(whole.run_ids[r]) == left_out]
    of_type = tuple(whole.run_ids[r] for r in pooled)
    for o in np.unique(whole.organization[pooled]):
        runs = tuple(whole.run_ids[r] for r in pooled if whole.organization[r] == o)
        yield Fold(whole.organizations[o], runs, of_type if left_out else runs, rules, measure, 1)


def spend(whole: Collection, fold: Fold) -> list[dict[str, Any]]:
    """Estimates of the runs of an organization after each stage of judging, by each rule."""
    warnings.simplefilter("ignore")
    measure = parse_measure(fold.measure)
    smaller = whole.unpool(fold.removed)
    answers = np.maximum(whole.relevance, 0)  # what nobody judged is taken for nonrelevant
    truth = score_bounds(whole, fold.runs, measure).low
    rows = []
    first: list[dict[str, Any]] = []
    for rule in fold.rules:
        told = np.zeros(len(whole.relevance), dtype=bool)
        expected: npt.NDArray[np.float64] | None = None
        for stage, n_new in stages(len(fold.runs)):
            if n_new:
                chosen, expected = choose(rule, smaller, told, answers, fold, measure, n_new)
                told[chosen] = True
            if stage is None:
                continue
            if stage == 0 and first:
                rows += [{**row, "rule": rule} for row in first]
                continue
            found = [
                {
                    "organization": fold.organization,
                    "run_id": run,
                    "rule": rule,
                    "stage": stage,
                    "n_told": int(told.sum()),
                    "truth": truth.means()[i],
                    **row,
                    "expected_width": np.nan if expected is None else expected[i],
                }
                for i, (run, row) in enumerate(scored(smaller, told, answers, truth.totals(), fold, measure))
            ]
            rows += found
            if stage == 0:
                first = found
    return rows


def stop(whole: Collection, fold: Fold, *, until: Sequence[float]) -> list[dict[str, Any]]:
    """Judge for the runs of an organization until their intervals are narrow enough, for each width."""
    warnings.simplefilter("ignore")
    measure, smaller = parse_measure(fold.measure), whole.unpool(fold.removed)
    answers = np.maximum(whole.relevance, 0)
    truth = score_bounds(whole, fold.runs, measure).low
    told, rows, expected = np.zeros(len(whole.relevance), dtype=bool), [], dict[float, int]()
    for width in sorted(until, reverse=True):
        while True:
            found = scored(smaller, told, answers, truth.totals(), fold, measure)
            widest = max(row["upper"] - row["lower"] for _, row in found)
            if width not in expected:
                expected[width] = ahead(smaller, told, answers, fold, measure, width)
            if widest <= width:
                break
            pairs, _ = choose("judge-next", smaller, told, answers, fold, measure, STEP)
            told[pairs] = True
        rows += [
            {
                "organization": fold.organization,
                "run_id": run,
                "until": width,
                "n_told": int(told.sum()),
                "n_expected": expected[width],
                "truth": truth.means()[i],
                **row,
            }
            for i, (run, row) in enumerate(found)
        ]
    return rows


def ahead(
    smaller: Collection,
    told: npt.NDArray[np.bool_],
    answers: npt.NDArray[np.int16],
    fold: Fold,
    measure: Measure,
    width: float,
) -> int:
    """Judgments in all that are expected to be made until the intervals are as narrow; −1 if they will not
    do.
    """
    completion = posterior(fold).complete(with_answers(smaller, told, answers), fold.runs, measure)
    if not len(completion.unknowns):
        return int(told.sum())
    values = completion.evaluate(measure)[0]
    target = find_target("interval", fold.runs, values, 0.95)
    n_needed = plan(find_influence(completion, measure, values), target, 1, width).n_needed
    return -1 if n_needed is None else int(told.sum()) + n_needed


def stages(n_runs: int) -> Iterator[tuple[int | None, int]]:
    """Stages and the judgments that each adds; None for the half-way ones, which nobody reports."""
    yield 0, 0
    done = 0
    for before, stage in pairwise(STAGES):
        for target, name in ((((before + stage) * n_runs) // 2, None), (stage * n_runs, stage)):
            yield name, target - done
            done = target


def with_answers(
    smaller: Collection, told: npt.NDArray[np.bool_], answers: npt.NDArray[np.int16]
) -> Collection:
    """The collection with judgments added, as `Collection.add_judgments` has them."""
    if not told.any():
        return smaller
    pair = np.flatnonzero(told)
    return smaller.with_added(pair, answers[pair])


def posterior(fold: Fold) -> Any:
    """The default posterior."""
    return parse_estimator("posterior-combined", random_seed=fold.seed)


def scored(
    smaller: Collection,
    told: npt.NDArray[np.bool_],
    answers: npt.NDArray[np.int16],
    truth: npt.NDArray[Any],
    fold: Fold,
    measure: Measure,
) -> list[tuple[str, dict[str, Any]]]:
    """Estimate, interval and randomized PIT bounds of each run."""
    collection = with_answers(smaller, told, answers)
    (estimates,) = posterior(fold).estimate(collection, fold.runs, measure)
    open_ = score_bounds(collection, fold.runs, measure).has_unjudged
    means, totals = estimates.draws.means(), estimates.draws.totals()
    low, high = estimates.draws.interval()
    pit = pit_range(totals, truth)
    return [
        (
            run,
            {
                "estimate": means[:, i].mean(),
                "lower": low[i],
                "upper": high[i],
                "pit_lower": pit[0][i],
                "pit_upper": pit[1][i],
                "is_open": bool(open_[i]),
            },
        )
        for i, run in enumerate(fold.runs)
    ]


def choose(
    rule: str,
    smaller: Collection,
    told: npt.NDArray[np.bool_],
    answers: npt.NDArray[np.int16],
    fold: Fold,
    measure: Measure,
    n_new: int,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64] | None]:
    """Pair codes of the documents to judge, and the widths that are expected then."""
    if rule == "judge-next":
        collection = with_answers(smaller, told, answers)
        completion = posterior(fold).complete(collection, fold.runs, measure)
        if not len(completion.unknowns):
            return np.zeros(0, dtype=int), None
        values = completion.evaluate(measure)[0]
        target = find_target("interval", fold.runs, values, 0.95)
        planned = plan(find_influence(completion, measure, values), target, n_new)
        return completion.unknowns.pair[planned.unknown], planned.left
    index = smaller.run_index(fold.runs)
    candidate = smaller.relevance < 0
    document = smaller.document[index, :, : measure.cutoff]
    document = np.where((document >= 0) & np.append(candidate, False)[document], document, -1)
    wanted = int(told.sum()) + n_new
    topics = [topic_of(smaller, document, t) for t in range(len(smaller.query_ids))]
    if rule in ("random", "take"):
        lot, pair = (np.concatenate(x) for x in zip(*[(t.lot, t.pair) for t in topics], strict=True))
        rank = np.full(len(smaller.relevance), document.shape[2])
        there = document >= 0
        np.minimum.at(rank, document[there], np.nonzero(there)[2])
        order = pair[np.lexsort((lot, rank[pair] if rule == "take" else 0 * lot))]
    else:
        shares = equal_shares(np.array([len(t) for t in topics]), wanted)
        parts = [
            order_of_topic(parse_strategy(rule), t, answers, int(n), rel=measure.rel, random_seed=fold.seed)
            for t, n in zip(topics, shares, strict=True)
            if n
        ]
        order = np.concatenate([np.zeros(0, dtype=int), *parts])
    order = order[~told[order]]
    return order[:n_new], None


def topic_of(collection: Collection, document: npt.NDArray[np.int32], t: int) -> TopicRankings:
    """The candidates of a topic as runs retrieve them, in the order of their ranks."""
    of_topic = document[:, t]
    closed = np.argsort(of_topic < 0, axis=1, kind="stable")  # a strategy knows no gaps in a ranking
    of_topic = np.take_along_axis(of_topic, closed, axis=1)
    pair = np.unique(of_topic[of_topic >= 0])
    rng = np.random.default_rng(key_of("benchmark", collection.query_ids[t]))
    return TopicRankings(
        query_id=collection.query_ids[t],
        pair=pair,
        document=np.where(of_topic >= 0, np.searchsorted(pair, of_topic), -1).astype(np.int32),
        score=None,
        lot=rng.random(len(pair)),
    )


def report(table: pd.DataFrame) -> None:
    """Print what a collection shows."""
    name = table["collection"].iloc[0]
    table = table.assign(
        width=table["upper"] - table["lower"],
        error=(table["estimate"] - table["truth"]).abs(),
        inside=((table["lower"] - 1e-9 <= table["truth"]) & (table["truth"] <= table["upper"] + 1e-9)),
    )
    print(f"\n{name}: {table['run_id'].nunique()} runs")
    for what in ("width", "error"):
        frame = table.pivot_table(index="rule", columns="stage", values=what, aggfunc="mean")
        print(f"\n{what}\n{frame.round(4).to_string()}")
    held = table[table["is_open"]].pivot_table(index="rule", columns="stage", values="inside", aggfunc="mean")
    pit = (
        table[table["is_open"]]
        .groupby(["rule", "stage"])
        .apply(lambda g: central_share(g["pit_lower"], g["pit_upper"], 0.95), include_groups=False)
        .unstack()
    )
    print(f"\nPIT in the central 95 %\n{pit.round(3).to_string()}")
    n_open = table.pivot_table(index="rule", columns="stage", values="is_open", aggfunc="sum")
    print(
        f"\nshare of intervals that hold the truth, of runs with anything open\n{held.round(3).to_string()}"
    )
    print(f"\nruns with anything open\n{n_open.to_string()}")
    foreseen = table[table["expected_width"].notna()]
    if len(foreseen):
        mean = foreseen.pivot_table(index="stage", values=["expected_width", "width"], aggfunc="mean")
        over = (mean["expected_width"] / mean["width"]).rename("expected over actual width")
        print(f"\n{over.to_frame().T.round(3).to_string()}")
    needed(table)


def report_stopping(table: pd.DataFrame) -> None:
    """Print whether the stopping rule kept its word."""
    print(f"\n{table['collection'].iloc[0]}")
    table = table.assign(
        width=table["upper"] - table["lower"],
        error=(table["estimate"] - table["truth"]).abs(),
        inside=((table["lower"] - 1e-9 <= table["truth"]) & (table["truth"] <= table["upper"] + 1e-9)),
    )
    print("\nall organizations")
    print(stopped(table).round(4).to_string(index=False))
    print("\nthose where anything was judged")
    print(stopped(table[table["n_told"] > 0]).round(4).to_string(index=False))


def stopped(table: pd.DataFrame) -> pd.DataFrame:
    """A row per width to reach. ``judgments`` and ``expected`` are means over organizations, of the latter
    those for which some number was expected; ``not expected`` counts the others.
    """
    lines = []
    for width, group in table.groupby("until"):
        by_fold = group.drop_duplicates("organization")
        foreseen = by_fold[by_fold["n_expected"] >= 0]
        lines.append(
            {
                "until": width,
                "organizations": len(by_fold),
                "runs": len(group),
                "widest": group["width"].max(),
                "mean width": group["width"].mean(),
                "MAE": group["error"].mean(),
                "inside": group["inside"].mean(),
                "PIT in 95 %": central_share(group["pit_lower"], group["pit_upper"], 0.95),
                "open runs": int(group["is_open"].sum()),
                "inside, open": group.loc[group["is_open"], "inside"].mean(),
                "judgments": by_fold["n_told"].mean(),
                "of these": foreseen["n_told"].mean(),
                "expected": foreseen["n_expected"].mean(),
                "not expected": len(by_fold) - len(foreseen),
            }
        )
    return pd.DataFrame(lines)


def needed(table: pd.DataFrame) -> None:
    """Judgments per run that each rule needs for the mean width that Take@N reaches, by interpolation."""
    width = table.pivot_table(index="rule", columns="stage", values="width", aggfunc="mean")
    if "take" not in width.index:
        return
    at = partial(np.interp)
    lines = []
    for stage in STAGES[2:-1]:
        goal = width.loc["take", stage]
        lines.append(
            {"judgments of take": stage}
            | {rule: float(at(-goal, -width.loc[rule], list(width.columns))) for rule in width.index}
        )
    print(f"\njudgments per run for the same width\n{pd.DataFrame(lines).round(1).to_string(index=False)}")


if __name__ == "__main__":
    main()
