"""An installation of several processes on a store of several servers, killed and paused under play; then judged.

Two API processes, a live stream, two relays, workers and a broker play on with what is left while one part after the
other is killed or paused. On a cluster slots with the installation's keys move all the time. Under sentinels and on a
cluster a primary is also killed with a replica that is behind, while no slot moves: what is lost then must be named by
the installation.
"""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from redis.exceptions import RedisError

from deploy.local.child import Program
from deploy.local.embedded import EVERYSEC, DataDirectory, find_binary, server_command
from deploy.local.environment import child_environment
from deploy.local.ports import LOOPBACK, Ports, responds_ok
from deploy.local.programs import programs
from deploy.local.supervisor import Supervisor
from events.installation import Installation
from events.runtime.settings import Settings
from events.store.archive.store import make_store
from tests.chaos.crowd import Crowd
from tests.chaos.history import Disturbed, History, clock_ms
from tests.chaos.people import MAX_RECOVERY_S, POLL_INTERVAL_S, Person
from tests.chaos.play import Played, count_acknowledged, find_down, people_playing
from tests.chaos.report import Report
from tests.chaos.stores import SlotMover, Store, find_primary, open_store
from tests.support.eventually import eventually
from tests.support.server import free_ports
from tests.support.three_masters import ThreeMasters
from tests.support.watched_servers import Watched

PEOPLE = 4
TWICE = ("api", "relay", "worker")
"""The programs of which two run."""

BROKER = "broker"
PAUSE_SHARE = 0.35
MIN_PAUSE_S, MAX_PAUSE_S = 1.0, 10.0
MIN_HANG_S, MAX_HANG_S = 6.0, 20.0
"""Under sentinels, for a server of the store: longer than a client waits for an answer."""

PATIENT_SHARE = 0.5
"""Of these pauses: those in which sentinels do not replace the server, so that it hangs and goes on."""

MIN_DOWN_S, MAX_DOWN_S = 0.3, 3.0
"""How long a killed server of the store stays away until whatever supervises it starts it again."""

TAIL_SHARE = 0.3
"""Of the disturbances of store servers under sentinels and in a cluster: those in which a tail is cut off."""

MIN_BEHIND_S, MAX_BEHIND_S = 1.5, 4.0
"""How long a replica is behind when its primary is killed. The others connect again within the first second."""


class Running(NamedTuple):
    supervisor: Supervisor
    settings: Settings
    api_urls: list[str]
    stream_url: str


@contextmanager
def installation_on(store_url: str, var: Path, names: Sequence[str] | None = None) -> Iterator[Running]:
    """Run an installation on a store, below ``var``; of its programs those with ``names`` (None: all).

    The broker is a server of its own that loses nothing when it is killed.
    """
    (broker_port,) = free_ports(1)
    first, second = Ports.free(), Ports.free()
    api_urls = [f"http://{LOOPBACK}:{ports.api}" for ports in (first, second)]
    stream_url = f"http://{LOOPBACK}:{first.stream}"
    settings = Settings(store_url, f"redis://{LOOPBACK}:{broker_port}/0", "rk:", stream_url, False, None, api_urls[0])
    settings = settings._replace(mark_file=var / "mark.json")
    make_store(settings, creates=True).installation()
    binary = find_binary()
    with ExitStack() as stack:
        directory = DataDirectory(var / BROKER, binary)
        stack.callback(directory.release)
        all_programs = [
            Program(BROKER, server_command(binary, directory, broker_port, EVERYSEC)),
            *programs(var / "first", first, LOOPBACK, 1, mail=False),
            *(
                program._replace(name=f"{program.name}-2")
                for program in programs(var / "second", second, LOOPBACK, 1, mail=False)
                if program.name in TWICE
            ),
        ]
        chosen = [
            program._replace(on_demand=False) for program in all_programs if names is None or program.name in names
        ]
        supervisor = Supervisor(var / "log", lambda _: None)
        stack.callback(supervisor.close)
        supervisor.start(chosen, child_environment(settings))
        api_urls = [url for url, name in zip(api_urls, ("api", "api-2"), strict=True) if name in supervisor.names()]
        for url in api_urls:
            eventually(lambda url=url: responds_ok(f"{url}/readyz"), f"the start of {url}")  # type: ignore[misc]
        yield Running(supervisor, settings, api_urls, stream_url)


