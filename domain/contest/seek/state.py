"""The seek: a person's wish to be matched, taken by others until a table is full and its match begins.

A seek can also wait at the table of another seek whose wishes agree: it has ``joined`` that one, is taken by nobody
meanwhile, and comes back when nothing becomes of it. So one wish never leads to two matches.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from domain.contest.wishes import Interval, SeekTerms
from domain.match.terms import DAY

EXPIRES_AFTER_MS = 14 * DAY


class SeekStatus(StrEnum):
    """How a seek stands."""

    OPEN = "open"
    JOINED = "joined"
    """It waits at the table of another seek."""

    FULL = "full"
    """All seats of its table are taken: the match is about to begin."""

    ANSWERED = "answered"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class Joining(NamedTuple):
    """The ``number``-th joining of a seek, at the table of the other ``seek``."""

    seek: str
    number: int


class Taker(NamedTuple):
    """Who has taken a seat of a table; ``seek`` and ``joining`` (0: none) if it was by a seek of their own."""

    player: str
    seek: str | None = None
    joining: int = 0


class SeekTable(NamedTuple):
    """The ``number``-th table of a seek: the game and pace on which its takers agree, and who fills the rest."""

    number: int
    days: Interval
    game: str | None = None
    takers: tuple[Taker, ...] = ()
    level: int | None = None


class Begun(NamedTuple):
    """A table whose match has begun."""

    match: str
    table: SeekTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Seek:
    """A seek after its events.

    ``gone`` are takers that left a table without a match. ``matches`` have begun, at own tables or, ``elsewhere``, at
    those of other seeks; those ``called_off`` by others count no more. ``joinings`` are the joined seeks, in order.
    ``updated_at`` is the instant of the last event, ``answered_at`` that of the first match, ``standing_since``
    that from which it waits: its posting, or the end of a match that was called off.
    """

    id: str
    author: str
    terms: SeekTerms
    posted_at: int
    standing_since: int
    updated_at: int
    status: SeekStatus = SeekStatus.OPEN
    table: SeekTable
    begun: tuple[Begun, ...] = ()
    elsewhere: tuple[str, ...] = ()
    called_off: tuple[str, ...] = ()
    gone: tuple[Taker, ...] = ()
    joined: Joining | None = None
    joinings: tuple[str, ...] = ()
    answered_at: int | None = None

    @property
    def matches(self) -> tuple[str, ...]:
        """Its matches, without those that others have called off."""
        begun = (*[begun.match for begun in self.begun], *self.elsewhere)
        return tuple([match for match in begun if match not in self.called_off])

    @property
    def is_over(self) -> bool:
        """Whether it can lead to no match any more."""
        return self.status in _OVER

    @property
    def expires_at(self) -> int:
        """The instant at which it expires unless it is over."""
        return self.standing_since + EXPIRES_AFTER_MS

    @property
    def people(self) -> frozenset[str]:
        """The author, and all who have or had a seat at a table."""
        takers = (*self.table.takers, *self.gone, *(taker for begun in self.begun for taker in begun.table.takers))
        return frozenset((self.author, *(taker.player for taker in takers)))


_OVER = (SeekStatus.ANSWERED, SeekStatus.WITHDRAWN, SeekStatus.EXPIRED)
