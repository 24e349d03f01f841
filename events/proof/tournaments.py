"""Lots, pairings and tables of a tournament, computed again from its events: docs/proof/tournaments.md."""

from collections.abc import Iterable

from domain.contest.schedules import field_size, schedule
from domain.contest.tournament import events as e
from domain.contest.tournament.decide import draw_lots
from domain.contest.tournament.evolve import evolve
from domain.contest.tournament.state import TournamentState
from events.proof.documents import DocumentError
from events.store.codec import CODECS, UndecodableEventError
from events.store.envelope import Envelope
from events.store.kinds import StreamKind


def check_tournament(id: str, envelopes: Iterable[Envelope]) -> TournamentState:
    """Return the tournament after its events; raises DocumentError, with the place, where something does not follow."""
    state: TournamentState | None = None
    for index, envelope in enumerate(envelopes):
        place = f"events[{index}].data"
        try:
            event = CODECS[StreamKind.TOURNAMENT].event_of(envelope)
            if state is not None:
                _check(state, event)
            state = evolve(state, event, id)
        except DocumentError as fault:
            raise DocumentError(f"{place}.{fault.place}", fault.reason) from None
        except (UndecodableEventError, ValueError, LookupError) as error:
            raise DocumentError(place, str(error)) from None
    if state is None:
        raise DocumentError("events", "a tournament has at least one event")
    return state


def _check(state: TournamentState, event: e.Event) -> None:
    """Raise DocumentError, with the member of the event, unless the event follows from the tournament before it."""
    match event:
        case e.TournamentStarted():
            seats = len(event.pairings[0]) if event.pairings else 0
            size = field_size(state.terms.form, seats, min(state.terms.most, len(state.entries)))
            drawn = draw_lots(event.seed, state.entries[:size])
            _require(size > 0 and event.players == drawn, "players", "another order follows from the seed")
            planned = schedule(state.terms.form, seats, size)
            _require(event.pairings == planned, "pairings", "the schedule of this form is another one")
        case e.PlaceFilled():
            _require(state.entries[:1] == (event.player,), "player", "somebody else was the first who waited")
            _require(_is_filled(state, event), "pairings", "they are not those of who left")
        case e.PairingStarted() | e.ResultTakenBack() | e.PairingVoided():
            _require(state.pairing(event.pairing) is not None, "pairing", "there is no such pairing")
        case e.ResultRecorded() | e.PairingForfeited():
            pairing = state.pairing(event.pairing)
            _require(pairing is not None, "pairing", "there is no such pairing")
            seats = len(pairing.entrants) if pairing else 0
            _require(len(event.scores) == seats, "scores", "there is not one for each seat")
        case e.TournamentEnded() | e.TableCorrected():
            _require(event.table == state.places(), "table", "another table follows from the results")


def _is_filled(state: TournamentState, event: e.PlaceFilled) -> bool:
    """Return whether the new pairings are the replaced ones with the new entrant: at two seats in the same seats."""
    new = len(state.entrants)
    replaced = [state.pairings[number - 1].entrants for number in event.replaced]
    expected = [tuple([new if one == event.left else one for one in entrants]) for entrants in replaced]
    if expected and len(expected[0]) == 2:
        return event.pairings == tuple(expected)
    return [sorted(pairing) for pairing in event.pairings] == [sorted(entrants) for entrants in expected]


def _require(is_true: bool, member: str, reason: str) -> None:
    if not is_true:
        raise DocumentError(member, reason)
