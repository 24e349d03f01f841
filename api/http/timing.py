"""How time looks to callers: instants as RFC 3339, durations in whole seconds, and terms and clocks made of them."""

from dataclasses import asdict
from typing import Any

from domain.games import find_ruleset
from domain.match import clock as clocks
from domain.match import terms as match_terms
from domain.match.clock_words import in_words
from domain.match.enums import Limit, PauseReason, Status
from domain.match.state import MatchState
from domain.match.terms import Terms
from domain.match.timekeeping import FORGIVABLE_FOR
from events.runtime.wall_clock import rfc3339

SECOND = 1000
"""Milliseconds."""

FLAG = "flag"
ABORT = "abort"


def instant(at: int | None) -> str | None:
    """Return ``at`` as ``rfc3339`` does, None for None."""
    return None if at is None else rfc3339(at)


def terms(agreed: Terms) -> dict[str, Any]:
    """Return terms as they can be agreed on, with their durations in seconds, and all of them in words."""
    agreeable = asdict(agreed)
    del agreeable["whole_turns"]
    return {
        **agreeable,
        "bank": agreed.bank // SECOND,
        "increment": agreed.increment // SECOND,
        "cap": agreed.cap // SECOND,
        "ceiling": None if agreed.ceiling is None else agreed.ceiling // SECOND,
        "first_move": agreed.first_move // SECOND,
        "words": list(match_terms.in_words(agreed)),
    }


def clock(state: MatchState, now: int) -> dict[str, Any] | None:
    """Return the clocks of a match as they are at ``now``; None for a match from before there were clocks."""
    if state.clock is None:
        return None
    running = state.clock
    expected = clocks.forecast(running)
    return {
        "seats": [_seat(running, seat, now) for seat in range(len(state.seats))],
        "forecast": None if expected is None else _forecast(running, expected),
        "words": [] if expected is None else list(in_words(running, now, _name(state, expected.seat))),
        "as_of": rfc3339(now),
    }


def fallen(state: MatchState) -> dict[str, Any] | None:
    """Return the flag that has fallen last, and until when the winner may forgive it (None: nobody may)."""
    if state.fallen is None:
        return None
    forgivable = state.status == Status.FINISHED and len(state.seats) == 2
    return {
        "seat": state.fallen.seat,
        "deadline": rfc3339(state.fallen.deadline),
        "at": rfc3339(state.fallen.at),
        "forgivable_until": rfc3339(state.fallen.at + FORGIVABLE_FOR) if forgivable else None,
    }


def _name(state: MatchState, seat: int) -> str:
    return find_ruleset(state.game, state.ruleset).setups[state.setup].seat_names[seat]


def _seat(running: clocks.Clock, seat: int, now: int) -> dict[str, Any]:
    held = clocks.pauses_at(running, seat, now)
    ahead = [pause for pause in running.pauses if pause.seat in (None, seat) and pause.since > now]
    return {
        "seat": seat,
        "left": clocks.left(running, seat, now) // SECOND,
        "running": running.seat == seat and not held,
        "paused": [{"reason": pause.reason, "until": instant(pause.until)} for pause in held],
        "announced": [
            {"reason": pause.reason, "since": rfc3339(pause.since), "until": instant(pause.until)} for pause in ahead
        ],
        "on_vacation": any(pause.reason == PauseReason.VACATION for pause in held),
    }


def _forecast(running: clocks.Clock, expected: clocks.Forecast) -> dict[str, Any]:
    return {
        "seat": expected.seat,
        "at": instant(expected.at),
        "limit": expected.limit,
        "verdict": ABORT if expected.limit == Limit.FIRST_MOVE else FLAG,
        "by_itself_at": instant(clocks.falls_at(running)),
    }
