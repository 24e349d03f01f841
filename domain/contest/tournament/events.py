"""The events of a tournament, in the past tense. Every event carries ``at``, milliseconds since 1970 UTC."""

from dataclasses import dataclass
from enum import StrEnum

from domain.contest.aggregate import event_types
from domain.contest.schedules import Pairing
from domain.contest.tournament.state import FinalPlace, NoResult
from domain.contest.tournament.terms import TournamentTerms


class Leaving(StrEnum):
    """Why an entrant left."""

    WISH = "wish"
    ERASURE = "erasure"
    """The account was erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _TimedEvent:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlayerEvent(_TimedEvent):
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentAnnounced(_TimedEvent):
    """A tournament exists, and people may enter. ``series`` names the rule that has announced it."""

    organiser: str
    terms: TournamentTerms
    series: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryMade(_PlayerEvent):
    """Somebody has entered: before the start to play, after it to take the place of a leaver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryTakenBack(_PlayerEvent):
    """Somebody who had entered, and does not play, no longer wishes to; ``erased`` with the account."""

    erased: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPostponed(_TimedEvent):
    """Too few had entered: the start is at ``starts_at``."""

    starts_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentCalledOff(_TimedEvent):
    """The tournament does not take place; ``reason`` completes "Cancelled".

    ``canceller`` is the organiser or, with ``operator``, an operator; None where too few had entered.
    """

    reason: str
    canceller: str | None = None
    operator: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentStarted(_TimedEvent):
    """The lots are drawn with ``seed``: ``players`` are the entrants in this order, ``pairings`` the schedule."""

    seed: str
    players: tuple[str, ...]
    pairings: tuple[Pairing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingStarted(_TimedEvent):
    """The match of a pairing exists."""

    pairing: int
    match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRecorded(_TimedEvent):
    """The match of a pairing has a result: by its events up to ``version``, whose digest is ``head``.

    ``flags`` are the seats that lost on time. ``forfeit`` is the seat to blame for a match that was called off.
    """

    pairing: int
    version: int
    head: str
    scores: tuple[float, ...]
    flags: tuple[int, ...]
    forfeit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTakenBack(_TimedEvent):
    """The match of a pairing has no result, by its events up to ``version``, whose digest is ``head``."""

    pairing: int
    version: int
    head: str
    reason: NoResult


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerLeft(_PlayerEvent):
    """An entrant has left. ``struck``: with fewer than half of the matches finished, so out of the table as well."""

    reason: Leaving
    struck: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFilled(_PlayerEvent):
    """Somebody who waited takes the place of the entrant ``left``: instead of the pairings ``replaced``, ``pairings``.

    The player is the next entrant by number, and the new pairings have the next numbers.
    """

    left: int
    replaced: tuple[int, ...]
    pairings: tuple[Pairing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingForfeited(_TimedEvent):
    """A pairing is lost, without a match, by the entrant who has left: all others share the first place."""

    pairing: int
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingVoided(_TimedEvent):
    """A pairing is not played."""

    pairing: int
    reason: NoResult


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentEnded(_TimedEvent):
    """All pairings are over; this is the table."""

    table: tuple[FinalPlace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCorrected(_TimedEvent):
    """The result of ``pairing`` changed after the end; this is the table since.

    ``reason`` says why it has no result any more; None where it has another one.
    """

    table: tuple[FinalPlace, ...]
    pairing: int
    reason: NoResult | None = None


Event = (
    TournamentAnnounced
    | EntryMade
    | EntryTakenBack
    | StartPostponed
    | TournamentCalledOff
    | TournamentStarted
    | PairingStarted
    | ResultRecorded
    | ResultTakenBack
    | PlayerLeft
    | PlaceFilled
    | PairingForfeited
    | PairingVoided
    | TournamentEnded
    | TableCorrected
)

TYPES = event_types(Event)
"""By the names under which they are stored."""
