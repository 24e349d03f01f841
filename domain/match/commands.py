"""The commands of people and opponents to a match, in the imperative."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.match import events as e
from domain.match.enums import Channel, Ground, PauseReason, RulingKind
from domain.match.player_signatures import PlayerSignature
from domain.match.state import Occasion, Seat
from domain.match.terms import STANDARD, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlayerCommand:
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArbiterCommand:
    arbiter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateMatch:
    """Open a match. ``seats`` is one entry per seat of the setup; the creator may be among them or not.

    ``setup`` None means the only one of the game, ``ruleset`` None the one that the game gives a new match.
    ``accepting`` are those of the invited players who have said before that they accept.
    """

    match: str
    creator: str
    game: str
    setup: str | None
    seats: tuple[Seat, ...]
    rated: bool
    private: bool
    seed: str
    guest: bool = False
    ruleset: int | None = None
    terms: Terms = STANDARD
    rematch_of: str | None = None
    occasion: Occasion | None = None
    accepting: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinMatch(_PlayerCommand):
    """Take an open seat, or accept an invitation to one. ``seat`` None means any seat that is free for the player."""

    seat: int | None = None
    guest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitMove(_PlayerCommand):
    """Play a move for the seat of ``player`` whose turn it is, and offer a draw with it if ``offer_draw``.

    An opponent names its level, seed, engine and node budget. A move that is ``signed`` is in canonical form.
    """

    move: str
    level: int | None = None
    seed: int | None = None
    engine: str | None = None
    nodes: int | None = None
    channel: Channel | None = None
    offer_draw: bool = False
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitMoves(_PlayerCommand):
    """Play ``moves`` in a row, all or none; ``offer_draw`` is with the last, ``signed`` one signature under all."""

    moves: tuple[str, ...]
    channel: Channel | None = None
    offer_draw: bool = False
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resign(_PlayerCommand):
    """Give the game up. By the channel ERASURE a frozen match is resigned too."""

    channel: Channel | None = None
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortMatch(_PlayerCommand):
    """Cancel the match before the second ply, without a result; also declines an invitation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferDraw(_PlayerCommand):
    """Propose a draw to all other seats, or agree to the one on offer; a signature is only under a proposal."""

    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptDraw(_PlayerCommand):
    """Agree to the draw that is on offer. An opponent names its engine, and the node budget of its search."""

    engine: str | None = None
    nodes: int | None = None
    channel: Channel | None = None
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclineDraw(_PlayerCommand):
    """Turn down the draw that is on offer. An opponent names its engine, and the node budget of its search."""

    engine: str | None = None
    nodes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTakeback(_PlayerCommand):
    """Ask all others to go back to the position in which ``player`` made the last move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptTakeback(_PlayerCommand):
    """Agree to going back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclineTakeback(_PlayerCommand):
    """Do not agree to going back, or withdraw one's own request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveTime(_PlayerCommand):
    """Give ``seat`` more time, in milliseconds."""

    seat: int
    time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTime:
    """Say that time is up: everything due now happens. ``player`` None: time itself says so, nobody claims it."""

    player: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgiveFlag(_PlayerCommand):
    """Let the match go on that ``player`` has just won on time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseClock:
    """Stop the time of the seat of ``player`` (None: of all seats) from ``since`` to ``until``: the server asks."""

    reason: PauseReason
    player: str | None
    since: int
    until: int | None = None
    automatic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeClock:
    """End the pauses of the seat of ``player`` (None: of all seats) for ``reason``: the server asks."""

    reason: PauseReason
    player: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectTime:
    """Let time go on from the present instant in a match that a wrong clock has dated in the future."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaiseDispute(_PlayerCommand):
    """Open a case about the match after ``ply`` plies. ``statement`` is the SHA-256 (hexadecimal) of its text."""

    ply: int
    ground: Ground
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCase(_ArbiterCommand):
    """Open a case as an arbiter, who is no player of the match."""

    ply: int
    ground: Ground
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStatement(_PlayerCommand):
    """Say one's part in the open case."""

    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze(_ArbiterCommand):
    """Stop the match while its case is open, or let it go on if not ``frozen``."""

    frozen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(_ArbiterCommand):
    """Rule on the open case. ``reason`` and ``rule`` are the SHA-256 (hexadecimal) of a salt and each text.

    ``ply`` belongs to the ruling "take-back", ``scores`` to "decide", ``remaining`` (milliseconds by seat) to
    "adjust-clocks". ``sole_arbiter`` says that nobody else who holds the office may rule on the case.
    """

    ruling: RulingKind
    reason: str
    rule: str
    ply: int | None = None
    scores: tuple[float, ...] | None = None
    remaining: tuple[int, ...] | None = None
    sole_arbiter: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Appeal(_PlayerCommand):
    """Ask for another arbiter's ruling on the last case."""

    statement: str
    signed: PlayerSignature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenCase:
    """Reopen a case settled on appeal, as its arbiter or an operator; ``statement`` is the SHA-256 in hex of why."""

    person: str
    dispute: int
    statement: str
    operator: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeRuleset(_ArbiterCommand):
    """Propose, as an arbiter, another ruleset of the game; ``reason`` is the SHA-256 in hex of a salt and the text."""

    ruleset: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptRuleset(_PlayerCommand):
    """Agree to the ruleset that is proposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclineRuleset(_PlayerCommand):
    """Do not agree to the ruleset that is proposed."""


PlainCommand = (
    JoinMatch
    | Resign
    | AbortMatch
    | OfferDraw
    | AcceptDraw
    | DeclineDraw
    | RequestTakeback
    | AcceptTakeback
    | DeclineTakeback
    | GiveTime
    | CallTime
    | ForgiveFlag
    | PauseClock
    | ResumeClock
    | CorrectTime
    | RaiseDispute
    | OpenCase
    | FileStatement
    | Freeze
    | Rule
    | Appeal
    | ReopenCase
    | ProposeRuleset
    | AcceptRuleset
    | DeclineRuleset
)
"""Commands beside the creation of a match and its moves."""

SignedAct = SubmitMove | SubmitMoves | Resign | OfferDraw | AcceptDraw | Appeal
"""Moves, and the acts that settle a match: players can sign them."""

Command = CreateMatch | SubmitMove | SubmitMoves | PlainCommand

COMMANDS_BEHIND: Mapping[type[e.Event], type[PlainCommand]] = {
    e.PlayerJoined: JoinMatch,
    e.DrawOffered: OfferDraw,
    e.DrawAccepted: AcceptDraw,
    e.DrawDeclined: DeclineDraw,
    e.PlayerResigned: Resign,
    e.FlagForgiven: ForgiveFlag,
    e.TakebackRequested: RequestTakeback,
    e.TakebackAccepted: AcceptTakeback,
    e.TakebackDeclined: DeclineTakeback,
    e.StatementFiled: FileStatement,
    e.RulingAppealed: Appeal,
    e.CaseReopened: ReopenCase,
    e.RulesetProposed: ProposeRuleset,
    e.RulesetAccepted: AcceptRuleset,
    e.RulesetDeclined: DeclineRuleset,
}
"""The command behind an event that has the fields of the command, but for the person who gives it (the first)."""
