"""The conditions on which a tournament is announced and entered, and the bars of those who have left one."""

from collections.abc import Iterable
from typing import NamedTuple

from domain.contest.tournament.terms import EntryTerms
from domain.match.refusals import CommandError
from domain.match.terms import DAY

RATING_MARGIN = 150
"""Rating points by which somebody's rating may have certainly been above the limit within the last year."""

FIRST_BAR_MS = 30 * DAY
FURTHER_BAR_MS = 90 * DAY
BAR_MEMORY_MS = 365 * DAY
"""For so long a leaving makes the next bar the longer one."""


class EntryFacts(NamedTuple):
    """The facts that decide whether somebody may enter.

    ``rating_bound`` is the highest lower bound of the rating within the last year, None without one. ``flags`` counts
    matches lost on time in the last 90 days, ``finished`` all finished ones. ``apart``: some of those who have entered
    and this person cannot be placed at one table. ``startable``: the server may start matches for this person.
    """

    rating_bound: int | None = None
    finished: int = 0
    flags: int = 0
    barred_until: int | None = None
    bot: bool = False
    guest: bool = False
    apart: bool = False
    startable: bool = True


def refuse_entry(terms: EntryTerms, facts: EntryFacts, now: int) -> None:
    """Raise CommandError, with the reason, unless somebody with ``facts`` may enter ``now``."""
    bound = facts.rating_bound
    if facts.barred_until is not None and now < facts.barred_until:
        days = -(-(facts.barred_until - now) // DAY)
        words = "1 day" if days == 1 else f"{days} days"
        reason = f"you have left a tournament: you can enter again in {words}"
        raise CommandError("barred", reason)
    if facts.guest:
        raise CommandError("sign-up-required", "guests cannot enter tournaments: sign up first")
    if facts.bot and not terms.bots:
        raise CommandError("entry-refused", "this tournament is for people: bots cannot enter")
    if not facts.startable:
        reason = "the server may start no matches for you: allow it in your settings first"
        raise CommandError("entry-refused", reason)
    if facts.finished < terms.finished:
        reason = f"who enters must have finished {_matches(terms.finished)}; you have finished {facts.finished}"
        raise CommandError("entry-refused", reason)
    if terms.flags is not None and facts.flags > terms.flags:
        reason = f"who enters may have lost {_matches(terms.flags)} on time in the last 90 days; you have {facts.flags}"
        raise CommandError("entry-refused", reason)
    if terms.rating_from is not None and (bound is None or bound < terms.rating_from):
        reason = f"your rating was not certainly {terms.rating_from} or more at any time of the last year"
        raise CommandError("entry-refused", reason)
    if terms.rating_to is not None and bound is not None and bound - RATING_MARGIN > terms.rating_to:
        reason = f"your rating was certainly {bound} in the last year: this tournament is up to {terms.rating_to}"
        raise CommandError("entry-refused", reason)
    if facts.apart:
        reason = "another entrant and you cannot be placed at one table"
        raise CommandError("entry-refused", reason)


MIN_FINISHED_TO_ANNOUNCE = 10
MAX_ANNOUNCED = 3
"""Tournaments of one person that have not started."""


class AnnouncementFacts(NamedTuple):
    """The facts that decide whether somebody may announce a tournament.

    ``person``: it is a person with an account. ``finished`` counts matches, ``announced`` the person's tournaments that
    have not started.
    """

    person: bool
    finished: int
    announced: int


def refuse_announcement(facts: AnnouncementFacts) -> None:
    """Raise CommandError, with the reason, unless somebody with ``facts`` may announce one more tournament."""
    if not facts.person:
        raise CommandError("sign-up-required", "only people with an account announce tournaments")
    if facts.finished < MIN_FINISHED_TO_ANNOUNCE:
        wanted = _matches(MIN_FINISHED_TO_ANNOUNCE)
        reason = f"who announces a tournament has finished {wanted}; you have {facts.finished}"
        raise CommandError("tournament-refused", reason)
    if facts.announced >= MAX_ANNOUNCED:
        reason = f"{MAX_ANNOUNCED} tournaments that you have announced have not started: wait for one of them"
        raise CommandError("tournament-refused", reason)


def barred_until(leavings: Iterable[int]) -> int | None:
    """Return until when somebody may enter no tournament after leaving some at the instants ``leavings``; None: never.

    The first bars for 30 days, each further one within a year of another for 90.
    """
    until, before = None, None
    for leaving in sorted(leavings):
        further = before is not None and leaving - before < BAR_MEMORY_MS
        end = leaving + (FURTHER_BAR_MS if further else FIRST_BAR_MS)
        until, before = (end if until is None else max(until, end)), leaving
    return until


def _matches(number: int) -> str:
    return "1 match" if number == 1 else f"{number} matches"
