"""All read models as they are stored, to be compared."""

from collections.abc import Mapping, Sequence
from typing import Any

from events.matches.readmodels.generations import Generations, contents, dump_lists, generation_of
from events.matches.readmodels.standings import DayEnd, unpack_end, unpack_part
from events.runtime.connections import StoreClient
from events.runtime.keys import ReadModelKeys


def dump(client: StoreClient, keys: ReadModelKeys) -> dict[str, Any]:
    """Return all read models, key by key as in generation 0, days in one part: equal dumps are equal read models."""
    current = Generations.parse(client.get(keys.rating_generation)).current
    of_current = keys.rating_keys(current)
    apart = {of_current.revision, keys.rating_generation}
    live: dict[str, Any] = {}
    for name, content in contents(client, of_current.all).items():
        stored = f"{of_current.all}{name}"
        if stored not in apart and generation_of(keys, stored) == current:
            whole = isinstance(content, dict) and ":day:" in name
            is_timeline = isinstance(content, list) and ":player:" in name
            live[stored] = _joined(content) if whole else _ends(content) if is_timeline else content
    ratings = {f"{keys.ratings}{name.removeprefix(of_current.all)}": content for name, content in live.items()}
    return dump_lists(client, keys) | ratings


def _ends(timeline: Sequence[tuple[bytes, float]]) -> list[DayEnd]:
    return [unpack_end(packed) for packed, _ in timeline]


def _joined(parts: Mapping[bytes, bytes]) -> dict[str, list[Any]]:
    by_player: dict[str, dict[int, list[Any]]] = {}
    for name, packed in parts.items():
        player, _, number = name.decode().partition(" ")
        if number == "parts":
            continue
        part = unpack_part(packed, int(number or 0))
        by_player.setdefault(player, {})[int(number or 0)] = list(part.entries) if part else []
    return {
        player: [entry for _, entries in sorted(numbered.items()) for entry in entries]
        for player, numbered in by_player.items()
    }
