"""Matches in the store: load, decide, append. The one path by which anything happens to a match."""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple

from domain.match.bounds import refuse_excess
from domain.match.commands import Command
from domain.match.decide import decide
from domain.match.enums import Channel
from domain.match.events import DrawAccepted, Event, MoveSubmitted, PlayerResigned
from domain.match.evolve import replay
from domain.match.guards import seat_of
from domain.match.lines import Orders
from domain.match.refusals import Refused
from domain.match.state import MatchState
from domain.match.timekeeping import deadline_of
from events.private.conditional_moves import packed, unpacked
from events.store.codec import draft_of, event_of
from events.store.contract import (
    EMPTY,
    DamagedStream,
    EventStore,
    Head,
    Opened,
    Request,
    StaleConditionalMoves,
    StaleVersion,
    VersionTag,
)
from events.store.envelope import Envelope, canonical_bytes, chain_digest
from events.store.snapshots import restored, snapshot_of

SEED_BYTES = 16
CACHED_MATCHES = 1000
SNAPSHOT_EVERY = 50
ATTEMPTS = 5


def fresh_seed() -> str:
    """Return a seed that can be neither known nor found by trying: 32 hexadecimal digits."""
    return secrets.token_hex(SEED_BYTES)


class NoSuchMatch(LookupError):
    """There is no match with this id."""


class Loaded(NamedTuple):
    """A match, the head of its stream, and what its seats have laid down, with the revision of that.

    ``snapshot`` is the version of its last known snapshot.
    """

    state: MatchState
    head: Head
    snapshot: int = 0
    orders: Mapping[int, Orders] = MappingProxyType({})
    revision: int = 0


class Executed(NamedTuple):
    """What a command did: the events it wrote (or had written, if ``repeated``) and the head right after them."""

    events: list[Envelope]
    head: Head
    repeated: bool

    @property
    def version(self) -> int:
        """The version of the match right after what was done."""
        return self.head.version


