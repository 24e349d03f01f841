"""``rookery tournaments``: the operator announces a tournament from a file, lists and cancels it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from domain.match.terms import DAY
from events.people.person import Person
from events.runtime.wall_clock import now_ms, rfc3339
from tests.support.stepped_installation import PREFIX, SteppedInstallation


@pytest.fixture
def rookery(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    shop.parts.people.enrol(Person("olga", "Olga", "person", 0), "")
    return lambda *arguments: CliRunner().invoke(main, ("tournaments", *arguments))


def written(directory: Path, **more: Any) -> str:
    """Write the terms of a tournament to a file; return its path."""
    start = now_ms() + 10 * DAY
    terms = {"title": "Club cup", "game": "bashni", "setup": "start", "form": "all-play-all", "least": 3, "most": 8}
    dates = {"starts_at": rfc3339(start), "latest_end": rfc3339(start + 100 * DAY)}
    file = directory / "terms.json"
    file.write_text(json.dumps({**terms, **dates, **more}))
    return str(file)


def test_a_tournament_is_announced_once_listed_and_cancelled(rookery: Callable[..., Result], tmp_path: Path) -> None:
    file = written(tmp_path)
    announced = [rookery("announce", "--organiser", "Olga", file) for _ in range(2)]
    assert [result.exit_code for result in announced] == [0, 0], announced[0].output
    id = announced[0].output.strip().splitlines()[-1]
    assert announced[1].output.strip().endswith(id)
    assert f"{id}  entries" in rookery("list").output
    assert "is cancelled" in rookery("cancel", id).output
    assert f"{id}  called-off" in rookery("list").output
    assert "is cancelled" in rookery("cancel", id).output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"most": 40}, "most: this must be 3 to 16"),
        ({"form": "none"}, "form"),
        ({"starts_at": "soon"}, "must be an instant"),
    ],
)
def test_terms_that_cannot_be_played_are_refused_with_the_field(
    rookery: Callable[..., Result], tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    refused = rookery("announce", "--organiser", "Olga", written(tmp_path, **change))
    assert (refused.exit_code, words in refused.output) == (1, True), refused.output


def test_nobody_announces_without_an_account(rookery: Callable[..., Result], tmp_path: Path) -> None:
    refused = rookery("announce", "--organiser", "Nobody", written(tmp_path))
    assert "no person with the name Nobody" in refused.output
    assert "there is no such tournament" in rookery("cancel", "tournament-none").output
