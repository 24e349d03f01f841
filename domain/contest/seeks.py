"""The seek: a person's wish to be matched, taken by others until a table is full and its match begins.

A seek can also wait at the table of another seek whose wishes agree: it has ``joined`` that one, is taken by nobody
meanwhile, and comes back when nothing becomes of it. So one wish never leads to two matches.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from domain.contest.aggregate import Aggregate, event_types
from domain.contest.wishes import Interval, SeekTerms, check_terms, common_interval
from domain.match.refusals import CommandError
from domain.match.terms import DAY
from domain.search.choose import LEVELS

EXPIRES_AFTER_MS = 14 * DAY
OPPONENTS_AFTER_MS = 7 * DAY
"""After so long the author may begin with opponents in the empty seats."""


class SeekStatus(StrEnum):
    """How a seek stands."""

    OPEN = "open"
    JOINED = "joined"
    """It waits at the table of another seek."""

    FULL = "full"
    """All seats of its table are taken: the match is about to begin."""

    ANSWERED = "answered"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class WithdrawalReason(StrEnum):
    """Why a seek was withdrawn."""

    AUTHOR = "author"
    ERASURE = "erasure"


class Joining(NamedTuple):
    """The ``number``-th joining of a seek, at the table of the other ``seek``."""

    seek: str
    number: int


class Taker(NamedTuple):
    """Who has taken a seat of a table; ``seek`` and ``joining`` (0: none) if it was by a seek of their own."""

    player: str
    seek: str | None = None
    joining: int = 0


class SeekTable(NamedTuple):
    """The ``number``-th table of a seek: the game and pace on which its takers agree, and who fills the rest."""

    number: int
    days: Interval
    game: str | None = None
    takers: tuple[Taker, ...] = ()
    level: int | None = None


class Begun(NamedTuple):
    """A table whose match has begun."""

    match: str
    table: SeekTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Seek:
    """A seek after its events.

    ``gone`` are takers that left a table without a match. ``matches`` have begun, at own tables or, ``elsewhere``, at
    those of other seeks; ``joinings`` are the seeks that it has joined, in order. ``updated_at`` is the instant of the
    last event.
    """

    id: str
    author: str
    terms: SeekTerms
    posted_at: int
    updated_at: int
    status: SeekStatus = SeekStatus.OPEN
    table: SeekTable
    begun: tuple[Begun, ...] = ()
    elsewhere: tuple[str, ...] = ()
    gone: tuple[Taker, ...] = ()
    joined: Joining | None = None
    joinings: tuple[str, ...] = ()

    @property
    def matches(self) -> tuple[str, ...]:
        """The matches that have come of it."""
        return (*(each.match for each in self.begun), *self.elsewhere)

    @property
    def is_over(self) -> bool:
        """Whether nothing can become of it any more."""
        return self.status in _OVER

    @property
    def expires_at(self) -> int:
        """The instant at which it expires unless it is over."""
        return self.posted_at + EXPIRES_AFTER_MS

    @property
    def people(self) -> frozenset[str]:
        """The author, and all who have or had a seat at a table."""
        takers = (*self.table.takers, *self.gone, *(taker for each in self.begun for taker in each.table.takers))
        return frozenset((self.author, *(taker.player for taker in takers)))


_OVER = (SeekStatus.ANSWERED, SeekStatus.WITHDRAWN, SeekStatus.EXPIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekPosted:
    """``author`` seeks others on these terms."""

    at: int
    author: str
    terms: SeekTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekTaken:
    """``player``, rated so, has taken a seat for ``game`` at a pace within ``days``."""

    at: int
    player: str
    game: str
    days: Interval
    rating: int
    seek: str | None = None
    joining: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TakerLeft:
    """``player`` has left a table that was not full."""

    at: int
    player: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentsSeated:
    """The author has filled the empty seats with opponents of ``level``, for ``game``."""

    at: int
    level: int
    game: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStarted:
    """The ``match`` of the full table has been created."""

    at: int
    match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCleared:
    """The match of the full table could not be created: ``players`` have left it for a ``reason`` in words."""

    at: int
    players: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekJoined:
    """The seek waits at the table of another one."""

    at: int
    seek: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekReturned:
    """Nothing came of waiting at the table of another seek: it is open again."""

    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekAnswered:
    """The ``match`` of the other seek's table has been created."""

    at: int
    match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekWithdrawn:
    """The seek was withdrawn."""

    at: int
    reason: WithdrawalReason


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekExpired:
    """Time is up for the seek."""

    at: int


