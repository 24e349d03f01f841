"""What the viewer of a match may do beside moving: asked of ``decide`` itself, so that the page knows no rule twice."""

from typing import Any

from domain.games import find_ruleset
from domain.match import commands as c
from domain.match.bounds import refuse_excess
from domain.match.decide import decide
from domain.match.enums import Status
from domain.match.refusals import CommandError
from domain.match.rematch import rematch
from domain.match.state import MatchState
from domain.match.terms import DAY

ANY_SEED = ""
"""For what is only asked and never done."""


def is_possible(state: MatchState, command: c.Command, now: int) -> bool:
    """Tell whether ``command`` would be accepted at ``now`` (milliseconds since 1970 UTC) and change something."""
    try:
        refuse_excess(state, command)
        return bool(decide(state, command, now, fresh_seed=ANY_SEED).events)
    except CommandError:
        return False


def _can_play_again(state: MatchState, viewer: str) -> bool:
    try:
        rematch(state, viewer, "", ANY_SEED, False)
    except CommandError:
        return False
    return True


def available_actions(state: MatchState, viewer: str | None, seat: int | None, now: int) -> dict[str, Any]:
    """Return what the viewer, who holds ``seat`` or is invited to it, can do; the server decides again when it is done.

    ``join`` and ``give_time`` are lists of seats, all else is yes or no.
    """
    open_match = state.status == Status.OPEN
    seated = seat is not None and state.seats[seat].joined
    in_game = (
        state.status == Status.PLAYING
        and seated
        and not state.cases.frozen
        and state.play.broken is None
        and seat not in find_ruleset(state.game, state.ruleset).elimination.eliminated(state.play.position)
    )
    nobody = {
        "move": False,
        "accept": False,
        "join": [],
        "sign_in": open_match and viewer is None and any(entry.player is None for entry in state.seats),
        "give_time": [],
    }
    if viewer is None:
        return nobody
    takeback = state.offers.takeback
    abort = is_possible(state, c.AbortMatch(player=viewer), now)
    return nobody | {
        "move": in_game,
        "resign": in_game and not (abort and not state.play.moves) and is_possible(state, c.Resign(player=viewer), now),
        "abort": abort,
        "offer_draw": not state.offers.draw_agreed and is_possible(state, c.OfferDraw(player=viewer), now),
        "answer_draw": is_possible(state, c.AcceptDraw(player=viewer), now),
        "ask_takeback": is_possible(state, c.RequestTakeback(player=viewer), now),
        "answer_takeback": is_possible(state, c.AcceptTakeback(player=viewer), now),
        "withdraw_takeback": takeback is not None and takeback.seat == seat,
        "give_time": [
            other
            for other, entry in enumerate(state.seats)
            if entry.level is None and is_possible(state, c.GiveTime(player=viewer, seat=other, time=DAY), now)
        ],
        "claim": is_possible(state, c.CallTime(player=viewer), now),
        "forgive": is_possible(state, c.ForgiveFlag(player=viewer), now),
        "rematch": _can_play_again(state, viewer),
        "accept": open_match and seat is not None and not seated,
        "join": [
            number for number, entry in enumerate(state.seats) if open_match and seat is None and entry.player is None
        ],
        "lay_lines": in_game and (state.terms is None or state.terms.lines),
    }
