"""One installation and one browser per test process; every test has new visitors."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from deploy.local.installation import LocalInstallation
from tests.e2e.visitors import Visitor, chromium


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalInstallation]:
    """Return a running installation, which offers push notices."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ROOKERY_CONTACT", "mailto:operator@rookery.example")
        with LocalInstallation(tmp_path_factory.mktemp("installation")) as installation:
            yield installation


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a running browser."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def gone(browser: Browser) -> list[Visitor]:
    """Return the browser contexts of former visitors with default settings, for reuse by new ones."""
    return []


@pytest.fixture
def visit(installation: LocalInstallation, browser: Browser, gone: list[Visitor]) -> Iterator[Callable[..., Visitor]]:
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
