"""A disk that becomes full: what cannot be stored is not acknowledged, and reading goes on."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local import disk_reserve
from deploy.local.disk_reserve import MIN_FREE_BYTES, MIN_TO_RESUME_BYTES, DiskReserve
from deploy.local.embedded import ALWAYS, EVERYSEC
from deploy.local.store_watch import StoreWatch
from events.runtime.errors import StoreFullError, StoreUnavailableError
from events.store.contract import EMPTY, Head, Request
from events.store.mark import MARK
from events.store.redis import RedisStore
from tests.bench.store import CREATED, MOVED
from tests.support.callers import Caller, app_on, started
from tests.support.server import RealServer

ROOM = 10**9


class Disk:
    """A disk with as much room as a test says."""

    def __init__(self) -> None:
        self.free = ROOM


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Return the disk of the files of this test. This process may watch another store, of the tests with a browser."""
    disk, measured = Disk(), disk_reserve.free_bytes
    monkeypatch.setattr(
        disk_reserve, "free_bytes", lambda path: disk.free if path.is_relative_to(tmp_path) else measured(path)
    )
    return disk


@pytest.fixture(params=[ALWAYS, EVERYSEC])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "redis", fsync=request.param)
    yield server
    server.close()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def watch(
    server: RealServer, tmp_path: Path, disk: Disk, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[StoreWatch]:
    monkeypatch.setattr(
        "deploy.local.store_watch.INTERVAL_S", 3600
    )  # it looks when the test says so, and not at the same moment
    watch = StoreWatch(RedisStore(server.client()), tmp_path / MARK, said.append, tmp_path / "redis")
    watch.start()
    yield watch
    watch.stop()


def test_a_write_that_does_not_fit_on_the_disk_is_not_acknowledged(tmp_path: Path) -> None:
    server = RealServer(tmp_path, fsync=ALWAYS)
    store = RedisStore(server.client())
    store.installation()
    (log,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
    full = log.stat().st_size + 20_000
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (full, full))
    acknowledged = 0

    def fill() -> None:
        nonlocal acknowledged
        head = EMPTY
        while acknowledged < 1000:
            draft = MOVED if head.version else CREATED
            head = store.append("a", head, [draft], Request(f"{head.version}", "")).head
            acknowledged = head.version

    with pytest.raises(StoreUnavailableError):
        fill()
    assert acknowledged > 10
    server.kill()
    server.start()
    assert store.head("a").version == acknowledged
    server.close()


def test_a_full_disk_refuses_moves_early(server: RealServer, watch: StoreWatch, disk: Disk, said: list[str]) -> None:
    app = app_on(server.url)
    anna, boris = Caller(app).sign_up("anna"), Caller(app).sign_up("boris")
    match_id = started(anna, boris)
    move = anna.legal_move(match_id)
    assert anna.get(f"/matches/{match_id}/bundle").status_code == 200
    disk.free = MIN_FREE_BYTES - 1
    watch.step()
    refused = [
        anna.move(match_id, move, Idempotency_Key="k1"),
        anna.post(f"/matches/{match_id}/chat", {"text": "hello"}),
        Caller(app).post("/guests"),
    ]
    for answer in refused:
        assert (answer.status_code, answer.json["code"]) == (503, "store-full"), answer.json
        assert "disk or memory is almost full" in answer.json["detail"]
        assert int(answer.headers["Retry-After"]) > 0
    reads = ["", "/legal-moves", "/events", "/chat", "/bundle"]
    for path in [f"/matches/{match_id}{each}" for each in reads] + ["/matches", "/me", "/me/pending", "/players/anna"]:
        assert anna.get(path).status_code == 200, path
    for page in ("/", f"/matches/{match_id}", "/players/anna", "/settings"):
        assert anna.client.get(page).status_code == 200, page
    assert anna.client.get("/readyz").status_code == 200
    disk.free = MIN_TO_RESUME_BYTES - 1
    watch.step()
    assert anna.move(match_id, move, Idempotency_Key="k1").status_code == 503
    disk.free = ROOM
    watch.step()
    assert anna.move(match_id, move, Idempotency_Key="k1").status_code == 201
    assert anna.get(f"/matches/{match_id}").json["moves"] == [move]
    assert ["almost full" in words for words in said] == [True, False]


def test_a_server_started_on_a_full_disk_goes_on_refusing(server: RealServer, watch: StoreWatch, disk: Disk) -> None:
    store = RedisStore(server.client())
    disk.free = 0
    watch.step()
    server.kill()
    server.start()
    watch.step()
    with pytest.raises(StoreFullError):
        store.append("a", Head(0, EMPTY.digest), [CREATED], Request("0", ""))


def test_the_reserve_takes_room_until_it_is_needed(tmp_path: Path, disk: Disk) -> None:
    held = DiskReserve(tmp_path)
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size == disk_reserve.RESERVE_BYTES
    disk.free = 0
    assert held.update()
    assert list(tmp_path.iterdir()) == []
    disk.free = ROOM
    assert not held.update()
    assert file.exists()
    held.release()


def test_an_installation_is_not_begun_on_a_full_disk(tmp_path: Path, disk: Disk) -> None:
    disk.free = 1 << 20
    with pytest.raises(OSError, match=r"only 1 MB are free on the disk of .*, and Rookery needs 24 MB to start"):
        DiskReserve(tmp_path)