Event = (
    SeekPosted
    | SeekTaken
    | TakerLeft
    | OpponentsSeated
    | TableStarted
    | TableCleared
    | SeekJoined
    | SeekReturned
    | SeekAnswered
    | SeekWithdrawn
    | SeekExpired
)
TYPES = event_types(Event)


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
    """Come back from a joining of which nothing has come."""

    joining: Joining


class AnswerSeek(NamedTuple):
    """Record the match that has come of a joining."""

    joining: Joining
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
    | CloseSeek
    | ExpireSeek
)


def decide(seek: Seek | None, command: Command, now: int) -> tuple[Event, ...]:
    """Return the events that ``command`` causes at ``now``: at most one. Raises CommandError.

    A command about a table or a joining that is no longer the present one causes none.
    """
    if isinstance(command, PostSeek):
        if seek is not None:
            raise CommandError("seek-refused", "this seek has been posted already")
        check_terms(command.terms, command.guest)
        return (SeekPosted(at=now, author=command.author, terms=command.terms),)
    if seek is None:
        raise CommandError("no-such-seek", "there is no such seek")
    event = _DECISIONS[type(command)](seek, command, now)
    return () if event is None else (event,)


def _take_seek(seek: Seek, command: TakeSeek, now: int) -> Event:
    _refuse_if_not_open(seek)
    terms, table = seek.terms, seek.table
    if command.player == seek.author:
        raise CommandError("seek-refused", "this is your own seek")
    if command.player in (each.player for each in table.takers):
        raise CommandError("already-seated", "you have a seat at this table already")
    if command.player in (taker.player for each in seek.begun for taker in each.table.takers):
        raise CommandError("seek-refused", "you play a match that came of this seek")
    if command.guest and terms.rated:
        raise CommandError("guests-play-unrated", "guests play unrated: sign up to play for a rating")
    if command.game not in terms.games or table.game not in (None, command.game):
        wanted = (table.game,) if table.game else terms.games
        raise CommandError("seek-refused", f"this seek is for {' or '.join(wanted)}", "game")
    days = common_interval(table.days, command.days)
    if days is None:
        raise CommandError("seek-refused", f"this table plays at {table.days.in_days()} a move")
    if not terms.rating.contains(command.rating):
        words = f"this seek is for ratings of {terms.rating.in_words()}, and yours is {command.rating}"
        raise CommandError("seek-refused", words)
    return SeekTaken(
        at=now,
        player=command.player,
        game=command.game,
        days=days,
        rating=command.rating,
        seek=command.seek,
        joining=command.joining,
    )


def _leave_table(seek: Seek, command: LeaveTable, now: int) -> Event:
    _refuse_if_not_open(seek)
    if command.player not in (each.player for each in seek.table.takers):
        raise CommandError("seek-refused", "you have no seat at this table")
    return TakerLeft(at=now, player=command.player)


def _seat_opponents(seek: Seek, command: SeatOpponents, now: int) -> Event:
    _refuse_if_not_open(seek)
    _refuse_others(seek, command.player)
    if now < seek.posted_at + OPPONENTS_AFTER_MS:
        raise CommandError("seek-refused", "opponents can take the empty seats 7 days after a seek was posted")
    if command.game not in seek.terms.games or seek.table.game not in (None, command.game):
        raise CommandError("seek-refused", "the people at the table play another game", "game")
    if command.level not in LEVELS:
        raise CommandError("seek-refused", f"there is no opponent of level {command.level}", "level")
    return OpponentsSeated(at=now, level=command.level, game=command.game)


def _start_table(seek: Seek, command: StartTable, now: int) -> Event | None:
    is_present = seek.status == SeekStatus.FULL and seek.table.number == command.number
    return TableStarted(at=now, match=command.match) if is_present else None


def _clear_table(seek: Seek, command: ClearTable, now: int) -> Event | None:
    is_present = seek.status == SeekStatus.FULL and seek.table.number == command.number
    return TableCleared(at=now, players=command.players, reason=command.reason) if is_present else None


