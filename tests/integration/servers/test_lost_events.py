"""What was acknowledged and is gone after a power cut or damage is named; files that are damaged are not opened."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from deploy.cli import main
from deploy.local import aof, store_watch
from deploy.local.disk_reserve import RESERVE_FILE
from deploy.local.embedded import ALWAYS, EVERYSEC, find_binary
from deploy.local.environment import ENVIRONMENT_FILE, parse_exports
from deploy.local.installation import InstallationError, LocalInstallation
from deploy.local.store_watch import StoreWatch
from deploy.local.supervisor import Supervisor
from domain.games import GAMES
from domain.match.commands import SubmitMove
from domain.match.events import MoveSubmitted
from events.matches.matches import Matches
from events.runtime.connections import StoreClient
from events.runtime.wall_clock import now_ms
from events.store.archive.store import make_store
from events.store.codec import draft_of
from events.store.contract import Request
from events.store.high_water_mark import LostEvents, MissingEvents, record_loss
from events.store.incidents import Incidents
from events.store.mark import MARK, MatchMark, read_mark
from events.store.redis import RedisStore
from tests.bench.played import PLAYERS, play_match, random_game
from tests.bench.store import CREATED, MOVED, NOW, PERSON
from tests.chaos.power import cut_power
from tests.support.callers import Caller, app_on
from tests.support.eventually import eventually
from tests.support.server import RealServer
from tests.support.timeless import execute

ROOT = Path(__file__).parents[3]
OTHER = draft_of(MoveSubmitted(at=NOW, seat=0, ply=18, move="d4-e5"), PERSON)


class WatchedServer:
    """A store below a directory as an installation keeps it, without the processes around it."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.redis = var / "redis"
        self.server = RealServer(self.redis)
        self._open: RealServer | None = self.server
        self.said: list[str] = []

    @property
    def client(self) -> StoreClient:
        return self.server.client()

    @property
    def store(self) -> RedisStore:
        return RedisStore(self.client)

    @property
    def log(self) -> Path:
        (log,) = aof.incremental_files(self.redis)
        return log

    def watch(self, behind: bool = False) -> StoreWatch:
        return StoreWatch(self.store, self.var / MARK, self.said.append, self.redis, behind)

    def append(self, match_id: str, count: int = 1) -> None:
        store = self.store
        head = store.head(match_id)
        for _ in range(count):
            draft = MOVED if head.version else CREATED
            head = store.append(match_id, head, [draft], Request(f"{head.version}", match_id)).head

    def close(self) -> None:
        """Stop the server and give the directory up, once."""
        server, self._open = self._open, None
        if server is not None:
            server.close()

    def cut(self, size: int) -> None:
        """Start again with a log of writes that ends after ``size`` bytes."""
        self.server.stop()
        with self.log.open("r+b") as file:
            file.truncate(size)
        self.server.start()


