"""A store that was emptied, or is another one, is refused with the reason and takes nothing."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local.installation import InstallationError, LocalInstallation
from events.runtime.errors import OtherStoreError
from events.runtime.settings import Settings
from events.store.archive.store import make_store
from events.store.contract import EMPTY, Request, WrongInstallationError
from events.store.high_water_mark import HighWaterMark
from events.store.redis import RedisStore
from tests.bench.store import CREATED
from tests.support.callers import app_on
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, settings_for


@pytest.fixture
def lonely(tmp_path: Path) -> Iterator[RealServer]:
    """Return a server of the test's own, which it may empty."""
    server = RealServer(tmp_path / "redis")
    yield server
    server.close()


def lose_everything(server: RealServer) -> None:
    """Start the server again without its files, as on a new disk."""
    directory = server.append_only_file().parent
    server.kill()
    shutil.rmtree(directory)
    server.start()


def append(store: RedisStore, match_id: str = "a") -> None:
    store.append(match_id, EMPTY, [CREATED], Request("create", match_id))


def keys(server: RealServer) -> int:
    with server.client() as client:
        return int(client.dbsize())


def marked_settings(url: str, path: Path) -> Settings:
    return settings_for(url)._replace(mark_file=path)


def test_a_server_that_comes_back_without_its_files_is_neither_read_nor_written(lonely: RealServer) -> None:
    app, store = app_on(lonely.url), RedisStore(lonely.client(), PREFIX, 4)
    append(store)
    assert app.test_client().get("/readyz").status_code == 200
    lose_everything(lonely)
    for use in (lambda: store.head("a"), lambda: append(store, "b"), store.installation):
        with pytest.raises(OtherStoreError, match="it was emptied, or it is another store"):
            use()
    ready = app.test_client().get("/readyz")
    assert (ready.status_code, ready.json["status"]) == (503, "wrong-installation")
    assert "it was emptied, or it is another store" in ready.json["detail"]
    assert keys(lonely) == 0


def test_a_running_server_that_is_emptied_takes_no_match(lonely: RealServer) -> None:
    app = app_on(lonely.url)
    store = RedisStore(lonely.client())
    append(store)
    assert app.test_client().get("/readyz").status_code == 200
    lonely.client().flushall()
    with pytest.raises(WrongInstallationError, match="was emptied while it was used"):
        append(store, "b")
    with pytest.raises(WrongInstallationError, match=r"holds no installation .*: it was emptied"):
        store.installation()
    ready = app.test_client().get("/readyz")
    assert (ready.status_code, ready.json["status"]) == (503, "wrong-installation")
    assert keys(lonely) == 0


def test_a_starting_process_knows_the_installation_from_the_high_water_mark(lonely: RealServer, tmp_path: Path) -> None:
    settings = marked_settings(lonely.url, tmp_path / "mark.json")
    first = make_store(settings).installation().id
    mark = HighWaterMark(make_store(settings), tmp_path / "mark.json", print)
    mark.load()
    mark.step()
    lonely.client().flushall()
    for _ in range(2):
        with pytest.raises(WrongInstallationError, match=rf"no installation .* not {first}.*remove .*mark\.json"):
            make_store(settings).installation()
    assert keys(lonely) == 0
    other = make_store(settings._replace(mark_file=None)).installation().id
    with pytest.raises(WrongInstallationError, match=f"holds installation {other} .* not {first}"):
        make_store(settings).installation()
    (tmp_path / "mark.json").unlink()
    assert make_store(settings).installation().id == other


def test_up_refuses_a_store_once_emptied(lonely: RealServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", lonely.url)
    store = RedisStore(lonely.client())
    mark = HighWaterMark(store, tmp_path / "mark.json", print)
    mark.load()
    mark.step()
    lonely.client().flushall()
    with pytest.raises(InstallationError, match="it was emptied, or it is another one"):
        LocalInstallation(tmp_path).start()
    assert keys(lonely) == 0
