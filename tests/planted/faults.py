"""All planted faults, by name."""

from __future__ import annotations

from planted import beginnings, breadth, estimates, results
from planted.fault import Fault

__all__ = ["FAULTS"]

FAULTS: tuple[Fault, ...] = (*beginnings.FAULTS, *estimates.FAULTS, *results.FAULTS, *breadth.FAULTS)
