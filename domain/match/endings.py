"""The reasons for which matches end, in words."""

from collections.abc import Mapping

from domain.games import GAMES
from domain.match.enums import EndReason

_REASONS: Mapping[str, str] = {
    EndReason.RESIGNATION: "by resignation",
    EndReason.DRAW_AGREED: "by agreement",
    EndReason.FLAG: "on time",
    EndReason.RULING: "by an arbiter's ruling",
}
"""The reasons common to all games; the games declare the others."""


def reason_words(reason: str | None, game_id: str) -> str:
    """Return why a match of a game ended; an undeclared reason is returned with spaces for hyphens."""
    declared = GAMES[game_id].reasons if game_id in GAMES else {}
    return {**_REASONS, **declared}.get(reason or "", (reason or "").replace("-", " "))
