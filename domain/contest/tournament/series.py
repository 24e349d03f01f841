"""Series: tournaments each of which announces the next one when it starts."""

from dataclasses import replace

from domain.contest.tournament.state import TournamentState, TournamentStatus
from domain.contest.tournament.terms import TournamentTerms
from domain.match.terms import DAY

MIN_LEAD_MS = 7 * DAY
"""From the announcement of a further tournament to its start: one that comes too late for that is left out."""


def next_terms(state: TournamentState, now: int) -> TournamentTerms | None:
    """Return the terms of the tournament that follows in the series; None without one, or before the start.

    It starts whole periods after the start in the terms, or after ``now`` if it has started earlier, being full.
    """
    weeks = state.terms.repeat_weeks
    if weeks is None or state.status not in (TournamentStatus.RUNNING, TournamentStatus.ENDED):
        return None
    period = 7 * weeks * DAY
    start = min(state.terms.starts_at, now) + period
    while start < now + MIN_LEAD_MS:
        start += period
    later = start - state.terms.starts_at
    return replace(state.terms, starts_at=start, latest_end=state.terms.latest_end + later)
