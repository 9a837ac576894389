"""Signing and checking decision receipts: the instance's key and epoch in its data folder, and the verifier."""
