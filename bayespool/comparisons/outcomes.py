"""Significance of all pairs of runs under fewer and under all judgments: separability, reversals, risks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool.comparisons.comparison import AS_THEY_STAND
from bayespool.comparisons.grading import brier_score, calibration_table
from bayespool.comparisons.repeated_tests import SignificantDraws
from bayespool.comparisons.significance import Control, SignificanceTest
from bayespool.corrections import Constants
from bayespool.measures import Measure
from bayespool.tables.numbers import percent
from bayespool.tables.printable import some_of
from bayespool.tables.reprs import Shown, one_line

if TYPE_CHECKING:
    import pandas as pd

MAX_SHARE_OF_HOLES = 0.01
"""Largest share of ranks that all judgments leave unjudged in runs by which probabilities are graded."""

BoolArray = npt.NDArray[np.bool_]
ReversalTable = Literal["rates", "trends", "p_values", "risks", "calibration", "grades"]
Key = tuple[str, int, str]  # group, number of judgments, method


@dataclass(frozen=True, eq=False)
class Outcome:
    """Values and significance of one method for a group of runs under one judgment set.

    ``value``: mean over topics, shape (run,). ``p``: adjusted p-values, shape (run, run), NaN where
    `SignificantDraws` decide. ``better``: whether the row's run is significantly better than the column's,
    shape (run, run).
    """

    value: npt.NDArray[np.float64]
    p: npt.NDArray[np.float64]
    better: BoolArray


@dataclass(frozen=True, eq=False, repr=False)
class Reversals(Shown):
    """Significance of all pairs of runs under judgment sets of several sizes, the last one complete.

    Made by `bayespool.comparisons.reversals`.

    Attributes
    ----------
    measure : Measure
    groups : mapping of str to tuple of str
        ``"contributing"`` and ``"non-contributing"`` runs; pairs are formed within a group.
    n_judgments : tuple of int
        Sizes, ascending; the last one is all judgments.
    pool_depth : mapping of int to int
        Pool depth by size.
    methods : tuple of str
    outcomes : mapping of (group, n_judgments, method) to Outcome
    draws : mapping of (group, n_judgments, method) to SignificantDraws
        For methods with draws.
    truth : mapping of (group, n_judgments) to ndarray of float, shape (run,)
        Values under all judgments that a posterior estimates from n of them: the uncorrected scores, but for
        measures over an ideal ranking with the documents of the estimate's.
    residual : mapping of (group, n_judgments) to float
        Mean Δ.
    holes : mapping of str to ndarray of float, shape (run,)
        By group: the share of each run's ranks that all judgments leave unjudged.
    constants : mapping of str to Constants
        Fitted to the contributing runs, by method.
    test, level, control, metadata
        Settings of `bayespool.comparisons.reversals`.
    """

    measure: Measure
    groups: Mapping[str, tuple[str, ...]]
    n_judgments: tuple[int, ...]
    pool_depth: Mapping[int, int]
    methods: tuple[str, ...]
    outcomes: Mapping[Key, Outcome]
    draws: Mapping[Key, SignificantDraws]
    truth: Mapping[tuple[str, int], npt.NDArray[np.float64]]
    residual: Mapping[tuple[str, int], float]
    holes: Mapping[str, npt.NDArray[np.float64]]
    constants: Mapping[str, Constants]
    test: SignificanceTest
    level: float
    control: Control
    metadata: Mapping[str, Any]

    def __repr__(self) -> str:
        runs = ", ".join(f"{len(runs)} {group} runs" for group, runs in self.groups.items())
        sizes = some_of(self.n_judgments, 4)
        return one_line(
            "Reversals", f"{self.measure} of {runs}, {sizes} judgments, by {some_of(self.methods, 3)}"
        )

    def to_frame(self, table: ReversalTable = "rates") -> pd.DataFrame:
        """The table of a name: `rates`, `trends`, `p_values`, `risks`, `calibration` or `grades`."""
        frame: pd.DataFrame = getattr(self, table)()
        return frame

    def gradable(self, group: str) -> BoolArray:
        """Whether all judgments leave at most 1% of a run's ranks unjudged, as grading requires, shape
        (run,).
        """
        return np.asarray(self.holes[group] <= MAX_SHARE_OF_HOLES)

    def mean_holes(self, group: str) -> float:
        """Share of the ranks of a group's runs that all judgments leave unjudged."""
        return float(self.holes[group].mean())

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes, one line each, on unjudged documents, graded runs, and pools shallower than the measure."""
        lines, is_graded = [], len(self.grades()) > 0
        for group, shares in self.holes.items():
            if not shares.any():
                continue
            line = (
                f"all judgments leave {percent(self.mean_holes(group))} of the {group} runs' ranks unjudged, "
                f"something of {int((shares > 0).sum())} of {len(shares)} runs; it counts as nonrelevant"
            )
            if is_graded:
                line += (
                    f", and chances are graded on pairs of the {int(self.gradable(group).sum())} runs of "
                    f"which no more than {percent(MAX_SHARE_OF_HOLES)} is unjudged"
                )
            lines.append(line)
        if is_graded:
            lines += [
                f"{n} judgments reach down to rank {depth} of the pooled runs; what the posteriors say of "
                f"deeper ranks of {self.measure} is extrapolated, and small risks tend to be too large"
                for n, depth in self.pool_depth.items()
                if depth < self.measure.cutoff
            ]
        return tuple(lines)

    def trends(self) -> pd.DataFrame:
        """Mean scores as judgments grow, as in the paper's table 1.

        Returns
        -------
        pandas.DataFrame
            One row per group, size and method: ``measure``, ``group``, ``judgments``, ``pool_depth``,
            ``residual`` (mean Δ of the runs), ``method``, ``value`` (mean over runs), ``rmse`` (of the runs'
            values from their uncorrected scores under all judgments; of posteriors from ``truth``),
            ``separability`` (share of pairs that are significant; figure 4).
        """
        import pandas as pd

        rows = []
        for (group, n, method), outcome in self.outcomes.items():
            all_judged = self.outcomes[group, self.n_judgments[-1], AS_THEY_STAND].value
            true = self.truth[group, n] if (group, n, method.partition(">=")[0]) in self.draws else all_judged
            rmse = float(np.sqrt(np.mean((outcome.value - true) ** 2)))
            separability = outcome.better.sum() / _n_pairs(outcome.better)
            row = (str(self.measure), group, n, self.pool_depth[n], self.residual[group, n], method)
            rows.append((*row, float(outcome.value.mean()), rmse, separability))
        columns = ["measure", "group", "judgments", "pool_depth", "residual", "method", "value", "rmse"]
        return pd.DataFrame(rows, columns=[*columns, "separability"])

    def rates(self) -> pd.DataFrame:
        """Separability and reversals, as in the paper's table 2.

        Returns
        -------
        pandas.DataFrame
            One row per group, method, smaller judgment set and standard of comparison: ``measure``,
            ``group``, ``method``, ``judgments``, ``all_judgments``, ``against`` (``same method``, as in the
            paper, or ``as they stand``: the lower bound under all judgments), ``n_pairs``; the shares of all
            pairs ``separability`` and ``separability_all`` (significant under either set), ``kept``
            (significant under both the same way), ``reversed`` (significant under the smaller set, not under
            all), ``swapped`` (significant under both, opposite ways), ``gained`` (significant under all
            only); and ``reversed_of_significant``, the share reversed or swapped of those that are
            significant under the smaller set.
        """
        import pandas as pd

        rows = []
        for (group, n, method), few in self.outcomes.items():
            if n == self.n_judgments[-1]:
                continue
            for against, other in (("same method", method), ("as they stand", AS_THEY_STAND)):
                full = self.outcomes[group, self.n_judgments[-1], other]
                n_pairs = _n_pairs(few.better)
                now, then = few.better | few.better.T, full.better | full.better.T
                counts = {
                    "separability": few.better.sum(),
                    "separability_all": full.better.sum(),
                    "kept": (few.better & full.better).sum(),
                    "reversed": (few.better & ~then).sum(),
                    "swapped": (few.better & full.better.T).sum(),
                    "gained": (full.better & ~now).sum(),
                }
                taken_back = counts["reversed"] + counts["swapped"]
                rows.append(
                    {
                        "measure": str(self.measure),
                        "group": group,
                        "method": method,
                        "judgments": n,
                        "all_judgments": self.n_judgments[-1],
                        "against": against,
                        "n_pairs": n_pairs,
                    }
                    | {name: count / n_pairs for name, count in counts.items()}
                    | {
                        "reversed_of_significant": taken_back / counts["separability"]
                        if counts["separability"]
                        else np.nan
                    }
                )
        return pd.DataFrame(rows)

    def p_values(self) -> pd.DataFrame:
        """P-values of every pair under fewer and under all judgments, as in the paper's figure 5.

        Returns
        -------
        pandas.DataFrame
            ``measure``, ``group``, ``method``, ``judgments``, ``run_a``, ``run_b``, ``p_value``,
            ``p_value_all``, both adjusted as requested.
        """
        import pandas as pd

        frames = []
        for (group, n, method), few in self.outcomes.items():
            full = self.outcomes[group, self.n_judgments[-1], method]
            if n == self.n_judgments[-1] or np.isnan(few.p).all():
                continue
            first, second, columns = self._pairs(group, n, method)
            columns |= {"p_value": few.p[first, second], "p_value_all": full.p[first, second]}
            frames.append(pd.DataFrame(columns))
        return pd.concat(frames, ignore_index=True)

    def risks(self) -> pd.DataFrame:
        """Announced probabilities for each pair under fewer judgments, and the outcome under all.

        Returns
        -------
        pandas.DataFrame
            One row per group, method with draws, smaller judgment set and pair: ``measure``, ``group``,
            ``method``, ``judgments``, ``run_a``, ``run_b``; ``significant`` (on the uncorrected scores),
            ``reversal_risk`` and ``reversed`` (for those: the chance that completed judgments do not confirm
            it in the same direction, and whether all judgments did not; NaN and False for others),
            ``prob_significant`` and ``significant_all`` (on the uncorrected scores under all judgments),
            ``gradable`` (whether both runs are, see `gradable`).
        """
        import pandas as pd

        frames = []
        for (group, n, method), draws in self.draws.items():
            if n == self.n_judgments[-1]:
                continue
            now = self.outcomes[group, n, AS_THEY_STAND].better
            then = self.outcomes[group, self.n_judgments[-1], AS_THEY_STAND].better
            taken_back = now & ~then
            first, second, columns = self._pairs(group, n, method)
            matrices = {
                "significant": now | now.T,
                "reversal_risk": draws.reversal_risk(now),
                "reversed": taken_back | taken_back.T,
                "prob_significant": draws.prob_significant,
                "significant_all": then | then.T,
                "gradable": np.logical_and.outer(self.gradable(group), self.gradable(group)),
            }
            columns |= {name: matrix[first, second] for name, matrix in matrices.items()}
            frames.append(pd.DataFrame(columns))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def calibration(self, *, n_bins: int = 10) -> pd.DataFrame:
        """Announced probabilities against outcomes under all judgments, by bins: a reliability plot as a
        table.

        Returns
        -------
        pandas.DataFrame
            One row per group, method, smaller judgment set, statement (``reversed``, graded on pairs that are
            significant now; ``significant``, on all pairs) and bin of `calibration_table`. Only pairs of two
            `gradable` runs count.
        """
        import pandas as pd

        frames = []
        for named, probability, happened in self._statements():
            frame = calibration_table(probability, happened, n_bins=n_bins)
            for place, (name, value) in enumerate(named.items()):
                frame.insert(place, name, value)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def grades(self) -> pd.DataFrame:
        """Grades of the announced probabilities.

        Returns
        -------
        pandas.DataFrame
            One row per group, method, smaller judgment set and statement: ``n``, ``announced`` (mean
            probability), ``happened`` (share), ``brier`` and ``brier_constant`` (of announcing that share for
            every pair, which is unknown beforehand). Only pairs of two `gradable` runs count.
        """
        import pandas as pd

        rows = []
        for named, probability, happened in self._statements():
            share = float(happened.mean()) if len(happened) else np.nan
            rows.append(
                named
                | {
                    "n": len(happened),
                    "announced": float(probability.mean()) if len(happened) else np.nan,
                    "happened": share,
                    "brier": brier_score(probability, happened),
                    "brier_constant": share * (1 - share),
                }
            )
        return pd.DataFrame(rows)

    def _statements(
        self,
    ) -> list[tuple[dict[str, Any], npt.NDArray[np.float64], npt.NDArray[np.bool_]]]:
        """Announced probabilities and outcomes of gradable pairs, with the key columns of each statement."""
        statements: list[tuple[dict[str, Any], npt.NDArray[np.float64], npt.NDArray[np.bool_]]] = []
        risks = self.risks()
        if risks.empty:
            return statements
        for key, pairs in risks.groupby(["measure", "group", "method", "judgments"], sort=False):
            named = dict(zip(("measure", "group", "method", "judgments"), key, strict=True))
            pairs = pairs[pairs["gradable"]]
            now = pairs[pairs["significant"]]
            for statement, part, probability, happened in (
                ("reversed", now, "reversal_risk", "reversed"),
                ("significant", pairs, "prob_significant", "significant_all"),
            ):
                numbers = part[probability].to_numpy(float), part[happened].to_numpy(bool)
                statements.append((named | {"statement": statement}, *numbers))
        return statements

    def _pairs(
        self, group: str, n: int, method: str
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], dict[str, Any]]:
        first, second = np.triu_indices(len(self.groups[group]), 1)
        ids = np.array(self.groups[group], dtype=object)
        columns = {"measure": str(self.measure), "group": group, "method": method, "judgments": n}
        return first, second, columns | {"run_a": ids[first], "run_b": ids[second]}


def _n_pairs(matrix: BoolArray) -> int:
    return len(matrix) * (len(matrix) - 1) // 2
