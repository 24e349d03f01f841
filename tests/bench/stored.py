"""Stores with many matches, written through the store by the rules: the same play every day, for longer or shorter.

Some matches are played by commands. The others repeat them with other ids, players and instants, each event sealed
into the chain of its match and appended by the script of the store, many matches in one pipeline. Read models are
written by the projector in batches; ratings as a rebuild writes them. The last matches still go on.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.match.commands import Command, JoinMatch, Resign, SubmitMove
from domain.match.state import Seat
from events.installation import Installation
from events.matches.readmodels import Projected, RatedResult, rated_result, summarise
from events.matches.readmodels.projector import EventSummaries, Projector
from events.matches.readmodels.summary import Summary
from events.runtime.keys import ShardKeys
from events.runtime.scripts import script_source
from events.store.codec import draft_of
from events.store.contract import EMPTY, Head, Request
from events.store.envelope import Draft, seal
from tests.support.matches import T0, PlayedMatch, creation

DAY_MS = 24 * 3600 * 1000
FIRST_DAY_MS = 1_600_000_000_000 // DAY_MS * DAY_MS
MATCHES_PER_DAY = 1000
PREPARED = 200
RUNNING = 200
"""Matches that still go on, the last ones, however many are stored."""

MATCHES_PER_PLAYER = 200
MIN_PLAYERS = 100
"""The number of players that fills a page of a leaderboard."""

RATED_ONE_IN = 5
PLIES = (1, 2, 3, 4)
"""Of the matches, in turn; each has five events more."""

THINKING_MS = 60_000
ONE, TWO = "p" * 16 + "1", "p" * 16 + "2"
MATCHES_PER_BATCH = 2000
MATCHES_PER_TRANSACTION = 100


class Prepared(NamedTuple):
    """A match that is repeated: its events as JSON, and what they lead to."""

    events: str
    summary: Summary


class Loader:
    """Writes matches into the store of an installation; ``now`` is an instant after the last of them."""

    def __init__(self, parts: Installation, matches: int) -> None:
        """Prepare for ``matches`` matches in all."""
        self.events = 0
        self.ids: list[str] = []
        self.players = max(MIN_PLAYERS, 2 * matches // MATCHES_PER_PLAYER)
        self.now = FIRST_DAY_MS + (-(-matches // MATCHES_PER_DAY)) * DAY_MS
        self._parts = parts
        self._matches = matches
        self._finished = [_prepare(number, ends=True) for number in range(PREPARED)]
        self._running = [_prepare(number, ends=False) for number in range(PREPARED)]
        self._summaries: dict[str, Projected] = {}
        self._projector = Projector(parts.client, parts.readmodels.keys, self)
        self._rated: list[RatedResult] = []
        script = script_source("events.store", "append")
        self._sha = str(parts.client.execute_command("SCRIPT LOAD", script))

    def batches(self) -> Iterator[tuple[int, int]]:
        """Write all matches, batch by batch; after each yield how many and how many events it had."""
        for first in range(0, self._matches, MATCHES_PER_BATCH):
            before = self.events
            numbers = range(first, min(first + MATCHES_PER_BATCH, self._matches))
            self._append([self._match(number) for number in numbers])
            yield len(numbers), self.events - before

    def project(self) -> None:
        """Write the read models of what was appended since the last call."""
        by_shard: defaultdict[int, list[str]] = defaultdict(list)
        for match_id in self._summaries:
            by_shard[self._parts.store.shard_of(match_id)].append(match_id)
        for match_ids in by_shard.values():
            for start in range(0, len(match_ids), MATCHES_PER_TRANSACTION):
                failures = self._projector.project(match_ids[start : start + MATCHES_PER_TRANSACTION])
                if failures:
                    raise RuntimeError(f"matches cannot be projected: {failures}")
        self._rated += [result for each in self._summaries.values() if (result := rated_result(each.summary))]
        self._summaries.clear()

    def rate(self) -> None:
        self._parts.ratings.replace(sorted(self._rated, key=lambda result: (result.at, result.match)))

    def verify(self, count: int) -> None:
        """Compare ``count`` read models with what the rules make of the stored events."""
        replayed = EventSummaries(self._parts.store)
        for match_id in random.Random(count).sample(self.ids, count):
            assert self._parts.readmodels.projected([match_id]) == [replayed.read(match_id, 0, None)], match_id

    def heads(self, _: Mapping[str, int]) -> Mapping[str, Head]:
        return {}

    def read(self, match_id: str, _: int, __: Head | None) -> Projected:
        """See SummaryReader: it is known what was written."""
        return self._summaries[match_id]

    def _match(self, number: int) -> tuple[str, list[Draft], Summary]:
        running = number >= self._matches - RUNNING
        prepared = (self._running if running else self._finished)[number % PREPARED]
        match_id, shift = f"m{number:016}", FIRST_DAY_MS - T0 + number * DAY_MS // MATCHES_PER_DAY
        one = number * 7919 % self.players
        names = {ONE: player_id(one), TWO: player_id((one + 1 + number % 7) % self.players)}
        text = prepared.events.replace(ONE, names[ONE]).replace(TWO, names[TWO])
        drafts = [Draft(kind, schema, at + shift, *rest) for kind, schema, at, *rest in json.loads(text)]
        return match_id, drafts, _repeat(prepared.summary, match_id, names, shift)

    def _append(self, matches: Sequence[tuple[str, list[Draft], Summary]]) -> None:
        store = self._parts.store
        shards: dict[int, ShardKeys] = {}
        with store.client.pipeline(transaction=False) as pipeline:
            for match_id, drafts, summary in matches:
                sealed = seal(drafts, match_id, 0, EMPTY.digest)
                keys = shards.setdefault(store.shard_of(match_id), ShardKeys(store.prefix, store.shard_of(match_id)))
                places, arguments = store._append_call(match_id, EMPTY, Request("all", ""), summary.deadline, None)
                packed = [part for event in sealed for part in (event.packed, event.digest)]
                pipeline.evalsha(self._sha, len(places), *places, *arguments, "", "", "", "", *packed)
                self._summaries[match_id] = Projected(summary, sealed[-1].envelope.id[:16])
                self.ids.append(match_id)
                self.events += len(sealed)
            for keys in shards.values():
                pipeline.xtrim(keys.feed, maxlen=0, approximate=False)  # as if all relays had handled all of it
            replies = pipeline.execute()
        if any(reply != [b"appended"] for reply in replies[: len(matches)]):
            raise RuntimeError("not every match was appended")


def _prepare(number: int, *, ends: bool) -> Prepared:
    """Play a match of the prepared ones; with ``ends`` a player resigns at last."""
    rated = number % RATED_ONE_IN == 0
    match = PlayedMatch(creation(Seat.taken(ONE), Seat.invited(TWO), creator=ONE, rated=rated, seed=str(number)))
    drafts = [draft_of(event, ONE) for event in match.events]

    def do(command: Command, player: str) -> None:
        drafts.extend(draft_of(event, player) for event in match.do(command, match.now + THINKING_MS))

    do(JoinMatch(player=TWO), TWO)
    for ply in range(PLIES[number % len(PLIES)]):
        moves = match.legal_moves()
        do(SubmitMove(player=(ONE, TWO)[ply % 2], move=moves[number % len(moves)]), (ONE, TWO)[ply % 2])
    if ends:
        do(Resign(player=(ONE, TWO)[number % 2]), (ONE, TWO)[number % 2])
    return Prepared(json.dumps(drafts), summarise(match.state))


def _repeat(summary: Summary, match_id: str, names: Mapping[str, str], shift: int) -> Summary:
    def later(at: int | None) -> int | None:
        return None if at is None else at + shift

    return summary._replace(
        match=match_id, creator=names[summary.creator],
        seats=tuple(seat._replace(player=names[str(seat.player)]) for seat in summary.seats),
        awaiting=tuple(names[player] for player in summary.awaiting), created_at=summary.created_at + shift,
        updated_at=summary.updated_at + shift, ended_at=later(summary.ended_at), deadline=later(summary.deadline),
    )  # fmt: skip


def player_id(number: int) -> str:
    return f"p{number:016}"
