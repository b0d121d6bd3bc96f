"""The published experiments of "Splitting Water" and of its tool, with the settings that reproduce them."""

from __future__ import annotations

import dataclasses
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from published_methods import PaperSystemsAdjustment, ToolAntiPrecision, ToolSystemsAdjustment, rounded

from bayespool import leave_out, read_collection
from bayespool.collection import Collection
from bayespool.errors import BayespoolWarning
from bayespool.experiments import LeaveOutResult, best_runs
from bayespool.measures import Estimator, mean_absolute_error, overtaken_runs, parse_measures

CUTOFFS = (5, 10, 20, 30, 100)
MEASURES = [f"P@{n}" for n in CUTOFFS]
METHODS = {
    "reduced-pool": "as-judged",
    "webber-park": "systems-adjustment(substitute=False, within_bounds=False)",
    "anti-precision": "anti-precision",
}
TOLERANCE = {"mae": 0.0002, "sre": 2}
TITLES = {"trec2-adhoc": "Ad Hoc 2", "trec8-adhoc": "Ad Hoc 8", "trec2011-medical": "Medical 2011"}
TWINS = {"prc1": "prceo1", "prc2": "prceo1"}
FULL = "as then"


class Cell(NamedTuple):
    """Errors of one method at one cutoff."""

    mae: float
    sre: float
    sre_star: float


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One table of published figures, and the settings that reproduce it.

    ``reading`` and ``settings`` are arguments of `read_collection` and `leave_out`. ``unjudged_topics`` are
    topics of the runs that the qrels lack and that a line of the qrels brings in; ``last_files`` names runs
    that are called ``~…``, so that they come last and lose ties, and ``alone`` runs that are taken for
    organizations of their own. ``tags``, ``not_evaluated`` and ``decimals`` are of the published tool alone.
    """

    source: Literal["paper", "tool"]
    folder: str
    by: Literal["organization", "run"] = "organization"
    top: float = 75
    reading: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    unjudged_topics: tuple[str, ...] = ()
    last_files: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    not_evaluated: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Collection and, for the tool, what is left out and reported."""
        title = TITLES[self.folder]
        if self.source == "paper":
            return title
        runs = "all runs" if self.top == 100 else f"the best {self.top:g} %"
        return f"{title}, one {self.by} left out, {runs}"

    @property
    def decimals(self) -> int | None:
        """To what all scores, the true ones too, were rounded in the version of 2015."""
        return 4 if self.source == "paper" else None


AS_PUBLISHED = {"top_pool": "kept", "unseen": "estimated", "denominator": "run"}
PAPER = {"truth": "full", "test": "tukey-hsd"}
TOOL = {"truth": "repooled", "test": "paired-t"}

EXPERIMENTS = [
    Experiment(
        source="paper",
        folder="trec2-adhoc",
        reading={"pool_rule": "skipping", "max_holes": 20},
        settings=AS_PUBLISHED | PAPER,
    ),
    Experiment(
        source="paper",
        folder="trec8-adhoc",
        reading={"pool_rule": "skipping", "max_holes": 20},
        settings=AS_PUBLISHED | PAPER,
        alone=("8manexT3D1N0",),
    ),
    Experiment(
        source="paper",
        folder="trec2011-medical",
        reading={"pool_rule": "skipping", "max_holes": 2},
        settings=AS_PUBLISHED | PAPER,
        unjudged_topics=("130",),
        last_files=("CWI3",),
    ),
    *(
        Experiment(
            source="tool",
            folder=folder,
            by=by,
            top=top,
            reading={"max_holes": 5 if folder == "trec2-adhoc" else 0},
            settings=AS_PUBLISHED | TOOL,
            tags=TWINS if folder == "trec2-adhoc" else {},
            not_evaluated=("prc1", "prc2") if folder == "trec2-adhoc" and by == "organization" else (),
        )
        for folder in ("trec2-adhoc", "trec2011-medical")
        for by in ("organization", "run")
        for top in (75, 100)
    ),
]


