"""The values that matches are recorded with, as stored: never renamed, only added to.

The reasons for which a game itself ends are not among them: every game declares its own.
"""

from enum import StrEnum


class Status(StrEnum):
    """How far a match has come."""

    OPEN = "open"
    PLAYING = "playing"
    FINISHED = "finished"
    ABORTED = "aborted"


class EndReason(StrEnum):
    """Why a match ended, when the rules of its game were not the reason."""

    RESIGNATION = "resignation"
    FLAG = "flag"
    DRAW_AGREED = "draw-agreed"
    RULING = "ruling"
    ABORTED = "aborted"
    ANNULLED = "annulled"


class Channel(StrEnum):
    """How a move, an answer or a resignation came about."""

    WEB = "web"
    API = "api"
    MAIL = "mail"
    WEBHOOK = "webhook"
    """In the answer of a webhook that was told of the turn."""

    OPPONENT = "opponent"

    CONDITIONAL = "conditional"
    """By a conditional move of the player."""

    FORCED = "forced"
    """As the only legal move, which the player lets the server play."""

    ERASURE = "erasure"
    """A resignation because the account of the player is erased."""


class OccasionKind(StrEnum):
    """Occasions of matches."""

    SEEK = "seek"
    TOURNAMENT = "tournament"


class Control(StrEnum):
    """The kinds of time control."""

    DAYS_PER_MOVE = "days-per-move"
    BANK = "bank"


class Aids(StrEnum):
    """The aids that players may use to choose moves, beside those on the page of the match."""

    NONE = "none"
    BOOKS = "books"
    """Books, notes and archives of matches, but no program that judges positions."""

    ANYTHING = "anything"


class FlagRule(StrEnum):
    """Whether a flag falls by itself, or only when another seat claims the win."""

    AUTOMATIC = "automatic"
    CLAIM = "claim"


class Limit(StrEnum):
    """Which time of a seat is up: its bank or time per move, that of a single move, or that of its first move."""

    TIME = "time"
    CEILING = "ceiling"
    FIRST_MOVE = "first-move"


class TurnEnding(StrEnum):
    """The end of a turn on the clock: a move, a pass (a seat left, moves were taken back), or the end of the match."""

    MOVED = "moved"
    PASSED = "passed"
    STOPPED = "stopped"


class PauseReason(StrEnum):
    """Why a clock stands still."""

    VACATION = "vacation"
    OUTAGE = "outage"
    ARBITER = "arbiter"
    DISPUTE = "dispute"

    WEEKEND = "weekend"
    """Free days of the week."""


class Ground(StrEnum):
    """The subject of a dispute."""

    WRONG_RESULT = "wrong-result"
    REPETITION = "repetition"
    CLOCK = "clock"
    ILLEGAL_MOVE = "illegal-move"
    CONDUCT = "conduct"


class RulingKind(StrEnum):
    """The decisions of an arbiter."""

    LET_STAND = "let-stand"
    ADJUST_CLOCKS = "adjust-clocks"
    TAKE_BACK = "take-back"
    DECIDE = "decide"
    ANNUL = "annul"
    RESTORE = "restore"


class LineAction(StrEnum):
    """The act after a move of another seat, instead of or before playing on."""

    RESIGN = "resign"
    ACCEPT_DRAW = "accept-draw"
    WAIT = "wait"


class LineStatus(StrEnum):
    """Where the conditional moves of a seat stand in the match."""

    ARMED = "armed"
    """They answer moves of other seats."""

    WAITING = "waiting"
    """A move of the seat itself comes first, by hand."""

    DONE = "done"
    """All of them have been played."""

    DEAD = "dead"
    """The match has gone another way."""
