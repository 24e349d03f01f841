"""What an archived match costs: bytes in the storage beside its canonical bytes, and live memory that stays.

The matches are played at random by real commands, at random instants, by many players, rated, projected and in the log
of checkpoints: everything that a match leaves in the store is there.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from domain.games import GAMES
from domain.match.commands import CreateMatch, JoinMatch, Resign, SubmitMove
from domain.match.enums import Status
from domain.match.state import Seat
from events.installation import Installation
from events.runtime.connections import StoreClient
from events.runtime.keys import ShardKeys
from events.runtime.queues import ConsumerGroup
from events.runtime.settings import Settings, next_database
from events.store.archive.catalogue import Archived, pack_archived
from events.store.archive.tables import Locator
from events.store.contract import Head, Request
from events.store.envelope import canonical_bytes
from events.store.feed import FeedGroup, trim
from tests.bench.measure import Table, verdict
from tests.simulation.random_play import random_move
from tests.support.server import RealServer
from tests.support.timeless import execute

GAMES_PLAYED = ("bashni", "towers")
MATCHES = 256
"""Of each game."""

PLAYERS = 60
MEAN_MOVE_MS = 6 * 3600 * 1000
DAY_MS = 24 * 3600 * 1000
START_MS = 1_700_000_000_000
MAX_PLIES = 60
MANY = 100_000
MAX_STORED = 0.10
"""Bytes in the storage for a canonical byte of an event."""

MAX_LIVE_BYTES = 120
"""Of live memory for an archived match, beside its ratings and the log."""

RATINGS, LOG = "ratings and their history", "log of checkpoints"
STAYING = (RATINGS, LOG)
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


class Played:
    """An installation in virtual time, whose matches are played at random."""

    def __init__(self, url: str, directory: Path) -> None:
        self.now = START_MS
        settings = Settings(
            url, next_database(url), "rk:", "", False, None, archive_url=(directory / "archive").as_uri()
        )
        self.parts = Installation(settings, lambda: self.now)
        self._chance = Random(7)
        self._people = [self._id("p") for _ in range(PLAYERS)]

    def play(self, game: str) -> None:
        """Play a match of two people to its end, or until one resigns."""
        match, people = self._id("m"), self._chance.sample(self._people, 2)
        create = CreateMatch(
            match=match, creator=people[0], game=game, setup=next(iter(GAMES[game].setups)),
            seats=(Seat.taken(people[0]), Seat.invited(people[1])), rated=True, private=False,
            seed=str(self._chance.getrandbits(64)),
        )  # fmt: skip
        matches = self.parts.matches
        execute(matches, match, create, people[0], self._request())
        state = execute(matches, match, JoinMatch(player=people[1]), people[1], self._request()).state
        while state.status == Status.PLAYING:
            self.now += int(self._chance.expovariate(1 / MEAN_MOVE_MS)) + 1
            mover = state.seats[GAMES[game].to_move(state.play.position)].player
            assert mover is not None
            command = SubmitMove(player=mover, move=random_move(state, self._chance))
            if state.play.plies >= MAX_PLIES:
                command = Resign(player=mover)  # type: ignore[assignment]
            state = execute(matches, match, command, mover, self._request()).state

    def settle(self) -> None:
        """Project, rate and log everything."""
        for shard in range(self.parts.store.shards):
            if match_ids := list(self.parts.store.streams(shard)):
                assert self.parts.projector.project(match_ids) == {}
        for match_id in self.parts.store.all_streams():
            self.parts.ratings.rate(match_id)
        self.parts.checkpoints.sign(self.now)
        store = self.parts.store
        for group in ConsumerGroup:
            feed = FeedGroup(store.client, store.prefix, store.shards, group, "bench")
            feed.ensure()
            while deliveries := feed.read():
                with store.client.pipeline(transaction=False) as pipeline:
                    feed.acknowledge(pipeline, deliveries)
                    pipeline.execute()
        trim(store.client, store.prefix, range(store.shards))

    def canonical_bytes(self) -> tuple[int, int]:
        sizes = [
            len(canonical_bytes(event.draft, match_id, event.version))
            for match_id in self.parts.store.all_streams()
            for event in self.parts.store.read(match_id)
        ]
        return len(sizes), sum(sizes)

    def _id(self, kind: str) -> str:
        return kind + "".join(self._chance.choices(LETTERS, k=16))

    def _request(self) -> Request:
        return Request(self._id("r"), self._id("f"))


def tables() -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as directory:
        server = RealServer(Path(directory))
        try:
            with server.client() as client:
                played = Played(server.url, Path(directory))
                for number in range(MATCHES * len(GAMES_PLAYED)):
                    played.now = START_MS + number * DAY_MS // 8
                    played.play(GAMES_PLAYED[number % len(GAMES_PLAYED)])
                played.settle()
                yield from _measure(played, client)
        finally:
            server.close()


def _measure(played: Played, client: StoreClient) -> Iterator[Table]:
    parts = played.parts
    events, canonical = played.canonical_bytes()
    before = live_bytes(client)
    played.now += 400 * DAY_MS
    archived = parts.archiver.archive_all(parts.store.all_streams())
    while parts.checkpoints.move_tiles():
        pass
    parts.archiver.merge_tables()
    parts.archiver.collect()
    after = live_bytes(client)
    catalogue = parts.store.archive.catalogue
    packs, lists = sum(pack.size for pack in catalogue.packs()), sum(table.size for table in catalogue.tables())
    other = storage_bytes(parts, "dictionaries")
    stored = Table("Storage of archived matches", "", "bytes an event", "x canonical", "target")
    stored.add("canonical", canonical / events, 1.0, "")
    leaves = storage_bytes(parts, "leaves")
    sizes = {"packs": packs, "tables of lists": lists, "dictionaries": other, "leaves": leaves}
    for name, size in sizes.items():
        stored.add(name, size / events, size / canonical, "")
    total = sum(sizes.values()) / canonical
    stored.add("all", sum(sizes.values()) / events, total, verdict(total, MAX_STORED, at_least=False))
    yield stored
    live = Table("Live memory of a match", "", "bytes before", "bytes when archived", "target")
    for kind in sorted(before | after, key=lambda kind: -before[kind] - after[kind]):
        live.add(kind, before[kind] / archived, after[kind] / archived, "")
    was, now = (sum(size for kind, size in found.items() if kind not in STAYING) for found in (before, after))
    live.add(
        "all but these two", was / archived, now / archived, verdict(now / archived, MAX_LIVE_BYTES, at_least=False)
    )
    live.add("all", sum(before.values()) / archived, sum(after.values()) / archived, "")
    each = _entries_bytes(parts, client, MANY)
    live.add(f"catalogue and names of {MANY} more", "", each, verdict(each, MAX_LIVE_BYTES, at_least=False))
    yield live


def _entries_bytes(parts: Installation, client: StoreClient, count: int) -> float:
    """Return what each of ``count`` more archived matches takes: catalogue and names.

    A rated match adds its row in the ratings of its players, and of the log a node of the tree for each tile.
    """
    chance, store = Random(8), parts.store
    before = live_bytes(client)
    with client.pipeline(transaction=False) as pipeline:
        for number in range(count):
            name = f"m{''.join(chance.choices(LETTERS, k=16))}"
            place = store.archive.catalogue.place(name)
            archived = Archived(Locator(f"{number // 256:012x}", number % 256), Head(60, chance.randbytes(32)), number)
            pipeline.hset(place.key, mapping={place.field: pack_archived(archived)})
            pipeline.rpush(ShardKeys(store.prefix, store.shard_of(name)).archived_streams, name)
        pipeline.execute()
    added = live_bytes(client)
    return (sum(added.values()) - sum(before.values())) / count


def storage_bytes(parts: Installation, kind: str) -> int:
    storage = parts.store.archive.storage
    return sum(storage.size(name) for name in storage.names(kind))


def live_bytes(client: StoreClient) -> Counter[str]:
    found: Counter[str] = Counter()
    for name in client.scan_iter(count=5000):
        found[_kind(name.decode())] += int(client.memory_usage(name, samples=0) or 0)
    return found


def _kind(name: str) -> str:
    tag, _, rest = name.partition("}:")
    parts = rest.split(":")
    if tag.endswith("{ratings"):
        return RATINGS
    if tag.endswith("{proof"):
        return LOG
    if "{s" not in tag:
        return "the installation"
    match parts[0]:
        case "m":
            return {"e": "events", "h": "head", "s": "snapshot", "o": "conditional moves"}[parts[-1]]
        case "rm":
            return "summary" if "m" in parts[1:-1] else "lists"
        case "streams" | "archived-streams":
            return "names"
        case "archived":
            return "catalogue"
    return "feed and deadlines"
