"""The decisions on commands to a seek, and the commands that are due by time."""

from collections.abc import Callable, Mapping
from typing import Any

from domain.contest.aggregate import Aggregate
from domain.contest.seek import commands as c, events as e
from domain.contest.seek.evolve import evolve
from domain.contest.seek.state import Joining, Seek, SeekStatus
from domain.contest.wishes import check_terms, common_interval
from domain.match.refusals import CommandError
from domain.match.terms import DAY
from domain.search.choose import LEVELS

OPPONENTS_AFTER_MS = 7 * DAY
"""How long a seek stands before its author may begin with opponents in the empty seats."""


def decide(seek: Seek | None, command: c.Command, now: int) -> tuple[e.Event, ...]:
    """Return the events that ``command`` causes at ``now``: at most one. Raises CommandError.

    A command about a table or a joining that is no longer the present one causes none.
    """
    if isinstance(command, c.PostSeek):
        if seek is not None:
            raise CommandError("seek-refused", "this seek has been posted already")
        check_terms(command.terms, command.guest)
        return (e.SeekPosted(at=now, author=command.author, terms=command.terms),)
    if seek is None:
        raise CommandError("no-such-seek", "there is no such seek")
    event = _DECISIONS[type(command)](seek, command, now)
    return () if event is None else (event,)


def _take_seek(seek: Seek, command: c.TakeSeek, now: int) -> e.Event:
    _refuse_if_not_open(seek)
    terms, table = seek.terms, seek.table
    if command.player == seek.author:
        raise CommandError("seek-refused", "this is your own seek")
    if command.player in (taker.player for taker in table.takers):
        raise CommandError("already-seated", "you have a seat at this table already")
    if command.player in (taker.player for begun in seek.begun for taker in begun.table.takers):
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
    return e.SeekTaken(
        at=now,
        player=command.player,
        game=command.game,
        days=days,
        rating=command.rating,
        seek=command.seek,
        joining=command.joining,
    )


def _leave_table(seek: Seek, command: c.LeaveTable, now: int) -> e.Event:
    _refuse_if_not_open(seek)
    if command.player not in (taker.player for taker in seek.table.takers):
        raise CommandError("seek-refused", "you have no seat at this table")
    return e.TakerLeft(at=now, player=command.player)


def _seat_opponents(seek: Seek, command: c.SeatOpponents, now: int) -> e.Event:
    _refuse_if_not_open(seek)
    _refuse_others(seek, command.player)
    if now < seek.posted_at + OPPONENTS_AFTER_MS:
        raise CommandError("seek-refused", "opponents can take the empty seats 7 days after a seek was posted")
    if command.game not in seek.terms.games or seek.table.game not in (None, command.game):
        raise CommandError("seek-refused", "the people at the table play another game", "game")
    if command.level not in LEVELS:
        raise CommandError("seek-refused", f"there is no opponent of level {command.level}", "level")
    return e.OpponentsSeated(at=now, level=command.level, game=command.game)


def _start_table(seek: Seek, command: c.StartTable, now: int) -> e.Event | None:
    is_present = seek.status == SeekStatus.FULL and seek.table.number == command.number
    return e.TableStarted(at=now, match=command.match) if is_present else None


def _clear_table(seek: Seek, command: c.ClearTable, now: int) -> e.Event | None:
    is_present = seek.status == SeekStatus.FULL and seek.table.number == command.number
    return e.TableCleared(at=now, players=command.players, reason=command.reason) if is_present else None


def _join_seek(seek: Seek, command: c.JoinSeek, now: int) -> e.Event:
    _refuse_if_not_open(seek)
    if seek.table.takers:
        raise CommandError("seek-refused", "others have taken a seat at this table")
    if command.seek == seek.id:
        raise CommandError("seek-refused", "this is the seek itself")
    return e.SeekJoined(at=now, seek=command.seek)


def _return_seek(seek: Seek, command: c.ReturnSeek, now: int) -> e.Event | None:
    return e.SeekReturned(at=now) if _waits(seek, command.joining) else None


def _answer_seek(seek: Seek, command: c.AnswerSeek, now: int) -> e.Event | None:
    return e.SeekAnswered(at=now, match=command.match) if _waits(seek, command.joining) else None


