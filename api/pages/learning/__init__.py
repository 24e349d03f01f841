"""Learning: figures that can be played, first steps of each game, and puzzles."""

from api.pages.learning import pages

__all__ = ["pages"]
