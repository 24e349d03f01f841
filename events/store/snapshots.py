"""Snapshots of matches: a state as JSON values, positions in the notation of their game.

A snapshot only spares a replay. One that cannot be read here (another layout, a ruleset that is not installed) counts
as none.
"""

from collections.abc import Mapping
from typing import Any

from domain.games import find_ruleset
from domain.history import History
from domain.match.state import MatchState
from events.store.contract import Head
from events.store.converter import layout_of, shape_of

LAYOUT = layout_of(MatchState)
_STATE = shape_of(MatchState)


def snapshot_of(state: MatchState, head: Head) -> dict[str, Any]:
    """Return ``state``, the match at ``head``, as JSON values. A broken match has no snapshot: it may be mended."""
    game = find_ruleset(state.game, state.ruleset)
    history = [
        list(state.history.texts()),
        list(state.history.movers()),
        list(state.history.display_moves(state.moves)),
    ]
    plain = state._replace(position=game.format_position(state.position), history=history)
    return {"layout": LAYOUT, "digest": head.digest.hex(), "state": _STATE.write(plain)}


def restore_snapshot(snapshot: Mapping[str, Any]) -> tuple[MatchState, Head] | None:
    """Return what ``snapshot_of`` was given, or None when it cannot be restored here."""
    if snapshot.get("layout") != LAYOUT:
        return None
    try:
        plain = _STATE.read(snapshot["state"])
        game = find_ruleset(plain.game, plain.ruleset)
        position, history = game.parse_position(plain.position), History.restore(game, *plain.history)
    except Exception:
        # Rules that are missing or at fault: the events are read, and show how far they can be followed.
        return None
    return plain._replace(position=position, history=history), Head(plain.version, bytes.fromhex(snapshot["digest"]))
