"""Contests in the relay: their events, the matches that they have started, and the commands that are due by time.

A sweep sets those going again that feed or ticker have missed, and seeks whose authors have got room.

The effects of a contest are idempotent, so that deliveries may be repeated and come in any order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import structlog

from domain.match.enums import OccasionKind
from domain.match.state import MatchState, Occasion
from events.contests.lists import UNFINISHED, ContestLists
from events.matches.readmodels.projector import Failures
from events.runtime import beats
from events.store.contract import Head
from events.store.feed import Delivery, FeedGroup
from events.store.kinds import StreamKind, is_match, kind_of
from events.store.redis import RedisStore
from workers.consumers import Handle
from workers.effects import Delivered, Effect
from workers.sweeper import Pass
from workers.threads import TRANSIENT

COMPARED_PER_SWEEP = 100
FOLLOWED_PER_SWEEP = 3
"""Each seek that looks for others compares itself with all that are open."""

log = structlog.get_logger("contests")


class Follower(Protocol):
    """The follower of the contests of one kind."""

    def follow(self, contest: str) -> object:
        """Bring the read model of a contest up to its events, and carry out the steps that they make due."""

    def refresh(self, contest: str) -> object:
        """Bring the read model of a contest up to its events."""

    def record(self, occasion: Occasion, match: MatchState, head: Head) -> object:
        """Record in a contest how a match that it has started stands at ``head``."""

    def settle(self, contest: str) -> bool:
        """Carry out the command that is due by time in a contest; return whether there was one."""


Followers = Mapping[StreamKind, Follower]


def matches_only(group: FeedGroup, handle: Handle) -> Handle:
    """Return ``handle`` for a group that does nothing for contests: their deliveries are acknowledged."""
    return with_contests(group, handle, lambda _: None)


def with_contests(group: FeedGroup, handle: Handle, follow: Callable[[str], object]) -> Handle:
    """Return ``handle``, which is given the deliveries of matches, while each contest is given to ``follow``."""

    def handle_all(deliveries: Sequence[Delivery]) -> Failures:
        of_contests = [delivery for delivery in deliveries if not is_match(delivery.stream)]
        of_matches = [delivery for delivery in deliveries if is_match(delivery.stream)]
        failures = dict(handle(of_matches)) if of_matches else {}
        for contest in dict.fromkeys(delivery.stream for delivery in of_contests):
            beats.beat()
            try:
                follow(contest)
            except TRANSIENT:
                raise
            except Exception as error:
                failures[contest] = error
        if of_contests:
            with group.client.pipeline(transaction=False) as pipeline:
                group.acknowledge(pipeline, [delivery for delivery in of_contests if delivery.stream not in failures])
                pipeline.execute()
        return failures

    return handle_all


def follow_contest(followers: Followers, look: Callable[[str], object]) -> Callable[[str], object]:
    """Return a function that hands a contest to its follower and then to ``look``, which tells people of it.

    A kind without a follower has nothing that follows.
    """

    def follow(contest: str) -> None:
        follower = followers.get(kind_of(contest))
        if follower is not None:
            follower.follow(contest)
        look(contest)

    return follow


def record_occasions(followers: Followers) -> Effect:
    """Return the effect that records matches in the contests that have started them."""
    kinds = {kind: followers[StreamKind(kind)] for kind in OccasionKind if StreamKind(kind) in followers}

    def record(delivered: Delivered) -> None:
        state = delivered.loaded.state
        if state.occasion is not None and state.occasion.kind in kinds:
            kinds[state.occasion.kind].record(state.occasion, state, delivered.loaded.head)

    return record


def settle_contest(followers: Followers, contest: str) -> bool:
    """Carry out the command that is due by time in a contest; return whether there was one."""
    follower = followers.get(kind_of(contest))
    return follower is not None and follower.settle(contest)


class ContestSweep:
    """A round of the sweeper over contests: those behind their streams, and in turns those that are not over."""

    def __init__(self, store: RedisStore, lists: ContestLists, followers: Followers, now: Callable[[], int]) -> None:
        self._store = store
        self._lists = lists
        self._followers = followers
        self._now = now
        self._streams = Pass(self._all_contests)
        self._unfinished = Pass(lambda: iter(lists.oldest(UNFINISHED)))

    def __call__(self) -> None:
        """Follow some contests, and carry out the commands that are due in them."""
        now = self._now()
        compared = self._streams.take(COMPARED_PER_SWEEP, now)
        heads, versions = self._store.heads(compared), self._lists.versions(compared)
        behind = [
            contest for contest, head, version in zip(compared, heads, versions, strict=True) if head.version != version
        ]
        for contest in dict.fromkeys((*behind, *self._unfinished.take(FOLLOWED_PER_SWEEP, now))):
            beats.beat()
            try:
                settle_contest(self._followers, contest)
                self._followers[kind_of(contest)].follow(contest)
            except TRANSIENT:
                raise
            except Exception as error:
                log.error("a contest cannot be followed", contest=contest, error=str(error))

    def _all_contests(self) -> Iterator[str]:
        return (stream for stream in self._store.all_live_streams() if kind_of(stream) in self._followers)