def _restore_wish(seek: Seek, command: c.RestoreWish, now: int) -> e.Event | None:
    stands = seek.status not in (SeekStatus.WITHDRAWN, SeekStatus.EXPIRED)
    return e.WishRestored(at=now, match=command.match) if stands and command.match in seek.matches else None


def _close_seek(seek: Seek, command: c.CloseSeek, now: int) -> e.Event:
    _refuse_others(seek, command.player)
    if seek.status != SeekStatus.JOINED:
        _refuse_if_not_open(seek)
    return e.SeekWithdrawn(at=now, reason=command.reason)


def _expire_seek(seek: Seek, _: c.ExpireSeek, now: int) -> e.Event | None:
    return e.SeekExpired(at=now) if seek.status == SeekStatus.OPEN and now >= seek.expires_at else None


def _waits(seek: Seek, joining: Joining) -> bool:
    return seek.status == SeekStatus.JOINED and seek.joined == joining


def _refuse_if_not_open(seek: Seek) -> None:
    if seek.is_over:
        raise CommandError("seek-over", WHAT_BECAME[seek.status])
    if seek.status != SeekStatus.OPEN:
        raise CommandError("seek-refused", WHAT_BECAME[seek.status])


def _refuse_others(seek: Seek, player: str) -> None:
    if player != seek.author:
        raise CommandError("not-your-seek", "only the author of a seek can do this")


WHAT_BECAME = {
    SeekStatus.ANSWERED: "this seek has been answered",
    SeekStatus.WITHDRAWN: "this seek was withdrawn",
    SeekStatus.EXPIRED: "this seek has expired: it was not answered within 14 days",
    SeekStatus.JOINED: "its author waits at another table at present",
    SeekStatus.FULL: "all seats of this table are taken",
}
"""The fate of a seek that is not open, as a clause of a refusal."""

_DECISIONS: Mapping[type[Any], Callable[[Seek, Any, int], e.Event | None]] = {
    c.TakeSeek: _take_seek,
    c.LeaveTable: _leave_table,
    c.SeatOpponents: _seat_opponents,
    c.StartTable: _start_table,
    c.ClearTable: _clear_table,
    c.JoinSeek: _join_seek,
    c.ReturnSeek: _return_seek,
    c.AnswerSeek: _answer_seek,
    c.RestoreWish: _restore_wish,
    c.CloseSeek: _close_seek,
    c.ExpireSeek: _expire_seek,
}


def deadline(seek: Seek) -> int | None:
    """Return the instant at which the seek expires; None while nothing expires."""
    return seek.expires_at if seek.status == SeekStatus.OPEN else None


def due(seek: Seek, now: int) -> c.Command | None:
    """Return the command that time makes due."""
    expires_at = deadline(seek)
    return c.ExpireSeek() if expires_at is not None and expires_at <= now else None


def command_behind(seek: Seek | None, event: e.Event, _: str) -> c.Command:
    """Return the command that caused ``event``. Raises ValueError where none can have."""
    match event:
        case e.SeekPosted():
            return c.PostSeek(event.author, event.terms)
        case e.SeekTaken():
            return c.TakeSeek(event.player, event.game, event.days, event.rating, False, event.seek, event.joining)
        case e.TakerLeft():
            return c.LeaveTable(event.player)
        case e.SeekJoined():
            return c.JoinSeek(event.seek)
        case e.SeekExpired():
            return c.ExpireSeek()
    if seek is None:
        raise ValueError("the stream of a seek does not begin with its posting")
    match event:
        case e.OpponentsSeated():
            return c.SeatOpponents(seek.author, event.level, event.game)
        case e.TableStarted():
            return c.StartTable(seek.table.number, event.match)
        case e.TableCleared():
            return c.ClearTable(seek.table.number, event.players, event.reason)
        case e.WishRestored():
            return c.RestoreWish(event.match)
        case e.SeekWithdrawn():
            return c.CloseSeek(seek.author, event.reason)
    if seek.joined is None:
        raise ValueError("the seek waits at no other table")
    if isinstance(event, e.SeekAnswered):
        return c.AnswerSeek(seek.joined, event.match)
    return c.ReturnSeek(seek.joined)


SEEK: Aggregate[Seek, c.Command, e.Event] = Aggregate(decide, evolve, deadline, due, command_behind)
