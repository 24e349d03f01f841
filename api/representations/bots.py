"""What bots take on, as callers see it."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from api.http.answers import Answer, one_of
from api.representations.clocks import SECOND_MS
from domain.games import GAMES
from events.people import capacity as declared
from events.people.capacity import Invitations

CAPACITY_GAMES = [
    name
    for game in GAMES.values()
    for name in (game.id, *(f"{game.id}/{setup}" for setup in game.setups if len(game.setups) > 1))
]
"""What a bot can declare to play: each game, and each setup of a game that has several."""


class Capacity(Answer):
    """What a bot takes on; the server refuses more."""

    games: Annotated[Sequence[str], Meta(description="A game with all its setups, or one setup: towers/two-player")]
    concurrent: Annotated[int, Meta(description="Matches at once, invitations that wait included")]
    rated: bool
    private: bool
    min_move_time: Annotated[int | None, Meta(description="Seconds that the terms must leave for every move")]
    max_move_time: Annotated[int | None, Meta(description="The longest that a move may take, in seconds")]
    invitations: Annotated[str, one_of(Invitations)]
    accepts_at_once: bool


def represent_capacity(capacity: declared.Capacity) -> Capacity:
    """Return ``capacity`` as callers see it."""
    return Capacity(
        games=list(capacity.games),
        concurrent=capacity.concurrent,
        rated=capacity.rated,
        private=capacity.private,
        min_move_time=_seconds(capacity.min_move_ms),
        max_move_time=_seconds(capacity.max_move_ms),
        invitations=capacity.invitations,
        accepts_at_once=capacity.accepts_at_once,
    )


def _seconds(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else milliseconds // SECOND_MS