class Disturber:
    """Kills and pauses parts of an installation and servers of its store, in random order, each once in a round.

    One server of the store is away at a time; a paused part goes on by itself. A context manager: servers that were
    started again end with it.
    """

    def __init__(self, supervisor: Supervisor, store: Store, seed: int, history: History) -> None:
        self.mover: SlotMover | None = None
        self.kills: Counter[str] = Counter()
        self.pauses: Counter[str] = Counter()
        self.tails = 0
        self._supervisor = supervisor
        self._store = store
        self._chance = random.Random(f"disturb/{seed}")
        self._history = history
        self._paused: set[str] = set()
        self._pausing: list[threading.Thread] = []
        # A server ends with the thread that has started it.
        self._operator = ThreadPoolExecutor(1, "operator")
        self._at_servers: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._operator.shutdown()

    @property
    def _has_replicas(self) -> bool:
        return len(self._store.servers) > (3 if isinstance(self._store, ThreeMasters) else 1)

    @property
    def count(self) -> int:
        """How many kills and pauses there have been."""
        return self.kills.total() + self.pauses.total()

    def disturb(
        self, total: int, seconds: float, progress: Callable[[], int], print_line: Callable[[str], None]
    ) -> None:
        """Disturb ``total`` times within about ``seconds``; a move must be acknowledged between two disturbances."""
        servers = [f"store-{number}" for number in range(len(self._store.servers))]
        round_of: list[str] = []
        pace, last, shown = seconds / total, progress(), 0
        while self.count < total:
            if not round_of:
                round_of = [*self._supervisor.names(), *servers]
                self._chance.shuffle(round_of)
            self._wait(self._chance.uniform(0.5, 1.5) * pace, lambda last=last: progress() > last)  # type: ignore[misc]
            last = progress()
            part = round_of.pop()
            if part in servers:
                self._disturb_server(servers.index(part))
            else:
                self._disturb_part(part)
            if self.count >= shown + 10:
                shown = self.count
                print_line(f"{shown} of {total} kills and pauses, {last} moves acknowledged")

    def heal(self) -> None:
        """Wait until everything that was paused goes on and every server of the store is back."""
        for thread in self._pausing:
            thread.join()
        self._operator.submit(self._revive).result()

    def _revive(self) -> None:
        self._store.revive()
        self._store.wait_until_complete()

    def note(self, action: str, part: str) -> None:
        """Write down what was done."""
        self._history.add(Disturbed(action, part, clock_ms()))

    def _wait(self, seconds: float, goes_on: Callable[[], bool]) -> None:
        due, give_up_at = time.monotonic() + seconds, time.monotonic() + MAX_RECOVERY_S
        while time.monotonic() < due or (not goes_on() and time.monotonic() < give_up_at):
            time.sleep(POLL_INTERVAL_S)

    def _disturb_part(self, name: str) -> None:
        if name in self._paused:
            return
        if self._chance.random() < PAUSE_SHARE:
            seconds = self._chance.uniform(MIN_PAUSE_S, MAX_PAUSE_S)
            if self._supervisor.kill(name, signal.SIGSTOP):
                self.note("pause", name)
                self.pauses[name] += 1
                self._paused.add(name)
                self._pausing.append(threading.Thread(target=self._resume, args=[name, seconds]))
                self._pausing[-1].start()
        else:
            killed = self._supervisor.kill(name)
            self.kills[name] += killed
            if killed:
                self.note("kill", name)

    def _resume(self, name: str, seconds: float) -> None:
        time.sleep(seconds)
        self._supervisor.kill(name, signal.SIGCONT)
        self._paused.discard(name)

    def _disturb_server(self, number: int) -> None:
        if self._at_servers is not None:
            if not self._at_servers.done():
                return
            self._at_servers.result()
        seconds = self._chance.uniform(MIN_DOWN_S, MAX_DOWN_S)
        act: Callable[[], None]
        if self._has_replicas and self._chance.random() < TAIL_SHARE:
            act = partial(self._cut_tail, seconds, self._chance.uniform(MIN_BEHIND_S, MAX_BEHIND_S))
        elif self._chance.random() < PAUSE_SHARE:
            act = self._long_pause(number)
        else:
            act = partial(self._kill_server, number, seconds)
        self._at_servers = self._operator.submit(self._disturb_store, act)

    def _disturb_store(self, act: Callable[[], None]) -> None:
        act()
        self._wait_until_complete()

    def _wait_until_complete(self) -> None:
        # A store that does not become complete is found at the end.
        with suppress(AssertionError):
            self._store.wait_until_complete()

    def _kill_server(self, number: int, seconds: float) -> None:
        self._store.kill(number)
        self.kills[f"store-{number}"] += 1
        self.note("kill", f"store-{number}")
        time.sleep(seconds)
        self._store.start(number)

    def _long_pause(self, number: int) -> Callable[[], None]:
        """Return a pause of a server; under sentinels a long one, to which they react every other time."""
        if not isinstance(self._store, Watched):
            return partial(self._pause_server, number, self._chance.uniform(MIN_PAUSE_S, MAX_PAUSE_S))
        pause = partial(self._pause_server, number, self._chance.uniform(MIN_HANG_S, MAX_HANG_S))
        return partial(self._hang, self._store, pause) if self._chance.random() < PATIENT_SHARE else pause

    def _hang(self, store: Watched, pause: Callable[[], None]) -> None:
        with store.patient_sentinels():
            pause()

    def _pause_server(self, number: int, seconds: float) -> None:
        self._store.pause(number)
        self.pauses[f"store-{number}"] += 1
        self.note("pause", f"store-{number}")
        time.sleep(seconds)
        self._store.resume(number)

    def _cut_tail(self, seconds: float, behind_s: float) -> None:
        """Kill a primary and all replicas but one that has not followed it for a while, which takes its place.

        A paused replica alone would have all that was sent in the buffers of its connection; so that is closed.
        """
        with self.mover.moving if self.mover is not None else nullcontext():
            self._wait_until_complete()  # what moved last is in all replicas
            self._cut(seconds, behind_s)
            self._wait_until_complete()

    def _cut(self, seconds: float, behind_s: float) -> None:
        try:
            primary, replicas = find_primary(self._store, self._chance)
            behind, *others = self._chance.sample(replicas, len(replicas))
            self._store.pause(behind)
            self._store.ask(primary, "CLIENT KILL", "TYPE", "replica")
        except (RedisError, StopIteration, IndexError, ValueError):
            self._store.revive()
            return
        time.sleep(behind_s)
        for number in (primary, *others):
            self._store.kill(number)
            self.kills[f"store-{number}"] += 1
            self.note("cut", f"store-{number}")
        self._store.resume(behind)
        self.tails += 1
        time.sleep(MAX_DOWN_S + seconds)
        self._store.revive()


