"""Free memory, and refusal of work that needs more."""

from __future__ import annotations

import os

from bayespool.errors import InputError, MemoryWarning, warn_caller
from bayespool.tables.files import read_back

_PEAK_PER_RESULT = 4  # intermediate copies took four times the bytes of a result, and more


def free_memory() -> int | None:
    """Bytes that system, container and process limits leave to this process, swap included; None if
    unknown.
    """
    limits = [n for n in (_of_system(), _of_container(), _of_process()) if n is not None]
    return min(limits) if limits else None


def check_memory(n_bytes: int, subject: str, hint: str) -> None:
    """Refuse work that needs more bytes than are free; warn if a multiple of that might not suffice."""
    free = free_memory()
    if free is None or n_bytes * _PEAK_PER_RESULT <= free:
        return
    message = f"{subject} take {_mib(n_bytes)} of memory at least, and {_mib(free)} are free"
    if n_bytes > free:
        raise InputError(message, hint=hint)
    warn_caller(f"{message}; should it run out, {hint}", MemoryWarning)


def _mib(n_bytes: int) -> str:
    return f"{-(-n_bytes // 2**20):,} MiB"


def _of_system() -> int | None:
    kib = {}
    for line in (read_back("/proc/meminfo") or "").splitlines():
        name, _, rest = line.partition(":")
        kib[name] = int(rest.split()[0])
    return (kib["MemAvailable"] + kib.get("SwapFree", 0)) << 10 if "MemAvailable" in kib else None


def _of_container() -> int | None:
    limit, used = (read_back(f"/sys/fs/cgroup/memory.{name}") or "" for name in ("max", "current"))
    return max(0, int(limit) - int(used)) if limit.strip().isdigit() and used.strip().isdigit() else None


def _of_process() -> int | None:
    if os.name != "posix":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = (read_back("/proc/self/statm") or "").split()
    if limit == resource.RLIM_INFINITY or not used:
        return None
    return max(0, limit - int(used[0]) * resource.getpagesize())