def _join_seek(seek: Seek, command: JoinSeek, now: int) -> Event:
    _refuse_if_not_open(seek)
    if seek.table.takers:
        raise CommandError("seek-refused", "others have taken a seat at this table")
    if command.seek == seek.id:
        raise CommandError("seek-refused", "this is the seek itself")
    return SeekJoined(at=now, seek=command.seek)


def _return_seek(seek: Seek, command: ReturnSeek, now: int) -> Event | None:
    return SeekReturned(at=now) if _waits(seek, command.joining) else None


def _answer_seek(seek: Seek, command: AnswerSeek, now: int) -> Event | None:
    return SeekAnswered(at=now, match=command.match) if _waits(seek, command.joining) else None


def _close_seek(seek: Seek, command: CloseSeek, now: int) -> Event:
    _refuse_others(seek, command.player)
    if seek.status != SeekStatus.JOINED:
        _refuse_if_not_open(seek)
    return SeekWithdrawn(at=now, reason=command.reason)


def _expire_seek(seek: Seek, _: ExpireSeek, now: int) -> Event | None:
    return SeekExpired(at=now) if seek.status == SeekStatus.OPEN and now >= seek.expires_at else None


def _waits(seek: Seek, joining: Joining) -> bool:
    return seek.status == SeekStatus.JOINED and seek.joined == joining


def _refuse_if_not_open(seek: Seek) -> None:
    if seek.is_over:
        raise CommandError("seek-over", _WHAT_BECAME[seek.status])
    if seek.status != SeekStatus.OPEN:
        raise CommandError("seek-refused", _WHAT_BECAME[seek.status])


def _refuse_others(seek: Seek, player: str) -> None:
    if player != seek.author:
        raise CommandError("not-your-seek", "only the author of a seek can do this")


_WHAT_BECAME = {
    SeekStatus.ANSWERED: "this seek has been answered",
    SeekStatus.WITHDRAWN: "this seek was withdrawn",
    SeekStatus.EXPIRED: "this seek has expired",
    SeekStatus.JOINED: "its author waits at another table at present",
    SeekStatus.FULL: "all seats of this table are taken",
}

_DECISIONS: Mapping[type[Any], Callable[[Seek, Any, int], Event | None]] = {
    TakeSeek: _take_seek,
    LeaveTable: _leave_table,
    SeatOpponents: _seat_opponents,
    StartTable: _start_table,
    ClearTable: _clear_table,
    JoinSeek: _join_seek,
    ReturnSeek: _return_seek,
    AnswerSeek: _answer_seek,
    CloseSeek: _close_seek,
    ExpireSeek: _expire_seek,
}


def evolve(seek: Seek | None, event: Event, id: str) -> Seek:
    """Return the seek after ``event``. Raises ValueError where it cannot follow."""
    if isinstance(event, SeekPosted):
        if seek is not None:
            raise ValueError("a seek is posted a second time")
        table = SeekTable(1, event.terms.days)
        return Seek(id=id, author=event.author, terms=event.terms, posted_at=event.at, updated_at=event.at, table=table)
    if seek is None:
        raise ValueError("the stream of a seek does not begin with its posting")
    return replace(_EVOLUTIONS[type(event)](seek, event), updated_at=event.at)


def _seek_taken(seek: Seek, event: SeekTaken) -> Seek:
    takers = (*seek.table.takers, Taker(event.player, event.seek, event.joining))
    table = seek.table._replace(game=event.game, days=event.days, takers=takers)
    is_full = len(takers) + 1 == seek.terms.seats
    return replace(seek, table=table, status=SeekStatus.FULL if is_full else seek.status)


def _taker_left(seek: Seek, event: TakerLeft) -> Seek:
    return _without(seek, (event.player,))


def _opponents_seated(seek: Seek, event: OpponentsSeated) -> Seek:
    return replace(seek, status=SeekStatus.FULL, table=seek.table._replace(level=event.level, game=event.game))


def _table_started(seek: Seek, event: TableStarted) -> Seek:
    begun = (*seek.begun, Begun(event.match, seek.table))
    return _after_match(replace(seek, begun=begun, table=SeekTable(seek.table.number + 1, seek.terms.days)))


