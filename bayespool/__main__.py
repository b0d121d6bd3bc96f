"""Run the command line with ``python -m bayespool``."""

import sys

from bayespool.interruption import end_at_interrupt, leave

__all__ = ["main"]


def main() -> None:
    """Run the command line, and end the process with its status (`bayespool.cli.main`)."""
    end_at_interrupt()
    status: object = 1
    try:
        from bayespool.cli import main as run

        run()
    except SystemExit as end:
        status = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    leave(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    main()
