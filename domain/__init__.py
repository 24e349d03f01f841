"""The pure rules of play: standard library only, no clock, no randomness, no I/O."""
