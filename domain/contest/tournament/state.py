"""The state of a tournament, as its events make it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from domain.contest.schedules import Pairing
from domain.contest.standings import MatchRecord, Row, standings
from domain.contest.tournament.terms import TournamentTerms


class TournamentStatus(StrEnum):
    """How far a tournament has come."""

    ENTRIES = "entries"
    RUNNING = "running"
    ENDED = "ended"
    CALLED_OFF = "called-off"


class PairingStatus(StrEnum):
    """How far a pairing has come."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"

    FORFEITED = "forfeited"
    """Lost without a match by who left: all others share the first place."""

    VOID = "void"
    """It counts for nobody: expired, annulled, or taken over by somebody else."""


class NoResult(StrEnum):
    """Why a pairing has no result, or none any more."""

    EXPIRED = "expired"
    """It had not started at the latest end."""

    ANNULLED = "annulled"
    CALLED_OFF = "called-off"
    """Its match ended without a result, and no seat was to blame."""

    RESUMED = "resumed"
    """Its match goes on: the end was taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """Somebody who plays, or played, in a tournament. ``struck``: left with fewer than half of the matches finished."""

    player: str
    left_at: int | None = None
    struck: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingState:
    """A pairing: its entrants by seat, its match, and the result of that at ``version`` with the digest ``head``."""

    entrants: Pairing
    status: PairingStatus = PairingStatus.WAITING
    match: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    version: int = 0
    head: str = ""
    scores: tuple[float, ...] = ()
    flags: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalPlace:
    """A line of a final table: a player, the best place that the player shares, how many share it, and the points."""

    player: str
    place: int
    sharing: int
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A change of the final table: the pairing whose result changed, and why it has none; None for another result."""

    at: int
    pairing: int
    reason: NoResult | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentState:
    """A tournament after ``version`` events. Pairings are numbered from 1, entrants from 0.

    ``entries`` are those who wait for the start, or, when it has started, for the place of a leaver.
    """

    id: str
    version: int
    organiser: str
    terms: TournamentTerms
    series: str | None
    status: TournamentStatus
    announced_at: int
    updated_at: int
    starts_at: int
    postponed: bool = False
    entries: tuple[str, ...] = ()
    seed: str | None = None
    entrants: tuple[Entrant, ...] = ()
    pairings: tuple[PairingState, ...] = ()
    table: tuple[FinalPlace, ...] = ()
    corrections: tuple[Correction, ...] = ()
    ended_at: int | None = None
    reason: str | None = None

    def pairing(self, number: int) -> PairingState | None:
        """Return the pairing with this number; None when there is none."""
        return self.pairings[number - 1] if 1 <= number <= len(self.pairings) else None

    def numbers(self, status: PairingStatus) -> tuple[int, ...]:
        """Return the numbers of the pairings in ``status``."""
        return tuple(number for number, pairing in enumerate(self.pairings, 1) if pairing.status == status)

    def entrant_of(self, player: str) -> int | None:
        """Return the number of ``player`` as an entrant, who has not left; None for anybody else."""
        for number, entrant in enumerate(self.entrants):
            if entrant.player == player and entrant.left_at is None:
                return number
        return None

    def pairings_of(self, entrant: int) -> Iterator[tuple[int, PairingState]]:
        """Yield the pairings of an entrant with their numbers."""
        return ((number, pairing) for number, pairing in enumerate(self.pairings, 1) if entrant in pairing.entrants)

    def records(self) -> list[MatchRecord]:
        """Return all results up to now."""
        return [
            MatchRecord(pairing.entrants, pairing.scores, pairing.flags)
            for pairing in self.pairings
            if pairing.status in (PairingStatus.FINISHED, PairingStatus.FORFEITED)
        ]

    def rows(self) -> tuple[Row, ...]:
        """Return the table by all results up to now, without those who are struck."""
        playing = [number for number, entrant in enumerate(self.entrants) if not entrant.struck]
        return standings(playing, self.records(), self.terms.points, self.terms.tie_breaks)

    def places(self) -> tuple[FinalPlace, ...]:
        """Return the table by all results up to now, as it is recorded at the end."""
        return tuple(
            FinalPlace(
                player=self.entrants[row.entrant].player,
                place=row.places[0],
                sharing=row.places[1] - row.places[0] + 1,
                points=row.points,
            )
            for row in self.rows()
        )
