"""The path of a newcomer, from the page of a game to the mail about the answer, in an installation that sends mail."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from domain.games import GAMES
from tests.e2e.newcomer_screenshots import walk


@pytest.mark.thorough
@pytest.mark.parametrize("game_id", GAMES)
def test_a_newcomer_on_a_phone_learns_signs_up_plays_and_comes_back_by_mail(
    browser: Browser, game_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOKERY_MAIL_DOMAIN", "")  # what the walk sets ends with the test
    monkeypatch.setenv("ROOKERY_SMTP_URL", "")
    walk(browser, tmp_path, [game_id], ["phone"])
    assert len(list(tmp_path.glob("*.png"))) >= 16
