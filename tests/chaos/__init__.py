"""A real installation under play while its processes are killed at random; afterwards every guarantee is checked.

Some people play each other and opponents over HTTP, as any client would: an unanswered request is repeated with its
idempotency key until it is answered. A seeded killer sends SIGKILL to the API, the live stream, the relay, the workers
and the server, one after the other. The checks use the store, never what a process reports about itself.
"""

import http.client
import random
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from deploy.local.installation import LocalInstallation
from deploy.local.ports import responds_ok
from domain.match.state import MatchState
from events.installation import make_store
from events.readmodels import ReadModels, dump, rated_result, summarise
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import ReadModelKeys
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from events.store.chain import verify_all
from events.store.redis import RedisStore
from tests.support.api_client import Answer, ApiClient
from workers.opponents import debts_of
from workers.rebuild import rebuild

PEOPLE = 4
MATCHES_PER_PERSON = 3
POLL_INTERVAL_S = 0.02
THINKING_TIME_S = 0.15
"""The time between two visits of a person: more load would only slow the restarts down."""

MAX_RECOVERY_S = 60.0
LATE_REFUSALS = ("stale-version", "not-your-turn", "match-over", "already-seated", "seats-taken")
"""Refusals of what was pending a moment ago and has been done since."""

UNANSWERED = (OSError, http.client.HTTPException)


class Acknowledged(NamedTuple):
    """A move that the API has acknowledged."""

    match: str
    version: int
    event: str
    move: str


