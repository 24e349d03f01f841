"""The commands to a seek."""

from typing import NamedTuple

from domain.contest.seek.events import WithdrawalReason
from domain.contest.seek.state import Joining
from domain.contest.wishes import Interval, SeekTerms


class PostSeek(NamedTuple):
    """Post a seek; guests play unrated."""

    author: str
    terms: SeekTerms
    guest: bool = False


class TakeSeek(NamedTuple):
    """Take a seat: by hand, or by the ``joining``-th joining of a seek of one's own."""

    player: str
    game: str
    days: Interval
    rating: int
    guest: bool = False
    seek: str | None = None
    joining: int = 0


class LeaveTable(NamedTuple):
    """Give a seat back."""

    player: str


class SeatOpponents(NamedTuple):
    """Begin with opponents in the empty seats."""

    player: str
    level: int
    game: str


class StartTable(NamedTuple):
    """Record that the match of the full table ``number`` has been created."""

    number: int
    match: str


class ClearTable(NamedTuple):
    """Record that the match of the full table ``number`` cannot be created because of ``players``."""

    number: int
    players: tuple[str, ...]
    reason: str


class JoinSeek(NamedTuple):
    """Wait at the table of another seek."""

    seek: str


class ReturnSeek(NamedTuple):
    """Return from a joining without a match."""

    joining: Joining


class AnswerSeek(NamedTuple):
    """Record the match of a joining."""

    joining: Joining
    match: str


class RestoreWish(NamedTuple):
    """Strike ``match`` from the seek: somebody else has called it off."""

    match: str


class CloseSeek(NamedTuple):
    """Withdraw the seek."""

    player: str
    reason: WithdrawalReason = WithdrawalReason.AUTHOR


class ExpireSeek(NamedTuple):
    """Let the seek expire."""


Command = (
    PostSeek
    | TakeSeek
    | LeaveTable
    | SeatOpponents
    | StartTable
    | ClearTable
    | JoinSeek
    | ReturnSeek
    | AnswerSeek
    | RestoreWish
    | CloseSeek
    | ExpireSeek
)
