"""How events make the state of a match. No rule about who may do what stands here."""

from collections.abc import Callable, Iterable
from typing import Any

from domain.games import find_ruleset
from domain.match import events as e
from domain.match.state import ABORTED, FINISHED, OPEN, PLAYING, MatchState


def evolve(state: MatchState | None, event: e.Event, match: str = "") -> MatchState:
    """Return the state after ``event``; ``match`` is the id that the first event of a stream belongs to.

    Raises UnknownRuleset for a game that this installation does not have, RulesError when a recorded move cannot be
    replayed, and ValueError when the first event is not the creation of a match or a later one is.
    """
    if isinstance(event, e.MatchCreated):
        if state is not None:
            raise ValueError(f"match {state.match} is created a second time at version {state.version + 1}")
        return _created(event, match)
    if state is None:
        raise ValueError(f"the stream of match {match!r} does not begin with its creation")
    changed: MatchState = _EVOLUTIONS[type(event)](state, event)
    return changed._replace(version=state.version + 1, updated_at=event.at)


def replay(match: str, events: Iterable[e.Event], state: MatchState | None = None) -> MatchState | None:
    """Return the state after ``events``, which follow ``state``; None when there are none at all."""
    for event in events:
        state = evolve(state, event, match)
    return state


def _created(event: e.MatchCreated, match: str) -> MatchState:
    return MatchState(
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
        status=OPEN,
        created_at=event.at,
        updated_at=event.at,
        position=find_ruleset(event.game, event.ruleset).initial(event.setup),
        offered_at=(None,) * len(event.seats),
        last_ply=(0,) * len(event.seats),
    )


def _joined(state: MatchState, event: e.PlayerJoined) -> MatchState:
    seat = state.seats[event.seat]._replace(player=event.player, joined=True)
    return state._replace(seats=_with(state.seats, event.seat, seat))


def _started(state: MatchState, _: e.MatchStarted) -> MatchState:
    return state._replace(status=PLAYING)


def _moved(state: MatchState, event: e.MoveSubmitted) -> MatchState:
    game = find_ruleset(state.game, state.ruleset)
    move = game.parse_move(state.position, event.move)
    return state._replace(
        position=game.play(state.position, move),
        history=(*state.history, state.position),
        moves=(*state.moves, event.move),
        last_ply=_with(state.last_ply, event.seat, event.ply),
        draw_agreed=state.draw_agreed if event.seat in state.draw_agreed else (),
    )


def _draw_offered(state: MatchState, event: e.DrawOffered) -> MatchState:
    return state._replace(draw_agreed=(event.seat,), offered_at=_with(state.offered_at, event.seat, len(state.moves)))


def _draw_accepted(state: MatchState, event: e.DrawAccepted) -> MatchState:
    return state._replace(draw_agreed=(*state.draw_agreed, event.seat))


def _draw_declined(state: MatchState, _: e.DrawDeclined) -> MatchState:
    return state._replace(draw_agreed=())


def _resigned(state: MatchState, event: e.PlayerResigned) -> MatchState:
    going_on = find_ruleset(state.game, state.ruleset).withdraw(state.position, event.seat)
    if going_on is None:
        return state
    # The position before can never stand again, so that it is no part of the history: that has one for every ply.
    return state._replace(position=going_on, draw_agreed=())


def _aborted(state: MatchState, _: e.MatchAborted) -> MatchState:
    return state._replace(status=ABORTED, reason="aborted", draw_agreed=())


def _finished(state: MatchState, event: e.MatchFinished) -> MatchState:
    return state._replace(status=FINISHED, scores=event.scores, reason=event.reason, draw_agreed=())


def _with(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])


_EVOLUTIONS: dict[type[e.Event], Callable[[MatchState, Any], MatchState]] = {
    e.PlayerJoined: _joined,
    e.MatchStarted: _started,
    e.MoveSubmitted: _moved,
    e.DrawOffered: _draw_offered,
    e.DrawAccepted: _draw_accepted,
    e.DrawDeclined: _draw_declined,
    e.PlayerResigned: _resigned,
    e.MatchAborted: _aborted,
    e.MatchFinished: _finished,
}
