"""How much memory there is, and what to say where work takes more."""

from __future__ import annotations

import os

from bayespool.errors import InputError, MemoryWarning, warn_caller
from bayespool.tables.files import read_back

_COPIES = 4  # what is worked out passes through copies: four times as much was seen, and more


def free_memory() -> int | None:
    """Bytes that this process may still take, swap included; None where the system does not say.

    The smallest of what the system has, what is left to a container, and what the process's own limit leaves.
    """
    found = [n for n in (_of_system(), _of_container(), _of_process()) if n is not None]
    return min(found) if found else None


def check_memory(n_bytes: int, what: str, hint: str) -> None:
    """Refuse work that takes more memory than there is, before it begins.

    Parameters
    ----------
    n_bytes : int
        What it takes at the least.
    what : str
        What takes it, in the plural.
    hint : str
        What to do about it.

    Raises
    ------
    InputError
        There is less.

    Warns
    -----
    MemoryWarning
        There is less than four times as much, and work may take that.
    """
    free = free_memory()
    if free is None or n_bytes * _COPIES <= free:
        return
    there = f"{what} take {_mib(n_bytes)} of memory at least, and {_mib(free)} are free"
    if n_bytes > free:
        raise InputError(there, hint=hint)
    warn_caller(f"{there}; should it run out, {hint}", MemoryWarning)


def _mib(n_bytes: int) -> str:
    return f"{-(-n_bytes // 2**20):,} MiB"


def _of_system() -> int | None:
    kib = {}
    for line in (read_back("/proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        kib[name] = int(rest.split()[0])
    return (kib["MemAvailable"] + kib.get("SwapFree", 0)) << 10 if "MemAvailable" in kib else None


def _of_container() -> int | None:
    most, taken = (read_back(f"/sys/fs/cgroup/memory.{name}") or "" for name in ("max", "current"))
    return max(0, int(most) - int(taken)) if most.strip().isdigit() and taken.strip().isdigit() else None


def _of_process() -> int | None:
    if os.name != "posix":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    taken = (read_back("/proc/self/statm") or "").split()
    if limit == resource.RLIM_INFINITY or not taken:
        return None
    return max(0, limit - int(taken[0]) * resource.getpagesize())
