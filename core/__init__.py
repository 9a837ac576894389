"""The question engine: pure rules first, then a thin shell around them. No framework, no SDK, no I/O."""
