"""What has happened in a match, in the past tense. Every event carries ``at``, milliseconds since 1970 UTC."""

from dataclasses import dataclass

from domain.match.calendar import Calendar
from domain.match.enums import Channel, Ground, Limit, PauseReason, RulingKind
from domain.match.state import Seat
from domain.match.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchCreated:
    """A match exists, with its game, ruleset version, setup and seats.

    Without ``terms`` it is from before there were clocks, and none runs. ``rematch_of`` names the match before it.
    ``seed`` is random text; of matches from earlier releases a number in decimal.
    """

    at: int
    creator: str
    game: str
    ruleset: int
    setup: str
    seats: tuple[Seat, ...]
    rated: bool
    private: bool
    seed: str
    terms: Terms | None = None
    rematch_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerJoined:
    """A player has taken a seat."""

    at: int
    seat: int
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchStarted:
    """All seats are taken: the first seat is to move."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveSubmitted:
    """A legal move was played; ``ply`` counts from 1. An opponent's move says how it can be computed again.

    ``channel`` says how it came (domain.match.commands); None only where that was not recorded yet.
    """

    at: int
    seat: int
    ply: int
    move: str
    level: int | None = None
    seed: int | None = None
    engine: str | None = None
    channel: Channel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOffered:
    """A seat has proposed a draw."""

    at: int
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawAccepted:
    """A seat has agreed to the draw on offer. An opponent's answer names the engine that computes it again.

    ``engine`` is None for people, and where it was not recorded yet.
    """

    at: int
    seat: int
    channel: Channel | None = None
    engine: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawDeclined:
    """A seat has turned down the draw on offer, which lapses. ``engine`` is as in DrawAccepted."""

    at: int
    seat: int
    engine: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerResigned:
    """A seat has given the game up."""

    at: int
    seat: int
    channel: Channel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchAborted:
    """The match was called off without a result."""

    at: int
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFinished:
    """The match has ended: one score per seat in seat order, and why."""

    at: int
    scores: tuple[float, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarSet:
    """On the free days of ``calendar`` (None: on no day) the time of ``seat`` does not run from now on.

    Calendars are recorded no more, for they are private: older matches have them, and lay them down when they go on.
    """

    at: int
    seat: int
    calendar: Calendar | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockPaused:
    """From ``since`` to ``until`` (None: no end is known) the time of ``seat`` (None: of all) does not run.

    ``since`` may lie before ``at``: what happened meanwhile is not undone, but time is given back. ``reason`` is one of
    domain.match.clock.REASONS; ``automatic`` marks a vacation that was taken because a flag would have fallen.
    """

    at: int
    reason: PauseReason
    since: int
    seat: int | None = None
    until: int | None = None
    automatic: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockResumed:
    """The pauses of ``seat`` (None: of all) for ``reason`` end now, those that lie ahead are cancelled."""

    at: int
    reason: PauseReason
    seat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeCorrected:
    """Instants that were recorded before this and lie after ``at`` are wrong, for a clock was: time goes on from here.

    It is the only event that may be dated before the one in front of it.
    """

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeGiven:
    """``seat`` has given ``to`` so many milliseconds."""

    at: int
    seat: int
    to: int
    time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagFell:
    """The time of ``seat`` was up at the instant ``deadline``; ``limit`` says which time (domain.match.clock).

    ``claimed_by`` is the seat that claimed it, None when it fell by itself.
    """

    at: int
    seat: int
    deadline: int
    limit: Limit
    claimed_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagForgiven:
    """``seat`` won on time and lets the match go on."""

    at: int
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakebackRequested:
    """A seat asks to go back to the position after ``ply`` plies."""

    at: int
    seat: int
    ply: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakebackAccepted:
    """A seat agrees to going back."""

    at: int
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakebackDeclined:
    """A seat does not agree to going back; the request lapses."""

    at: int
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MovesTakenBack:
    """The match goes on from the position after ``ply`` plies. What was played since stays on record."""

    at: int
    ply: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedDrawn:
    """The moves of opponents follow from this seed from now on: those before may be known (domain.match.opponents)."""

    at: int
    seed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeRaised:
    """A case is opened about the match after ``ply`` plies; ``freezes`` says that nothing goes on until it is ruled on.

    ``seat`` raised it, or, when None, the ``arbiter``. Cases are numbered from 1. What is said in it is kept apart,
    where it can be erased; here stands the SHA-256 (hexadecimal) of a salt and it.
    """

    at: int
    dispute: int
    ply: int
    ground: Ground
    statement: str
    freezes: bool
    seat: int | None = None
    arbiter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFiled:
    """A seat has said its part in a case; ``statement`` is the SHA-256 (hexadecimal) of a salt and the text."""

    at: int
    dispute: int
    seat: int
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFrozen:
    """An arbiter has stopped the match, clocks included, while a case is open."""

    at: int
    dispute: int
    arbiter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchUnfrozen:
    """An arbiter lets the match go on while a case is open."""

    at: int
    dispute: int
    arbiter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingMade:
    """An arbiter has ruled on a case: what (domain.match.decisions.cases.RULINGS), why, and by which rule.

    ``reason`` and ``rule`` are kept apart like a statement: here stands the SHA-256 (hexadecimal) of a salt and each.
    What the ruling brings about are the events that follow it. ``appeal`` marks the second and last ruling.
    """

    at: int
    dispute: int
    arbiter: str
    ruling: RulingKind
    reason: str
    rule: str
    appeal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingAppealed:
    """A seat asks for another arbiter's ruling; ``statement`` is the SHA-256 (hexadecimal) of a salt and why.

    ``freezes`` says that a match that is being played stands still until there is one.
    """

    at: int
    dispute: int
    seat: int
    statement: str
    freezes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReopened:
    """A case that an appeal had settled waits for one more ruling.

    ``arbiter`` is who reopened it: the arbiter of the appeal, or an ``operator``; ``statement`` is the SHA-256
    (hexadecimal) of a salt and why. ``freezes`` is as in RulingAppealed.
    """

    at: int
    dispute: int
    arbiter: str
    operator: bool
    statement: str
    freezes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClocksAdjusted:
    """The seats have these times from now on, in milliseconds."""

    at: int
    remaining: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchAnnulled:
    """The match has no result and counts for nothing, whatever happened in it."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRestored:
    """The match is again what it was before it was annulled."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetProposed:
    """An arbiter proposes to go on under another version of the game's rules.

    ``reason`` is the SHA-256 (hexadecimal) of a salt and the text.
    """

    at: int
    arbiter: str
    ruleset: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetAccepted:
    """A seat agrees to the ruleset that is proposed."""

    at: int
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetDeclined:
    """A seat does not agree to the ruleset that is proposed, which lapses."""

    at: int
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetChanged:
    """The match goes on under ``ruleset``; the position is the same."""

    at: int
    ruleset: int


LaterEvent = (
    PlayerJoined
    | MatchStarted
    | DrawOffered
    | DrawAccepted
    | DrawDeclined
    | PlayerResigned
    | MatchAborted
    | MatchFinished
    | CalendarSet
    | ClockPaused
    | ClockResumed
    | TimeCorrected
    | TimeGiven
    | FlagFell
    | FlagForgiven
    | TakebackRequested
    | TakebackAccepted
    | TakebackDeclined
    | MovesTakenBack
    | SeedDrawn
    | DisputeRaised
    | StatementFiled
    | MatchFrozen
    | MatchUnfrozen
    | RulingMade
    | RulingAppealed
    | CaseReopened
    | ClocksAdjusted
    | MatchAnnulled
    | MatchRestored
    | RulesetProposed
    | RulesetAccepted
    | RulesetDeclined
    | RulesetChanged
)
"""What happens in a match beside its creation and its moves."""

Event = MatchCreated | MoveSubmitted | LaterEvent
