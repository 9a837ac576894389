"""Signing in: against a real OpenID provider on the loopback, well-behaved and otherwise."""
