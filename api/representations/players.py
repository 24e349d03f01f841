"""Players as callers see them, and the capacity of bots."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from api.http.answers import Answer, one_of
from api.representations.clocks import SECOND_MS
from domain.games import GAMES
from domain.match.state import OPPONENT_PREFIX
from domain.search.choose import LEVELS
from events.people import capacity as declared
from events.people.blocks import opponent_name
from events.people.capacity import Invitations
from events.people.person import Person

Kind = Literal["person", "guest", "bot", "opponent"]

KINDS: Mapping[str, Kind] = {"person": "person", "guest": "guest", "bot": "bot"}
"""The kinds of accounts."""


class Player(Answer):
    """A person, a guest, a bot or an opponent. ``level`` is an opponent's, null for all others."""

    id: str
    name: str
    kind: Kind
    level: int | None


def opponent_level(player: str) -> int | None:
    """Return the level of the opponent with id or name ``player``, None for anybody else."""
    number = player.removeprefix(OPPONENT_PREFIX)
    if number == player or not number.isascii() or not number.isdigit() or str(int(number)) != number:
        return None
    return int(number) if int(number) in LEVELS else None


def represent_player(id: str, persons: Mapping[str, Person]) -> Player:
    """Return the player with ``id``; ``persons`` holds the people among those to be represented."""
    level = opponent_level(id)
    if level is not None:
        return Player(id=id, name=opponent_name(level), kind="opponent", level=level)
    person = persons.get(id)
    if person is None:
        return Player(id=id, name="somebody who left", kind="person", level=None)
    return represent_person(person)


def represent_person(person: Person) -> Player:
    """Return ``person`` as others see them."""
    return Player(id=person.id, name=person.name, kind=KINDS[person.kind], level=None)


CAPACITY_GAMES = [
    name
    for game in GAMES.values()
    for name in (game.id, *(f"{game.id}/{setup}" for setup in game.setups if len(game.setups) > 1))
]
"""The games that a bot can declare: each game, and each setup of a game that has several."""


class Capacity(Answer):
    """The capacity of a bot; the server refuses more."""

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
    return Capacity.of(
        capacity, min_move_time=_seconds(capacity.min_move_ms), max_move_time=_seconds(capacity.max_move_ms)
    )


def _seconds(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else milliseconds // SECOND_MS
