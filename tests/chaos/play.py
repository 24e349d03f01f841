"""People playing in an installation that is disturbed, and the judgement when they have stopped."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from deploy.local.ports import responds_ok
from deploy.local.supervisor import Supervisor
from events.installation import Installation
from tests.chaos import remains
from tests.chaos.checker import judge
from tests.chaos.history import History, read_history
from tests.chaos.people import MAX_RECOVERY_S, POLL_INTERVAL_S, Person
from tests.chaos.report import Report
from tests.support.chains import verify_all

Playing = Sequence[Future[None]]


@contextmanager
def people_playing(people: Sequence[Person]) -> Iterator[Playing]:
    """Let ``people`` play each other until the block ends. Raises what ends one of them before."""
    stop = Event()
    with ThreadPoolExecutor(len(people)) as pool:
        playing = []
        try:
            for person in people:
                others = [other.name for other in people if other is not person]
                playing.append(pool.submit(person.play, others, stop))
            yield playing
        finally:
            stop.set()
        for future in playing:
            future.result()


def count_acknowledged(people: Sequence[Person], playing: Playing = ()) -> int:
    """Return how many moves ``people`` had acknowledged so far. Raises what has ended the play of one of them."""
    for future in playing:
        if future.done():
            future.result()
    return sum(len(person.acknowledged) for person in people)


def find_down(supervisor: Supervisor, kills: Mapping[str, int], urls: Sequence[str]) -> tuple[str, ...]:
    """Wait until every killed part has been restarted and all that listen at ``urls`` work; return what is missing."""
    deadline = time.monotonic() + MAX_RECOVERY_S
    while True:
        missing = [
            name
            for name in supervisor.names()
            if supervisor.restarts(name) < kills.get(name, 0) or not supervisor.pid(name)
        ]
        missing += [url for url in urls if not responds_ok(f"{url}/readyz")]
        if not missing or time.monotonic() > deadline:
            return tuple(f"{each} was not restarted" for each in missing)
        time.sleep(POLL_INTERVAL_S * 5)


class Played:
    """What was played by ``people``, judged at the end."""

    def __init__(
        self, parts: Installation, people: Sequence[Person], history: History, print_line: Callable[[str], None]
    ) -> None:
        self._parts = parts
        self._people = people
        self._history = history
        self._print_line = print_line
        self._stuck: tuple[str, ...] = ()

    def wait_until_all_continue(self, playing: Playing) -> None:
        """Wait until every match that is not over has continued; those that do not are stuck."""
        store = self._parts.store
        remains.wait_until_available(store)
        self._stuck = remains.wait_until_all_continue(store, remains.versions(store), playing)

    def report(self, kills: Mapping[str, int], supervisor: Supervisor, down: tuple[str, ...]) -> Report:
        """Judge, when people have stopped playing."""
        store = self._parts.store
        self._print_line("Play has stopped; recomputing chains and read models")
        stuck = self._stuck + remains.wait_for_opponents(store)
        match_ids = list(store.all_streams())
        for person in self._people:
            person.visit(match_ids)
            person.close()
        self._history.close()
        differing = remains.different_read_models(self._parts.settings, store)
        with self._history.path.open() as lines:
            verdict = judge(
                read_history(lines), remains.what_is_left(self._parts, [person.id for person in self._people])
            )
        return Report(
            kills=dict(kills), restarts=sum(supervisor.restarts(name) for name in supervisor.names()),
            matches=len(match_ids), acknowledged=count_acknowledged(self._people), verdict=verdict, down=down,
            stuck=stuck, damaged=tuple(map(str, verify_all(store))), differing=differing, pauses={},
        )  # fmt: skip
