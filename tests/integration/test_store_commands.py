"""The commands on a store: they find damage and differences, name the place, and end with the code that says so."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from deploy.local.child import bound_to_parent
from domain.games import GAMES
from events.readmodels.generations import Generations
from events.runtime.keys import ReadModelKeys
from events.runtime.wall_clock import now_ms
from events.service.matches import Matches
from events.store.redis import RedisStore
from tests.bench.played import play_match, random_game
from tests.support.eventually import eventually
from tests.support.server import RealServer

MOVES = random_game(GAMES["bashni"], "start", 6)
ROOT = Path(__file__).parents[2]
NO_LOGS = "0 leaves in 0 checkpoints, 0 entries in the log of administration: intact\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealServer]:
    server = RealServer(tmp_path)
    monkeypatch.setenv("REDIS_URL", server.url)
    yield server
    server.close()


@pytest.fixture
def store(server: RealServer) -> Iterator[RedisStore]:
    with server.client() as client:
        yield RedisStore(client)


@pytest.fixture
def match_id(store: RedisStore) -> str:
    return play_match(Matches(store, now_ms), "bashni", "start", MOVES)


def rookery(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_a_match_of_which_no_event_is_left_is_named_by_a_rebuild(store: RedisStore, match_id: str) -> None:
    client: Any = store.client
    client.delete(*client.keys(f"*{match_id}:[ehs]"))
    rebuilt = rookery("rebuild")
    reason = f"{match_id} is damaged at version 1: the shard lists it, but it has no events"
    assert (rebuilt.exit_code, f"LEFT OUT {match_id}: {reason}" in rebuilt.stdout) == (1, True)


def test_whole_chains_are_counted(store: RedisStore, match_id: str) -> None:
    result = rookery("verify")
    assert (result.exit_code, result.stdout) == (0, f"{NO_LOGS}1 matches, 9 events intact\n")


def test_a_changed_move_is_found_with_its_match_and_version(store: RedisStore, match_id: str) -> None:
    client: Any = store.client
    (key,) = client.keys(f"*{match_id}:e")
    entries = client.xrange(key)
    client.delete(key)
    for entry_id, fields in entries:
        if entry_id == b"5-0":
            fields[b"b"] = fields[b"b"].replace(MOVES[1].encode(), MOVES[3].encode())
        client.xadd(key, fields, id=entry_id)
    result = rookery("verify")
    assert result.exit_code == 1
    assert f"DAMAGED {match_id} is damaged at version 5: " in result.stdout
    assert result.stdout.endswith("1 of 1 matches damaged\n")


def test_read_models_are_made_anew_and_differences_are_told(store: RedisStore, match_id: str) -> None:
    assert rookery("rebuild", "--processes", "1").stdout == "1 matches, 9 events\n"
    assert rookery("rebuild", "--check", "--processes", "1").exit_code == 0
    keys = ReadModelKeys(store.prefix, store.shards)
    current = Generations.parse(store.client.get(keys.generation(keys.shard_of(match_id)))).current
    store.client.delete(keys.summary(match_id, current))
    result = rookery("rebuild", "--check", "--processes", "1")
    assert result.exit_code == 1
    assert f"DIFFERENT {keys.summary(match_id, 0)}" in result.stdout
    assert rookery("rebuild", "--check", "--processes", "1").exit_code == 0


@pytest.mark.parametrize("command", ["verify", "rebuild"])
def test_a_store_that_is_away_is_not_taken_for_an_empty_one(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    result = rookery(command)
    assert result.exit_code == 1
    assert "127.0.0.1:1" in result.stderr
    assert result.stdout == ""


def test_the_relay_carries_events_until_it_is_told_to_stop(store: RedisStore, match_id: str) -> None:
    command = bound_to_parent([sys.executable, "-m", "deploy.cli", "relay"])
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as relay:
        summary = ReadModelKeys(store.prefix, store.shards).summary(match_id, 0)
        eventually(lambda: store.client.exists(summary), "a summary")
        relay.send_signal(signal.SIGTERM)
    assert relay.returncode == 0
