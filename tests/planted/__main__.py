"""Plants one fault after another in copies of the package, and says which of them the tests find.

python -m planted --rooms measures,counts --jobs 2
python -m planted --only "ties by*" --whole
python -m planted --tests ../before/tests --csv before.csv

A fault that no test finds wants a test. The checkout itself is not touched.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from queue import SimpleQueue

from planted.fault import Fault
from planted.faults import FAULTS
from planted.planting import Copy, Finding

ROOT = Path(__file__).resolve().parents[2]
_COLUMNS = ("fault", "room", "module", "result", "by", "seconds", "test", "why")


def main() -> None:
    """Report on standard output, a line for each fault; exit code 1 where one is not found."""
    given = _arguments()
    chosen = [f for f in FAULTS if _is_asked(f, given.only, given.rooms)]
    if not chosen:
        sys.exit("no fault has this name or room; --list names all")
    if given.list:
        print("\n".join(f"{f.room:16} {f.name}: {f.why}" for f in chosen))
        return
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copies = [
            Copy(ROOT, Path(folder, str(i)), tests=given.tests, seconds=given.seconds)
            for i in range(min(given.jobs, len(chosen)))
        ]
        if given.check:
            _check(copies[0], chosen)
        with _told(given.csv) as tell:
            findings = _find(copies, chosen, tell, whole=given.whole)
    _summarize(findings)
    sys.exit(any(one.result != "found" for one in findings))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="planted", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="a fault, * for any letters; repeated"
    )
    parser.add_argument("--rooms", type=lambda text: text.split(","), help="rooms, with commas between")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time, each in a copy (1)")
    parser.add_argument(
        "--whole", action="store_true", help="all fast tests where those of the room fail not"
    )
    parser.add_argument("--tests", type=Path, metavar="FOLDER", help="run these tests, of another checkout")
    parser.add_argument("--seconds", type=float, default=1800.0, help="longest that tests may take (1800)")
    parser.add_argument("--check", action="store_true", help="first see that the tests pass without a fault")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table")
    parser.add_argument("--list", action="store_true", help="name the faults, plant none")
    return parser.parse_args()


def _is_asked(fault: Fault, only: Sequence[str] | None, rooms: Sequence[str] | None) -> bool:
    named = only is None or any(fnmatchcase(fault.name, pattern) for pattern in only)
    return named and (rooms is None or fault.room in rooms)


def _check(copy: Copy, faults: Sequence[Fault]) -> None:
    paths = dict.fromkeys(f"tests/{name}" for fault in faults for name in fault.tests.split())
    if failed := copy.check([path for path in paths if (copy.root / path).exists()]):
        sys.exit(f"without any fault, too: {failed}")


@contextlib.contextmanager
def _told(path: Path | None) -> Iterator[Callable[[Finding], None]]:
    """What prints a finding as soon as there is one, and writes it into a file: a run may be interrupted."""
    lock = threading.Lock()
    with contextlib.ExitStack() as stack:
        file = None if path is None else stack.enter_context(path.open("w", encoding="utf-8", newline=""))
        rows = None if file is None else csv.writer(file, lineterminator="\n")
        if rows is not None:
            rows.writerow(_COLUMNS)

        def tell(one: Finding) -> None:
            f, seconds = one.fault, f"{one.seconds:.1f}"
            where = f" by {one.test}" if one.test else ""
            with lock:
                print(f"{one.result:6} {seconds:>6} s  {f.room}: {f.name}{where}", flush=True)
                if rows is not None and file is not None:
                    rows.writerow((f.name, f.room, f.module, one.result, one.by, seconds, one.test, f.why))
                    file.flush()

        yield tell


def _find(
    copies: Sequence[Copy], faults: Sequence[Fault], tell: Callable[[Finding], None], *, whole: bool
) -> list[Finding]:
    with Path(__file__).with_name("finders.csv").open(encoding="utf-8", newline="") as file:
        finders = {row["fault"]: row["now"] for row in csv.DictReader(file)}
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def find(fault: Fault) -> Finding:
        copy = free.get()
        try:
            found = copy.find(fault, finder=finders.get(fault.name, ""), whole=whole)
        finally:
            free.put(copy)
        tell(found)
        return found

    with ThreadPoolExecutor(len(copies)) as workers:
        return list(workers.map(find, faults))


def _summarize(findings: Sequence[Finding]) -> None:
    n = {result: sum(one.result == result for one in findings) for result in ("found", "missed", "broken")}
    by = {
        stage: sum(one.result == "found" and one.by == stage for one in findings)
        for stage in ("room", "slow")
    }
    seconds = [one.seconds for one in findings]
    print(
        f"{len(findings)} faults in {len({one.fault.room for one in findings})} rooms: {n['found']} found, "
        f"{by['room']} of them by the fast tests of their room, {by['slow']} by its slow ones; "
        f"{n['missed']} missed, {n['broken']} broken; "
        f"{statistics.median(seconds):.1f} s each in the median, {sum(seconds):.0f} s in all"
    )
    for one in findings:
        if one.result != "found":
            print(f"{one.result}: {one.fault.name} ({one.fault.module}): {one.fault.why} {one.test}".rstrip())


if __name__ == "__main__":
    main()
