"""An API on the real server of the test process, and people who call it."""

from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask

from api.services import EXTENSION, Services
from deploy.cli import main
from events.store.redis import RedisStore
from tests.support.callers import Caller, app_on
from tests.support.server import RealServer
from tests.support.stepped_installation import PREFIX, SHARDS, SteppedInstallation
from tests.support.watch import Watch


@pytest.fixture
def watch() -> Watch:
    """Return a clock, for an app whose time a test sets."""
    return Watch()


@pytest.fixture
def app(server: RealServer) -> Flask:
    return app_on(server.url)


@pytest.fixture
def services(app: Flask) -> Services:
    found: Services = app.extensions[EXTENSION]
    return found


@pytest.fixture
def anna(app: Flask) -> Caller:
    return Caller(app).sign_up("anna")


@pytest.fixture
def boris(app: Flask) -> Caller:
    return Caller(app).sign_up("boris")


@pytest.fixture
def stranger(app: Flask) -> Caller:
    return Caller(app)


@pytest.fixture
def shop(server: RealServer) -> SteppedInstallation:
    return SteppedInstallation(server.url)


@pytest.fixture
def cli(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what runs the commands of ``rookery audit`` on the installation."""
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)

    def run(*arguments: object) -> Result:
        return CliRunner().invoke(main, ["audit", *map(str, arguments)])

    return run


@pytest.fixture(scope="module")
def other_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """Return a second server, a primary like the first."""
    started = RealServer(tmp_path_factory.mktemp("other"))
    yield started
    started.close()


@pytest.fixture
def other(other_server: RealServer, shop: SteppedInstallation) -> SteppedInstallation:
    other_server.client().flushall()
    RedisStore(other_server.client(), PREFIX, SHARDS).installation()
    return SteppedInstallation(other_server.url)
