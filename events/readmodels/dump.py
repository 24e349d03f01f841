"""All read models as they are stored, to be compared."""

import json
from collections.abc import Mapping
from typing import Any

from events.readmodels.generations import contents, dump_lists
from events.readmodels.rating_generations import RatingGenerations, generation_of
from events.runtime.connections import StoreClient
from events.runtime.keys import ReadModelKeys


def dump(client: StoreClient, keys: ReadModelKeys) -> dict[str, Any]:
    """Return everything that the read models consist of, key by key: equal dumps are equal read models.

    Keys are named as in generation 0. A player's day is one list of matches, however many parts it is stored in.
    Changes by match, which earlier versions have stored, are left out: they are not read any more.
    """
    current = RatingGenerations.parse(client.get(keys.rating_generation)).current
    of_current = keys.rating_keys(current)
    unlike = (of_current.revision, of_current.version, keys.rating_generation)
    apart = {name.removeprefix(of_current.all) for name in unlike}
    found = dump_lists(client, keys)
    former_changes = of_current.former_changes.removeprefix(of_current.all)
    for name, content in contents(client, of_current.all).items():
        if name in apart or name.startswith(former_changes):
            continue
        if generation_of(keys, f"{of_current.all}{name}") == current:
            whole = isinstance(content, dict) and ":day:" in name
            found[f"{keys.ratings}{name}"] = _joined(content) if whole else content
    return found


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
