"""Contests in the store: seeks and tournaments, executed and listed; and the matches that they start.

- ``contests`` executes commands on those of one kind; ``lists`` are their read models; ``audit`` decides again.
- ``seeks`` and ``tournaments`` carry out the effects of events, ``starting`` begins their matches, and ``outcomes``
  tells how these end.
- ``play_history``: the recent matches of a person, by which others decide whether to play them.
"""
