"""Contests in the store: seeks and tournaments, executed and listed; and the matches that they start.

- ``contests`` executes commands on those of one kind; ``lists`` are their read models; ``audit`` decides again.
- ``seeks`` and ``tournaments`` do what follows from events, and ``starting`` begins their matches.
- ``play_history``: the recent matches of a person, by which others decide whether to play them.
"""