class Matches:
    """The matches of one store. Safe to share between threads.

    States are kept in a bounded cache in this process and brought up to date from the store whenever they are used, so
    the cache can never be wrong about what has happened; a snapshot in the store spares a long replay. ``now`` returns
    milliseconds since 1970 UTC, ``fresh_seed`` a seed for the opponents of a match that goes on.
    """

    def __init__(self, store: EventStore, now: Callable[[], int], fresh_seed: Callable[[], str] = fresh_seed) -> None:
        self._store = store
        self._now = now
        self._fresh_seed = fresh_seed
        self._cache: OrderedDict[str, Loaded] = OrderedDict()
        self._lock = Lock()

    def load(self, match: str) -> Loaded:
        """Return the match as it stands now, in one round trip.

        Raises NoSuchMatch, StoreUnavailable, DamagedStream, UndecodableEvent, and what ``evolve`` raises.
        """
        loaded, _ = self._open(match, None)
        if loaded is None:
            raise NoSuchMatch(match)
        return loaded

    def execute(
        self, match: str, command: Command, actor: str, request: Request, expected: VersionTag | None = None
    ) -> Executed:
        """Decide ``command`` on the match as it stands and append what follows, in one round trip or two.

        A repeated request returns the events that it wrote the first time. Raises Refused (nothing has changed),
        StaleVersion when the match is not at ``expected`` (None: whatever it is at), RequestMismatch,
        StoreUnavailable, and what ``load`` raises but NoSuchMatch.
        """
        known = self._known(match)
        if known is not None:
            try:
                return self._decide(match, known, command, actor, request, expected)
            except (Refused, StaleVersion, StaleConditionalMoves):
                # Perhaps only because the match has moved on since, or the request has been carried out before: an
                # append goes through on the present state alone, a refusal counts on the present state alone.
                pass
        for attempt in range(1, ATTEMPTS + 1):
            loaded, repeated = self._open(match, request)
            if repeated is not None:
                return repeated
            try:
                return self._decide(match, loaded, command, actor, request, expected)
            except (StaleVersion, StaleConditionalMoves) as stale:
                if attempt == ATTEMPTS or (expected is not None and isinstance(stale, StaleVersion)):
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _decide(
        self,
        match: str,
        loaded: Loaded | None,
        command: Command,
        actor: str,
        request: Request,
        expected: VersionTag | None,
    ) -> Executed:
        head = loaded.head if loaded else EMPTY
        if expected is not None and head.tag != expected:
            raise StaleVersion(match, expected, head.tag)
        before = loaded.state if loaded else None
        now = self._now()
        refuse_excess(before, command)
        events = decide(before, command, now, loaded.orders if loaded else {}, self._fresh_seed())
        after = replay(match, events, before)
        if not events or after is None:
            return Executed([], head, False)
        appended = self._store.append(
            match,
            head,
            [draft_of(event, _actor(event, after, actor)) for event in events],
            request,
            deadline=deadline_of(after),
            conditional_moves=loaded.revision if loaded else 0,
            decided_at=now,
        )
        if not appended.repeated:
            known = loaded or Loaded(after, EMPTY)
            self._remember(match, known._replace(state=after, head=appended.head))
        return Executed(appended.events, appended.head, appended.repeated)

    def lay_down(
        self,
        match: str,
        player: str,
        orders: Callable[[MatchState, Orders], Orders],
        expected: VersionTag | None = None,
    ) -> Loaded:
        """Keep what ``orders`` returns, given the match and what is laid down so far, as that of the player's seat.

        Returns the match with the new orders. Private from end to end: nothing is appended, announced or cached
        elsewhere. When the match moves on at the same moment they are given anew, for the match as it stands then:
        no move falls between what was laid down for it and the keeping of that. Raises Refused, StaleVersion when the
        match is not at ``expected`` (None: whatever it is at), and what ``load`` raises.
        """
        for attempt in range(1, ATTEMPTS + 1):
            loaded = self.load(match)
            if expected is not None and loaded.head.tag != expected:
                raise StaleVersion(match, expected, loaded.head.tag)
            seat = seat_of(loaded.state, player)
            changed = orders(loaded.state, loaded.orders.get(seat, Orders()))
            try:
                self._store.save_conditional_moves(match, seat, packed(changed), loaded.revision, loaded.head)
            except StaleConditionalMoves:
                if attempt == ATTEMPTS:
                    raise
            else:
                return self.load(match)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _known(self, match: str) -> Loaded | None:
        with self._lock:
            return self._cache.get(match)

    def _open(self, match: str, request: Request | None) -> tuple[Loaded | None, Executed | None]:
        known = self._known(match)
        opened = self._store.open(match, known.head.version if known else None, request)
        if opened.recorded_request is not None:
            first, last = opened.recorded_request
            events = self._store.read(match, first - 1, last - first + 1)
            if not events:
                raise DamagedStream(match, last, "the entry is missing")
            return None, Executed(events, Head(last, events[-1].digest), True)
        if known is None and opened.snapshot is not None and (kept := restored(opened.snapshot)) is not None:
            known = Loaded(*kept, snapshot=kept[0].version)
        if not _follows(opened, match, known.head if known else EMPTY):
            # The store was restored, or a replica took over, and has not all that was known here; or the snapshot
            # cannot be used. The events are the truth.
            known, opened = None, self._store.open(match)
        state = replay(match, map(event_of, opened.events), known.state if known else None)
        if state is None:
            return None, None
        orders = opened.conditional_moves
        loaded = Loaded(state, opened.head, known.snapshot if known else 0, unpacked(orders), orders.revision)
        if state.version - loaded.snapshot >= SNAPSHOT_EVERY and state.broken is None:
            self._store.save_snapshot(match, state.version, snapshot_of(state, loaded.head))
            loaded = loaded._replace(snapshot=state.version)
        self._remember(match, loaded)
        return loaded, None

    def _remember(self, match: str, loaded: Loaded) -> None:
        with self._lock:
            self._cache[match] = loaded
            self._cache.move_to_end(match)
            while len(self._cache) > CACHED_MATCHES:
                self._cache.popitem(last=False)


def _follows(opened: Opened, match: str, known: Head) -> bool:
    """Tell whether the events just read go on from the head that is known, so that a state there may be evolved."""
    if not opened.events:
        return opened.head == known
    first = opened.events[0]
    return chain_digest(known.digest, canonical_bytes(first.draft, match, first.version)) == first.digest


def _actor(event: Event, state: MatchState, actor: str) -> str:
    """Return who acts in ``event``: who laid a line down acts when it fires, ``actor`` in all else."""
    if isinstance(event, MoveSubmitted | DrawAccepted | PlayerResigned) and event.channel in (
        Channel.CONDITIONAL,
        Channel.FORCED,
    ):
        return state.seats[event.seat].player or actor
    return actor
