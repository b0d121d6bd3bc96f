"""Help of a command that takes names of estimators: it ends with what the names are."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["CommandWithEstimators"]


class CommandWithEstimators(TyperCommand):
    """A command whose help lists the registered estimators, if it has the option ``--estimators``.

    They are looked up when the help is printed, so that other commands and other help need not load them.
    """

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the names below the options."""
        super().format_epilog(ctx, formatter)
        if any(parameter.name == "estimators" for parameter in self.params):
            from bayespool.estimators import ESTIMATOR_NAMES, ESTIMATORS

            with formatter.section("Estimators"):
                formatter.write_dl([(name, ESTIMATORS[name].description) for name in ESTIMATOR_NAMES])
