"""Matches: the one way in which commands are executed and time is kept, long work, and the read models."""
