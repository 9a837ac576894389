"""The terminal that `serve` runs in, as a surface: questions scroll by as they come and as they settle."""
