"""How events make the state of a match. No rule about who may do what stands here."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from domain.match import clock as clocks
from domain.match import events as e
from domain.match import positions
from domain.match.casework import CASEWORK
from domain.match.enums import EndReason, Limit, RulingKind, Status
from domain.match.state import (
    Dispute,
    Ended,
    Fallen,
    MatchState,
    Takeback,
    replaced,
)


def evolve(state: MatchState | None, event: e.Event, match: str = "") -> MatchState:
    """Return the state after ``event``; ``match`` is the id that the first event of a stream belongs to.

    A match that the rules cannot follow (a ruleset that is not installed, a recorded move that is not legal) is not an
    error: it is ``broken`` from there on. Raises ValueError when the first event is not the creation of a match or a
    later one is.
    """
    if isinstance(event, e.MatchCreated):
        if state is not None:
            raise ValueError(f"match {state.match} is created a second time at version {state.version + 1}")
        return _created(event, match)
    if state is None:
        raise ValueError(f"the stream of match {match!r} does not begin with its creation")
    if isinstance(event, e.MoveSubmitted):
        return _moved(state, event)
    changed: MatchState = _EVOLUTIONS[type(event)](state, event)
    return changed._replace(version=state.version + 1, updated_at=event.at)


def replay(match: str, events: Iterable[e.Event], state: MatchState | None = None) -> MatchState | None:
    """Return the state after ``events``, which follow ``state``; None when there are none at all."""
    for event in events:
        state = evolve(state, event, match)
    return state


def _created(event: e.MatchCreated, match: str) -> MatchState:
    created = MatchState(
        match=match,
        version=1,
        creator=event.creator,
        game=event.game,
        ruleset=event.ruleset,
        setup=event.setup,
        seats=event.seats,
        rated=event.rated,
        private=event.private,
        seed=event.seed,
        status=Status.OPEN,
        created_at=event.at,
        updated_at=event.at,
        position=None,
        offered_at=(None,) * len(event.seats),
        last_ply=(0,) * len(event.seats),
        asked_at=(None,) * len(event.seats),
        wishes=(0,) * len(event.seats),
        gifts=(0,) * len(event.seats),
        terms=event.terms,
        clock=None if event.terms is None else clocks.new_clock(event.terms, len(event.seats)),
        rematch_of=event.rematch_of,
    )
    return positions.with_start(created)


def _joined(state: MatchState, event: e.PlayerJoined) -> MatchState:
    seat = replace(state.seats[event.seat], player=event.player, joined=True)
    return state._replace(seats=replaced(state.seats, event.seat, seat))


def _started(state: MatchState, event: e.MatchStarted) -> MatchState:
    state = state._replace(status=Status.PLAYING)
    return state.on_clock(clocks.started, positions.to_move(state), event.at)


def _moved(state: MatchState, event: e.MoveSubmitted) -> MatchState:
    # Nearly all events are moves, and a copy of the state costs more than the rest: all but the clock is one copy.
    state = positions.with_move(
        state,
        event.move,
        event.at,
        version=state.version + 1,
        updated_at=event.at,
        last_ply=replaced(state.last_ply, event.seat, event.ply),
        channels=state.channels + (event.channel,),  # noqa: RUF005 - twice as fast, and it may have thousands
        draw_agreed=state.draw_agreed if event.seat in state.draw_agreed else (),
        takeback=None,
        gifts=(0,) * len(state.seats),
    )
    if positions.is_mid_turn(state):
        return state
    return state.on_clock(clocks.moved, event.seat, positions.to_move(state), event.at)


def _taken_back(state: MatchState, event: e.MovesTakenBack) -> MatchState:
    state = positions.taken_back(state, event.ply)
    state = state._replace(
        channels=state.channels[: state.plies],
        status=Status.PLAYING,
        scores=None,
        reason=None,
        ended_at=None,
        fallen=None,
        draw_agreed=(),
        takeback=None,
        taken_back=state.taken_back + 1,
        left_ply=min(state.left_ply, event.ply),
        offered_at=tuple(None if at is None else min(at, event.ply) for at in state.offered_at),
        asked_at=tuple(None if at is None else min(at, event.ply) for at in state.asked_at),
        disputes=tuple(
            each if each.settled is None else replace(each, settled=min(each.settled, event.ply))
            for each in state.disputes
        ),
    )
    by_ruling = any(
        (ruling.ruling, ruling.at) == (RulingKind.TAKE_BACK, event.at)
        for each in state.disputes
        for ruling in each.rulings
    )
    return state.on_clock(clocks.revived if by_ruling else clocks.passed, positions.to_move(state), event.at)


def _seed_drawn(state: MatchState, event: e.SeedDrawn) -> MatchState:
    return state._replace(seed=event.seed)


def _takeback_requested(state: MatchState, event: e.TakebackRequested) -> MatchState:
    asked_at = replaced(state.asked_at, event.seat, len(state.moves))
    state = _wished(state, event.seat)
    return state._replace(takeback=Takeback(seat=event.seat, ply=event.ply, agreed=(event.seat,)), asked_at=asked_at)


def _takeback_accepted(state: MatchState, event: e.TakebackAccepted) -> MatchState:
    if state.takeback is None:
        raise ValueError(f"match {state.match} accepts at version {state.version + 1} what nobody has asked for")
    takeback = replace(state.takeback, agreed=(*state.takeback.agreed, event.seat))
    return state._replace(takeback=takeback)


def _takeback_declined(state: MatchState, _: e.TakebackDeclined) -> MatchState:
    return state._replace(takeback=None)


def _wished(state: MatchState, seat: int) -> MatchState:
    return state._replace(wishes=replaced(state.wishes, seat, state.wishes[seat] + 1))


def _draw_offered(state: MatchState, event: e.DrawOffered) -> MatchState:
    return _wished(state, event.seat)._replace(
        draw_agreed=(event.seat,), offered_at=replaced(state.offered_at, event.seat, len(state.moves))
    )


def _draw_accepted(state: MatchState, event: e.DrawAccepted) -> MatchState:
    return state._replace(draw_agreed=(*state.draw_agreed, event.seat))


def _draw_declined(state: MatchState, _: e.DrawDeclined) -> MatchState:
    return state._replace(draw_agreed=())


def _resigned(state: MatchState, event: e.PlayerResigned) -> MatchState:
    return positions.without_seat(state, event.seat, event.at)


def _flag_fell(state: MatchState, event: e.FlagFell) -> MatchState:
    state = state._replace(fallen=Fallen(seat=event.seat, deadline=event.deadline, at=event.at))
    return state if event.limit == Limit.FIRST_MOVE else positions.without_seat(state, event.seat, event.at)


def _flag_forgiven(state: MatchState, event: e.FlagForgiven) -> MatchState:
    if state.fallen is None:
        raise ValueError(f"match {state.match} forgives at version {state.version + 1} a flag that did not fall")
    fallen = state.fallen.seat
    state = state._replace(status=Status.PLAYING, scores=None, reason=None, ended_at=None, fallen=None)
    return state.on_clock(clocks.forgiven, fallen, positions.to_move(state), event.at)


def _aborted(state: MatchState, event: e.MatchAborted) -> MatchState:
    state = state._replace(
        status=Status.ABORTED, reason=EndReason.ABORTED, ended_at=event.at, draw_agreed=(), takeback=None
    )
    return state.on_clock(clocks.stopped, event.at)


def _finished(state: MatchState, event: e.MatchFinished) -> MatchState:
    state = state._replace(
        status=Status.FINISHED,
        scores=event.scores,
        reason=event.reason,
        ended_at=event.at,
        fallen=None if event.reason == EndReason.RULING else state.fallen,
        annulled=None,
        draw_agreed=(),
        takeback=None,
    )
    return state.on_clock(clocks.stopped, event.at)


def _calendar_set(state: MatchState, event: e.CalendarSet) -> MatchState:
    return state.on_clock(clocks.with_calendar, event.seat, event.calendar, event.at)


def _clock_paused(state: MatchState, event: e.ClockPaused) -> MatchState:
    return state.on_clock(
        clocks.paused, clocks.Pause(reason=event.reason, seat=event.seat, since=event.since, until=event.until)
    )


def _clock_resumed(state: MatchState, event: e.ClockResumed) -> MatchState:
    return state.on_clock(clocks.resumed, event.reason, event.seat, event.at)


def _time_corrected(state: MatchState, event: e.TimeCorrected) -> MatchState:
    at = event.at
    state = state._replace(
        created_at=min(state.created_at, at),
        ended_at=None if state.ended_at is None else min(state.ended_at, at),
        fallen=None if state.fallen is None else replace(state.fallen, at=min(state.fallen.at, at)),
        annulled=None if state.annulled is None else _ended_by(state.annulled, at),
        disputes=tuple(_raised_by(dispute, at) for dispute in state.disputes),
    )
    return state.on_clock(clocks.corrected, at)


def _ended_by(ended: Ended, at: int) -> Ended:
    return ended if ended.ended_at is None else replace(ended, ended_at=min(ended.ended_at, at))


def _raised_by(dispute: Dispute, at: int) -> Dispute:
    rulings = tuple(replace(ruling, at=min(ruling.at, at)) for ruling in dispute.rulings)
    return replace(dispute, raised_at=min(dispute.raised_at, at), rulings=rulings)


def _time_given(state: MatchState, event: e.TimeGiven) -> MatchState:
    gifts = replaced(state.gifts, event.seat, state.gifts[event.seat] + 1)
    return _wished(state, event.seat)._replace(gifts=gifts).on_clock(clocks.given, event.to, event.time)


_EVOLUTIONS: dict[type[e.Event], Callable[[MatchState, Any], MatchState]] = {
    e.PlayerJoined: _joined,
    e.MatchStarted: _started,
    e.DrawOffered: _draw_offered,
    e.DrawAccepted: _draw_accepted,
    e.DrawDeclined: _draw_declined,
    e.PlayerResigned: _resigned,
    e.MatchAborted: _aborted,
    e.MatchFinished: _finished,
    e.CalendarSet: _calendar_set,
    e.ClockPaused: _clock_paused,
    e.ClockResumed: _clock_resumed,
    e.TimeCorrected: _time_corrected,
    e.TimeGiven: _time_given,
    e.FlagFell: _flag_fell,
    e.FlagForgiven: _flag_forgiven,
    e.TakebackRequested: _takeback_requested,
    e.TakebackAccepted: _takeback_accepted,
    e.TakebackDeclined: _takeback_declined,
    e.MovesTakenBack: _taken_back,
    e.SeedDrawn: _seed_drawn,
    **CASEWORK,
}
