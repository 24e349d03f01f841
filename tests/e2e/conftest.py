"""One installation for all test processes, and one browser for each; every test has new visitors."""

import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser

from deploy.local.installation import LocalInstallation
from tests.e2e.visitors import SharedInstallation, Visitor, chromium

_started = ExitStack()
"""The installation that this process has started, if any."""


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> SharedInstallation:
    """Return the installation, which offers push notices; the first test process that asks starts it for all."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    shared = folder / "installed"
    users = _started.enter_context((folder / "installation-users").open("ab"))
    with (folder / "installation-start").open("ab") as start:
        fcntl.flock(start, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        if not shared.exists():
            with pytest.MonkeyPatch.context() as environment:
                environment.setenv("ROOKERY_CONTACT", "mailto:operator@rookery.example")
                started = _started.enter_context(LocalInstallation(folder / "installation"))
            shared.write_bytes(pickle.dumps(SharedInstallation(started.url, started.settings)))
            _started.callback(shared.unlink)
            # Stopped when no other process uses it; not by this fixture, whose time is limited like that of a test.
            _started.callback(fcntl.flock, users, fcntl.LOCK_EX)
    installed: SharedInstallation = pickle.loads(shared.read_bytes())  # noqa: S301 - our own file
    return installed


def pytest_sessionfinish() -> None:
    _started.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def gone(browser: Browser) -> list[Visitor]:
    """Return the browser contexts of former visitors with default settings, for reuse by new ones."""
    return []


@pytest.fixture
def visit(installation: SharedInstallation, browser: Browser, gone: list[Visitor]) -> Iterator[Callable[..., Visitor]]:
    """Return a function that opens a new visitor; after the test no browser may have reported an error."""
    usual: list[Visitor] = []
    special: list[Visitor] = []

    def arrive(**options: Any) -> Visitor:
        if options:
            special.append(Visitor(browser, installation, **options))
            return special[-1]
        usual.append(gone.pop() if gone else Visitor(browser, installation))
        return usual[-1]

    yield arrive
    complaints = [complaint for visitor in (*usual, *special) for complaint in visitor.leave()]
    for visitor in special:
        visitor.close()
    gone.extend(usual)
    assert complaints == []


@pytest.fixture
def pair(visit: Callable[..., Visitor]) -> tuple[Visitor, Visitor, str]:
    """Return two people and a match of Bashni between them; the first is White."""
    white, black = visit().be_guest(), visit().be_guest()
    return white, black, white.play_bashni(black)
