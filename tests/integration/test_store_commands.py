"""The commands on a store find damage and differences, name the place, and end with the code that says so."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from deploy.local.child import bound_to_parent
from domain.games import GAMES
from events.matches.matches import Matches
from events.matches.readmodels.generations import Generations
from events.runtime.keys import ReadModelKeys
from events.runtime.wall_clock import now_ms
from events.store.redis import RedisStore
from tests.bench.played import play_match, random_game
from tests.integration.test_proof_commands import key_of
from tests.integration.test_proofs import sign
from tests.support.draws import sampled
from tests.support.eventually import eventually
from tests.support.server import RealServer
from tests.support.stepped_installation import OTHER_LEAVES, PREFIX, SteppedInstallation

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


@pytest.mark.thorough
def test_the_relay_carries_events_until_it_is_told_to_stop(store: RedisStore, match_id: str) -> None:
    command = bound_to_parent([sys.executable, "-m", "deploy.cli", "relay"])
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as relay:
        summary = ReadModelKeys(store.prefix, store.shards).summary(match_id, 0)
        eventually(lambda: store.client.exists(summary), "a summary")
        relay.send_signal(signal.SIGTERM)
    assert relay.returncode == 0


LOG = f"{PREFIX}{{proof}}:log"


def foreign(key: str) -> Callable[[SteppedInstallation], Any]:
    """Return what puts a string in the place of whatever a key holds."""
    return lambda shop: shop.client.set(key, "mine")


def part(name: str) -> Callable[[SteppedInstallation], Any]:
    """Return what puts a string in the place of a part of the match m1."""
    return lambda shop: shop.client.set(key_of(shop, "m1", name), "mine")


def list_of(shop: SteppedInstallation) -> str:
    """Return the key of the list that names the match m1."""
    return f"{PREFIX}{{s{shop.keys.shard_of('m1'):02d}}}:streams"


DAMAGE: dict[str, tuple[Callable[[SteppedInstallation], Any], str]] = {
    "events": (part("e"), "m1 is damaged: it cannot be read: "),
    "head": (part("h"), "m1 is damaged: it cannot be read: "),
    "lines": (part("o"), "m1 is damaged: it cannot be read: "),
    "version": (lambda shop: shop.client.hset(key_of(shop, "m1", "h"), "v", "many"), "m1 is damaged: it cannot be "),
    "digest": (lambda shop: shop.client.hset(key_of(shop, "m1", "h"), "d", "short"), "m1 is damaged at version 5: "),
    "name": (
        lambda shop: shop.client.rpush(list_of(shop), b"\xff\xfe"),
        "\\\\xff\\\\xfe is damaged at version 1: the shard lists it, but it has no events",
    ),
    "list of matches": (lambda shop: shop.client.set(list_of(shop), "mine"), "the list of matches of shard "),
    "leaf": (lambda shop: shop.client.lset(f"{LOG}:leaves", 0, "{"), "leaf 0: it cannot be read"),
    "foreign leaf": (lambda shop: shop.client.lset(f"{LOG}:leaves", 0, "[1]"), "leaf 0: it cannot be read"),
    "leaves": (foreign(f"{LOG}:leaves"), "the leaves: cannot be read: "),
    "nodes": (lambda shop: (shop.client.delete(f"{LOG}:nodes:1:0"), shop.client.rpush(f"{LOG}:nodes:1:0", "x")),
              "the nodes over the leaves from 0 on: cannot be read: "),
    "table": (foreign(f"{LOG}:logged"), "the table of logged matches: cannot be read: "),
    "entry of the table": (lambda shop: shop.client.hset(f"{LOG}:logged", "m1", "x"), "m1 at version 5: it is not "),
    "size": (lambda shop: shop.client.set(f"{LOG}:size", "many"), "the number of leaves: cannot be read: "),
    "checkpoint": (lambda shop: shop.client.hset(f"{LOG}:checkpoints", "2023-11-14", "{}"),
                   "checkpoint 2023-11-14: it cannot be read: "),
    "checkpoints": (foreign(f"{LOG}:checkpoints"), "the checkpoints: cannot be read: "),
    "keys": (foreign(f"{PREFIX}{{proof}}:public-keys"), "the public keys: cannot be read: "),
    "administration": (foreign(f"{PREFIX}{{administration}}:log"), "the log of administration: it cannot be read: "),
    "roles": (foreign(f"{PREFIX}{{administration}}:roles"), "the log of administration: it cannot be read: "),
}  # fmt: skip


@sampled("key", DAMAGE)
def test_damaged_keys_are_named(shop: SteppedInstallation, cli: Any, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tiles are small, so that nodes are stored.
    monkeypatch.setattr("events.proof.leaf_store.TILE_HEIGHT", 1)
    monkeypatch.setattr("events.proof.leaf_store.TILE_WIDTH", 2)
    matches = [shop.start("alice", "bob") for _ in range(3)]
    for match in matches:
        shop.play(match, 2)
    sign(shop, 0)
    # Something else that is wrong, and must be found beside it.
    changed = key_of(shop, matches[2], "e")
    ((first, fields),) = shop.client.xrange(changed, count=1)
    rest: Any = shop.client.xrange(changed, "2-0")
    shop.client.delete(changed)
    for id, content in [(first, {**fields, b"b": fields[b"b"].replace(b"alice", b"mallo")}), *rest]:
        shop.client.xadd(changed, content, id=id)
    damage, said = DAMAGE[key]
    damage(shop)
    same_list = key == "list of matches" and len({shop.keys.shard_of(match) for match in ("m1", "m3")}) == 1
    verified, examined = CliRunner().invoke(main, ["verify"]), cli("all", "--processes", 1)
    for result in (verified, examined):
        assert result.exit_code == 1
        assert isinstance(result.exception, SystemExit), result.exception
    assert said in verified.output.replace("\\", "\\\\") if "\\" in said else said in verified.output, verified.output
    if said.startswith("m1 is damaged"):
        assert "DIFFERENT m1" in examined.output
    elif "\\" not in said:
        assert said in examined.output
    if not same_list:
        assert "m3 is damaged at version 1: " in verified.output
        assert "DIFFERENT m3 at version 1: " in examined.output


@sampled("field", ["id", "shards", "format"])
def test_an_unreadable_installation_is_refused_in_words(shop: SteppedInstallation, cli: Any, field: str) -> None:
    shop.start("alice", "bob")
    shop.client.hset(f"{PREFIX}rookery", field, b"\xff\xfe")
    for result in (CliRunner().invoke(main, ["verify"]), cli("all", "--processes", 1)):
        assert isinstance(result.exception, SystemExit), result.exception
        assert f"what the key {PREFIX}rookery says of the installation cannot be read" in result.output


def test_a_damaged_match_keeps_no_other_from_being_in_the_next_checkpoint(shop: SteppedInstallation) -> None:
    matches = [shop.start("alice", "bob") for _ in range(4)]
    part("h")(shop)
    shop.client.hset(key_of(shop, "m2", "h"), "d", "short")
    checkpoint = sign(shop, 0)
    leaves = [json.loads(leaf).get("match") for leaf in shop.checkpoints.leaves(0, 10)]
    assert sorted(filter(None, leaves)) == [*matches[1:]]
    assert checkpoint.size == 3 + OTHER_LEAVES
