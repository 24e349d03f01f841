"""A bot that knows no more than README and the description of the API plays, and nothing that it does is refused."""

from deploy.local.installation import LocalInstallation
from domain.games import GAMES
from tests.support.example_bot import play_moves, start_bot


def test_the_bot_of_the_documentation_plays_every_game_without_a_refusal(installation: LocalInstallation) -> None:
    bot, matches = start_bot(installation.url, "Example-bot", seed=1, pause_s=0)
    assert set(matches.values()) == set(GAMES)
    play_moves(bot, matches, 2)
    assert [status for status in bot.answers if status >= 400] == []
