"""Contests in the store: seeks and tournaments, executed and listed; and the matches that they start."""
