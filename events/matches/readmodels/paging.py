"""Pages of lists that are spread over all shards. A cursor is the place of the last item, not a number of items."""

import base64
import binascii
import json
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from events.matches.readmodels.generations import Current
from events.runtime.connections import StorePipeline

T = TypeVar("T")
MAX_CURSOR_LENGTH = 300
MAX_PAGE_SIZE = 200

Queue = Callable[[StorePipeline, Current], None]
"""Queues reads on a pipeline, given the current generation of each shard."""


class Page(NamedTuple, Generic[T]):
    """Some items, and the cursor of the next page (None: last); ``incomplete``: the archive cannot be reached now.

    ``stale`` are the ids of the matches that have gone on since their summaries were made.
    """

    items: list[T]
    next: str | None
    incomplete: bool = False
    stale: Collection[str] = ()


class Place(NamedTuple):
    """Where an item stands in a list: by score, then by name, as Redis sorts."""

    score: float
    member: str


class Range(NamedTuple):
    """A part of a sorted set: up to ``size`` members from the ``first`` score to the ``last``, read by ``command``."""

    command: str
    first: str
    last: str
    size: int


QueueRange = Callable[[StorePipeline, Current, Range], object]
"""Queues the read of a part of one sorted set. Its reply are the members with their scores."""


class Window:
    """The places that have been read of one sorted set, after a place, and not yet handed out."""

    def __init__(self, queue: QueueRange, place: Place | None, chunk: int) -> None:
        self.queue = queue
        self.place = place
        self.chunk = chunk
        self.places: deque[Place] = deque()
        self.exhausted = False

    def add(self, reply: Sequence[tuple[bytes, float]], newest_first: bool) -> None:
        """Add the reply to a read that began at the score of the last place."""
        places = [Place(score, member.decode()) for member, score in reply]
        last = self.place
        if last is not None:
            places = [place for place in places if (place < last if newest_first else place > last)]
        self.places.extend(places)
        self.exhausted = len(reply) < self.chunk
        if places:
            self.place = places[-1]
        else:
            # More items share one score than were read: read further.
            self.chunk *= 2


def merge(
    read: Callable[[Queue], list[Any]], lists: Sequence[QueueRange], newest_first: bool, after: Place | None, chunk: int
) -> Iterator[Place]:
    """Yield the places of several sorted sets in one order, those after ``after``; reads them in steps of ``chunk``."""
    windows = [Window(queue, after, chunk) for queue in lists]
    while True:
        unread = [window for window in windows if not window.exhausted]
        if any(not window.places for window in unread):
            # The others are refilled with the empty one: they would be empty soon, each at the cost of a round trip.
            low = [window for window in unread if 2 * len(window.places) < window.chunk]

            def queue(pipeline: StorePipeline, current: Current, low: Sequence[Window] = low) -> None:
                for window in low:
                    window.queue(pipeline, current, _range(window, newest_first))

            for window, reply in zip(low, read(queue), strict=True):
                window.add(reply, newest_first)
                window.chunk = max(window.chunk, min(2 * window.chunk, MAX_PAGE_SIZE))
            continue
        filled = [window for window in windows if window.places]
        if not filled:
            return
        choose = max if newest_first else min
        yield choose(filled, key=lambda window: window.places[0]).places.popleft()


def format_cursor(place: Place) -> str:
    """Return the cursor of the page after ``place``."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def parse_cursor(cursor: str | None) -> Place | None:
    """Return the place that a cursor names, None without one; raises ValueError for text that is no cursor."""
    if cursor is None:
        return None
    try:
        if len(cursor) > MAX_CURSOR_LENGTH:
            raise ValueError
        score, member = json.loads(base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), b"-_", validate=True))
        if type(score) not in (int, float) or type(member) is not str or score != score:
            raise ValueError
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise ValueError(f"invalid cursor: {cursor:.40}") from None
    return Place(score, member)


def check_page_size(limit: int) -> None:
    """Raise ValueError unless ``limit`` is a size of a page."""
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise ValueError(f"a page has 1 to {MAX_PAGE_SIZE} items, not {limit}")


def _range(window: Window, newest_first: bool) -> Range:
    first, last = ("+inf", "-inf") if newest_first else ("-inf", "+inf")
    # A score is a whole number of milliseconds or a rating: repr writes it so that it is read back the same.
    start = first if window.place is None else repr(float(window.place.score))
    return Range("ZREVRANGEBYSCORE" if newest_first else "ZRANGEBYSCORE", start, last, window.chunk)


def page_of(entries: list[tuple[Place, Any]], limit: int) -> Page[Any]:
    """Return the first ``limit`` items as a page; if there is one more, there is a next page."""
    more = format_cursor(entries[limit - 1][0]) if len(entries) > limit else None
    return Page([item for _, item in entries[:limit]], more)
