"""Puzzles mined from games of the opponents against themselves: a command of development."""
