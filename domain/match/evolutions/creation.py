"""How a match comes into being and its seats are taken."""

from dataclasses import replace

from domain.match import clock as clocks, events as e, positions
from domain.match.enums import Status
from domain.match.state import MatchState, Offers, Play
from domain.vector import with_value


def match_created(event: e.MatchCreated, match_id: str) -> MatchState:
    """Return the match ``match_id`` before its first move."""
    seats = len(event.seats)
    state = MatchState(
        match_id=match_id,
        version=1,
        creator=event.creator,
        game=event.game,
        ruleset=event.ruleset,
        setup=event.setup,
        rated=event.rated,
        private=event.private,
        seed=event.seed,
        rematch_of=event.rematch_of,
        occasion=event.occasion,
        status=Status.OPEN,
        created_at=event.at,
        updated_at=event.at,
        seats=event.seats,
        play=Play(last_ply=(0,) * seats),
        offers=Offers(
            draw_offered_at=(None,) * seats,
            takeback_asked_at=(None,) * seats,
            requests=(0,) * seats,
            gifts=(0,) * seats,
        ),
        clock=clocks.new_clock(event.terms, seats),
    )
    return positions.with_start(state)


def player_joined(state: MatchState, event: e.PlayerJoined) -> MatchState:
    """Return the match with the player on the seat."""
    seat = state.seats[event.seat]._replace(player=event.player, joined=True)
    return replace(state, seats=with_value(state.seats, event.seat, seat))


def match_started(state: MatchState, event: e.MatchStarted) -> MatchState:
    """Return the match with the first seat to move."""
    state = replace(state, status=Status.PLAYING)
    return state.on_clock(clocks.start, positions.to_move(state), event.at)


def seed_drawn(state: MatchState, event: e.SeedDrawn) -> MatchState:
    """Return the match with another seed for its opponents."""
    return replace(state, seed=event.seed)