def _table_cleared(seek: Seek, event: TableCleared) -> Seek:
    leaving = tuple(each.player for each in seek.table.takers) if seek.author in event.players else event.players
    cleared = _without(seek, leaving)
    # Opponents, too: whoever seated them is asked again.
    table = cleared.table._replace(number=seek.table.number + 1, level=None)
    return replace(cleared, table=table, status=SeekStatus.OPEN)


def _seek_joined(seek: Seek, event: SeekJoined) -> Seek:
    joinings = (*seek.joinings, event.seek)
    return replace(seek, status=SeekStatus.JOINED, joined=Joining(event.seek, len(joinings)), joinings=joinings)


def _seek_returned(seek: Seek, _: SeekReturned) -> Seek:
    return replace(seek, status=SeekStatus.OPEN, joined=None)


def _seek_answered(seek: Seek, event: SeekAnswered) -> Seek:
    return _after_match(replace(seek, elsewhere=(*seek.elsewhere, event.match), joined=None))


def _seek_withdrawn(seek: Seek, _: SeekWithdrawn) -> Seek:
    return _closed(seek, SeekStatus.WITHDRAWN)


def _seek_expired(seek: Seek, _: SeekExpired) -> Seek:
    return _closed(seek, SeekStatus.EXPIRED)


def _without(seek: Seek, players: tuple[str, ...]) -> Seek:
    """Return the seek without ``players`` at its table, whose pace and game stay agreed while others sit there."""
    staying = tuple(each for each in seek.table.takers if each.player not in players)
    gone = tuple(each for each in seek.table.takers if each.player in players)
    table = seek.table._replace(takers=staying) if staying else SeekTable(seek.table.number, seek.terms.days)
    return replace(seek, table=table, gone=(*seek.gone, *gone))


def _after_match(seek: Seek) -> Seek:
    is_answered = len(seek.matches) >= seek.terms.count
    return replace(seek, status=SeekStatus.ANSWERED if is_answered else SeekStatus.OPEN)


def _closed(seek: Seek, status: SeekStatus) -> Seek:
    return replace(_without(seek, tuple(each.player for each in seek.table.takers)), status=status)


_EVOLUTIONS: Mapping[type[Any], Callable[[Seek, Any], Seek]] = {
    SeekTaken: _seek_taken,
    TakerLeft: _taker_left,
    OpponentsSeated: _opponents_seated,
    TableStarted: _table_started,
    TableCleared: _table_cleared,
    SeekJoined: _seek_joined,
    SeekReturned: _seek_returned,
    SeekAnswered: _seek_answered,
    SeekWithdrawn: _seek_withdrawn,
    SeekExpired: _seek_expired,
}


def deadline(seek: Seek) -> int | None:
    """Return the instant at which the seek expires; None while nothing expires."""
    return seek.expires_at if seek.status == SeekStatus.OPEN else None


def due(seek: Seek, now: int) -> Command | None:
    """Return the command that time makes due."""
    expires_at = deadline(seek)
    return ExpireSeek() if expires_at is not None and expires_at <= now else None


def command_behind(seek: Seek | None, event: Event, _: str) -> Command:
    """Return the command that caused ``event``. Raises ValueError where none can have."""
    match event:
        case SeekPosted():
            return PostSeek(event.author, event.terms)
        case SeekTaken():
            return TakeSeek(event.player, event.game, event.days, event.rating, False, event.seek, event.joining)
        case TakerLeft():
            return LeaveTable(event.player)
        case SeekJoined():
            return JoinSeek(event.seek)
        case SeekExpired():
            return ExpireSeek()
    if seek is None:
        raise ValueError("the stream of a seek does not begin with its posting")
    match event:
        case OpponentsSeated():
            return SeatOpponents(seek.author, event.level, event.game)
        case TableStarted():
            return StartTable(seek.table.number, event.match)
        case TableCleared():
            return ClearTable(seek.table.number, event.players, event.reason)
        case SeekWithdrawn():
            return CloseSeek(seek.author, event.reason)
    if seek.joined is None:
        raise ValueError("the seek waits at no other table")
    if isinstance(event, SeekAnswered):
        return AnswerSeek(seek.joined, event.match)
    return ReturnSeek(seek.joined)


SEEK: Aggregate[Seek, Command, Event] = Aggregate(decide, evolve, deadline, due, command_behind)
