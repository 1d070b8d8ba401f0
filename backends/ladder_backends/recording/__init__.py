"""Recording and replay of an engine's streams, at transport level."""
