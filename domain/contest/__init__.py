"""Contests: seeks and tournaments, by which people find matches. Each is an aggregate of its own; matches know none."""
