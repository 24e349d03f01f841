"""The state of a match, as its events make it."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, NamedTuple, ParamSpec

from domain.match.clock import Clock
from domain.match.enums import Channel, Ground, OccasionKind, RulingKind, Status
from domain.match.terms import Terms

P = ParamSpec("P")


class Seat(NamedTuple):
    """Who sits where: a person, an opponent at a level, an invited person who has not answered yet, or nobody.

    ``player`` is an opaque id, None for an open seat; ``level`` is set for an opponent only.
    """

    player: str | None
    joined: bool
    level: int | None = None

    @classmethod
    def open(cls) -> "Seat":
        """Return a seat that anybody may take."""
        return cls(player=None, joined=False)

    @classmethod
    def invited(cls, player: str) -> "Seat":
        """Return a seat kept for ``player``."""
        return cls(player=player, joined=False)

    @classmethod
    def taken(cls, player: str) -> "Seat":
        """Return the seat of ``player``."""
        return cls(player=player, joined=True)

    @classmethod
    def opponent(cls, level: int) -> "Seat":
        """Return the seat of the machine player of ``level``."""
        return cls(player=opponent_id(level), joined=True, level=level)


def people_seated(seats: Iterable[Seat]) -> list[str]:
    """Return the ids of the people who have ``seats`` of a match or are invited to them."""
    return [seat.player for seat in seats if seat.player is not None and seat.level is None]


OPPONENT_PREFIX = "opponent-"


def opponent_id(level: int) -> str:
    """Return the player id of the opponent of ``level``: opponents are players with ratings of their own."""
    return f"{OPPONENT_PREFIX}{level}"


CLOCK = "clock"
"""Stands where a player would, when time itself is who acts."""

CONSOLE = "console"
"""Who acts on the command line of the machine itself."""


def is_person(player: str) -> bool:
    """Tell whether ``player`` is the id of a person: not of an opponent, the clock or the console."""
    return player not in (CLOCK, CONSOLE) and not player.startswith(OPPONENT_PREFIX)


_OCCASION_NAME = re.compile("[a-z0-9-]{1,40}").fullmatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """The occasion of a match: the ``id`` of a seek or tournament, and the ``pairing`` of it that the match is.

    Both are 1 to 40 characters of a to z, 0 to 9 and hyphen; ValueError for anything else.
    """

    kind: OccasionKind
    id: str
    pairing: str

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("pairing", self.pairing)):
            if _OCCASION_NAME(value) is None:
                raise ValueError(f"the {name} of an occasion is 1 to 40 of a-z, 0-9 and -, not {value!r:.50}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeback:
    """``seat`` asks to go back to the position after ``ply`` plies; ``agreed`` holds the seats that agree so far."""

    seat: int
    ply: int
    agreed: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallen:
    """The flag of ``seat`` fell at the instant ``deadline`` and was recorded ``at`` a later one."""

    seat: int
    deadline: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """``arbiter`` ruled so ``at`` an instant."""

    arbiter: str
    ruling: RulingKind
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A case: who raised it, when and on which ground, who has stated something, the ruling, whether it was appealed.

    ``seat`` is None for a case that an arbiter opened. ``involved`` are the arbiters who acted in it before an appeal,
    and operators who reopened it: they cannot rule on it then. ``settled`` is the number of plies that were on record
    (and still are) when an appeal settled the case, None while none has. ``reopened`` counts how often it was reopened.
    """

    number: int
    seat: int | None
    ply: int
    ground: Ground
    raised_at: int
    stated: tuple[int, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    appealed: bool = False
    involved: tuple[str, ...] = ()
    settled: int | None = None
    reopened: int = 0

    @property
    def opener(self) -> str | None:
        """The arbiter who opened it; None when a seat has raised it."""
        return self.involved[0] if self.seat is None else None

    @property
    def open(self) -> bool:
        """Whether it waits for a ruling."""
        return len(self.rulings) <= self.appealed + self.reopened


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An arbiter proposes to go on under ``ruleset``; ``agreed`` holds the seats that agree so far."""

    ruleset: int
    agreed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a match stood before it was annulled."""

    status: Status
    scores: tuple[float, ...] | None
    reason: str | None
    ended_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """The play of a match.

    ``position`` and ``history`` (the position in which each of ``moves`` was played, an empty tuple without a position)
    are values of the game. ``channels`` says how each move on record came about (None: that was not said); it and
    ``moves`` are tuples or vectors. ``last_ply`` which ply each seat played last (0: none). No move before ``left_ply``
    can be taken back, since a seat left the game there. ``taken_back`` counts how often moves were taken back: a ply
    may be played again then.

    ``broken`` says why the rules that are installed here cannot replay the match; ``position``, ``history`` and
    ``moves`` are then those before the first event that they cannot follow, and ``unplayed`` the moves recorded after
    that. Whatever needs no rules goes on: cases can be opened and ruled on, and the match exported.
    """

    position: Any = None
    history: Any = ()
    moves: Sequence[str] = ()
    channels: Sequence[Channel | None] = ()
    last_ply: tuple[int, ...] = ()
    left_ply: int = 0
    taken_back: int = 0
    broken: str | None = None
    unplayed: tuple[str, ...] = ()

    @property
    def plies(self) -> int:
        """How many plies are on record and not taken back, whether they can be replayed or not."""
        return len(self.moves) + len(self.unplayed)

    def position_after(self, ply: int) -> Any:
        """Return the position after ``ply`` plies, 0 to as many as have been played; after the last, as it stands."""
        return self.position if ply == len(self.moves) else self.history[ply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """The offers and requests of seats.

    ``draw_agreed`` holds the seats that agree to the draw on offer, the offering seat first; it is empty when none is
    on offer. ``draw_offered_at`` and ``takeback_asked_at`` say for each seat after how many plies it last did so.
    ``requests`` counts for each seat how often it has offered a draw, asked to take moves back and given time,
    ``gifts`` how often it has given time since the last move, ``takebacks`` names the ply of each request to go back
    (see ``domain.match.guards``).
    """

    draw_agreed: tuple[int, ...] = ()
    draw_offered_at: tuple[int | None, ...] = ()
    takeback: Takeback | None = None
    takeback_asked_at: tuple[int | None, ...] = ()
    requests: tuple[int, ...] = ()
    gifts: tuple[int, ...] = ()
    takebacks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """How the match ended; all is None while it goes on, but for the flag of a seat whose game others continue.

    ``scores`` is by seat, None without a result; ``fallen`` the last flag; ``annulled`` how it stood before annulment.
    """

    scores: tuple[float, ...] | None = None
    reason: str | None = None
    ended_at: int | None = None
    fallen: Fallen | None = None
    annulled: Ended | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """The disputes about the match and the acts of arbiters. ``frozen``: the match waits for an arbiter."""

    disputes: tuple[Dispute, ...] = ()
    frozen: bool = False
    proposal: Proposal | None = None

    @property
    def open(self) -> Dispute | None:
        """The case that waits for a ruling, None when there is none; there is never more than one."""
        return next((dispute for dispute in self.disputes if dispute.open), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchState:
    """A match after ``version`` events."""

    match_id: str
    version: int
    creator: str
    game: str
    ruleset: int
    setup: str
    rated: bool
    private: bool
    seed: str
    rematch_of: str | None = None
    occasion: Occasion | None = None
    status: Status
    created_at: int
    updated_at: int
    seats: tuple[Seat, ...]
    play: Play
    offers: Offers
    result: MatchResult = MatchResult()
    cases: Cases = Cases()
    clock: Clock

    @property
    def terms(self) -> Terms:
        """The terms that were agreed."""
        return self.clock.terms

    @property
    def ended(self) -> bool:
        """Whether nothing is played in this match any more."""
        return self.status in (Status.FINISHED, Status.ABORTED)

    def on_clock(
        self, change: Callable[Concatenate[Clock, P], Clock], *arguments: P.args, **options: P.kwargs
    ) -> "MatchState":
        """Return the match with its clocks changed."""
        return replace(self, clock=change(self.clock, *arguments, **options))

    def has_part(self, player: str) -> bool:
        """Return whether ``player`` created the match, holds a seat of it or is invited to one."""
        return player == self.creator or self.seat_of(player) is not None

    def seat_of(self, player: str) -> int | None:
        """Return the seat that ``player`` holds or is invited to, or None."""
        for number, seat in enumerate(self.seats):
            if seat.player == player:
                return number
        return None
