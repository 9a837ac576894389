"""The `handraise` command."""

from handraise.cli.app import main

__all__ = ["main"]
