"""One installation and one browser for all tests of the pages; each test has visitors of its own."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from deploy.runner import Installation
from tests.e2e.visitors import Visitor, chromium


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Return a running installation."""
    with Installation(tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a running browser."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(house: Installation, browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Return how visitors arrive; after the test no browser may have complained of a page."""
    visitors: list[Visitor] = []

    def arrive(**options: Any) -> Visitor:
        visitors.append(Visitor(browser, house, **options))
        return visitors[-1]

    yield arrive
    for visitor in visitors:
        visitor.close()
    assert [complaint for visitor in visitors for complaint in visitor.complaints] == []


@pytest.fixture
def pair(visit: Callable[..., Visitor]) -> tuple[Visitor, Visitor, str]:
    """Return two people and a match of Bashni between them; the first is White."""
    white, black = visit().be_guest(), visit().be_guest()
    match = white.create("bashni", "start", [{"kind": "me"}, {"kind": "player", "name": black.name}])
    black.call("POST", f"/matches/{match}/joins", {})
    return white, black, match
