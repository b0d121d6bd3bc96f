"""Help of a command that takes names of estimators or strategies: it ends with what the names are."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["CommandWithEstimators"]


class CommandWithEstimators(TyperCommand):
    """A command whose help lists the registered estimators, if it has the option ``--estimators``, or the
    posteriors among them, if it has ``--estimator``; and the pooling strategies, if it has ``--strategies``
    or ``--strategy``.

    They are looked up when the help is printed, so that other commands and other help need not load them.
    """

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the names below the options."""
        super().format_epilog(ctx, formatter)
        asked = {parameter.name for parameter in self.params} & {"estimators", "estimator"}
        if asked:
            from bayespool.estimators import ESTIMATOR_NAMES, ESTIMATORS

            kinds = ("point", "posterior") if "estimators" in asked else ("posterior",)
            entries = [ESTIMATORS[name] for name in ESTIMATOR_NAMES]
            with formatter.section("Estimators"):
                formatter.write_dl([(one.name, one.description) for one in entries if one.kind in kinds])
        if {parameter.name for parameter in self.params} & {"strategies", "strategy"}:
            from bayespool.pooling import STRATEGIES

            with formatter.section("Strategies"):
                formatter.write_dl([(one.name, one.description) for one in STRATEGIES.values()])
