"""The match after flags, pauses, gifts and corrections of time."""

from dataclasses import replace

from domain.match import clock as clocks, events as e, positions
from domain.match.enums import Limit
from domain.match.evolutions.moves import reopened
from domain.match.evolutions.offers import counted
from domain.match.state import Dispute, Fallen, MatchResult, MatchState
from domain.vector import with_value


def flag_fell(state: MatchState, event: e.FlagFell) -> MatchState:
    """Return the match without the seat whose time was up; as it is when the first move was not made in time."""
    fallen = Fallen(seat=event.seat, deadline=event.deadline, at=event.at)
    state = replace(state, result=replace(state.result, fallen=fallen))
    return state if event.limit == Limit.FIRST_MOVE else positions.without_seat(state, event.seat, event.at)


def flag_forgiven(state: MatchState, event: e.FlagForgiven) -> MatchState:
    """Return the match as it goes on after a flag."""
    fallen = state.result.fallen
    if fallen is None:
        raise ValueError(f"match {state.match_id} forgives at version {state.version + 1} a flag that did not fall")
    state = reopened(state)
    return state.on_clock(clocks.forgive, fallen.seat, positions.to_move(state), event.at)


def clock_paused(state: MatchState, event: e.ClockPaused) -> MatchState:
    """Return the match with one more pause of its clock."""
    pause = clocks.Pause(reason=event.reason, seat=event.seat, since=event.since, until=event.until)
    return state.on_clock(clocks.pause, pause)


def clock_resumed(state: MatchState, event: e.ClockResumed) -> MatchState:
    """Return the match with its pauses for the reason ended."""
    return state.on_clock(clocks.resume, event.reason, event.seat, event.at)


def time_given(state: MatchState, event: e.TimeGiven) -> MatchState:
    """Return the match with more time for the seat that was given it."""
    gifts = with_value(state.offers.gifts, event.seat, state.offers.gifts[event.seat] + 1)
    state = replace(state, offers=replace(counted(state.offers, event.seat), gifts=gifts))
    return state.on_clock(clocks.give, event.to, event.time)


def clocks_adjusted(state: MatchState, event: e.ClocksAdjusted) -> MatchState:
    """Return the match with the times that an arbiter has set."""
    return state.on_clock(clocks.adjust, event.remaining, event.at)


def time_corrected(state: MatchState, event: e.TimeCorrected) -> MatchState:
    """Return the match without any instant after that of the event."""
    at = event.at
    state = replace(
        state,
        created_at=min(state.created_at, at),
        result=_corrected_result(state.result, at),
        cases=replace(state.cases, disputes=tuple(_corrected_dispute(dispute, at) for dispute in state.cases.disputes)),
    )
    return state.on_clock(clocks.correct, at)


def _corrected_result(result: MatchResult, at: int) -> MatchResult:
    fallen, annulled = result.fallen, result.annulled
    return replace(
        result,
        ended_at=_at_most(result.ended_at, at),
        fallen=None if fallen is None else replace(fallen, at=min(fallen.at, at)),
        annulled=None if annulled is None else replace(annulled, ended_at=_at_most(annulled.ended_at, at)),
    )


def _corrected_dispute(dispute: Dispute, at: int) -> Dispute:
    rulings = tuple(replace(ruling, at=min(ruling.at, at)) for ruling in dispute.rulings)
    return replace(dispute, raised_at=min(dispute.raised_at, at), rulings=rulings)


def _at_most(instant: int | None, at: int) -> int | None:
    return None if instant is None else min(instant, at)
