"""The events of a seek."""

from dataclasses import dataclass
from enum import StrEnum

from domain.contest.aggregate import event_types
from domain.contest.wishes import Interval, SeekTerms


class WithdrawalReason(StrEnum):
    """Why a seek was withdrawn."""

    AUTHOR = "author"
    ERASURE = "erasure"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekPosted:
    """``author`` seeks others on these terms."""

    at: int
    author: str
    terms: SeekTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekTaken:
    """``player``, rated so, has taken a seat for ``game`` at a pace within ``days``."""

    at: int
    player: str
    game: str
    days: Interval
    rating: int
    seek: str | None = None
    joining: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TakerLeft:
    """``player`` has left a table that was not full."""

    at: int
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentsSeated:
    """The author has filled the empty seats with opponents of ``level``, for ``game``."""

    at: int
    level: int
    game: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStarted:
    """The ``match`` of the full table has been created."""

    at: int
    match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCleared:
    """The match of the full table could not be created: ``players`` have left it for a ``reason`` in words."""

    at: int
    players: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekJoined:
    """The seek waits at the table of another one."""

    at: int
    seek: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekReturned:
    """Nothing came of waiting at the table of another seek: it is open again."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekAnswered:
    """The ``match`` of the other seek's table has been created."""

    at: int
    match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WishRestored:
    """The ``match`` that had come of the seek was called off by somebody else: it counts no more."""

    at: int
    match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekWithdrawn:
    """The seek was withdrawn."""

    at: int
    reason: WithdrawalReason


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekExpired:
    """Time is up for the seek."""

    at: int


Event = (
    SeekPosted
    | SeekTaken
    | TakerLeft
    | OpponentsSeated
    | TableStarted
    | TableCleared
    | SeekJoined
    | SeekReturned
    | SeekAnswered
    | WishRestored
    | SeekWithdrawn
    | SeekExpired
)
TYPES = event_types(Event)
