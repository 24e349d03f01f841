"""Why did it do that? Newcomers are told what the computer's move has done, in unrated matches against weak levels."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import ViewportSize, expect

from tests.e2e.test_every_page import AXE
from tests.e2e.visitors import DESK, OVERFLOW, PHONE, Visitor


@pytest.mark.parametrize(("window", "has_touch"), [(PHONE, True), (DESK, False)])
def test_a_newcomer_asks_why_the_computer_moved_so(
    visit: Callable[..., Visitor], window: ViewportSize, has_touch: bool
) -> None:
    newcomer = visit(viewport=window, has_touch=has_touch).be_guest()
    page, match = newcomer.page, begin(newcomer, level=1)
    newcomer.open(match)
    expect(page.locator("#why")).to_have_count(0)
    newcomer.submit("c3", "d4")
    asked = page.get_by_text("Why did it do that?")
    asked.tap() if has_touch else asked.click()
    answer = page.locator("#why .reasons")
    expect(answer).to_have_text(re.compile(r"^[a-h][3-8][-x][a-h][1-8]: .*At level 1 it looked at \d+ of its 7 moves"))
    assert page.evaluate(OVERFLOW) <= 0
    page.evaluate(AXE_SCRIPT)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        assert page.evaluate(AXE, {}) == []
    former = answer.inner_text()
    newcomer.move(match, newcomer.call("GET", f"/matches/{match}/legal-moves")["legal_moves"][0])
    expect(answer).not_to_have_text(former)  # the answer about the move before goes, perhaps for that about the new one


def begin(visitor: Visitor, level: int, **more: object) -> str:
    """Return a match of Bashni against the computer."""
    seats: list[dict[str, Any]] = [{"kind": "me"}, {"kind": "opponent", "level": level}]
    return visitor.create("bashni", "start", seats, **more)


def test_stronger_levels_rated_matches_and_the_matches_of_others_are_not_explained(
    visit: Callable[..., Visitor],
) -> None:
    player, stranger = visit().sign_up(), visit()
    matches = [begin(player, level=5), begin(player, level=1, rated=True), begin(player, level=4)]
    for match in matches:
        player.move(match, "c3-d4")
        page = player.open(match)
        expect(page.locator("#standing")).to_contain_text("Your move", timeout=60_000)
    statuses = [player.context.request.get(f"/matches/{match}/why").status for match in matches]
    assert statuses == [404, 404, 200]
    expect(page.locator("#why")).to_have_count(1)
    assert stranger.context.request.get(f"/matches/{matches[-1]}/why").status == 404
    expect(stranger.open(matches[-1]).locator("#why")).to_have_count(0)
