"""Checks of second judges: agreement of labels with judgments, favored organizations, unlabeled documents,
and narrower intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack

from bayespool import __version__
from bayespool.collection import Collection, Judge
from bayespool.collection.own import check_own_judgments
from bayespool.errors import InputError
from bayespool.evidence import Estimand
from bayespool.experiments.check_settings import JudgesSettings
from bayespool.experiments.judge_intervals import Row, compare_intervals, interval_rows
from bayespool.experiments.judge_tables import (
    Confusions,
    agreement_rows,
    calibration_rows,
    confusion_rows,
    coverage_rows,
    find_confusions,
    organization_rows,
    relevant_from,
)
from bayespool.measures import Measure, parse_measures
from bayespool.measures.values import DEFAULT_CI_PROB
from bayespool.options import documented
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.keywords import JudgesOptions
from bayespool.posterior.second_judges import judge_problems
from bayespool.scoring import find_targets
from bayespool.scoring.scoring import refuse_of_judgments, warn_of_unused_relevance
from bayespool.tables.numbers import number
from bayespool.tables.printable import some_of
from bayespool.tables.reprs import Shown, one_line

if TYPE_CHECKING:
    import pandas as pd

TableOfJudges = Literal[
    "confusion", "calibration", "agreement", "coverage", "organizations", "intervals", "runs"
]
TABLES_OF_JUDGES: tuple[TableOfJudges, ...] = (
    "confusion",
    "calibration",
    "agreement",
    "coverage",
    "organizations",
    "intervals",
    "runs",
)
"""Tables of `JudgeCheck.frame`, the last two only with intervals."""

_MIN_NOTED_LIFT = 0.005


@dataclass(frozen=True, eq=False, repr=False)
class JudgeCheck(Shown):
    """Check of the labels of second judges on a collection.

    Attributes
    ----------
    judges : tuple of Judge
    measures : tuple of Measure
    run_ids : tuple of str
        The runs to score; empty where each organization was left out in turn.
    confusions : mapping of (Measure, str) to LabelConfusion
        Judged documents by label and relevance, by measure and judge.
    problems : tuple of str
        Problems of the judges (`bayespool.posterior.judge_problems`).
    metadata : mapping
        Version, fingerprint and settings.
    """

    judges: tuple[Judge, ...]
    measures: tuple[Measure, ...]
    run_ids: tuple[str, ...]
    confusions: Confusions
    problems: tuple[str, ...]
    metadata: Mapping[str, Any]
    _coverage: tuple[Row, ...]
    _organizations: tuple[Row, ...]
    _runs: tuple[Row, ...]

    def __repr__(self) -> str:
        names = some_of((judge.name for judge in self.judges), 3)
        return one_line("JudgeCheck", f"{names}; {some_of(self.measures, 3)}")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that every output repeats, a line each: the problems, and the nearest to favored organization
        of a judge that favors none.
        """
        lines = list(self.problems)
        for judge in self.judges:
            of_judge = [row for row in self._organizations if row["judge"] == judge.name]
            of_judge = [row for row in of_judge if row["lift"] == row["lift"]]
            is_used = not any(line.startswith(f"judge {judge.name} is not used") for line in self.problems)
            if not of_judge or any(row["favored"] for row in of_judge) or not is_used:
                continue
            most = max(of_judge, key=lambda row: row["lift"])
            message = f"judge {judge.name} favors no organization"
            if most["lift"] >= _MIN_NOTED_LIFT:
                in_100 = f"{number(50 + 100 * most['lift'], 1)} ± {number(100 * most['se'], 1)} of 100 pairs"
                message += (
                    f"; nearest is {most['organization']}: a document in the top 10 of its runs is labeled "
                    f"higher than one of others that is as relevant in {in_100}"
                )
            lines.append(message)
        return tuple(dict.fromkeys(lines))

    @property
    def tables(self) -> tuple[TableOfJudges, ...]:
        """Names of the available tables."""
        return TABLES_OF_JUDGES if self._runs else TABLES_OF_JUDGES[:-2]

    def relevant_from(self, measure: Measure) -> tuple[int, ...]:
        """Thresholds of relevance that a measure reads: its own, or each level for a graded one."""
        return relevant_from(measure, self.confusions[measure, self.judges[0].name])

    def to_frame(self, table: TableOfJudges = "agreement") -> pd.DataFrame:
        """One of the tables.

        Parameters
        ----------
        table : str
            Out of `TABLES_OF_JUDGES`. All have the columns ``measure`` and ``judge``, and all but the last
            three ``documents``: *hidden* ones, which one organization alone contributed, down to the depth of
            the evidence, and *other* judged ones that some run ranks in its top 30. *Relevant* is a document
            of relevance ``relevant_from`` or more.

            ``confusion``
                ``label`` (a grade, or *none*), ``relevance_from`` (0 or where a level begins), ``n``.
            ``calibration``
                ``relevant_from``, ``label``, ``n``, ``n_relevant``, ``share`` relevant, and ``lower`` and
                ``upper``, the ends of Wilson's interval of ``ci_prob``, which assumes independent documents.
            ``agreement``
                ``relevant_from``, ``n`` labeled documents, ``n_relevant``, ``promised`` (expected relevant
                ones if each label had the rate of other documents), ``auc`` (chance that a relevant document
                has a higher label than a nonrelevant one, ties count half), ``kappa`` (Cohen's) of relevance
                and of a label of ``label_from`` or more. That is where κ of the other documents is greatest,
                of hidden ones if there are no others.
            ``coverage``
                ``documents`` here are *judged* (all of the collection), *hidden* and *unjudged* (within the
                cutoff of the runs to score, each once); ``n``, ``n_labeled``, ``share``.
            ``organizations``
                ``relevant_from`` among documents of relevance ``given`` or more, ``organization``, ``n``
                judged and labeled documents in the top 10 of its runs, ``lift`` (share of pairs of one of
                them and an equally relevant other one in which it has the higher label, less ½), ``se``,
                ``favored``.
            ``intervals``
                ``n_runs``, ``width_without`` and ``width_with`` the judge's labels (mean widths of the runs'
                intervals), ``saved`` (1 − with/without), ``ci_prob``.
            ``runs``
                ``organization``, ``run_id``, ``value_without``, ``lower_without``, ``upper_without``,
                ``width_without``, the same ``…_with`` the judge's labels, ``ci_prob``.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            Unknown table, or one that needs intervals.
        """
        import pandas as pd

        if table not in self.tables:
            suffix = "; ask for intervals=True" if table in TABLES_OF_JUDGES else ""
            raise InputError(f"no table {table!r}{suffix}", hint=f"there are {', '.join(self.tables)}")
        rows: dict[str, Callable[[], Iterable[Row]]] = {
            "confusion": lambda: confusion_rows(self.confusions),
            "calibration": lambda: calibration_rows(self.confusions, self.metadata["ci_prob"]),
            "agreement": lambda: agreement_rows(self.confusions),
            "coverage": lambda: self._coverage,
            "organizations": lambda: self._organizations,
            "intervals": lambda: interval_rows(self._runs),
            "runs": lambda: self._runs,
        }
        return pd.DataFrame(list(rows[table]()))

    frame = to_frame


