"""Snapshots of matches, which spare a replay: states as JSON values; one that cannot be read here counts as none."""

from collections.abc import Mapping
from dataclasses import replace
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
    game, play = find_ruleset(state.game, state.ruleset), state.play
    history = [list(play.history.texts()), list(play.history.movers()), list(play.history.display_moves(play.moves))]
    plain = replace(state, play=replace(play, position=game.format_position(play.position), history=history))
    return {"layout": LAYOUT, "digest": head.digest.hex(), "state": _STATE.write(plain)}


def restore_snapshot(snapshot: Mapping[str, Any]) -> tuple[MatchState, Head] | None:
    """Return the state that ``snapshot_of`` was given, or None when it cannot be restored here."""
    if snapshot.get("layout") != LAYOUT:
        return None
    try:
        plain = _STATE.read(snapshot["state"])
        game = find_ruleset(plain.game, plain.ruleset)
        position, history = game.parse_position(plain.play.position), History.restore(game, *plain.play.history)
    except Exception:
        # Rules that are missing or at fault: the events are read, and show how far they can be followed.
        return None
    state = replace(plain, play=replace(plain.play, position=position, history=history))
    return state, Head(plain.version, bytes.fromhex(snapshot["digest"]))
