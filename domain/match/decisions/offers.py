"""Draws and taking back: proposals of one seat that all the others answer."""

from domain.games import find_ruleset
from domain.match import commands as c, events as e
from domain.match.enums import EndReason
from domain.match.guards import active_seat, seats_playing
from domain.match.refusals import CommandError
from domain.match.state import MatchState


def offer_draw(state: MatchState, command: c.OfferDraw, now: int) -> tuple[e.Event, ...]:
    """Return a draw offer, or agreement to the one there is."""
    seat = active_seat(state, command.player, now)
    if state.offers.draw_agreed:
        if seat in state.offers.draw_agreed:
            raise CommandError("draw-already-offered", "you have agreed to a draw already; the others have to answer")
        return accept_draw(state, c.AcceptDraw(player=command.player), now)
    refuse_early_offer(state, seat)
    return (e.DrawOffered(at=now, seat=seat, signed=command.signed),)


def refuse_early_offer(state: MatchState, seat: int) -> None:
    """Raise CommandError when ``seat`` has not moved since it last offered a draw."""
    offered = state.offers.draw_offered_at[seat]
    if offered is not None and state.play.last_ply[seat] <= offered:
        raise CommandError("draw-already-offered", "you may offer a draw again when you have made another move")


def accept_draw(state: MatchState, command: c.AcceptDraw, now: int) -> tuple[e.Event, ...]:
    """Return agreement to the draw on offer, and the end when it is the last one."""
    seat = _answering_seat(state, command.player, now)
    accepted = e.DrawAccepted(
        at=now, seat=seat, channel=command.channel, engine=command.engine, nodes=command.nodes, signed=command.signed
    )
    if len(state.offers.draw_agreed) + 1 < len(seats_playing(state)):
        return (accepted,)
    game = find_ruleset(state.game, state.ruleset)
    return (
        accepted,
        e.MatchFinished(
            at=now, scores=game.scores_after_leaving(state.play.position, ()), reason=EndReason.DRAW_AGREED
        ),
    )


def decline_draw(state: MatchState, command: c.DeclineDraw, now: int) -> tuple[e.Event, ...]:
    """Return the end of the draw offer."""
    seat = _answering_seat(state, command.player, now)
    return (e.DrawDeclined(at=now, seat=seat, engine=command.engine, nodes=command.nodes),)


def _answering_seat(state: MatchState, player: str, now: int) -> int:
    seat = active_seat(state, player, now)
    if not state.offers.draw_agreed:
        raise CommandError("no-draw-offer", "no draw is on offer")
    if seat in state.offers.draw_agreed:
        raise CommandError("no-draw-offer", "you have agreed to this draw already; the others have to answer")
    return seat


def request_takeback(state: MatchState, command: c.RequestTakeback, now: int) -> tuple[e.Event, ...]:
    """Return a request to go back to before the last move of the player; opponents agree to it at once."""
    seat = active_seat(state, command.player, now)
    if not state.terms.takebacks:
        raise CommandError("takebacks-not-allowed", "the terms of this match do not allow taking moves back")
    if state.offers.takeback is not None:
        reason = (
            "you have asked already"
            if state.offers.takeback.seat == seat
            else "answer the request of another seat first"
        )
        raise CommandError("takeback-already-requested", reason)
    if not state.play.last_ply[seat]:
        raise CommandError("nothing-to-take-back", "you have not moved yet")
    asked = state.offers.takeback_asked_at[seat]
    if asked is not None and state.play.last_ply[seat] <= asked:
        raise CommandError("takeback-already-requested", "you may ask again when you have made another move")
    ply = state.play.last_ply[seat] - 1
    if ply < state.play.left_ply:
        raise CommandError("nothing-to-take-back", "a seat has left the game since: it cannot be brought back")
    requested = e.TakebackRequested(at=now, seat=seat, ply=ply)
    people = [other for other in seats_playing(state) if other != seat and state.seats[other].level is None]
    return (requested,) if people else (requested, e.MovesTakenBack(at=now, ply=ply))


def accept_takeback(state: MatchState, command: c.AcceptTakeback, now: int) -> tuple[e.Event, ...]:
    """Return agreement to going back, and the takeback when it is the last one."""
    seat = active_seat(state, command.player, now)
    if state.offers.takeback is None:
        raise CommandError("no-takeback-request", "nobody asks to take a move back")
    if seat in state.offers.takeback.agreed:
        raise CommandError("no-takeback-request", "you have agreed already; the others have to answer")
    accepted = e.TakebackAccepted(at=now, seat=seat)
    agreed = {*state.offers.takeback.agreed, seat}
    waiting = [other for other in seats_playing(state) if other not in agreed and state.seats[other].level is None]
    return (accepted,) if waiting else (accepted, e.MovesTakenBack(at=now, ply=state.offers.takeback.ply))


def decline_takeback(state: MatchState, command: c.DeclineTakeback, now: int) -> tuple[e.Event, ...]:
    """Return the end of the request, which its author may withdraw in the same way."""
    seat = active_seat(state, command.player, now)
    if state.offers.takeback is None:
        raise CommandError("no-takeback-request", "nobody asks to take a move back")
    return (e.TakebackDeclined(at=now, seat=seat),)
