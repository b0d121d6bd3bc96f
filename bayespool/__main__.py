"""``python -m bayespool`` is the command line."""

from bayespool.cli import main

if __name__ == "__main__":
    main()
