"""All read models as they are stored, to be compared."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from events.readmodels.archived_periods import ArchivedPeriods
from events.readmodels.generations import contents, dump_lists
from events.readmodels.period_files import PlayerPeriods
from events.readmodels.rating_generations import RatingGenerations, generation_of
from events.readmodels.standings import DayEnd, Entry, unpack_end
from events.runtime.connections import StoreClient
from events.runtime.keys import RatingKeys, ReadModelKeys
from events.store.converter import pack, row_of


def dump(client: StoreClient, keys: ReadModelKeys, periods: ArchivedPeriods | None = None) -> dict[str, Any]:
    """Return everything that the read models consist of, key by key: equal dumps are equal read models.

    Keys are named as in generation 0. A player's day is one list of matches, however many parts it is stored in, and
    whether it is live or archived in ``periods``. Changes by match, which earlier versions have stored, are left out:
    they are not read any more.
    """
    current = RatingGenerations.parse(client.get(keys.rating_generation)).current
    of_current = keys.rating_keys(current)
    apart = {of_current.revision, of_current.version, of_current.archived_until, of_current.period_files}
    apart |= {of_current.archiving, keys.rating_generation}
    begin_apart = (of_current.former_changes, of_current.archived_results(0).removesuffix("0"))
    live: dict[str, Any] = {}
    for name, content in contents(client, of_current.all).items():
        stored = f"{of_current.all}{name}"
        if stored not in apart and not stored.startswith(begin_apart) and generation_of(keys, stored) == current:
            whole = isinstance(content, dict) and ":day:" in name
            is_timeline = isinstance(content, list) and ":player:" in name
            live[stored] = _joined(content) if whole else _ends(content) if is_timeline else content
    if periods is not None:
        _add_archived(live, of_current, periods)
    ratings = {f"{keys.ratings}{name.removeprefix(of_current.all)}": content for name, content in live.items()}
    return dump_lists(client, keys) | ratings


def _add_archived(found: dict[str, Any], keys: RatingKeys, periods: ArchivedPeriods) -> None:
    """Put what is archived where it would be if it were live."""
    archived = periods.days(keys)
    for result in periods.all_results(archived):
        found.setdefault(keys.rated, {})[result.match.encode()] = pack(result).encode()
    for file, last in archived.ranges():
        for of_player in periods.files.players(file):
            _add_days(found, keys, of_player, last)


def _add_days(found: dict[str, Any], keys: RatingKeys, of_player: PlayerPeriods, last: int) -> None:
    timeline, row = keys.timeline(of_player.pool, of_player.player), row_of(Entry)
    for played in of_player.up_to(last):
        entries = [json.loads(json.dumps(row.write(entry))) for entry in played.entries]
        found.setdefault(keys.day(of_player.pool, played.end.day), {})[of_player.player] = entries
        found[timeline] = sorted({*found.get(timeline, ()), played.end})


def _ends(timeline: Sequence[tuple[bytes, float]]) -> list[DayEnd]:
    """Return the ends of days in a timeline, whichever version has stored them."""
    return [unpack_end(packed) for packed, _ in timeline]


def _joined(parts: Mapping[bytes, bytes]) -> dict[str, list[Any]]:
    """Return the matches of each player in a day."""
    by_player: dict[str, dict[int, list[Any]]] = {}
    for name, packed in parts.items():
        player, _, number = name.decode().partition(" ")
        if number == "parts":
            continue
        content = json.loads(packed)
        by_player.setdefault(player, {})[int(number or 0)] = content[1] if number else content
    return {
        player: [entry for _, entries in sorted(numbered.items()) for entry in entries]
        for player, numbered in by_player.items()
    }
