"""The events of a match, in the past tense. Every event carries ``at``, milliseconds since 1970 UTC."""

from dataclasses import dataclass

from domain.match.enums import Channel, Ground, Limit, PauseReason, RulingKind
from domain.match.player_signatures import PlayerSignature
from domain.match.state import Occasion, Seat
from domain.match.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class _TimedEvent:
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeatEvent(_TimedEvent):
    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchCreated(_TimedEvent):
    """A match exists, with its game, ruleset version, setup and seats.

    ``rematch_of`` names the match before it. ``seed`` is random text. No rule of the match depends on its ``occasion``.
    """

    creator: str
    game: str
    ruleset: int
    setup: str
    seats: tuple[Seat, ...]
    rated: bool
    private: bool
    seed: str
    terms: Terms
    rematch_of: str | None = None
    occasion: Occasion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerJoined(_SeatEvent):
    """A player has taken a seat."""

    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchStarted(_TimedEvent):
    """All seats are taken: the first seat is to move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveSubmitted(_SeatEvent):
    """A legal move was played; ``ply`` counts from 1. An opponent's move says how it can be computed again.

    ``nodes`` is the node budget of an opponent's search, None for that of its level. ``channel`` says how the move
    came; None where the command did not say. ``signed`` is None without a signature of the player, as in the other
    acts. Of several moves that were sent together the last has it.
    """

    ply: int
    move: str
    level: int | None = None
    seed: int | None = None
    engine: str | None = None
    nodes: int | None = None
    channel: Channel | None = None
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOffered(_SeatEvent):
    """A seat has proposed a draw."""

    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawAccepted(_SeatEvent):
    """A seat has agreed to the draw on offer; ``engine`` computes an opponent's answer again (None: a person's).

    ``nodes`` is the node budget of its search, None for that of its level.
    """

    channel: Channel | None = None
    engine: str | None = None
    nodes: int | None = None
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawDeclined(_SeatEvent):
    """A seat has turned down the draw on offer, which lapses. ``engine`` and ``nodes`` are as in DrawAccepted."""

    engine: str | None = None
    nodes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerResigned(_SeatEvent):
    """A seat has given the game up."""

    channel: Channel | None = None
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchAborted(_TimedEvent):
    """The match was cancelled without a result."""

    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFinished(_TimedEvent):
    """The match has ended: one score per seat in seat order, and why."""

    scores: tuple[float, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockPaused(_TimedEvent):
    """From ``since`` to ``until`` (None: no end is known) the time of ``seat`` (None: of all) does not run.

    ``since`` may lie before ``at``: what happened meanwhile is not undone, but time is given back. ``reason`` is one of
    domain.match.clock.REASONS; ``automatic`` marks a vacation that was taken because a flag would have fallen.
    """

    reason: PauseReason
    since: int
    seat: int | None = None
    until: int | None = None
    automatic: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockResumed(_TimedEvent):
    """The pauses of ``seat`` (None: of all) for ``reason`` end now, those that lie ahead are cancelled."""

    reason: PauseReason
    seat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeCorrected(_TimedEvent):
    """Instants that were recorded before this and lie after ``at`` are wrong, for a clock was: time goes on from here.

    It is the only event that may be dated before the one in front of it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeGiven(_SeatEvent):
    """``seat`` has given ``to`` time, in milliseconds."""

    to: int
    time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagFell(_SeatEvent):
    """The time of ``seat``, by ``limit``, was up at ``deadline``; ``claimed_by`` None means that it fell by itself."""

    deadline: int
    limit: Limit
    claimed_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagForgiven(_SeatEvent):
    """``seat`` won on time and lets the match go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakebackRequested(_SeatEvent):
    """A seat asks to go back to the position after ``ply`` plies."""

    ply: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TakebackAccepted(_SeatEvent):
    """A seat agrees to going back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakebackDeclined(_SeatEvent):
    """A seat does not agree to going back; the request lapses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovesTakenBack(_TimedEvent):
    """The match goes on from the position after ``ply`` plies. Moves since then stay on record."""

    ply: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedDrawn(_TimedEvent):
    """The moves of opponents follow from this seed from now on: those before may be known (domain.match.opponents)."""

    seed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeRaised(_TimedEvent):
    """A case is opened about the match after ``ply`` plies; ``freezes`` says that nothing goes on until it is ruled on.

    ``seat`` raised it, or, when None, the ``arbiter``. Cases are numbered from 1. What is said in it is kept apart,
    where it can be erased; here stands the SHA-256 (hexadecimal) of a salt and it.
    """

    dispute: int
    ply: int
    ground: Ground
    statement: str
    freezes: bool
    seat: int | None = None
    arbiter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementFiled(_TimedEvent):
    """A seat has said its part in a case; ``statement`` is the SHA-256 (hexadecimal) of a salt and the text."""

    dispute: int
    seat: int
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFrozen(_TimedEvent):
    """An arbiter has stopped the match, clocks included, while a case is open."""

    dispute: int
    arbiter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchUnfrozen(_TimedEvent):
    """An arbiter lets the match go on while a case is open."""

    dispute: int
    arbiter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingMade(_TimedEvent):
    """An arbiter has ruled on a case: what (domain.match.decisions.cases.RULINGS), why, and by which rule.

    ``reason`` and ``rule`` are kept apart like a statement: here stands the SHA-256 (hexadecimal) of a salt and each.
    What the ruling brings about are the events that follow it. ``appeal`` marks the second and last ruling;
    ``sole_arbiter`` the ruling of an arbiter who had opened the case, because nobody else could rule on it.
    """

    dispute: int
    arbiter: str
    ruling: RulingKind
    reason: str
    rule: str
    appeal: bool
    sole_arbiter: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingAppealed(_TimedEvent):
    """A seat asks for another arbiter's ruling; ``statement`` is the SHA-256 (hexadecimal) of a salt and why.

    ``freezes`` says that a match that is being played stands still until there is one.
    """

    dispute: int
    seat: int
    statement: str
    freezes: bool
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReopened(_TimedEvent):
    """A case that an appeal had settled waits for one more ruling.

    ``arbiter`` is that of the appeal, or an ``operator``; ``statement`` and ``freezes`` are as in RulingAppealed.
    """

    dispute: int
    arbiter: str
    operator: bool
    statement: str
    freezes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClocksAdjusted(_TimedEvent):
    """The seats have these times from now on, in milliseconds."""

    remaining: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchAnnulled(_TimedEvent):
    """The match has no result and counts for nothing, whatever happened in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRestored(_TimedEvent):
    """The match is again what it was before it was annulled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetProposed(_TimedEvent):
    """An arbiter proposes to go on under another version of the game's rules; ``reason`` is as in RulingMade."""

    arbiter: str
    ruleset: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetAccepted(_SeatEvent):
    """A seat agrees to the ruleset that is proposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetDeclined(_SeatEvent):
    """A seat does not agree to the ruleset that is proposed, which lapses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesetChanged(_TimedEvent):
    """The match goes on under ``ruleset``; the position is the same."""

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
"""The events of a match beside its creation and its moves."""

Event = MatchCreated | MoveSubmitted | LaterEvent