@documented(JudgesSettings)
def check_judges(
    collection: Collection,
    measures: object = "P@10",
    *,
    run_ids: str | Iterable[str] | None = None,
    unpool: str | Iterable[str] | None = None,
    unpool_by: Literal["organization", "run"] = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    intervals: bool = False,
    ci_prob: float = DEFAULT_CI_PROB,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[JudgesOptions],
) -> JudgeCheck:
    """Check the labels of a collection's second judges.

    Parameters
    ----------
    collection : Collection
        With judges (`bayespool.read_collection`, `bayespool.collection.add_judges`).
    run_ids : str or iterable of str, optional
        The runs to score, possibly none; default: as of `bayespool.score`.
    {options}
    report : callable, optional
        Called with a line on the current step.
    **settings
        Of `bayespool.posterior.PosteriorEstimator`, for intervals: ``draws``, ``engine``, ….

    Returns
    -------
    JudgeCheck

    Raises
    ------
    InputError
        No judge; unknown run or setting; intervals without a run to score or a second organization in the
        pool.

    Notes
    -----
    Hidden documents are those that the models learn from: judged, and contributed by one organization alone.
    Without it they would be unjudged, like the unjudged documents of a new run. Other judged documents,
    contributed by several organizations or none, are easier.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.collection import add_judges
    >>> from bayespool.collection import labels_from_frame
    >>> example = load_example()
    >>> labels = {q: {} for q in example.query_ids}
    >>> for pair in range(len(example.relevance)):  # right on all documents but every fourth
    ...     level = int(example.relevance[pair] > 0) if pair % 4 else pair % 8 // 4
    ...     labels[example.query_ids[example.pair_topic[pair]]][example.doc_id(pair)] = level
    >>> check = check_judges(add_judges(example, {"llm": labels_from_frame(labels)}), "P@10")
    >>> print(check.frame()[["documents", "n", "n_relevant", "auc", "kappa"]].round(2).to_string(index=False))
    documents   n  n_relevant  auc  kappa
       hidden 614          63 0.87   0.52
        other 567         220 0.88   0.75
    """
    requested = JudgesSettings(
        unpool_by=unpool_by,
        pool_depth=pool_depth,
        estimand=estimand,
        intervals=intervals,
        ci_prob=ci_prob,
        random_seed=random_seed,
    )
    if not collection.judges:
        raise InputError("the collection has no judge", hint="--judge FILE, or judges= of read_collection")
    estimator = PosteriorEstimator(estimand=estimand, random_seed=random_seed, **settings)
    parsed = parse_measures(measures)
    refuse_of_judgments(parsed)
    collection, targets = _targets(collection, run_ids, unpool, requested)
    warn_of_unused_relevance(collection, parsed)
    confusions = find_confusions(collection, parsed)
    runs: tuple[Row, ...] = ()
    if intervals:
        runs = compare_intervals(collection, targets, parsed, estimator, ci_prob=ci_prob, report=report)
    return JudgeCheck(
        judges=collection.judges,
        measures=parsed,
        run_ids=targets,
        confusions=confusions,
        problems=judge_problems(collection, targets, parsed, estimand=estimand),
        metadata={
            "version": __version__,
            "collection_fingerprint": collection.fingerprint,
            "measures": [str(measure) for measure in parsed],
            "judges": [judge.name for judge in collection.judges],
            "runs": list(targets),
            "passed_over": list(collection.passed_over),
            "estimand": estimand,
            "ci_prob": ci_prob,
            "random_seed": random_seed,
        },
        _coverage=tuple(coverage_rows(collection, targets, confusions, estimand)),
        _organizations=tuple(organization_rows(collection, parsed)),
        _runs=runs,
    )


def _targets(
    collection: Collection,
    run_ids: str | Iterable[str] | None,
    unpool: str | Iterable[str] | None,
    settings: JudgesSettings,
) -> tuple[Collection, tuple[str, ...]]:
    """The pool of the requested depth and the runs to score, possibly none."""
    run_ids = (run_ids,) if isinstance(run_ids, str) else None if run_ids is None else tuple(run_ids)
    candidates = collection.unpooled_run_ids if run_ids is None else run_ids
    if not candidates and not unpool:
        depth = settings.pool_depth
        return check_own_judgments(collection if depth is None else collection.truncate_pool(depth)), ()
    return find_targets(
        collection, run_ids, unpool=unpool, unpool_by=settings.unpool_by, pool_depth=settings.pool_depth
    )[:2]
