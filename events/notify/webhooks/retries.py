"""When a webhook that was not taken is sent again, by the schedule of Standard Webhooks, with jitter. Pure.

It is cut to the clock of the match; when half of that time has passed, the player is told by mail.
"""

import hashlib
from typing import NamedTuple

from events.runtime.backoff import Backoff, read_retry_after

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS

DELAYS_MS = (5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, *(hours * HOUR_MS for hours in (2, 5, 10, 14, 20, 24)))
"""Between the attempts: 75 hours in all."""

MAX_JITTER = 0.2
"""Of the delay is added at most, so that receivers which were down are not called by all at once."""

MIN_DELAY_MS = 5 * SECOND_MS
MAX_RETRY_AFTER_MS = 24 * HOUR_MS
HOLD_MS = 5 * MINUTE_MS
"""Nothing is sent to a receiver that asks for fewer requests for so long, unless it names a time."""

SILENCE_MS = Backoff(5 * SECOND_MS, 5 * MINUTE_MS)
"""Nothing is sent to a receiver that does not answer for so long: waiting for it would keep others waiting."""

MAX_REFUSALS_AT_ONCE = 10
"""After this number of refusals in a row a receiver gets pauses too: a player can name anyone's server."""

THROTTLING = (429, 502, 504)


class Retry(NamedTuple):
    """When to try again (None: no more), and whether the player is to be told by mail now."""

    due: int | None
    tell_by_mail: bool


def next_attempt(
    id: str, attempts: int, first_at: int, now: int, *, deadline: int | None = None, retry_after_ms: int = 0
) -> Retry:
    """Return the step after the failed attempt number ``attempts`` (from 1) of the dispatch ``id``.

    ``first_at`` is when it was first to be sent, ``deadline`` when the player must have acted (None: never).
    """
    scheduled = _delay_ms(id, attempts)
    due = None if scheduled is None else now + max(scheduled, min(retry_after_ms, MAX_RETRY_AFTER_MS))
    if due is None:
        return Retry(None, True)
    return within_time(due, first_at, now, deadline)


def within_time(due: int, first_at: int, now: int, deadline: int | None) -> Retry:
    """Return the step when the next attempt is planned for ``due``; the arguments are those of ``next_attempt``."""
    if deadline is None:
        return Retry(due, False)
    half = first_at + (deadline - first_at) // 2
    if now >= half:
        return Retry(due if due < deadline else None, True)
    return Retry(max(min(due, half), now + MIN_DELAY_MS), False)


def retry_after_ms(header: str | None, now: int) -> int:
    """Return how long the header Retry-After asks to wait, at most MAX_RETRY_AFTER_MS; 0 when it says nothing known."""
    return min(read_retry_after(header, now) or 0, MAX_RETRY_AFTER_MS)


def held_until(status: int | None, failures: int, retry_after: int, now: int) -> int | None:
    """Return until when a receiver gets nothing after failures in a row, the last with ``status``; None: not held."""
    if status is None:
        return now + int(SILENCE_MS.after(failures))
    if status in THROTTLING:
        return now + (retry_after or HOLD_MS)
    return now + int(SILENCE_MS.after(refusals)) if (refusals := failures - MAX_REFUSALS_AT_ONCE) > 0 else None


def _delay_ms(id: str, attempts: int) -> int | None:
    if attempts > len(DELAYS_MS):
        return None
    chance = int.from_bytes(hashlib.sha256(f"{id}\n{attempts}".encode()).digest()[:4], "big") / 2**32
    return int(DELAYS_MS[attempts - 1] * (1 + MAX_JITTER * chance))
