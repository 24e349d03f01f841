"""How draws are offered and moves asked back."""

from dataclasses import replace

from domain.match import events as e
from domain.match.state import MatchState, Offers, Takeback
from domain.vector import with_value


def draw_offered(state: MatchState, event: e.DrawOffered) -> MatchState:
    """Return the match with a draw on offer."""
    offers = replace(
        counted(state.offers, event.seat),
        draw_agreed=(event.seat,),
        draw_offered_at=with_value(state.offers.draw_offered_at, event.seat, len(state.play.moves)),
    )
    return replace(state, offers=offers)


def draw_accepted(state: MatchState, event: e.DrawAccepted) -> MatchState:
    """Return the match with one more seat that agrees to the draw."""
    return replace(state, offers=replace(state.offers, draw_agreed=(*state.offers.draw_agreed, event.seat)))


def draw_declined(state: MatchState, _: e.DrawDeclined) -> MatchState:
    """Return the match without a draw on offer."""
    return replace(state, offers=replace(state.offers, draw_agreed=()))


def takeback_requested(state: MatchState, event: e.TakebackRequested) -> MatchState:
    """Return the match with the request to take moves back."""
    offers = replace(
        counted(state.offers, event.seat),
        takebacks=(*state.offers.takebacks, event.ply),
        takeback=Takeback(seat=event.seat, ply=event.ply, agreed=(event.seat,)),
        takeback_asked_at=with_value(state.offers.takeback_asked_at, event.seat, len(state.play.moves)),
    )
    return replace(state, offers=offers)


def takeback_accepted(state: MatchState, event: e.TakebackAccepted) -> MatchState:
    """Return the match with one more seat that agrees to taking moves back."""
    takeback = state.offers.takeback
    if takeback is None:
        raise ValueError(f"match {state.match_id} accepts at version {state.version + 1} what nobody has asked for")
    takeback = replace(takeback, agreed=(*takeback.agreed, event.seat))
    return replace(state, offers=replace(state.offers, takeback=takeback))


def takeback_declined(state: MatchState, _: e.TakebackDeclined) -> MatchState:
    """Return the match without a request to take moves back."""
    return replace(state, offers=replace(state.offers, takeback=None))


def counted(offers: Offers, seat: int) -> Offers:
    """Return ``offers`` with one more request of ``seat`` counted."""
    return replace(offers, requests=with_value(offers.requests, seat, offers.requests[seat] + 1))
