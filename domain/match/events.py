"""What has happened in a match, in the past tense.

Every event carries ``at``, milliseconds since 1970 UTC. ``TYPES`` names each class as it is stored; a name that has
been stored is never reused for something else.
"""

from typing import NamedTuple

from domain.match.state import Seat


class MatchCreated(NamedTuple):
    """A match exists, with its game, ruleset version, setup and seats."""

    at: int
    creator: str
    game: str
    ruleset: int
    setup: str
    seats: tuple[Seat, ...]
    rated: bool
    private: bool
    seed: int


class PlayerJoined(NamedTuple):
    """A player has taken a seat."""

    at: int
    seat: int
    player: str


class MatchStarted(NamedTuple):
    """All seats are taken: the first seat is to move."""

    at: int


class MoveSubmitted(NamedTuple):
    """A legal move was played; ``ply`` counts from 1. An opponent's move says how it can be computed again."""

    at: int
    seat: int
    ply: int
    move: str
    level: int | None = None
    seed: int | None = None
    engine: str | None = None


class DrawOffered(NamedTuple):
    """A seat has proposed a draw."""

    at: int
    seat: int


class DrawAccepted(NamedTuple):
    """A seat has agreed to the draw on offer."""

    at: int
    seat: int


class DrawDeclined(NamedTuple):
    """A seat has turned down the draw on offer, which lapses."""

    at: int
    seat: int


class PlayerResigned(NamedTuple):
    """A seat has given the game up."""

    at: int
    seat: int


class MatchAborted(NamedTuple):
    """The match was called off without a result."""

    at: int
    player: str


class MatchFinished(NamedTuple):
    """The match has ended: one score per seat in seat order, and why."""

    at: int
    scores: tuple[float, ...]
    reason: str


Event = (
    MatchCreated
    | PlayerJoined
    | MatchStarted
    | MoveSubmitted
    | DrawOffered
    | DrawAccepted
    | DrawDeclined
    | PlayerResigned
    | MatchAborted
    | MatchFinished
)

TYPES: dict[str, type[Event]] = {
    "match-created": MatchCreated,
    "player-joined": PlayerJoined,
    "match-started": MatchStarted,
    "move-submitted": MoveSubmitted,
    "draw-offered": DrawOffered,
    "draw-accepted": DrawAccepted,
    "draw-declined": DrawDeclined,
    "player-resigned": PlayerResigned,
    "match-aborted": MatchAborted,
    "match-finished": MatchFinished,
}
