"""A leave-out experiment in a process of its own, for tests that end the process before it is done.

    python interrupted.py FOLDER N_JOBS

Folds are stored in FOLDER, tables written to it at the end. The estimator takes its time; the first worker
that estimates ``coast`` while SLOW_FOLDER has a file ``fatal`` removes it and dies.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bayespool import leave_out, load_example
from bayespool.collection import Collection
from bayespool.corrections import Interpolated
from bayespool.experiments import LeaveOutResult
from bayespool.measures import Estimates


@dataclass(frozen=True, kw_only=True)
class Slow(Interpolated):
    version = "1"

    folder: str

    @property
    def name(self) -> str:
        return "slow"

    def estimate(
        self, collection: Collection, run_ids: object = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        time.sleep(0.2)
        fatal = Path(self.folder, "fatal")
        if "coast-1" in run_ids and fatal.exists():  # type: ignore[operator]
            fatal.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().estimate(collection, run_ids, measures)  # type: ignore[arg-type]


def experiment(folder: Path | None, n_jobs: int) -> LeaveOutResult:
    # the same setting in every folder, or folds of one would not be taken for those of the other
    return leave_out(
        load_example(),
        ["P@5", "P@10"],
        estimators=["background", Slow(folder=os.environ["SLOW_FOLDER"])],
        n_jobs=n_jobs,
        folder=folder,
    )


def main() -> None:
    folder, n_jobs = Path(sys.argv[1]), int(sys.argv[2])
    result = experiment(folder, n_jobs)
    result.to_frame().to_csv(folder / "runs.csv")
    result.to_frame("summary").to_csv(folder / "summary.csv")


if __name__ == "__main__":
    main()
