"""Contests of one kind in the store: loaded, decided on and appended to, as matches are."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from domain.contest.aggregate import Aggregate, ContestEvent, replay
from domain.match.state import CLOCK
from events.matches.matches import follows
from events.store import contract
from events.store.codec import CODECS
from events.store.envelope import Envelope
from events.store.kinds import StreamKind, kind_of

MAX_ATTEMPTS = 5
MAX_CACHED = 200
"""Contests of a kind whose state is kept in a process."""

S = TypeVar("S")
C = TypeVar("C")
E = TypeVar("E", bound=ContestEvent)


class UnknownContestError(LookupError):
    """There is no contest of this kind with this id."""


class LoadedContest(NamedTuple, Generic[S]):
    """A contest and the head of its stream."""

    state: S
    head: contract.Head


class ExecutedContest(NamedTuple, Generic[S]):
    """The events that a command wrote, perhaps none, and the contest as it stands; ``repeated``: written before."""

    events: Sequence[Envelope]
    head: contract.Head
    repeated: bool
    state: S


class Contests(Generic[S, C, E]):
    """The contests of one ``kind``; the last ones are kept, and brought up to their events whenever they are used."""

    def __init__(
        self, store: contract.EventStore, kind: StreamKind, aggregate: Aggregate[S, C, E], now: Callable[[], int]
    ) -> None:
        self._store = store
        self._kind = kind
        self._aggregate = aggregate
        self._codec = CODECS[kind]
        self._now = now
        self._cache: OrderedDict[str, LoadedContest[S]] = OrderedDict()
        self._lock = Lock()

    def load(self, id: str) -> LoadedContest[S]:
        """Return a contest as it stands. Raises UnknownContestError, DamagedStreamError and UndecodableEventError."""
        loaded, _ = self._open(id)
        if loaded is None:
            raise UnknownContestError(id)
        return loaded

    def events(self, id: str) -> list[Envelope]:
        """Return the events of a contest; none when it does not exist. Raises UnknownContestError for another kind."""
        self._refuse_other_kind(id)
        return self._store.open(id).events

    def execute(
        self, id: str, command: C, actor: str, request: contract.Request, expected: contract.VersionTag | None = None
    ) -> ExecutedContest[S]:
        """Decide ``command`` on the contest as it stands and append its events; a repeated request writes nothing.

        Crash-safe: one append. When others write at the same time it is decided again, unless the caller expects a
        version. Raises CommandError, StaleVersionError, RequestMismatchError, and as ``load``, with nothing done.
        """
        for attempt in range(1, MAX_ATTEMPTS + 1):
            loaded, recorded = self._open(id, request)
            if loaded is not None and recorded is not None:
                first, last = recorded
                return ExecutedContest(
                    self._store.read(id, first - 1, last - first + 1), loaded.head, True, loaded.state
                )
            head = loaded.head if loaded else contract.EMPTY
            if expected is not None and head.tag != expected:
                raise contract.StaleVersionError(id, expected, head.tag)
            try:
                return self._append(id, loaded, command, actor, request)
            except contract.StaleVersionError:
                if expected is not None or attempt == MAX_ATTEMPTS:
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")

    def settle(self, id: str, complete: Callable[[C], C] = lambda command: command) -> bool:
        """Carry out the command that time has made due, if any, after ``complete``; return whether it wrote anything.

        Crash-safe: one append, whose request key names the version on which it was decided. Raises as ``execute``.
        """
        state, head = self.load(id)
        command = self._aggregate.due(state, self._now())
        if command is None:
            return False
        key = f"due:{head.version}"
        return bool(self.execute(id, complete(command), CLOCK, contract.Request(key, key)).events)

    def _append(
        self, id: str, loaded: LoadedContest[S] | None, command: C, actor: str, request: contract.Request
    ) -> ExecutedContest[S]:
        before, head = (loaded.state if loaded else None), (loaded.head if loaded else contract.EMPTY)
        now = self._now()
        events = self._aggregate.decide(before, command, now)
        after = replay(self._aggregate, id, events, before)
        if after is None:
            raise UnknownContestError(id)
        if not events:
            return ExecutedContest((), head, False, after)
        appended = self._store.append(
            id,
            head,
            [self._codec.draft_of(event, actor) for event in events],
            request,
            deadline=self._aggregate.deadline(after),
            decided_at=now,
        )
        if appended.repeated:
            after = self.load(id).state
        else:
            self._remember(id, LoadedContest(after, appended.head))
        return ExecutedContest(appended.events, appended.head, appended.repeated, after)

    def _open(
        self, id: str, request: contract.Request | None = None
    ) -> tuple[LoadedContest[S] | None, contract.RecordedRequest | None]:
        """Return a contest as it stands, None where there is none, and the versions that ``request`` wrote."""
        self._refuse_other_kind(id)
        with self._lock:
            cached = self._cache.get(id)
        opened = self._store.open(id, cached.head.version if cached else 0, request)
        recorded = opened.recorded_request
        if cached is not None and not follows(opened, id, cached.head):
            # The store was restored, or a replica took over, and lacks events that are cached here.
            cached, opened = None, self._store.open(id)
        state = replay(self._aggregate, id, map(self._codec.event_of, opened.events), cached.state if cached else None)
        if state is None:
            return None, recorded
        loaded = LoadedContest(state, opened.head)
        self._remember(id, loaded)
        return loaded, recorded

    def _remember(self, id: str, loaded: LoadedContest[S]) -> None:
        with self._lock:
            self._cache[id] = loaded
            self._cache.move_to_end(id)
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)

    def _refuse_other_kind(self, id: str) -> None:
        if kind_of(id) != self._kind:
            raise UnknownContestError(id)
