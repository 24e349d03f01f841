"""What is left after a campaign: that everything goes on, and that read models follow from the events."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from domain.match.state import MatchState
from events.installation import Installation
from events.matches.matches import Matches
from events.matches.readmodels import ReadModels, dump, rated_result, summarise
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import ReadModelKeys
from events.runtime.settings import Settings
from events.runtime.wall_clock import now_ms
from events.store.contract import DIGEST_DIGITS
from events.store.redis import RedisStore
from tests.chaos.checker import Left, Notified, Stored
from tests.chaos.history import Tag
from tests.chaos.people import MAX_RECOVERY_S, POLL_INTERVAL_S
from tests.support.fleet import rebuild
from workers.opponents import debts_of


def what_is_left(parts: Installation, players: Sequence[str]) -> Left:
    """Return the streams, the ledgers of ``players``, and the incidents."""
    incidents = [f"{incident.words} {dict(incident.lost)}" for incident in parts.incidents.all()]
    streams = {match_id: stored_events(parts.store, match_id) for match_id in parts.store.all_streams()}
    notices = [notified for player in players for notified in _ledger(parts, player)]
    return Left(streams, notices, incidents)


def stored_events(store: RedisStore, match_id: str) -> list[Stored]:
    found = []
    for event in store.read(match_id):
        tag = Tag(event.version, event.id[:DIGEST_DIGITS])
        if event.type == "move-submitted":
            found.append(Stored(tag, event.data["ply"], event.data["move"], "level" not in event.data))
        else:
            found.append(Stored(tag))
    return found


def _ledger(parts: Installation, player: str) -> Iterator[Notified]:
    cursor = None
    while True:
        page = parts.ledger.page(player, cursor)
        for notice in page.notices:
            yield Notified(player, notice.id, notice.fact)
        cursor = page.cursor
        if cursor is None:
            return


def wait_until_available(store: RedisStore) -> None:
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


def versions(store: RedisStore) -> dict[str, int]:
    return {state.match_id: state.version for state in states(store) if not state.ended}


def states(store: RedisStore) -> Iterator[MatchState]:
    matches = Matches(store, now_ms)
    for match in store.all_streams():
        yield matches.load(match).state


def wait_until_all_continue(
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


def wait_for_opponents(store: RedisStore) -> tuple[str, ...]:
    """Wait until no opponent is to move; return the matches in which one still is."""
    deadline = time.monotonic() + MAX_RECOVERY_S
    while owing := [state.match_id for state in states(store) if debts_of(state)]:
        if time.monotonic() > deadline:
            return tuple(f"{match_id} waits for an opponent" for match_id in owing)
        time.sleep(POLL_INTERVAL_S * 5)
    return ()


def different_read_models(settings: Settings, store: RedisStore) -> tuple[str, ...]:
    """Wait for the read models, rebuild them, and return the keys that differ."""
    keys = ReadModelKeys(store.prefix, store.shards)
    _wait_for_read_models(store, keys)
    before = dump(store.client, keys)
    rebuild(settings)
    after = dump(store.client, keys)
    return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def _wait_for_read_models(store: RedisStore, keys: ReadModelKeys) -> None:
    """Wait until every summary is current and every rated result is rated."""
    deadline = time.monotonic() + MAX_RECOVERY_S
    readmodels = ReadModels(store.client, store.prefix, store.shards)
    while time.monotonic() < deadline:
        summaries = [summarise(state) for state in states(store)]
        rated = [summary.match for summary in summaries if rated_result(summary) is not None]
        if all(readmodels.summary(summary.match) == summary for summary in summaries) and all(
            map(readmodels.rating_change, rated)
        ):
            return
        time.sleep(POLL_INTERVAL_S * 5)
