"""Puzzles: their solutions and ``lines``, which a search finds and confirms, and the ``attempts`` of people at them."""
