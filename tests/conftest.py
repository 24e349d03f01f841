"""Fixtures that all tests may ask for: one real server per test process, empty at the start of each test."""

import gc
import random
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from _pytest.pathlib import import_path
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from events.runtime import connections
from events.runtime.connections import StoreClient
from tests.support.draws import draws_all, register_profiles
from tests.support.server import RealServer

BROWSED_FIRST = ("every_page", "board_layout", "pages", "boards_of_figures", "keyboard", "header", "steps", "pictures")
"""Half of the browser tests, by the time that they take."""

TOGETHER = (
    tuple(f"tests/e2e/test_{name}.py" for name in BROWSED_FIRST),
    ("tests/e2e/",),
    tuple(
        f"tests/integration/servers/test_{name}.py"
        for name in ("local_installation", "demo", "documented_commands", "example_bot")
    ),
    ("tests/integration/servers/test_cluster",),
    ("tests/integration/servers/test_sentinel",),
)
"""Files of one worker, by how their paths begin: they share a browser, a running installation or servers."""

EARLY = ("tests/e2e/", *TOGETHER[2], "tests/integration/servers/test_chaos.py")
"""The slowest files, by how their paths begin, in the order in which they start: no worker waits for them at the end.

While they wait for processes, other workers compute.
"""

register_profiles()

# Hypothesis refuses strategies during which the shared generator is used, even if a thread does that which waits to
# connect again to the server of an earlier test.
vars(sys.modules["redis.backoff"])["random"] = random.Random(1)


class SharedOut(LoadScopeScheduling):  # type: ignore[misc]
    """Gives every file to one worker, the slowest first; files that share an installation to the same.

    Groups by marks are not used: they are passed over in silence by xdist 3.8 with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((group[0] for group in TOGETHER if nodeid.startswith(group)), nodeid.partition("::")[0])


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    """Keep the garbage collector from walking thousands of tests, which stay to the end, again and again."""
    gc.disable()
    try:
        import_in_turns(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def import_in_turns(config: pytest.Config) -> None:
    """Import all test files, each worker of xdist beginning with others.

    The first time, in a fresh clone, importing a file rewrites its assertions, which takes several seconds for all of
    them and is stored: so each is rewritten by one worker and read by the others.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return
    asked = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    left_out = {config.invocation_params.dir / folder for folder in config.getoption("ignore") or ()}
    found = {path for each in asked for path in ([each] if each.is_file() else each.rglob("test_*.py"))}
    paths = sorted(path for path in found if left_out.isdisjoint(path.parents))
    first = len(paths) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for path in (*paths[first:], *paths[:first]):
        known = set(sys.modules)
        try:
            import_path(path, mode="importlib", root=config.rootpath, consider_namespace_packages=False)
        except (Exception, pytest.skip.Exception):
            # Reported where the file is collected, which imports it again.
            for name in sys.modules.keys() - known:
                if name.startswith("tests."):
                    del sys.modules[name]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option with which no test can count on those before it."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run files, and the tests in each, in a drawn order")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave thorough tests to the full profile, and put the slowest files first.

    Arguments cannot say so: pytest 9 drops one that lies within another.
    """
    if not draws_all():
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
    if (seed := config.getoption("shuffle")) is not None:
        random.Random(seed).shuffle(items)
        places = {path: place for place, path in enumerate(dict.fromkeys(item.path for item in items))}
        items.sort(key=lambda item: places[item.path])
        return

    def rank(item: pytest.Item) -> int:
        return next((place for place, start in enumerate(EARLY) if item.nodeid.startswith(start)), len(EARLY))

    items.sort(key=rank)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to run when tests share an id: of these xdist runs a single one and says nothing about the others."""
    shared = [nodeid for nodeid, count in Counter(item.nodeid for item in session.items).items() if count > 1]
    if shared:
        raise pytest.UsageError(f"tests share an id, and some would not be run: {', '.join(shared)}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharedOut:
    """Return how tests are shared out among the workers."""
    config.option.loadscopereorder = False
    return SharedOut(config, log)


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    server = RealServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def admin(shared_server: RealServer) -> Iterator[StoreClient]:
    with shared_server.client() as client:
        yield client


@pytest.fixture
def server(shared_server: RealServer, admin: StoreClient) -> RealServer:
    emptying = admin.pipeline(transaction=False)
    emptying.flushall()
    emptying.config_set("maxmemory", 0)
    emptying.execute()
    return shared_server


@pytest.fixture
def redis(server: RealServer) -> Iterator[StoreClient]:
    with server.client() as client:
        yield client


@pytest.fixture(autouse=True)
def clients_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test has connected: the program's own clients live as long as their process."""
    made: list[StoreClient] = []
    connect = connections._client

    def remembered(url: str, answer_seconds: float) -> StoreClient:
        made.append(connect(url, answer_seconds))
        return made[-1]

    monkeypatch.setattr(connections, "_client", remembered)
    yield
    for client in made:
        client.close()
