"""Matches in the store: loaded, decided on and appended to. Commands go through ``events.matches.match_service``."""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple

from domain.match.commands import Command
from domain.match.decide import decide
from domain.match.due import deadline_of
from domain.match.enums import Channel
from domain.match.events import DrawAccepted, Event, MoveSubmitted, PlayerJoined, PlayerResigned
from domain.match.evolve import Decision, replay
from domain.match.guards import refuse_excess, seat_of
from domain.match.lines import ConditionalMoves
from domain.match.state import MatchState
from events.matches.readmodels import Projected, RatedResult, rated_result, summarise
from events.people.conditional_moves import packed, unpacked
from events.store import contract
from events.store.codec import draft_of, event_of
from events.store.envelope import Envelope, canonical_bytes, chain_digest
from events.store.snapshots import restore_snapshot, snapshot_of

SEED_BYTES = 16
MAX_CACHED_MATCHES = 1000
SNAPSHOT_EVERY = 50
MAX_ATTEMPTS = 5


def fresh_seed() -> str:
    """Return a seed that can be neither known nor found by trying: 32 hexadecimal digits."""
    return secrets.token_hex(SEED_BYTES)


class UnknownMatchError(LookupError):
    """There is no match with this id."""


class Loaded(NamedTuple):
    """A match, the head of its stream, its conditional moves with their revision, the version of its last snapshot.

    ``recorded`` is the first and last version that a request wrote, where the match was opened for one executed before.
    """

    state: MatchState
    head: contract.Head
    snapshot: int = 0
    orders: Mapping[int, ConditionalMoves] = MappingProxyType({})
    revision: int = 0
    recorded: contract.RecordedRequest | None = None


class Decided(NamedTuple):
    """A decision, and the instant for which it was taken."""

    decision: Decision
    at: int


class Executed(NamedTuple):
    """The events a command wrote, the head and the match right after them; if ``repeated``, the present match."""

    events: list[Envelope]
    head: contract.Head
    repeated: bool
    state: MatchState

    @property
    def version(self) -> int:
        """The version of the match right after the command."""
        return self.head.version

    @property
    def at(self) -> int:
        """The instant of the last event that was written, or of the match if none was."""
        return self.events[-1].at if self.events else self.state.updated_at