@pytest.fixture(autouse=True)
def often_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the mark so often that a test need not wait for it."""
    monkeypatch.setattr(store_watch, "INTERVAL_S", 0.05)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[WatchedServer]:
    watched = WatchedServer(tmp_path)
    yield watched
    watched.close()


def cli(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize("fsync", [ALWAYS, EVERYSEC])
def test_after_a_power_cut_under_load_every_lost_event_is_named(tmp_path: Path, fsync: str) -> None:
    cuts = cut_power(tmp_path, 3, seed=20261122, fsync=fsync)
    assert cuts.faults == ()
    assert cuts.cuts == 3
    assert cuts.acknowledged > 60


def test_the_server_flushes_every_write_before_it_acknowledges_it_unless_asked_otherwise(tmp_path: Path) -> None:
    for fsync, flushing in ((ALWAYS, "always"), (EVERYSEC, "no")):
        server = RealServer(tmp_path / fsync, fsync=fsync)
        assert server.client().config_get("appendfsync") == {"appendfsync": flushing}
        server.close()


def test_flushed_events_are_marked_before_and_kept(watched: WatchedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = watched.watch(behind=True)
    marked: list[int] = []
    flush = aof.flush

    def flushing(directory: Path) -> tuple[str, int] | None:
        mark = read_mark(watched.var / MARK)
        marked.append(mark.matches["a"].version if mark and "a" in mark.matches else 0)
        return flush(directory)

    monkeypatch.setattr(aof, "flush", flushing)
    watch.start()
    watched.append("a", 3)
    eventually(lambda: 3 in marked, "a mark in front of a flush")
    eventually(lambda: read_mark(watched.var / MARK).matches["a"].flushed == 3, "a mark after the flush")
    watch.stop()
    assert read_mark(watched.var / MARK).flushed == (watched.log.name, watched.log.stat().st_size)


def test_a_store_that_was_stopped_and_started_again_lacks_nothing(watched: WatchedServer) -> None:
    watch = watched.watch()
    watch.start()
    watched.append("a", 5)
    watch.stop()
    assert read_mark(watched.var / MARK).closed
    watched.server.kill()
    watched.server.start()
    assert watched.watch().find_missing() is None
    assert watched.said == []


def test_what_a_shorter_file_lacks_is_named_by_match_and_version(watched: WatchedServer) -> None:
    watch = watched.watch()
    watch.start()
    watched.append("a", 5)
    half = watched.log.stat().st_size
    watched.append("a", 2)
    watched.append("b", 1)
    watch.stop()
    watched.cut(half)
    missing = watched.watch().find_missing()
    assert missing.losses == (LostEvents("a", 5, 7), LostEvents("b", 0, 1))
    assert (missing.unnamed, missing.events, missing.flushed) == (0, 3, True)
    assert missing.lines() == ["a: versions 6 to 7", "b: version 1"]
    record_loss(watched.store, missing)
    record_loss(watched.store, missing)
    (incident,) = Incidents(watched.client, "rk:").all()
    assert incident.lost == {"a": 5, "b": 0}
    assert [loss.after for loss in Incidents(watched.client, "rk:").losses("a")] == [5]
    assert Incidents(watched.client, "rk:").losses("c") == []


def test_another_event_under_a_version_that_was_recorded_is_found(watched: WatchedServer) -> None:
    watch = watched.watch()
    watch.start()
    watched.append("a", 5)
    half = watched.log.stat().st_size
    watched.append("a", 1)
    watch.stop()
    watched.cut(half)
    store = watched.store
    head = store.append("a", store.head("a"), [OTHER, MOVED], Request("another", "another")).head
    assert head.version == 7
    missing = watched.watch().find_missing()
    assert missing.losses == (LostEvents("a", 5, 6, replaced=True),)
    assert missing.lines() == ["a: version 6 is another event than the one that was recorded"]


def test_a_running_store_that_comes_back_with_less_is_found_and_told(watched: WatchedServer) -> None:
    lost: list[MissingEvents] = []
    watch = StoreWatch(watched.store, watched.var / MARK, watched.said.append, watched.redis, on_loss=lost.append)
    watch.start()
    watched.append("a", 5)
    half = watched.log.stat().st_size
    watched.append("a", 2)
    eventually(lambda: read_mark(watched.var / MARK).matches.get("a", MatchMark(0, "")).version == 7, "a mark")
    watched.cut(half)
    eventually(lambda: lost, "the loss")
    watch.stop()
    assert lost[0].losses == (LostEvents("a", 5, 7),)
    assert "a: versions 6 to 7" in watched.said[0]
    assert [incident.lost for incident in Incidents(watched.client, "rk:").all()] == [{"a": 5}]


def test_a_mark_that_cannot_be_read_and_one_of_another_store_are_reported(watched: WatchedServer) -> None:
    (watched.var / MARK).write_text("{}")
    assert watched.watch().find_missing() is None
    assert "events missing at the end cannot be detected" in watched.said[0]
    watch = watched.watch()
    watch.start()
    watch.stop()
    marked = json.loads((watched.var / MARK).read_text())
    (watched.var / MARK).write_text(json.dumps({**marked, "installation": "another", "shards": [[9, 9]] * 16}))
    assert watched.watch().find_missing() is None
    assert "mark.json belongs to another store; events missing at the end cannot be detected" in watched.said[1]


def test_verify_names_what_is_missing_at_the_end(watched: WatchedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", watched.server.url)
    watch = watched.watch()
    watch.start()
    watched.append("a", 5)
    half = watched.log.stat().st_size
    watched.append("a", 2)
    watch.stop()
    watched.cut(half)
    code, said = cli("verify", "--var", watched.var)
    assert code == 1
    assert "MISSING a: versions 6 to 7\n" in said
    assert "events missing at the end were not looked for" in cli("verify", "--var", watched.var / "elsewhere")[1]


# What the files look like before a server reads them.


@pytest.fixture
def stopped(watched: WatchedServer) -> WatchedServer:
    watched.append("a", 20)
    watched.server.stop()
    return watched


def prepared(watched: WatchedServer) -> list[str]:
    return aof.repair_tails(watched.redis, str(find_binary().path), watched.var / MARK)


def version_of(watched: WatchedServer) -> int:
    watched.server.start()
    return watched.store.head("a").version


def test_zero_bytes_at_the_end_are_cut_off_and_the_server_starts(stopped: WatchedServer) -> None:
    size = stopped.log.stat().st_size
    with stopped.log.open("ab") as file:
        file.write(bytes(5000))
    assert prepared(stopped) == [f"{stopped.log}: 5,000 zero bytes at the end were truncated"]
    assert stopped.log.stat().st_size == size
    assert version_of(stopped) == 20


def test_half_a_transaction_at_the_end_is_cut_off_and_kept(stopped: WatchedServer) -> None:
    whole = stopped.log.read_bytes()
    stopped.log.write_bytes(whole[:-7])
    (said,) = prepared(stopped)
    assert "an incomplete write at the end" in said
    (kept,) = (stopped.redis / aof.TRUNCATED_DIRECTORY).iterdir()
    assert stopped.log.read_bytes() + kept.read_bytes() == whole[:-7]
    assert version_of(stopped) == 19


def overwrite_a_length(log: Path) -> int:
    """Make a length in the middle of the file too large; return where the transaction begins that it is in."""
    content = log.read_bytes()
    start = content.index(b"*1\r\n$5\r\nMULTI\r\n", len(content) // 2)
    place = content.index(b"\r\n$32\r\n", start) + 3
    log.write_bytes(content[:place] + b"99" + content[place + 2 :])
    return start


def test_a_length_overwritten_in_the_middle_starts_no_server_and_changes_nothing(stopped: WatchedServer) -> None:
    start = overwrite_a_length(stopped.log)
    before = stopped.log.read_bytes()
    with pytest.raises(aof.DamagedFileError, match=rf"is damaged at byte {start:,}: .* contain events"):
        prepared(stopped)
    with pytest.raises(RuntimeError, match="does not start"):  # nor by itself, after a crash
        stopped.server.start()
    assert stopped.log.read_bytes() == before
    stopped.close()
    with pytest.raises(InstallationError, match=r"Nothing was changed\. `rookery store repair --var .*` keeps a copy"):
        LocalInstallation(stopped.var, embedded=True).start()
    assert stopped.log.read_bytes() == before


def test_damage_behind_what_was_flushed_is_what_a_power_cut_leaves_and_is_cut_off(stopped: WatchedServer) -> None:
    start = overwrite_a_length(stopped.log)
    (stopped.var / MARK).write_text(json.dumps({"flushed": [stopped.log.name, start]}))
    (said,) = prepared(stopped)
    assert f"kept as {stopped.redis / aof.TRUNCATED_DIRECTORY}" in said
    assert 0 < version_of(stopped) < 20


def test_store_check_finds_damage_and_store_repair_keeps_a_copy(stopped: WatchedServer) -> None:
    stopped.close()
    assert cli("store", "check", "--var", stopped.var)[0] == 0
    code, said = cli("store", "repair", "--var", stopped.var)
    assert (code, said.splitlines()[1:]) == (0, ["There is nothing to repair."])  # the first line names the files
    start = overwrite_a_length(stopped.log)
    damaged = stopped.log.read_bytes()
    code, said = cli("store", "check", "--var", stopped.var)
    assert (code, f"DAMAGED {stopped.log} at byte {start:,} of" in said) == (1, True)
    assert cli("store", "repair", "--var", stopped.var)[0] == 0
    (copy,) = (stopped.var / "damaged").iterdir()
    assert (copy / "appendonlydir" / stopped.log.name).read_bytes() == damaged
    assert cli("store", "check", "--var", stopped.var)[0] == 0


def test_a_damaged_snapshot_is_found_by_store_check(stopped: WatchedServer) -> None:
    stopped.close()
    (base,) = (stopped.redis / "appendonlydir").glob("*.base.rdb")
    content = base.read_bytes()
    base.write_bytes(content[:40] + b"damage" + content[46:])
    code, said = cli("store", "check", "--var", stopped.var)
    assert (code, f"DAMAGED {base}" in said) == (1, True)


def test_store_check_refuses_a_directory_in_use_or_without_a_database(watched: WatchedServer, tmp_path: Path) -> None:
    assert "is in use" in cli("store", "check", "--var", watched.var)[1]
    assert "there is no database" in cli("store", "check", "--var", tmp_path / "elsewhere")[1]


# A whole installation.


class StoreAlone(LocalInstallation):
    """An installation whose store is started, checked and watched, and nothing else."""

    def _start_nursery(self, supervisor: Supervisor) -> None:
        pass

    def _start_programs(self) -> None:
        pass


def test_a_start_waits_until_losses_are_accepted(watched: WatchedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")  # never touched: the server is embedded
    matches = Matches(watched.store, now_ms)
    *moves, last = random_game(GAMES["bashni"], "start", 3)
    match_id = play_match(matches, "bashni", "start", moves)
    watch = watched.watch()
    watch.start()
    half = watched.log.stat().st_size
    before = watched.store.head(match_id).version
    execute(matches, match_id, SubmitMove(player=PLAYERS[0], move=last), PLAYERS[0], Request("last", last))
    watch.stop()
    watched.cut(half)
    watched.close()
    with pytest.raises(InstallationError, match=rf"{match_id}: version {before + 1}\n(.|\n)*rookery up --accept-loss"):
        StoreAlone(watched.var, embedded=True).start()
    assert not (watched.redis / RESERVE_FILE).exists()
    said: list[str] = []
    with StoreAlone(watched.var, embedded=True, on_message=said.append, accept_loss=True) as running:
        visitor = Caller(app_on(running.settings.redis_url))
        page = visitor.client.get(f"/matches/{match_id}").text
        ready = visitor.client.get("/readyz").json
    assert f"The events after version {before} were lost" in page
    assert "1 stored events are missing" in ready["incidents"][0]["words"]
    (copy,) = (watched.var / "damaged").iterdir()
    assert (copy / "appendonlydir").is_dir()
    assert str(copy) in said[1]  # after the word that the server is being started
    with StoreAlone(watched.var, embedded=True) as again:
        assert make_store(again.settings).head(match_id).version == before


def test_a_shell_of_an_installation_compares_with_its_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StoreAlone(tmp_path / "var", embedded=True) as running:
        for name, value in parse_exports((running.var / ENVIRONMENT_FILE).read_text()).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        code, said = cli("verify", "--var", tmp_path / "elsewhere")
    assert (code, "were not looked for" in said) == (0, False)


def test_up_says_what_flushing_behind_the_acknowledgement_may_cost(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that nothing is started
        options = ["--fsync", "everysec", "--port", str(taken.getsockname()[1]), "--var", str(tmp_path)]
        command = [sys.executable, "-m", "deploy.cli", "up", *options]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    assert "a power cut may cost what was played in about the last second" in ran.stderr
