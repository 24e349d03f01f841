"""Snapshots of matches: a state as JSON values, positions in the notation of their game.

A snapshot only spares a replay. One that cannot be read here (another layout, a ruleset that is not installed) counts
as none.
"""

from collections.abc import Mapping
from typing import Any

from domain.games import find_ruleset
from domain.history import History
from domain.match.clock import Clock
from domain.match.enums import Channel, Status
from domain.match.state import Dispute, Ended, Fallen, MatchState, Proposal, Seat, Takeback
from domain.match.terms import Terms
from events.store.contract import Head
from events.store.converter import read_value, write_value

_MADE = {
    "terms": Terms,
    "clock": Clock,
    "takeback": Takeback,
    "fallen": Fallen,
    "proposal": Proposal,
    "annulled": Ended,
}

LAYOUT = 10
"""To be raised with every change of MatchState and of what this module writes."""


def snapshot_of(state: MatchState, head: Head) -> dict[str, Any]:
    """Return ``state``, the match at ``head``, as JSON values. A broken match has no snapshot: it may be mended."""
    game = find_ruleset(state.game, state.ruleset)
    fields = {
        name: write_value(value) for name, value in state._asdict().items() if name not in ("position", "history")
    }
    fields["position"] = game.format_position(state.position)
    fields["history"] = list(state.history.texts())
    fields["movers"] = list(state.history.movers())
    fields["spelled"] = list(state.history.display_moves(state.moves))
    return {"layout": LAYOUT, "digest": head.digest.hex(), "state": fields}


def restored(snapshot: Mapping[str, Any]) -> tuple[MatchState, Head] | None:
    """Return what ``snapshot_of`` was given, or None when it cannot be restored here."""
    if snapshot.get("layout") != LAYOUT:
        return None
    fields: dict[str, Any] = dict(snapshot["state"])
    for name, value in fields.items():
        if isinstance(value, list):
            fields[name] = tuple(value)
        elif name in _MADE and value is not None:
            fields[name] = read_value(_MADE[name], value)
    try:
        game = find_ruleset(fields["game"], fields["ruleset"])
        fields["position"] = game.parse_position(fields["position"])
        history = (fields.pop(name) for name in ("history", "movers", "spelled"))
        fields["history"] = History.restore(game, *history)
    except Exception:
        # Rules that are missing or at fault: the events are read, and tell how far they can be followed.
        return None
    for name, made in (("seats", Seat), ("disputes", Dispute)):
        fields[name] = tuple(read_value(made, value) for value in fields[name])
    fields["status"] = Status(fields["status"])
    fields["channels"] = tuple(None if channel is None else Channel(channel) for channel in fields["channels"])
    return MatchState(**fields), Head(fields["version"], bytes.fromhex(snapshot["digest"]))