class Report(NamedTuple):
    """The result of a run. All but the first four fields must be empty."""

    kills: dict[str, int]
    restarts: int
    matches: int
    acknowledged: int
    lost: tuple[str, ...]
    doubled: tuple[str, ...]
    down: tuple[str, ...]
    stuck: tuple[str, ...]
    damaged: tuple[str, ...]
    differing: tuple[str, ...]
    refused: tuple[str, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """Everything that must not have happened."""
        return self.lost + self.doubled + self.down + self.stuck + self.damaged + self.differing + self.refused

    def __str__(self) -> str:
        """Return the counts, one per line."""
        kills = ", ".join(f"{name} {count}" for name, count in sorted(self.kills.items()))
        return "\n".join(
            (
                f"kills               {sum(self.kills.values())} ({kills})",
                f"restarts            {self.restarts}",
                f"matches             {self.matches}",
                f"acknowledged moves  {self.acknowledged}",
                f"lost                {len(self.lost)}",
                f"doubled             {len(self.doubled)}",
                f"parts down          {len(self.down)}",
                f"stuck matches       {len(self.stuck)}",
                f"damaged streams     {len(self.damaged)}",
                f"wrong read models   {len(self.differing)}",
                f"wrongly refused     {len(self.refused)}",
            )
        )


class Person:
    """A client that creates matches and plays whatever is pending, one request at a time."""

    def __init__(self, installation: LocalInstallation, number: int, seed: int) -> None:
        self.name = f"person-{number}"
        self.acknowledged: list[Acknowledged] = []
        self.refused: list[str] = []
        self._client = ApiClient(installation.url, timeout=5)
        self._chance = random.Random(f"{seed}/{number}")
        self._opened = 0
        self._matches: deque[str] = deque()
        self._client.sign_up(self.name, secrets.token_urlsafe(12))

    def play(self, others: Sequence[str], stop: Event) -> None:
        """Play some matches until ``stop``; a request in progress is completed first."""
        while not stop.is_set():
            self._replace_ended_matches(others)
            pending = self._read("/me/pending?limit=50")
            for item in pending["items"] if pending else ():
                self._answer(item["owed"], item["match"]["id"])
            stop.wait(THINKING_TIME_S)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _replace_ended_matches(self, others: Sequence[str]) -> None:
        # Read one by one: lists come from the read models, which are not updated while the relay is down.
        if len(self._matches) == MATCHES_PER_PERSON:
            match_id = self._matches.popleft()
            state = self._read(f"/matches/{match_id}")
            if state is None or state["result"] is None:
                self._matches.append(match_id)
        if len(self._matches) < MATCHES_PER_PERSON:
            self._open(others)

    def _open(self, others: Sequence[str]) -> None:
        self._opened += 1
        other: dict[str, Any] = {"kind": "opponent", "level": 1}
        if self._opened % 2 and others:
            other = {"kind": "player", "name": self._chance.choice(others)}
        game, setup = self._chance.choice((("bashni", "start"), ("towers", "two-player")))
        seats = [{"kind": "me"}, other]
        self._chance.shuffle(seats)
        wanted = {"game": game, "setup": setup, "seats": seats, "rated": True, "private": False}
        answer = self._post_until_answered("/matches", wanted, f"open-{self._opened}")
        if answer.status == 201:
            self._matches.append(answer.body["id"])

    def _answer(self, owed: str, match_id: str) -> None:
        if owed == "invitation":
            self._post_until_answered(f"/matches/{match_id}/joins", {}, secrets.token_hex(8))
            return
        legal = self._read(f"/matches/{match_id}/legal-moves")
        if not legal or not legal["moves"]:
            return
        move = self._chance.choice(legal["moves"])
        answer = self._post_until_answered(
            f"/matches/{match_id}/moves", {"move": move}, secrets.token_hex(8), legal["version_tag"]
        )
        if answer.status == 201:
            event = answer.body["events"][0]
            self.acknowledged.append(Acknowledged(match_id, event["version"], event["id"], event["data"]["move"]))

    def _read(self, path: str) -> Any:
        try:
            answer = self._client.ask("GET", path)
        except UNANSWERED:
            return None
        return answer.body if answer.status == 200 else None

    def _post_until_answered(self, path: str, body: Any, key: str, version_tag: str | None = None) -> Answer:
        """Repeat a POST with the same key until it is answered."""
        headers = {"Idempotency-Key": key}
        if version_tag is not None:
            headers["If-Match"] = f'"{version_tag}"'
        deadline = time.monotonic() + MAX_RECOVERY_S
        while True:
            try:
                answer = self._client.ask("POST", path, body, headers)
            except UNANSWERED as error:
                last: object = error
            else:
                if answer.status < 500 and answer.status != 429:
                    break
                last = answer
            if time.monotonic() > deadline:
                raise TimeoutError(f"POST {path} got no answer for {MAX_RECOVERY_S:.0f} s, at last {last}")
            time.sleep(POLL_INTERVAL_S)
        # The list of what is pending may lag: that the answer was given already is no fault.
        if answer.status != 201 and not (answer.status == 409 and answer.body["code"] in LATE_REFUSALS):
            self.refused.append(f"POST {path}: {answer.status} {answer.body}")
        return answer


class Killer:
    """Kills the parts of an installation in random order, each once before any is killed again."""

    def __init__(self, installation: LocalInstallation, seed: int) -> None:
        self.kills: Counter[str] = Counter()
        self._installation = installation
        self._chance = random.Random(seed)

    def kill(self, total: int, seconds: float, progress: Callable[[], int], print_line: Callable[[str], None]) -> None:
        """Kill ``total`` times within about ``seconds``; a move must be acknowledged between two kills."""
        names = list(self._installation.supervisor.names())
        pace = seconds / total
        acknowledged = progress()
        for number in range(total):
            if number % len(names) == 0:
                self._chance.shuffle(names)
            due = time.monotonic() + self._chance.uniform(0.5, 1.5) * pace
            give_up_at = time.monotonic() + MAX_RECOVERY_S
            while time.monotonic() < due or (progress() == acknowledged and time.monotonic() < give_up_at):
                time.sleep(POLL_INTERVAL_S)
            acknowledged = progress()
            victim = names[number % len(names)]
            while not (killed := self._installation.supervisor.kill(victim)) and time.monotonic() < give_up_at:
                time.sleep(POLL_INTERVAL_S)
            self.kills[victim] += killed
            if number % 10 == 9:
                print_line(f"{number + 1} of {total} kills, {acknowledged} moves acknowledged")


def run(var: Path, kills: int, seconds: float, seed: int, print_line: Callable[[str], None] = lambda _: None) -> Report:
    """Play and kill for about ``seconds``, then check. Raises only when the harness itself fails."""
    with LocalInstallation(var, opponents=2, embedded=True) as installation, ThreadPoolExecutor(PEOPLE) as pool:
        people = [Person(installation, number, seed) for number in range(PEOPLE)]
        stop = Event()
        playing: list[Future[None]] = []
        killer = Killer(installation, seed)
        store = make_store(installation.settings)
        try:
            for person in people:
                others = [other.name for other in people if other is not person]
                playing.append(pool.submit(person.play, others, stop))
            killer.kill(kills, seconds, lambda: sum(len(person.acknowledged) for person in people), print_line)
            print_line("All kills are done; every part must restart and every match continue")
            down = _wait_until_all_run(installation, killer)
            _wait_until_available(store)
            before = _versions(store)
            stuck = _wait_until_all_continue(store, before, playing)
        finally:
            stop.set()
        for future in playing:
            future.result()
        for person in people:
            person.close()
        print_line("Play has stopped; recomputing chains and read models")
        stuck += _wait_for_opponents(store)
        return _check(installation, store, killer, people, down, stuck)


def _wait_until_all_run(installation: LocalInstallation, killer: Killer) -> tuple[str, ...]:
    """Wait until every killed part has been restarted and all work; return what is missing."""
    deadline = time.monotonic() + MAX_RECOVERY_S
    while True:
        missing = [
            name
            for name in installation.supervisor.names()
            if installation.supervisor.restarts(name) < killer.kills[name] or not installation.supervisor.pid(name)
        ]
        missing += [url for url in (installation.url, installation.stream_url) if not responds_ok(f"{url}/readyz")]
        if not missing or time.monotonic() > deadline:
            return tuple(f"{each} was not restarted" for each in missing)
        time.sleep(POLL_INTERVAL_S * 5)


def _wait_until_available(store: RedisStore) -> None:
    """Wait until the server is up after the last kill."""
    deadline = time.monotonic() + MAX_RECOVERY_S
    while True:
        try:
            store.head("anything")
        except StoreUnavailableError:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_INTERVAL_S)
        else:
            return


