"""The HTTP API: parse, authorise, hand to the engine, render. No rule about questions lives here."""