def read(collections: Path, experiment: Experiment, **changes: Any) -> Collection:
    """The collection as the experiment has it."""
    place = collections / experiment.folder
    arguments: dict[str, Any] = {
        "pool": place / "runs",
        "organizations": place / "organizations.csv",
        "strict": False,
        **experiment.reading,
        **changes,
    }
    if experiment.alone or experiment.last_files:
        listed = pd.read_csv(place / "organizations.csv", dtype=str)
        names = dict(zip(listed["run_id"], listed["organization"], strict=True))
        names |= {name: name for name in experiment.alone}
        names |= {f"~{name}": names.pop(name) for name in experiment.last_files}
        arguments["organizations"] = names
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as links:
        if experiment.last_files:
            arguments["pool"] = Path(links)
            for path in (place / "runs").iterdir():
                last = path.name.removeprefix("input.") in experiment.last_files
                name = f"~{path.name.removeprefix('input.')}" if last else path.name
                (Path(links) / name).symlink_to(path.resolve())
        warnings.simplefilter("ignore", BayespoolWarning)
        collection = read_collection(place / "qrels.txt", **arguments)
        if not experiment.unjudged_topics:
            return collection
        # the pool is found without the topics that nobody judged
        for name in ("pool_rule", "max_holes"):
            arguments.pop(name, None)
        arguments |= {"pooled_run_ids": collection.pooled_run_ids, "known_depth": collection.pool_depth}
        with tempfile.TemporaryDirectory() as folder:
            qrels = Path(folder) / "qrels.txt"
            lines = [f"{topic} 0 retrieved-by-nobody 0\n" for topic in experiment.unjudged_topics]
            qrels.write_text((place / "qrels.txt").read_text().rstrip("\n") + "\n" + "".join(lines))
            return read_collection(qrels, **arguments)


def run(
    collection: Collection,
    experiment: Experiment,
    estimators: Mapping[str, Any],
    *,
    measures: Sequence[str] = MEASURES,
    **changes: Any,
) -> LeaveOutResult:
    """The experiment with its settings, some of them changed."""
    arguments: dict[str, Any] = {
        "by": experiment.by,
        "top": experiment.top,
        "repool_to": collection.pool_depth,
        **experiment.settings,
        **changes,
    }
    return leave_out(collection, list(measures), estimators=estimators, **arguments)


def kept_runs(
    collection: Collection, experiment: Experiment, measures: Sequence[str] = MEASURES
) -> dict[int, tuple[str, ...]]:
    """The best runs, which make the pool, by cutoff."""
    pooled = collection.truncate_pool(collection.pool_depth)
    denominator = experiment.settings.get("denominator", "qrels")
    return {
        measure.cutoff: best_runs(pooled, measure, top=experiment.top, denominator=denominator)
        for measure in parse_measures(measures)
    }


def as_then(
    collection: Collection,
    experiment: Experiment,
    *,
    switches: bool = False,
    measures: Sequence[str] = MEASURES,
    n_jobs: int | None = None,
) -> LeaveOutResult:
    """The experiment with the arithmetic of the published tool; with each of its ways turned off in turn."""
    anti: dict[str, ToolAntiPrecision] = {FULL: ToolAntiPrecision()}
    webber: dict[str, Estimator]
    if experiment.source == "paper":
        whole = collection.truncate_pool(collection.pool_depth)
        kept = kept_runs(collection, experiment, measures)
        anti = {FULL: ToolAntiPrecision(composed_with=kept)}
        paper = PaperSystemsAdjustment(whole=whole, runs=kept)
        webber = {FULL: paper}
        if switches:
            anti["siblings"] = dataclasses.replace(anti[FULL], composed_with=None)
            for name in ("siblings_in_pool", "siblings_in_mean"):
                webber[name] = dataclasses.replace(paper, **{name: False})
            webber["decimals"] = dataclasses.replace(paper, decimals=None)
    else:
        tool = ToolSystemsAdjustment(tags=experiment.tags)
        webber = {FULL: tool}
        if switches:
            webber["own_topics"] = dataclasses.replace(tool, own_topics=False)
            webber["tags"] = dataclasses.replace(tool, tags={})
    if switches:
        for name in ("moved_up_first", "missing_unjudged", "own_topics"):
            anti[name] = dataclasses.replace(anti[FULL], **{name: False})
        anti["decimals"] = dataclasses.replace(anti[FULL], decimals=None)
    estimators: dict[str, Any] = {"reduced-pool": "as-judged"}
    estimators |= {label("webber-park", name): e for name, e in webber.items()}
    estimators |= {label("anti-precision", name): e for name, e in anti.items()}
    by_twins: dict[str, Any] = {"by": "organization"} if together(experiment) else {}
    return run(collection, experiment, estimators, measures=measures, n_jobs=n_jobs, **by_twins)