class Matches:
    """The matches of one store.

    States are cached in this process, bounded, and brought up to date whenever they are used. ``fresh_seed`` returns a
    seed for the opponents of a match that continues.
    """

    def __init__(
        self, store: contract.EventStore, now: Callable[[], int], fresh_seed: Callable[[], str] = fresh_seed
    ) -> None:
        self._store = store
        self._now = now
        self._fresh_seed = fresh_seed
        self._cache: OrderedDict[str, Loaded] = OrderedDict()
        self._lock = Lock()
        self._opening = [Lock() for _ in range(64)]

    def load(self, match_id: str) -> Loaded:
        """Return the match as it stands now, in one round trip.

        Raises UnknownMatchError, DamagedStreamError, UndecodableEventError, and the errors of ``evolve``.
        """
        loaded, _ = self._open(match_id)
        if loaded is None:
            raise UnknownMatchError(match_id)
        return loaded

    def load_at_least(self, match_id: str, version: int) -> Loaded:
        """Return the match at ``version`` or later, perhaps from the cache. Raises like ``load``."""
        with self._opening[hash(match_id) % len(self._opening)]:
            cached = self.cached(match_id)
            return cached if cached is not None and cached.head.version >= version else self.load(match_id)

    def load_at(self, match_id: str, head: contract.Head) -> Loaded:
        """Return the match as it stands now; without a round trip if it is cached at ``head``. Raises like ``load``."""
        with self._opening[hash(match_id) % len(self._opening)]:
            cached = self.cached(match_id)
            return cached if cached is not None and cached.head == head else self.load(match_id)

    def cached(self, match_id: str) -> Loaded | None:
        """Return the match as it was when it was last used here; None when it was not, or is not cached any more."""
        with self._lock:
            return self._cache.get(match_id)

    def open(self, match_id: str, request: contract.Request, *, cached: bool = False) -> Loaded | None:
        """Return the match as it stands now, with the versions of ``request`` if it was executed; None for no match.

        ``cached`` asks for the match as it was when it was last used here, without those versions.
        Raises as ``load``.
        """
        if cached and (loaded := self.cached(match_id)) is not None:
            return loaded
        loaded, recorded = self._open(match_id, request)
        return loaded._replace(recorded=recorded) if loaded is not None and recorded is not None else loaded

    def decide(self, loaded: Loaded | None, command: Command) -> Decided:
        """Return the decision on ``command`` in the match (None: it does not exist yet). Raises CommandError."""
        before, now = (loaded.state if loaded else None), self._now()
        refuse_excess(before, command)
        return Decided(decide(before, command, now, loaded.orders if loaded else {}, self._fresh_seed()), now)

    def append(
        self, match_id: str, loaded: Loaded | None, decided: Decided, actor: str, request: contract.Request
    ) -> Executed:
        """Append the events that were decided on ``loaded``, and return them with the match after them.

        Raises StaleVersionError, StaleConditionalMovesError, RequestMismatchError and DamagedStreamError.
        """
        head, after = (loaded.head if loaded else contract.EMPTY), decided.decision.state
        if not decided.decision.events:
            return Executed([], head, False, after)
        appended = self._store.append(
            match_id,
            head,
            [
                draft_of(event, event_actor)
                for event, event_actor in _with_actors(decided.decision.events, after, actor)
            ],
            request,
            deadline=deadline_of(after),
            conditional_moves=loaded.revision if loaded else 0,
            decided_at=decided.at,
        )
        if appended.repeated:
            return Executed(appended.events, appended.head, True, self.load(match_id).state)
        self._remember(match_id, (loaded or Loaded(after, contract.EMPTY))._replace(state=after, head=appended.head))
        return Executed(appended.events, appended.head, False, after)

    def read_recorded(self, match_id: str, loaded: Loaded, recorded: contract.RecordedRequest) -> Executed:
        """Return the events of a request that was executed before, beside the present match."""
        first, last = recorded
        events = self._store.read(match_id, first - 1, last - first + 1)
        if not events:
            raise contract.DamagedStreamError(match_id, last, "the entry is missing")
        # Perhaps nobody was told of them, because a replica lacks them: then nobody is told now either.
        self._store.await_copies([self._store.shard_of(match_id)])
        return Executed(events, contract.Head(last, events[-1].digest), True, loaded.state)

    def lay_down(
        self,
        match_id: str,
        player: str,
        orders: Callable[[MatchState, ConditionalMoves], ConditionalMoves],
        expected: contract.VersionTag | None = None,
    ) -> Loaded:
        """Store the result of ``orders``, given the match and the present ones, as the conditional moves of the player.

        Private: nothing is appended or announced. Called again when the match changes at the same time. Raises
        CommandError, StaleVersionError unless at ``expected`` (None: any), and the errors of ``load``.
        """
        for attempt in range(1, MAX_ATTEMPTS + 1):
            loaded = self.load(match_id)
            if expected is not None and loaded.head.tag != expected:
                raise contract.StaleVersionError(match_id, expected, loaded.head.tag)
            seat = seat_of(loaded.state, player)
            changed = orders(loaded.state, loaded.orders.get(seat, ConditionalMoves()))
            try:
                self._store.save_conditional_moves(match_id, seat, packed(changed), loaded.revision, loaded.head)
            except contract.StaleConditionalMovesError:
                if attempt == MAX_ATTEMPTS:
                    raise
            else:
                return self.load(match_id)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _open(
        self, match_id: str, request: contract.Request | None = None
    ) -> tuple[Loaded | None, contract.RecordedRequest | None]:
        base = self.cached(match_id)
        opened = self._store.open(match_id, base.head.version if base else None, request)
        remembered = opened.recorded_request
        if base is None and opened.snapshot is not None and (kept := restore_snapshot(opened.snapshot)) is not None:
            base = Loaded(*kept, snapshot=kept[0].version)
        if not follows(opened, match_id, base.head if base else contract.EMPTY):
            # The store was restored, or a replica took over, and lacks events that are cached here; or the snapshot
            # cannot be used. The events are the truth.
            base, opened = None, self._store.open(match_id)
        state = replay(match_id, map(event_of, opened.events), base.state if base else None)
        if state is None:
            return None, remembered
        conditional = opened.conditional_moves
        orders = unpacked(conditional) if conditional.texts else {}
        loaded = Loaded(state, opened.head, base.snapshot if base else 0, orders, conditional.revision)
        if state.version - loaded.snapshot >= SNAPSHOT_EVERY and state.play.broken is None:
            self._store.save_snapshot(match_id, state.version, snapshot_of(state, loaded.head))
            loaded = loaded._replace(snapshot=state.version)
        self._remember(match_id, loaded)
        return loaded, remembered

    def _remember(self, match_id: str, loaded: Loaded) -> None:
        with self._lock:
            self._cache[match_id] = loaded
            self._cache.move_to_end(match_id)
            while len(self._cache) > MAX_CACHED_MATCHES:
                self._cache.popitem(last=False)


