"""What people and opponents ask of a match, in the imperative."""

from typing import NamedTuple

from domain.match.state import Seat


class CreateMatch(NamedTuple):
    """Open a match. ``seats`` is one entry per seat of the setup; the creator may be among them or not.

    ``ruleset`` None means the one that the game gives a new match.
    """

    match: str
    creator: str
    game: str
    setup: str
    seats: tuple[Seat, ...]
    rated: bool
    private: bool
    seed: int
    guest: bool = False
    ruleset: int | None = None


class JoinMatch(NamedTuple):
    """Take an open seat, or accept an invitation to one. ``seat`` None means any seat that is free for the player."""

    player: str
    seat: int | None = None
    guest: bool = False


class SubmitMove(NamedTuple):
    """Play a move for the seat of ``player`` whose turn it is. An opponent names its level, seed and engine."""

    player: str
    move: str
    level: int | None = None
    seed: int | None = None
    engine: str | None = None


class Resign(NamedTuple):
    """Give the game up."""

    player: str


class AbortMatch(NamedTuple):
    """Call the match off before the second ply, without a result; also declines an invitation."""

    player: str


class OfferDraw(NamedTuple):
    """Propose a draw to all other seats."""

    player: str


class AcceptDraw(NamedTuple):
    """Agree to the draw that is on offer."""

    player: str


class DeclineDraw(NamedTuple):
    """Turn down the draw that is on offer."""

    player: str


Command = CreateMatch | JoinMatch | SubmitMove | Resign | AbortMatch | OfferDraw | AcceptDraw | DeclineDraw
