"""Run the command line with ``python -m bayespool``."""

from bayespool.cli import main

if __name__ == "__main__":
    main()