def label(method: str, switch: str) -> str:
    """Name of a method with one of its ways turned off."""
    return method if switch == FULL else f"{method} without {switch}"


def together(experiment: Experiment) -> bool:
    """Whether twins leave the pool together where single runs do."""
    return experiment.by == "run" and bool(experiment.tags)


def collection_then(collections: Path, experiment: Experiment, collection: Collection) -> Collection:
    """The collection that the tool saw: two runs of one tag are one run with two rankings."""
    if not together(experiment):
        return collection
    units = {name: experiment.tags.get(name, name) for name in collection.run_ids}
    return read(collections, experiment, organizations=units)


def grades(
    result: LeaveOutResult, experiment: Experiment, *, then: bool, decimals: int | None = None
) -> dict[tuple[int, str], Cell]:
    """Errors by cutoff and label; ``then`` with what the tool did to true scores and twins."""
    frame = result.to_frame(reported_only=True)
    cells = {}
    for cutoff in (measure.cutoff for measure in result.settings.measures):
        significant = result.significant(f"P@{cutoff}")
        for name in result.settings.labels:
            rows = frame[(frame["measure"] == f"P@{cutoff}") & (frame["estimator"] == name)]
            truth = np.round(rounded(rows["truth"], decimals), 12)
            value = rows["value"].to_numpy()
            value = np.round(rounded(value, decimals) if name == "reduced-pool" else value, 12)
            runs = rows["run_id"].tolist()
            if then and together(experiment):
                cells[cutoff, name] = with_twins(runs, truth, value, significant, experiment.tags)
                continue
            counts = np.array([not (then and r in experiment.not_evaluated) for r in runs])
            cells[cutoff, name] = cell(truth[counts], value[counts], significant[np.ix_(counts, counts)])
    return cells


def cell(truth: Any, value: Any, significant: Any) -> Cell:
    """MAE, SRE and SRE*."""
    passed = overtaken_runs(truth, value)
    return Cell(mean_absolute_error(truth, value), float(passed.sum()), float((passed & significant).sum()))


def with_twins(
    runs: Sequence[str], truth: Any, value: Any, significant: Any, tags: Mapping[str, str]
) -> Cell:
    """Errors where the true score is looked up by tag, which gives twins that of the one read last.

    The list of true scores has both, and neither twin is among the others of the other.
    """
    tag = np.array([tags.get(name, name) for name in runs])
    last = np.array([np.flatnonzero(tag == name)[-1] for name in tag])
    looked_up, significant = truth[last], significant[np.ix_(last, last)]
    u, e, v = looked_up[:, None], value[:, None], truth[None, :]
    other = tag[:, None] != tag[None, :]
    rank_true = 1 + (v > u).sum(axis=1)
    rank_estimate = 1 + ((v > e) & other).sum(axis=1)
    passed = (((u < v) & (v <= e)) | ((e < v) & (v <= u))) & other
    return Cell(
        mean_absolute_error(looked_up, value),
        float(np.abs(rank_true - rank_estimate).sum()),
        float((passed & significant).sum()),
    )


def published(folder: Path) -> dict[tuple[str, int, str], Cell]:
    """The printed figures by title of the experiment, cutoff and method."""
    printed = {}
    paper = pd.read_csv(folder / "lipani-2015-table2.csv")
    for row in paper.itertuples(index=False):
        printed[str(row.collection), int(row.cutoff), str(row.method)] = Cell(row.mae, row.sre, row.sre_star)
    tool = pd.read_csv(folder / "tool-2020-results.csv")
    for row in tool.itertuples(index=False):
        runs = "all runs" if row.runs == "all" else "the best 75 %"
        title = f"{row.collection}, one {row.left_out} left out, {runs}"
        printed[title, int(row.cutoff), str(row.method)] = Cell(row.mae, row.sre, row.sre_star_t)
    return printed


def same(ours: float, printed: float, what: str) -> bool:
    """Whether two figures are printed alike."""
    return f"{ours:.4f}" == f"{printed:.4f}" if what == "mae" else ours == printed


def near(ours: float, printed: float, what: str) -> bool:
    """Whether a figure, as printed, is within the tolerance."""
    return abs(round(ours, 4) - printed) <= TOLERANCE[what] + 1e-9
