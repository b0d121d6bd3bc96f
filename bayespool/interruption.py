"""Ctrl-C: an end with status 130 at any moment, with no file half-written.

Python's exception would be raised wherever Python happens to be. Inside numba it aborts the process or is
lost, and in a long computation in C it waits for the end.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = [
    "INTERRUPTED",
    "NOTHING_WRITTEN",
    "before_workers",
    "describe_interruption",
    "end_at_interrupt",
    "held_back",
    "keeping",
    "leave",
]

INTERRUPTED = 130  # as shells have it
NOTHING_WRITTEN = "nothing was written"
_SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"  # a progress bar hides it

renaming = threading.Lock()
"""Held while files are made and get their names, and by what else Ctrl-C waits for."""
temporary: set[str] = set()
"""Files to remove at Ctrl-C."""
written: list[str] = []
"""Files that are finished."""
ends_process = False
"""Whether Ctrl-C ends the process, so that nothing else has to listen to it."""
_describe: list[Callable[[], str]] = []


@contextlib.contextmanager
def keeping(describe: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C say what is kept of the work inside the block."""
    _describe.append(describe)
    try:
        yield
    except KeyboardInterrupt as error:  # where Ctrl-C is an exception
        error.add_note(describe_interruption())
        raise
    finally:
        _describe.pop()


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, where its exception would be lost or end the process."""
    if ends_process or threading.current_thread() is not threading.main_thread():
        yield
        return
    if not callable(former := signal.getsignal(signal.SIGINT)):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
        if came:
            former(*came[0])


def describe_interruption(error: BaseException | None = None) -> str:
    """Return the sentence about Ctrl-C, for an exception the one of the work that it ended."""
    if notes := getattr(error, "__notes__", ()):
        return str(notes[0])
    kept = f"written before: {', '.join(written)}" if written else NOTHING_WRITTEN
    text = f"interrupted; {_describe[-1]() if _describe else kept}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def end_at_interrupt() -> None:
    """Make Ctrl-C end the process from a thread of its own. A command calls it, in its main thread."""
    if sys.platform == "win32" or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    global ends_process
    ends_process = True
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, lambda *_: None)
    threading.Thread(target=_wait, args=(reading, writing), daemon=True).start()


def before_workers() -> None:
    """Make worker processes that the calling thread starts end silently, and what keeps account of them."""
    if not ends_process:
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as of_joblib

    former, (reading, closed) = os.dup(2), os.pipe()
    os.close(reading)
    with renaming:  # Ctrl-C waits, so that it has something to speak to
        os.dup2(closed, 2)  # trackers would name on the terminal what ended workers left
        of_joblib.ensure_running()
        resource_tracker.ensure_running()  # unblocks the signal before Python 3.12
        os.dup2(former, 2)
    os.close(former)
    os.close(closed)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # workers inherit it


def _wait(reading: int, writing: int) -> None:
    while os.read(reading, 1) != bytes([signal.SIGINT]):
        pass  # another signal
    with renaming:
        for path in tuple(temporary):
            with contextlib.suppress(OSError):
                os.unlink(path)
        with contextlib.suppress(OSError, ValueError):
            line = f"{describe_interruption()}\n".encode(sys.stderr.encoding, "backslashreplace")
            ours = os.dup(2)
            os.dup2(writing, 2)  # where nobody hears what the main thread says, of its workers' end or else
            select.select([], [ours], [], 0.5)  # a pipe that nobody reads may be full
            os.write(ours, _SHOW_CURSOR + line if os.isatty(ours) else line)
        ending = threading.Thread(target=_end_workers, daemon=True)
        ending.start()
        ending.join(1)
        os._exit(INTERRUPTED)


def _end_workers() -> None:
    """End worker processes, and remove what was shared with them."""
    if "multiprocessing" in sys.modules:
        from multiprocessing import active_children

        for worker in active_children():
            if worker.pid:
                os.kill(worker.pid, signal.SIGKILL)
    atexit._run_exitfuncs()


def leave(status: int) -> None:
    """End the process before Python takes itself down.

    Commands now and then aborted there (status 134); no core dump has shown why.
    """
    _end_workers()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    with renaming:
        os._exit(status)
