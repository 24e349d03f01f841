"""Files of rating periods: what is made of them when one player's days, or one result, are read."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from domain.rating import DEFAULT, Period, Result
from events.archive.errors import DamagedArchiveError
from events.archive.storage import Storage
from events.readmodels import period_files
from events.readmodels.period_files import PeriodFiles, PlayedDay, PlayerPeriods, build_period_file
from events.readmodels.standings import DayEnd, Entry, Part
from events.readmodels.summary import DAY_MS, RatedResult
from events.store.converter import Row, row_of

DAY, PLAYERS = 20_000, [f"player-{number:03}" for number in range(100)]


def periods_of(player: str) -> PlayerPeriods:
    """Return a day of a player who has won a match."""
    period = Period(DEFAULT)
    period.add(Result(DEFAULT, 1))
    entry = Entry(DAY * DAY_MS, f"match-of-{player}", (("other", 1.0),), period.rating())
    played = PlayedDay(DayEnd(DAY, period.rating(), 1, entry.at), (Part(period.sums, (entry,)),))
    return PlayerPeriods("bashni-2", player, None, (played,))


def result_of(player: str) -> RatedResult:
    """Return the result of that match."""
    return RatedResult(f"match-of-{player}", "bashni-2", DAY * DAY_MS, (player, "other"), (1.0, 0.0))


def test_reading_one_player_or_one_result_makes_nothing_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = PeriodFiles(Storage(tmp_path.as_uri()))
    file = files.write(build_period_file("made", map(periods_of, PLAYERS), map(result_of, PLAYERS)), DAY)
    made: Counter[str] = Counter()

    def counted(kind: type[Any]) -> Row[Any]:
        made[kind.__name__] += 1
        return row_of(kind)

    monkeypatch.setattr(period_files, "row_of", counted)
    for player in (PLAYERS[0], PLAYERS[41], PLAYERS[-1]):
        assert files.played(file, "bashni-2", player, DAY) == periods_of(player)
        assert files.result(file, f"match-of-{player}") == result_of(player)
    assert made == {"PlayerPeriods": 3, "RatedResult": 3}
    assert files.result(file, "match-of-nobody") is None
    with pytest.raises(DamagedArchiveError, match="lacks day 20000 of player-0415"):
        files.played(file, "bashni-2", "player-0415", DAY)


@pytest.mark.parametrize("row", [None, ["bashni-2", "player"], ["bashni-2", "player", None, []], [1, 2, 3, [4]]])
def test_a_row_without_a_place_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: object) -> None:
    files = PeriodFiles(Storage(tmp_path.as_uri()))
    file = files.write(build_period_file("made", map(periods_of, PLAYERS), []), DAY)
    monkeypatch.setattr(PeriodFiles, "_rows", lambda *_: [row])
    with pytest.raises(DamagedArchiveError, match="has no place"):
        files.played(file, "bashni-2", PLAYERS[0], DAY)
