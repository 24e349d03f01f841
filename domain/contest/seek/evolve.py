"""The evolution of a seek: its state after each event."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from domain.contest.seek import events as e
from domain.contest.seek.state import Begun, Joining, Seek, SeekStatus, SeekTable, Taker


def evolve(seek: Seek | None, event: e.Event, id: str) -> Seek:
    """Return the seek after ``event``. Raises ValueError where it cannot follow."""
    if isinstance(event, e.SeekPosted):
        if seek is not None:
            raise ValueError("a seek is posted a second time")
        table = SeekTable(1, event.terms.days)
        return Seek(
            id=id,
            author=event.author,
            terms=event.terms,
            posted_at=event.at,
            standing_since=event.at,
            updated_at=event.at,
            table=table,
        )
    if seek is None:
        raise ValueError("the stream of a seek does not begin with its posting")
    return replace(_EVOLUTIONS[type(event)](seek, event), updated_at=event.at)


def _seek_taken(seek: Seek, event: e.SeekTaken) -> Seek:
    takers = (*seek.table.takers, Taker(event.player, event.seek, event.joining))
    table = seek.table._replace(game=event.game, days=event.days, takers=takers)
    is_full = len(takers) + 1 == seek.terms.seats
    return replace(seek, table=table, status=SeekStatus.FULL if is_full else seek.status)


def _taker_left(seek: Seek, event: e.TakerLeft) -> Seek:
    return _without(seek, (event.player,))


def _opponents_seated(seek: Seek, event: e.OpponentsSeated) -> Seek:
    return replace(seek, status=SeekStatus.FULL, table=seek.table._replace(level=event.level, game=event.game))


def _table_started(seek: Seek, event: e.TableStarted) -> Seek:
    begun = (*seek.begun, Begun(event.match, seek.table))
    table = SeekTable(seek.table.number + 1, seek.terms.days)
    return _after_match(replace(seek, begun=begun, table=table), event.at)


def _table_cleared(seek: Seek, event: e.TableCleared) -> Seek:
    leaving = tuple(taker.player for taker in seek.table.takers) if seek.author in event.players else event.players
    cleared = _without(seek, leaving)
    # Opponents leave as well: the author is asked again.
    table = cleared.table._replace(number=seek.table.number + 1, level=None)
    return replace(cleared, table=table, status=SeekStatus.OPEN)


def _seek_joined(seek: Seek, event: e.SeekJoined) -> Seek:
    joinings = (*seek.joinings, event.seek)
    return replace(seek, status=SeekStatus.JOINED, joined=Joining(event.seek, len(joinings)), joinings=joinings)


def _seek_returned(seek: Seek, _: e.SeekReturned) -> Seek:
    return replace(seek, status=SeekStatus.OPEN, joined=None)


def _seek_answered(seek: Seek, event: e.SeekAnswered) -> Seek:
    return _after_match(replace(seek, elsewhere=(*seek.elsewhere, event.match), joined=None), event.at)


def _wish_restored(seek: Seek, event: e.WishRestored) -> Seek:
    status = SeekStatus.OPEN if seek.status == SeekStatus.ANSWERED else seek.status
    restored = replace(seek, called_off=(*seek.called_off, event.match), status=status, standing_since=event.at)
    return restored if restored.matches else replace(restored, answered_at=None)


def _seek_withdrawn(seek: Seek, _: e.SeekWithdrawn) -> Seek:
    return _closed(seek, SeekStatus.WITHDRAWN)


def _seek_expired(seek: Seek, _: e.SeekExpired) -> Seek:
    return _closed(seek, SeekStatus.EXPIRED)


def _without(seek: Seek, players: tuple[str, ...]) -> Seek:
    """Return the seek without ``players`` at its table, whose pace and game stay agreed while others sit there."""
    staying = tuple(taker for taker in seek.table.takers if taker.player not in players)
    gone = tuple(taker for taker in seek.table.takers if taker.player in players)
    table = seek.table._replace(takers=staying) if staying else SeekTable(seek.table.number, seek.terms.days)
    return replace(seek, table=table, gone=(*seek.gone, *gone))


def _after_match(seek: Seek, at: int) -> Seek:
    status = SeekStatus.ANSWERED if len(seek.matches) >= seek.terms.count else SeekStatus.OPEN
    return replace(seek, status=status, answered_at=at if seek.answered_at is None else seek.answered_at)


def _closed(seek: Seek, status: SeekStatus) -> Seek:
    return replace(_without(seek, tuple(taker.player for taker in seek.table.takers)), status=status)


_EVOLUTIONS: Mapping[type[Any], Callable[[Seek, Any], Seek]] = {
    e.SeekTaken: _seek_taken,
    e.TakerLeft: _taker_left,
    e.OpponentsSeated: _opponents_seated,
    e.TableStarted: _table_started,
    e.TableCleared: _table_cleared,
    e.SeekJoined: _seek_joined,
    e.SeekReturned: _seek_returned,
    e.SeekAnswered: _seek_answered,
    e.WishRestored: _wish_restored,
    e.SeekWithdrawn: _seek_withdrawn,
    e.SeekExpired: _seek_expired,
}
