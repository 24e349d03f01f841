"""A bot that knows no more than README and the description of the API plays, and nothing that it does is refused."""

import runpy
from contextlib import closing
from pathlib import Path
from typing import Any

from deploy.local.installation import LocalInstallation
from domain.games import GAMES
from tests.support.api_client import ApiClient

BOT = Path(__file__).parents[3] / "docs" / "examples" / "bot.py"


def start_bot(url: str, name: str, seed: int, **options: Any) -> tuple[Any, dict[str, str]]:
    """Have the bot of a new account ``name`` start a match of each game; return it, and the game of each match."""
    with ApiClient(url) as client:
        client.sign_up(name, "correct horse battery")
        bot = runpy.run_path(str(BOT))["Bot"](url, client.token, seed, **options)
    return bot, {bot.play(game, level=1): game for game in GAMES}


def play_moves(bot: Any, matches: dict[str, str], moves: int) -> None:
    """Let the bot play until it has made ``moves`` in each of the ``matches`` that are not over."""
    with closing(bot.items()) as items:
        for item in items:
            bot.attend(item)
            if all(bot.moves[match] >= moves for match in matches if match not in bot.over):
                return


def test_the_bot_of_the_documentation_plays_every_game_without_a_refusal(installation: LocalInstallation) -> None:
    bot, matches = start_bot(installation.url, "Example-bot", seed=1, pause_s=0)
    assert set(matches.values()) == set(GAMES)
    play_moves(bot, matches, 2)
    assert [status for status in bot.answers if status >= 400] == []
