"""Matches: the one way in which commands are executed and time is kept, long work, and the read models.

``match_service`` executes commands on ``matches``, after ``bot_admission``; ``timekeeper`` takes the steps due by time,
by the heartbeat of ``outages``; ``jobs`` and ``fleet_jobs`` are long work, such as ``reviews``, ``evaluations`` and
``animations``; ``thoughts`` are the turns of opponents that think for long; ``readmodels`` has lists, summaries and
ratings.
"""
