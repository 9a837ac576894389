"""Tests of the client: its pure parts, and the real command as a process against a stand-in server."""
