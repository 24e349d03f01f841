"""Guests who came and went: a guest who has finished no match is erased after a month without a move."""

from collections.abc import Callable

import structlog

from domain.match.enums import Status
from events.people.person import Person, UnknownPersonError
from events.service.personal_data import PersonalDataStores, erase

MAX_GUEST_IDLE_MS = 30 * 24 * 3600 * 1000
"""Time after the arrival, or after the last event of an unfinished match."""

MAX_GUESTS_PER_ROUND = 20

log = structlog.get_logger("guests")


class GuestRound:
    """Erases guests who have been idle for too long, as they could erase themselves."""

    def __init__(self, stores: PersonalDataStores, now: Callable[[], int]) -> None:
        self._stores = stores
        self._now = now

    def __call__(self) -> int:
        """Look at the guests that are due; return how many were erased.

        Crash-safe: a guest is taken off the list when the erasure is done.
        """
        people, now = self._stores.people, self._now()
        erased = 0
        for _ in range(MAX_GUESTS_PER_ROUND):
            claim = people.guests.claim()
            if claim is None:
                break
            person = people.person(claim.id)
            if person is not None and person.kind == "guest":
                idle_at = self._idle_at(person.id, person.created_at)
                if idle_at is not None and idle_at > now:
                    people.guests.postpone(claim, idle_at)
                    continue
                if idle_at is not None and self._erase(person):
                    erased += 1
            people.guests.finish(claim)
        return erased

    def _erase(self, guest: Person) -> bool:
        try:
            erase(self._stores, guest)
        except UnknownPersonError:  # signed up in the meantime, or erased on request
            return False
        log.info("guest expired", person=guest.id)
        return True

    def _idle_at(self, guest: str, created_at: int) -> int | None:
        """Return the instant from which on the guest is idle for too long; None for one who has finished a match."""
        readmodels, last = self._stores.readmodels, created_at
        for projected in readmodels.projected(readmodels.matches_of(guest)):
            if projected is not None:
                if projected.summary.status == Status.FINISHED:
                    return None
                last = max(last, projected.summary.updated_at)
        return last + MAX_GUEST_IDLE_MS
