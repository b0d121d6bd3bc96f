"""Mutated inputs, one after another: each has its own random numbers, a time limit, and one verdict.

An input is made from ``(seed, target, number)`` alone, so that any of them can be made again:
``python -m fuzz --target runs --first 1234 --inputs 1``.
"""

from __future__ import annotations

import faulthandler
import os
import random
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from bayespool.errors import BayespoolError

SECONDS_OF_AN_INPUT = 60.0  # many times what any takes, also beside other work
MOST_MIB = 1024
_WATCHED_TOGETHER = 20
_DEADLINE = 180.0  # seconds, of so many inputs


@dataclass(frozen=True)
class Target:
    """What makes an input of random numbers, gives it to the package and says whether that took it.

    AssertionError is raised where something is wrong; any other exception is foreign, and wrong, too.
    """

    name: str
    check: Callable[[random.Random, Path], bool]


@dataclass
class Outcome:
    """What came of a number of inputs."""

    target: str
    accepted: int = 0
    refused: int = 0
    seconds: float = 0.0
    found: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        n = self.accepted + self.refused + len(self.found)
        return (
            f"{self.target}: {n:,} inputs, {self.accepted:,} accepted, {self.refused:,} refused, "
            f"{len(self.found)} found, {self.seconds:.0f} s"
        )


class Hang(BaseException):
    """An input took too long. No Exception: nothing on the way may catch it."""


def seed() -> str:
    """Of all inputs: BAYESPOOL_FUZZ_SEED."""
    return os.environ.get("BAYESPOOL_FUZZ_SEED", "1")


def budget(inputs: int, seconds: float) -> tuple[int, float]:
    """How many inputs, and how long at most: BAYESPOOL_FUZZ_INPUTS, BAYESPOOL_FUZZ_SECONDS, or these."""
    return (
        int(os.environ.get("BAYESPOOL_FUZZ_INPUTS", inputs)),
        float(os.environ.get("BAYESPOOL_FUZZ_SECONDS", seconds)),
    )


def fuzz(target: Target, folder: Path, numbers: Sequence[int], *, seconds: float = float("inf")) -> Outcome:
    """Give a target its inputs of these numbers until they or the time are over."""
    outcome = Outcome(target.name)
    begin = time.monotonic()
    for place, number in enumerate(numbers):
        if time.monotonic() - begin > seconds:
            break
        if place % _WATCHED_TOGETHER == 0:  # a loop in C hears no signal: it ends the process
            faulthandler.dump_traceback_later(_DEADLINE, exit=True, file=sys.__stderr__)
        rng = random.Random(f"{seed()}/{target.name}/{number}")
        try:
            with warnings.catch_warnings(), watched():
                warnings.simplefilter("ignore")
                accepted = target.check(rng, folder)
        except (Exception, Hang) as error:
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            line = f"{where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where else ""
            again = f"BAYESPOOL_FUZZ_SEED={seed()} target {target.name}, number {number}"
            outcome.found.append(f"{again}: {type(error).__name__}: {str(error)[:2000]} ({line})")
            continue
        if accepted:
            outcome.accepted += 1
        else:
            outcome.refused += 1
    faulthandler.cancel_dump_traceback_later()
    outcome.seconds = time.monotonic() - begin
    return outcome


@contextmanager
def watched(seconds: float = SECONDS_OF_AN_INPUT) -> Iterator[None]:
    """Raise `Hang` in what takes longer."""

    def too_long(_: int, frame: FrameType | None) -> None:
        raise Hang(f"longer than {seconds:g} s, at {frame.f_code if frame else 'an unknown place'}")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def refused() -> Iterator[None]:
    """Pass over what the package refuses on purpose, which has to say why."""
    try:
        yield
    except BayespoolError as error:
        assert str(error).strip(), "an error without a word"
        str(error).encode("utf-8", "backslashreplace")


def peak_mib() -> float:
    """The most memory that this process had, in MiB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1 << 20 if sys.platform == "darwin" else 1 << 10)


TOKENS = [
    b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\v", b"\f", b"\0", b"\x1b[31m", b"\x85", b"\xff", b"\xe9",
    b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe2\x80\x87", b"\xe2\x80\xaf", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
    b"0", b"-0", b"+1", b"-1", b"1e-3", b"1e400", b"-1e400", b"1e-400", b"0x10", b"1_0", b"1.", b".5", b".",
    b"nan", b"NaN", b"-nan", b"inf", b"-Infinity", b"INF", b"null", b"NA", b"None", b"true", b"1,5", b"1d3",
    b"32767", b"32768", b"-32768", b"-32769", b"2147483647", b"2147483648", b"9" * 30, b"1" + b"0" * 400,
    b'"', b"''", b'""', b",", b";", b"\\", b"#", b"<", b">", b"&amp;", b"<!--", b"<![CDATA[", b"]]>", b"%s",
    b"Q0", b"tag", b"run_id", b"organization", b"type", b"=1+1", b"@x", b"../..", "٣".encode(), "é".encode(),
    b"\x1c", b"\x1d", b"\x1f", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8", b"0.30000000000000004", b"1e", b"e5",
]  # fmt: skip


def mutated(rng: random.Random, data: bytes, *, most: int = 4) -> bytes:
    """Bytes with some changes: tokens put in, parts taken out, doubled, moved, bits turned, the end cut."""
    changed = bytearray(data)
    for _ in range(rng.randint(0, most)):
        size = len(changed)
        at = rng.randint(0, size)
        end = min(size, at + rng.choice((1, 1, 2, 5, 20, 100)))
        match rng.randrange(10):
            case 0 | 1 | 2:
                changed[at:at] = rng.choice(TOKENS)
            case 3 | 4:
                start, stop = _word(changed, at)
                changed[start:stop] = rng.choice(TOKENS)
            case 5:
                del changed[at:end]
            case 6:
                changed[at:at] = changed[at:end] * rng.choice((1, 1, 3))
            case 7:
                if size:
                    changed[rng.randrange(size)] ^= 1 << rng.randrange(8)
            case 8:
                lines = changed.split(b"\n")
                i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
                if rng.random() < 0.5:
                    lines[i], lines[j] = lines[j], lines[i]
                else:
                    lines.insert(i, lines[j])
                changed = bytearray(b"\n".join(lines))
            case 9:
                if rng.random() < 0.3:
                    del changed[at:]
    return bytes(changed)


def _word(data: bytearray, at: int) -> tuple[int, int]:
    """Bounds of the word around a place."""
    blanks = b" \t\n\r\v\f,"
    start, stop = at, at
    while start > 0 and data[start - 1] not in blanks:
        start -= 1
    while stop < len(data) and data[stop] not in blanks:
        stop += 1
    return start, stop
