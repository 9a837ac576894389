"""`python -m handraise` is the `handraise` command."""

from handraise.cli import main

main()
