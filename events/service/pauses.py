"""What players' diaries mean for the clock of a match: free days and vacations.

A diary is private, and a match is public and permanent. So a match records what has happened to its clock, as pauses,
and no sooner than it counts: when the one to move acts, or before a flag would fall. What lies ahead is only shown, by
a clock that is not stored (``foreseen``).
"""

from collections.abc import Mapping
from typing import NamedTuple

from domain.match.clock import Clock, Former, Pause, counts_from, free_stretches, has_all_of
from domain.match.enums import PauseReason
from domain.match.state import replaced
from events.private.availability import Diary


class Held(NamedTuple):
    """A pause that the clock of a match has to record; ``automatic`` marks a vacation taken for a flag."""

    pause: Pause
    automatic: bool = False


def foreseen(clock: Clock, diaries: Mapping[int, Diary]) -> Clock:
    """Return ``clock`` with all that the diaries of seats say, recorded or not, of the past and of the time to come."""
    for seat, diary in diaries.items():
        if clock.terms.weekends:
            clock = _with_free_days(clock, seat, diary)
        if clock.terms.vacations:
            wanted = (Pause(PauseReason.VACATION, seat, each.since, each.until) for each in diary.book)
            missing = (pause for pause in wanted if pause.until is None or pause.until > counts_from(clock))
            clock = clock._replace(pauses=(*clock.pauses, *(each for each in missing if not covered(clock, each))))
    return clock


def unrecorded(clock: Clock, seat: int, diary: Diary, now: int) -> Held | None:
    """Return a pause that has stopped the present turn, that of ``seat``, by ``now`` and is not recorded yet, or None.

    It is whole, up to its end, even if that lies ahead.
    """
    if clock.terms.vacations:
        for each in diary.book:
            pause = Pause(PauseReason.VACATION, seat, each.since, each.until)
            if each.since <= now and each.until > clock.since and not covered(clock, pause):
                return Held(pause, each.automatic)
    if clock.terms.weekends and clock.calendars[seat] is None:
        since = max(clock.since, _recorded_until(clock, seat))
        for begin, end in free_stretches(_with_free_days(clock, seat, diary), seat, since, now + 1):
            pause = Pause(PauseReason.WEEKEND, seat, begin, end)
            if not covered(clock, pause):
                return Held(pause)
    return None


def outdated(clock: Clock, seat: int, diary: Diary, now: int) -> PauseReason | None:
    """Return the reason of recorded pauses of ``seat`` that the diary does not have any more; None: there are none.

    They are resumed; those that stand are recorded again after it.
    """
    booked = {(each.since, each.until) for each in diary.book}
    for pause in clock.pauses:
        if pause.seat != seat or (pause.until is not None and pause.until <= now):
            continue
        if clock.terms.vacations and pause.reason == PauseReason.VACATION and (pause.since, pause.until) not in booked:
            return PauseReason.VACATION
        if pause.reason == PauseReason.WEEKEND and pause.since <= now and not _is_free(clock, seat, diary, now):
            return PauseReason.WEEKEND
    return None


def covered(clock: Clock, wanted: Pause) -> bool:
    """Tell whether a pause of the same kind has all of ``wanted``; one that was ended is followed by a longer one."""
    return any(has_all_of(pause, wanted) for pause in clock.pauses)


def _with_free_days(clock: Clock, seat: int, diary: Diary) -> Clock:
    """Return ``clock`` with the calendars of ``diary`` from where those end that older events have recorded."""
    recorded = _recorded_until(clock, seat)
    former = (Former(seat, each.until, each.calendar) for each in diary.former if each.until > recorded)
    return clock._replace(calendars=replaced(clock.calendars, seat, diary.calendar), former=(*clock.former, *former))


def _recorded_until(clock: Clock, seat: int) -> int:
    """Return the instant until which the events themselves say which days are free for ``seat``."""
    return max((former.until for former in clock.former if former.seat == seat), default=0)


def _is_free(clock: Clock, seat: int, diary: Diary, at: int) -> bool:
    return any(free_stretches(_with_free_days(clock, seat, diary), seat, at, at + 1))
