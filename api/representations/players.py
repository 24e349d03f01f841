"""Players as callers see them."""

from collections.abc import Mapping
from typing import Literal

from api.http.answers import Answer
from domain.match.state import OPPONENT_PREFIX
from domain.search.levels import LEVELS
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
        return Player(id=id, name=f"Opponent {level}", kind="opponent", level=level)
    person = persons.get(id)
    if person is None:
        return Player(id=id, name="somebody who left", kind="person", level=None)
    return represent_person(person)


def represent_person(person: Person) -> Player:
    """Return ``person`` as others see them."""
    return Player(id=person.id, name=person.name, kind=KINDS[person.kind], level=None)