def run_campaign(
    var: Path, kind: str, kills: int, seconds: float, seed: int, print_line: Callable[[str], None] = lambda _: None
) -> Report:
    """Play on a store of a ``kind`` and disturb ``kills`` times within about ``seconds``, then check.

    Raises only when the harness itself fails.
    """
    print_line(f"Starting a store: {kind}")
    with open_store(kind, var / "store") as store:
        return disturb_and_judge(var, store, kills, seconds, seed, print_line)


def disturb_and_judge(
    var: Path,
    store: Store,
    kills: int,
    seconds: float,
    seed: int,
    print_line: Callable[[str], None] = lambda _: None,
    names: Sequence[str] | None = None,
) -> Report:
    """Do the same on a ``store`` that runs, with those programs that have ``names`` (None: all).

    Without a worker people play among themselves.
    """
    history = History(var / "history.jsonl")
    with ExitStack() as stack:
        running = stack.enter_context(installation_on(store.url, var, names))
        print_line("The installation runs")
        disturber = stack.enter_context(Disturber(running.supervisor, store, seed, history))
        people = [
            Person(running.api_urls, number, seed, history, among_people="worker" not in running.supervisor.names())
            for number in range(PEOPLE)
        ]
        store.wait_until_complete()  # everybody is known to the replicas
        mover = None
        played = Played(Installation(running.settings), people, history, print_line)
        crowd = Crowd(Installation(running.settings), running.api_urls)
        with crowd.asking(), people_playing(people) as playing:
            with ExitStack() as moving:
                if isinstance(store, ThreeMasters):
                    mover = SlotMover(store, seed, lambda slot, to: disturber.note(f"slot {slot}", f"store-{to}"))
                    disturber.mover = mover
                    moving.enter_context(mover.running())
                disturber.disturb(kills, seconds, lambda: count_acknowledged(people, playing), print_line)
            print_line("All is done; every part must restart and every match continue")
            disturber.heal()
            urls = running.api_urls + ([running.stream_url] if "stream" in running.supervisor.names() else [])
            down = find_down(running.supervisor, disturber.kills, urls)
            played.wait_until_all_continue(playing)
        report = played.report(disturber.kills, running.supervisor, down)
        return report._replace(
            pauses=dict(disturber.pauses), moves=mover.moved if mover is not None else 0, lost_tails=disturber.tails,
            recognised=crowd.recognised, mistaken=tuple(crowd.mistaken),
        )  # fmt: skip