def _versions(store: RedisStore) -> dict[str, int]:
    """Return the versions of the matches that have not ended."""
    states = (state for state in _states(store) if not state.ended)
    return {state.match_id: state.version for state in states}


def _states(store: RedisStore) -> Iterator[MatchState]:
    matches = Matches(store, now_ms)
    for match in store.all_streams():
        yield matches.load(match).state


def _wait_until_all_continue(
    store: RedisStore, before: dict[str, int], playing: Sequence[Future[None]]
) -> tuple[str, ...]:
    """Wait until every match has continued since ``before``; return those that do not."""
    deadline = time.monotonic() + MAX_RECOVERY_S
    waiting = dict(before)
    while waiting and time.monotonic() < deadline and not any(future.done() for future in playing):
        time.sleep(POLL_INTERVAL_S * 5)
        waiting = {
            match_id: version for match_id, version in waiting.items() if store.head(match_id).version <= version
        }
    return tuple(f"{match_id} stays at version {version}" for match_id, version in waiting.items())


def _wait_for_opponents(store: RedisStore) -> tuple[str, ...]:
    """Wait until no opponent is to move; return the matches in which one still is."""
    deadline = time.monotonic() + MAX_RECOVERY_S
    while owing := [state.match_id for state in _states(store) if debts_of(state)]:
        if time.monotonic() > deadline:
            return tuple(f"{match_id} waits for an opponent" for match_id in owing)
        time.sleep(POLL_INTERVAL_S * 5)
    return ()


def _check(
    installation: LocalInstallation,
    store: RedisStore,
    killer: Killer,
    people: Sequence[Person],
    down: tuple[str, ...],
    stuck: tuple[str, ...],
) -> Report:
    acknowledged = [move for person in people for move in person.acknowledged]
    lost, doubled = _compare(store, acknowledged)
    return Report(
        kills=dict(killer.kills),
        restarts=sum(installation.supervisor.restarts(name) for name in installation.supervisor.names()),
        matches=sum(1 for _ in _states(store)),
        acknowledged=len(acknowledged),
        lost=lost,
        doubled=doubled,
        down=down,
        stuck=stuck,
        damaged=tuple(map(str, verify_all(store))),
        differing=_different_read_models(installation, store),
        refused=tuple(refusal for person in people for refusal in person.refused),
    )


def _compare(store: RedisStore, acknowledged: Sequence[Acknowledged]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the acknowledged moves that are not stored, and the moves that are stored but were not acknowledged once.

    Every move of a person was sent until it was answered, so each stored one must be acknowledged exactly once. Each
    ply must be stored once.
    """
    counts = Counter(acknowledged)
    stored: Counter[Acknowledged] = Counter()
    doubled = [f"acknowledged {count} times: {move}" for move, count in counts.items() if count > 1]
    for match_id in store.all_streams():
        moves = [event for event in store.read(match_id) if event.type == "move-submitted"]
        if [event.data["ply"] for event in moves] != list(range(1, len(moves) + 1)):
            doubled.append(f"{match_id}: the plies are not 1 to {len(moves)}")
        for event in moves:
            if "level" not in event.data:
                stored[Acknowledged(match_id, event.version, event.id, event.data["move"])] += 1
    lost = tuple(f"not in the store: {move}" for move in counts if move not in stored)
    doubled += [f"stored, but not acknowledged: {move}" for move in stored if move not in counts]
    return lost, tuple(doubled)


def _different_read_models(installation: LocalInstallation, store: RedisStore) -> tuple[str, ...]:
    """Wait for the read models, rebuild them, and return the keys that differ."""
    keys = ReadModelKeys(store.prefix, store.shards)
    _wait_for_read_models(store, keys)
    before = dump(store.client, keys)
    rebuild(installation.settings)
    after = dump(store.client, keys)
    return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def _wait_for_read_models(store: RedisStore, keys: ReadModelKeys) -> None:
    """Wait until every summary is current and every rated result is rated."""
    deadline = time.monotonic() + MAX_RECOVERY_S
    readmodels = ReadModels(store.client, store.prefix, store.shards)
    while time.monotonic() < deadline:
        summaries = [summarise(state) for state in _states(store)]
        rated = [summary.match for summary in summaries if rated_result(summary) is not None]
        if all(readmodels.summary(summary.match) == summary for summary in summaries) and all(
            map(readmodels.rating_change, rated)
        ):
            return
        time.sleep(POLL_INTERVAL_S * 5)
