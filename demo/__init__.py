"""The example agents of `make demo`, which know nothing but the SDK."""
