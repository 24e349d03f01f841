"""The relay finds what a store under sentinels has lost, by the high-water mark; an emptied store is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from deploy.cli import main
from deploy.local.installation import LocalInstallation
from deploy.local.programs import programs
from events.installation import Installation
from events.runtime.connections import connect
from events.runtime.errors import StoreError
from events.runtime.settings import Settings
from events.store.archive.store import make_store
from events.store.contract import Head, Request, WrongInstallationError
from events.store.copies import NotCopiedError
from events.store.incidents import Incidents
from events.store.mark import MARK, MatchMark, read_mark
from events.store.redis import RedisStore
from tests.bench.store import CREATED, MOVED
from tests.support.eventually import eventually
from tests.support.stepped_installation import PREFIX, SHARDS, settings_for
from tests.support.watched_servers import Watched
from workers.relay import MarkKeeper


def store_at(url: str, wait_replicas: int = 0) -> RedisStore:
    return RedisStore(connect(url), PREFIX, SHARDS, wait_replicas=wait_replicas)


def append(store: RedisStore, match_id: str, count: int = 1) -> Head:
    head = store.head(match_id)
    for _ in range(count):
        draft = MOVED if head.version else CREATED
        head = store.append(match_id, head, [draft], Request(str(head.version), match_id)).head
    return head


def fail_over(watched: Watched) -> None:
    primary = watched.primary()
    watched.kill(primary)
    watched.resume_all()
    watched.wait_for_another_primary(primary)


def step(keeper: MarkKeeper) -> None:
    """Take a step as soon as the store answers."""

    def has_stepped() -> bool:
        try:
            keeper.step()
        except StoreError:
            return False
        return True

    eventually(has_stepped, "a step of the mark")


def incidents(store: RedisStore) -> list[dict[str, int]]:
    return [dict(incident.lost) for incident in Incidents(store.client, store.prefix).all()]


def test_events_lost_by_a_failover_are_one_incident_by_match_and_version(watched: Watched, tmp_path: Path) -> None:
    store = store_at(watched.url)
    append(store, "a", 3)
    keeper, other = (MarkKeeper(store, tmp_path / name / "mark.json") for name in ("one", "two"))
    keeper.step()
    watched.wait_until_complete()
    watched.cut_off_replicas()
    append(store, "a", 2)
    append(store, "b")
    for each in (keeper, other):
        each.step()
    fail_over(watched)
    with capture_logs() as logs:
        step(keeper)
        step(other)
        step(keeper)
    assert incidents(store) == [{"a": 3, "b": 0}]
    assert [line["lost"] for line in logs if line["event"] == "acknowledged events are lost"] == [
        ["a: versions 4 to 5", "b: version 1"]
    ]


def test_lost_events_are_found_although_others_are_in_their_place_by_then(watched: Watched, tmp_path: Path) -> None:
    store = store_at(watched.url)
    append(store, "a", 3)
    keeper = MarkKeeper(store, tmp_path / "mark.json")
    keeper.step()
    watched.wait_until_complete()
    watched.cut_off_replicas()
    append(store, "a")
    keeper.step()
    fail_over(watched)
    eventually(lambda: _is_done(lambda: append(store, "c", 9)), "the new primary")
    step(keeper)
    assert incidents(store) == [{"a": 3}]


def test_uncopied_events_are_not_told_lost(watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.store.copies.MAX_WAIT_MS", 50)
    store = store_at(watched.url, wait_replicas=2)
    eventually(lambda: _is_done(lambda: append(store, "a", 3)), "the replicas")
    keeper = MarkKeeper(store, tmp_path / "mark.json")
    step(keeper)
    watched.cut_off_replicas()
    for use in (lambda: append(store, "a"), keeper.step):
        with pytest.raises(NotCopiedError):
            use()
    fail_over(watched)
    watched.revive()
    watched.wait_until_complete()
    step(keeper)
    assert incidents(store) == []
    append(store, "a")
    keeper.step()
    mark = read_mark(tmp_path / "mark.json")
    assert mark is not None
    assert mark.matches["a"].version == store.head("a").version


class RelayAlone(LocalInstallation):
    """An installation of whose programs only the relay runs."""

    def _start_programs(self) -> None:
        found = programs(self.var, self.ports, "127.0.0.1", 1, mail=False)
        self._start([program for program in found if program.name == "relay"])


def test_up_survives_a_failover_with_losses(watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", watched.url)
    monkeypatch.setenv("ROOKERY_WAIT_REPLICAS", "0")
    created = make_store(Settings.from_environment(), creates=True)
    created.installation()

    def marked() -> Mapping[str, MatchMark]:
        mark = read_mark(tmp_path / MARK)
        return mark.matches if mark else {}

    with RelayAlone(tmp_path) as running:
        store = make_store(running.settings)
        eventually((tmp_path / MARK).exists, "the first mark")
        append(store, "a", 3)
        eventually(lambda: "a" in marked() and marked()["a"].version == 3, "the mark of the relay")
        watched.wait_until_complete()
        watched.cut_off_replicas()
        append(store, "a")
        eventually(lambda: marked()["a"].version == 4, "the mark of the event that is lost")
        fail_over(watched)
        eventually(lambda: _is_done(lambda: store.head("a")) and {"a": 3} in incidents(store), "the incident")
        append(store, "b")
        eventually(lambda: "b" in marked(), "a mark after the loss")
        assert incidents(store) == [{"a": 3}]
        assert running.supervisor.restarts("relay") == 0
        assert not running._failed.is_set()


def test_verify_names_losses_of_a_failover(watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_for(watched.url)._replace(mark_file=tmp_path / "mark.json", wait_replicas=0)
    store = make_store(settings, creates=True)
    append(store, "a", 3)
    keeper = MarkKeeper(store, tmp_path / "mark.json")
    keeper.step()
    watched.wait_until_complete()
    watched.cut_off_replicas()
    append(store, "a")
    keeper.step()
    fail_over(watched)
    monkeypatch.setenv("REDIS_URL", watched.url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    monkeypatch.setenv("ROOKERY_MARK_FILE", str(tmp_path / "mark.json"))
    eventually(lambda: _is_done(lambda: store.head("a")), "the new primary")
    verified = CliRunner().invoke(main, ["verify"])
    assert (verified.exit_code, "MISSING a: version 4\n" in verified.stdout) == (1, True)


def test_an_installation_is_made_only_when_it_is_asked_for(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_for(watched.url)._replace(shards=None)
    with pytest.raises(WrongInstallationError, match="rookery store create"):
        Installation(settings).store.installation()
    assert watched.ask(watched.primary(), "DBSIZE") == 0
    monkeypatch.setenv("REDIS_URL", watched.url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    created = CliRunner().invoke(main, ["store", "create"])
    installed = Installation(settings).store.installation()
    assert created.stdout == f"The store holds installation {installed.id}, with 16 shards.\n"


def test_a_primary_that_comes_back_empty_is_neither_read_nor_written(watched: Watched) -> None:
    store = store_at(watched.url)
    append(store, "a")
    watched.ask(watched.primary(), "FLUSHALL")
    watched.ask(watched.primary(), "CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES")
    with pytest.raises(StoreError, match="it was emptied, or it is another store"):
        append(store, "b")
    assert watched.ask(watched.primary(), "DBSIZE") == 0


def _is_done(use: object) -> bool:
    try:
        use()  # type: ignore[operator]
    except StoreError:
        return False
    return True
