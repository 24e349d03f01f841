"""The documented example bot plays a match of each game against opponents of level 1, all at the same time."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from deploy.local.installation import LocalInstallation
from tests.bench.measure import Table, verdict
from tests.support.api_client import ApiClient
from tests.support.example_bot import start_bot


def tables() -> Iterator[Table]:
    """Play and yield the table."""
    with tempfile.TemporaryDirectory() as var, LocalInstallation(Path(var), embedded=True) as installation:
        bot, matches = start_bot(installation.url, "Example-bot", seed=1)
        bot.run(len(matches))
        table = Table(
            "The bot of the documentation, one match of each game", "game", "plies", "moves of the bot", "end"
        )
        with ApiClient(installation.url) as client:
            for match_id, game in matches.items():
                shown = client.get(f"/matches/{match_id}")
                table.add(game, shown["ply"], bot.moves[match_id], shown["result"]["reason"])
        yield table
        answers = Table("What it was answered", "status", "times", "target")
        for status, times in sorted(bot.answers.items()):
            answers.add(status, times, "" if status < 400 else verdict(times, 0, at_least=False))
        yield answers
