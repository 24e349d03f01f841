"""Text of twice the size is cut nowhere on the pages that players use most, on a phone and on a desk."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.e2e.visitors import CHROMIUM, FLAGS, SharedInstallation, Visitor
from tests.support.programs import find_program

CUT = """() => [...document.querySelectorAll("body *")].filter((part) => {
  const {overflowX, overflowY, clipPath} = getComputedStyle(part);
  const apart = part.closest("svg, .visually-hidden, [hidden]") || !part.getClientRects().length || clipPath !== "none";
  if (apart || !/hidden|clip/.test(overflowX + overflowY)) return false;
  return part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 3;
}).map((part) => `${part.nodeName}.${part.className}: ${part.textContent.trim()}`)"""
"""The elements whose content does not fit them and is hidden."""

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def large(browser: Browser) -> Iterator[Browser]:
    """Return a browser whose user has set text of twice the usual size."""
    arguments = [*FLAGS, "--blink-settings=defaultFontSize=32"]
    with browser.browser_type.launch(executable_path=find_program(CHROMIUM, "chromium"), args=arguments) as other:
        yield other


@pytest.mark.parametrize(("width", "height"), [(380, 800), (1366, 768)])
def test_nothing_is_cut_at_twice_the_text_size(
    large: Browser, installation: SharedInstallation, width: int, height: int
) -> None:
    player = Visitor(large, installation, viewport={"width": width, "height": height}).be_guest()
    machines = [{"kind": "opponent", "level": 1}] * 3
    matches = [
        player.create("bashni", "start", [{"kind": "me"}, *machines[:1]]),
        player.create("fourplay", "standard", [{"kind": "me"}, *machines]),
    ]
    for path in (*(f"/matches/{match}" for match in matches), "/matches", "/settings"):
        player.page.goto(path)
        assert player.page.evaluate(CUT) == []
        assert player.page.evaluate("document.documentElement.scrollWidth") <= width
    player.close()
