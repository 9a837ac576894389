"""The composition root: settings, wiring, the HTTP API, the metronome and the command line."""