def follows(opened: contract.Opened, match_id: str, head: contract.Head) -> bool:
    """Tell whether the events just read go on from ``head``, so that a state there may be evolved."""
    if not opened.events:
        return opened.head == head
    first = opened.events[0]
    return chain_digest(head.digest, canonical_bytes(first.draft, match_id, first.version)) == first.digest


def _with_actors(events: Iterable[Event], state: MatchState, actor: str) -> Iterator[tuple[Event, str]]:
    """Yield each event with its actor: the owner of a played conditional move, a bot that accepts, else ``actor``."""
    for event in events:
        if isinstance(event, PlayerJoined):
            actor = event.player
        if isinstance(event, MoveSubmitted | DrawAccepted | PlayerResigned) and event.channel in (
            Channel.CONDITIONAL,
            Channel.FORCED,
        ):
            yield event, state.seats[event.seat].player or actor
        else:
            yield event, actor


class CachedSummaries:
    """Summarises matches by way of the states that are cached in this process (``SummaryReader``)."""

    def __init__(self, matches: Matches, store: contract.EventStore) -> None:
        self._matches = matches
        self._store = store

    def heads(self, versions: Mapping[str, int]) -> Mapping[str, contract.Head]:
        """Return the present heads of the matches cached at these versions or later: lost events count for nothing."""
        cached = {match_id: self._matches.cached(match_id) for match_id in versions}
        match_ids = [
            match_id for match_id, loaded in cached.items() if loaded and loaded.head.version >= versions[match_id]
        ]
        return dict(zip(match_ids, self._store.heads(match_ids), strict=True)) if match_ids else {}

    def read(self, match_id: str, version: int, head: contract.Head | None) -> Projected | None:
        """Return the summary of a match at ``version`` or later, given its present head; None for no such match."""
        try:
            if head is None:
                loaded = self._matches.load_at_least(match_id, version)
            else:
                loaded = self._matches.load_at(match_id, head)
        except UnknownMatchError:
            return None
        return Projected(summarise(loaded.state), loaded.head.tag.digest)


def result_reader(matches: Matches) -> Callable[[str], RatedResult | None]:
    """Return a function that returns the result of a match as it counts for ratings now; None for none."""

    def read(match_id: str) -> RatedResult | None:
        try:
            return rated_result(summarise(matches.load(match_id).state))
        except UnknownMatchError:
            return None

    return read
