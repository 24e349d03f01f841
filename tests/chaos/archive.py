"""The process that archives is killed again and again; then every match is looked for, and some are proved.

The matches are copies of short random games under other names and at other instants. As a program this is the process
that is killed: ``python -m tests.chaos.archive URL ARCHIVE``.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from deploy.local.child import bound_to_parent
from domain.match.commands import CreateMatch, JoinMatch, Resign, SubmitMove
from domain.match.state import Seat
from events.installation import Installation
from events.readmodels.projector import EventSummaries, Projector
from events.runtime.settings import Settings, next_database
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from events.store.chain import Verified, verify
from events.store.contract import EMPTY, Head, Request
from events.store.envelope import Draft
from events.store.memory import MemoryStore
from tests.simulation.random_play import random_move
from tests.support.server import RealServer

TEMPLATES = 40
PLIES = 8
DAY_MS = 24 * 3600 * 1000
PROVED = 1000
LOOKED_AT_PER_KILL = 20
BATCH = 500


class ArchiveReport(NamedTuple):
    """What was done, and the faults that were found."""

    matches: int
    events: int
    kills: int
    proved: int
    seconds: float
    faults: tuple[str, ...]

    def __str__(self) -> str:
        """Return the report as a line."""
        return (
            f"{self.matches} matches ({self.events} events) archived in {self.seconds:.0f} s with {self.kills} kills, "
            f"{self.proved} read back and proved: {len(self.faults)} faults"
        )


def run_archive(
    var: Path, matches: int, kills: int, seed: int, print_line: Callable[[str], None] = lambda _: None
) -> ArchiveReport:
    """Store ``matches``, archive them in a process that is killed ``kills`` times, and look for all of them."""
    chance = Random(seed)
    server = RealServer(var)
    try:
        archive_url = (var / "archive").as_uri()
        parts = Installation(_settings(server.url, archive_url))
        heads = dict(_load(parts, matches, chance))
        names = list(heads)
        print_line(f"{matches} matches are stored")
        start, faults, done = time.monotonic(), list[str](), 0
        pause = 0.5
        while True:
            process = subprocess.Popen(
                bound_to_parent([sys.executable, "-m", "tests.chaos.archive", server.url, archive_url])
            )
            if done < kills:
                try:
                    process.wait(1.0 + chance.random() * pause)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    done += 1
                    faults += _faults_in(parts, heads, chance.sample(names, min(LOOKED_AT_PER_KILL, len(names))))
                    pause = min(pause * 1.2, 8.0)
                    continue
            if process.wait() == 0:
                break
            faults.append(f"the process ended with {process.returncode}")
            break
        seconds = time.monotonic() - start
        print_line(f"archived, {done} kills")
        chosen = chance.sample(names, min(PROVED, len(names)))
        faults += _faults_in(parts, heads, chosen)
        faults += _not_archived(parts, heads)
        faults += _unlisted(parts, set(names))
        faults += _unreferenced(parts)
        events = sum(head.version for head in heads.values())
        return ArchiveReport(matches, events, done, len(chosen), seconds, tuple(faults))
    finally:
        server.close()


def _settings(url: str, archive_url: str) -> Settings:
    return Settings(url, next_database(url), "rk:", "", False, None, archive_url=archive_url)


def _load(parts: Installation, matches: int, chance: Random) -> Iterator[tuple[str, Head]]:
    """Store finished matches and their read models; yield their names and heads."""
    templates = [_template(number, chance) for number in range(TEMPLATES)]
    store, before = parts.store, now_ms() - 400 * DAY_MS
    by_shard: dict[int, list[str]] = {}
    for number in range(matches):
        name = f"m{chance.getrandbits(80):020x}"
        drafts = templates[number % TEMPLATES]
        shift = before + number * 1000 - drafts[0].at
        shifted = [draft._replace(at=draft.at + shift) for draft in drafts]
        yield name, store.append(name, EMPTY, shifted, Request("load", "")).head
        by_shard.setdefault(store.shard_of(name), []).append(name)
    projector = Projector(parts.client, parts.readmodels.keys, EventSummaries(store))
    for of_shard in by_shard.values():
        for first in range(0, len(of_shard), BATCH):
            if failures := projector.project(of_shard[first : first + BATCH]):
                raise RuntimeError(f"a match cannot be replayed: {failures}")


def _template(number: int, chance: Random) -> list[Draft]:
    """Return the events of a short game of two people."""
    instants = count(1_700_000_000_000, 3_600_000)
    store = MemoryStore()
    matches = Matches(store, lambda: next(instants))
    one, two = f"p{2 * number:016d}", f"p{2 * number + 1:016d}"
    create = CreateMatch(
        match="template",
        creator=one,
        game="bashni",
        setup="start",
        seats=(Seat.taken(one), Seat.invited(two)),
        rated=False,
        private=False,
        seed=str(number),
    )
    matches.append_decision("template", create, one, Request("create", ""))
    state = matches.append_decision("template", JoinMatch(player=two), two, Request("join", "")).state
    for ply in range(PLIES):
        move = random_move(state, chance)
        player = (one, two)[ply % 2]
        state = matches.append_decision(
            "template", SubmitMove(player=player, move=move), player, Request(f"{ply}", "")
        ).state
    matches.append_decision("template", Resign(player=one), one, Request("resign", ""))
    return [event.draft for event in store.read("template")]


def _faults_in(parts: Installation, heads: dict[str, Head], names: Sequence[str]) -> Iterator[str]:
    for name in names:
        try:
            found = verify(parts.store, name)
        except Exception as error:
            yield f"{name} cannot be proved: {error}"
            continue
        if Verified(name, heads[name]) != found._replace(at=0):
            yield f"{name} is at {found.head.tag}, not at {heads[name].tag}"


def _not_archived(parts: Installation, heads: dict[str, Head]) -> Iterator[str]:
    names = iter(heads)
    while batch := list(islice(names, BATCH)):
        for name, is_archived, head in zip(
            batch, parts.store.are_archived(batch), parts.store.heads(batch), strict=True
        ):
            if not is_archived or head != heads[name]:
                yield f"{name} is not archived, or at {head.tag}"


def _unlisted(parts: Installation, names: set[str]) -> Iterator[str]:
    """Yield what is wrong with the lists of the players of all matches."""
    listed: set[str] = set()
    for number in range(2 * TEMPLATES):
        found = parts.readmodels.matches_of(f"p{number:016d}", ("finished",))
        listed.update(found)
    if listed != names:
        yield f"{len(names - listed)} matches are in no list, {len(listed - names)} in one that are not there"


def _unreferenced(parts: Installation) -> Iterator[str]:
    parts.archiver.collect(kept_days=0)
    archive = parts.store.archive
    used = {pack.file for pack in archive.catalogue.packs()} | {table.file for table in archive.catalogue.tables()}
    files = {name for kind in ("packs", "tables") for name in archive.storage.names(kind)}
    yield from (f"nothing refers to {name}" for name in files - used)


def main() -> None:
    """Archive everything that is due: the process that is killed."""
    url, archive_url = sys.argv[1:]
    parts = Installation(_settings(url, archive_url))
    parts.archiver.archive_all(parts.store.all_live_streams())
    parts.archiver.merge_tables()
    parts.archiver.collect()
    os._exit(0)


if __name__ == "__main__":
    main()
