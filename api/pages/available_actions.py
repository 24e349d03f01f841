"""The actions of the viewer besides moving, as ``decide`` allows them, and the automatic moves that they set off."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from domain.games import find_ruleset
from domain.match import commands as c, events as e
from domain.match.decide import decide
from domain.match.decisions.creation import rematch
from domain.match.enums import Channel, Status
from domain.match.guards import refuse_excess
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from domain.match.terms import DAY

ANY_SEED = ""
"""For commands that are only tried."""


def is_possible(state: MatchState, command: c.Command, now: int) -> bool:
    """Tell whether ``command`` would be accepted at ``now`` (milliseconds since 1970 UTC) and change something."""
    try:
        refuse_excess(state, command)
        return bool(decide(state, command, now, fresh_seed=ANY_SEED).events)
    except CommandError:
        return False


def _can_propose_rematch(state: MatchState, viewer: str) -> bool:
    try:
        rematch(state, viewer, "", ANY_SEED, False)
    except CommandError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class AvailableActions:
    """The actions that the viewer of a match may take. ``join`` and ``give_time`` hold the seats that they are for."""

    move: bool = False
    accept: bool = False
    join: tuple[int, ...] = ()
    sign_in: bool = False
    sign_up: bool = False
    give_time: tuple[int, ...] = ()
    resign: bool = False
    abort: bool = False
    offer_draw: bool = False
    answer_draw: bool = False
    ask_takeback: bool = False
    answer_takeback: bool = False
    retract_takeback: bool = False
    claim: bool = False
    forgive: bool = False
    rematch: bool = False
    conditional_moves: bool = False


def available_actions(
    state: MatchState, viewer: str | None, seat: int | None, now: int, guest: bool = False
) -> AvailableActions:
    """Return the actions of the viewer, who holds ``seat`` or is invited to it, at ``now``."""
    is_open = state.status == Status.OPEN
    free = tuple(number for number, entry in enumerate(state.seats) if is_open and entry.player is None)
    if viewer is None:
        return AvailableActions(sign_in=bool(free))

    def possible(command: c.Command) -> bool:
        return is_possible(state, command, now)

    in_game = _is_in_game(state, seat)
    takeback, machines = state.offers.takeback, [entry.level is not None for entry in state.seats]
    abort = possible(c.AbortMatch(player=viewer))
    return AvailableActions(
        move=in_game,
        accept=is_open and seat is not None and not state.seats[seat].joined,
        join=free if seat is None and not (guest and state.rated) else (),
        sign_up=bool(free) and seat is None and guest and state.rated,
        give_time=tuple(
            other
            for other, machine in enumerate(machines)
            if not machine and possible(c.GiveTime(player=viewer, seat=other, time=DAY))
        ),
        resign=in_game and not (abort and not state.play.moves) and possible(c.Resign(player=viewer)),
        abort=abort,
        offer_draw=not state.offers.draw_agreed and possible(c.OfferDraw(player=viewer)),
        answer_draw=possible(c.AcceptDraw(player=viewer)),
        ask_takeback=possible(c.RequestTakeback(player=viewer)),
        answer_takeback=possible(c.AcceptTakeback(player=viewer)),
        retract_takeback=takeback is not None and takeback.seat == seat,
        claim=possible(c.CallTime(player=viewer)),
        forgive=possible(c.ForgiveFlag(player=viewer)),
        rematch=_can_propose_rematch(state, viewer),
        conditional_moves=in_game and state.terms.lines,
    )


def _is_in_game(state: MatchState, seat: int | None) -> bool:
    """Tell whether ``seat`` is still playing in a match that is neither frozen nor broken."""
    if seat is None or state.status != Status.PLAYING or state.cases.frozen or state.play.broken is not None:
        return False
    eliminated = find_ruleset(state.game, state.ruleset).eliminated(state.play.position)
    return state.seats[seat].joined and seat not in eliminated


TRIGGERS: Mapping[str, Callable[[str], c.Command]] = {
    "draw-acceptance": lambda player: c.AcceptDraw(player=player),
    "draw-refusal": lambda player: c.DeclineDraw(player=player),
    "takeback-acceptance": lambda player: c.AcceptTakeback(player=player),
    "takeback-refusal": lambda player: c.DeclineTakeback(player=player),
    "time-claims": lambda player: c.CallTime(player=player),
    "forgiveness": lambda player: c.ForgiveFlag(player=player),
}
"""The actions after which it can be the acting player's turn, each with its command."""


def find_consequences(
    state: MatchState, viewer: str | None, conditional: ConditionalMoves | None, now: int
) -> dict[str, str]:
    """Return, for each of the TRIGGERS that would make automatic moves of the viewer, a sentence about these.

    ``conditional`` are the viewer's own; those of the other players are private.
    """
    seat = state.seat_of(viewer) if viewer else None
    if viewer is None or seat is None or conditional is None or conditional == ConditionalMoves():
        return {}
    consequences = {
        action: _automatic_moves(state, command(viewer), seat, conditional, now) for action, command in TRIGGERS.items()
    }
    return {action: words for action, words in consequences.items() if words}


def _automatic_moves(state: MatchState, command: c.Command, seat: int, conditional: ConditionalMoves, now: int) -> str:
    try:
        events = decide(state, command, now, {seat: conditional}, ANY_SEED).events
    except CommandError:
        return ""
    automatic = (Channel.CONDITIONAL, Channel.FORCED)
    return " ".join(_describe(event) for event in events if getattr(event, "channel", None) in automatic)


def _describe(event: e.Event) -> str:
    if isinstance(event, e.MoveSubmitted):
        kind = "conditional move" if event.channel == Channel.CONDITIONAL else "only legal move"
        return f"Your {kind} {event.move} is then played."
    return "You then resign, as your conditional moves say." if isinstance(event, e.PlayerResigned) else ""
