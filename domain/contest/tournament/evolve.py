"""The evolution of a tournament: its state after each event."""

from dataclasses import replace

from domain.contest.tournament import events as e
from domain.contest.tournament.state import (
    Correction,
    Entrant,
    NoResult,
    PairingState,
    PairingStatus,
    TournamentState,
    TournamentStatus,
)


def evolve(state: TournamentState | None, event: e.Event, id: str) -> TournamentState:
    """Return the state after ``event`` of the tournament ``id``. Raises ValueError for an event that cannot follow."""
    if isinstance(event, e.TournamentAnnounced):
        if state is not None:
            raise ValueError(f"tournament {id} is announced a second time at version {state.version + 1}")
        return TournamentState(
            id=id,
            version=1,
            organiser=event.organiser,
            terms=event.terms,
            series=event.series,
            status=TournamentStatus.ENTRIES,
            announced_at=event.at,
            updated_at=event.at,
            starts_at=event.terms.starts_at,
        )
    if state is None:
        raise ValueError(f"the stream of tournament {id!r} does not begin with its announcement")
    return replace(_after(state, event), version=state.version + 1, updated_at=event.at)


_PairingEvent = e.PairingStarted | e.ResultRecorded | e.ResultTakenBack | e.PairingForfeited | e.PairingVoided
_LaterEvent = (
    e.EntryMade
    | e.EntryTakenBack
    | e.StartPostponed
    | e.TournamentCalledOff
    | e.TournamentStarted
    | e.PlayerLeft
    | e.PlaceFilled
    | e.TournamentEnded
    | e.TableCorrected
    | _PairingEvent
)


def _after(state: TournamentState, event: _LaterEvent) -> TournamentState:
    match event:
        case e.EntryMade():
            return replace(state, entries=(*state.entries, event.player))
        case e.EntryTakenBack():
            return replace(state, entries=_without(state.entries, event.player))
        case e.StartPostponed():
            return replace(state, starts_at=event.starts_at, postponed=True)
        case e.TournamentCalledOff():
            return replace(state, status=TournamentStatus.CALLED_OFF, ended_at=event.at, reason=event.reason)
        case e.TournamentStarted():
            return replace(
                state,
                status=TournamentStatus.RUNNING,
                seed=event.seed,
                entries=tuple([player for player in state.entries if player not in event.players]),
                entrants=tuple([Entrant(player=player) for player in event.players]),
                pairings=tuple([PairingState(entrants=entrants) for entrants in event.pairings]),
            )
        case e.PlayerLeft():
            return _player_left(state, event)
        case e.PlaceFilled():
            return _place_filled(state, event)
        case e.TournamentEnded():
            return replace(state, status=TournamentStatus.ENDED, ended_at=event.at, table=event.table)
        case e.TableCorrected():
            correction = Correction(at=event.at, pairing=event.pairing, reason=event.reason)
            return replace(state, table=event.table, corrections=(*state.corrections, correction))
        case _:
            pairing = state.pairing(event.pairing)
            if pairing is None:
                raise ValueError(f"tournament {state.id} has no pairing {event.pairing}")
            before, after = state.pairings[: event.pairing - 1], state.pairings[event.pairing :]
            return replace(state, pairings=(*before, _pairing_after(pairing, event), *after))


def _player_left(state: TournamentState, event: e.PlayerLeft) -> TournamentState:
    leaver = state.entrant_of(event.player)
    if leaver is None:
        raise ValueError(f"{event.player} leaves tournament {state.id} without being an entrant")
    entrants = list(state.entrants)
    entrants[leaver] = Entrant(player=event.player, left_at=event.at, struck=event.struck)
    return replace(state, entrants=tuple(entrants))


def _place_filled(state: TournamentState, event: e.PlaceFilled) -> TournamentState:
    pairings = list(state.pairings)
    for number in event.replaced:
        pairings[number - 1] = replace(pairings[number - 1], status=PairingStatus.VOID)
    return replace(
        state,
        entries=_without(state.entries, event.player),
        entrants=(*state.entrants, Entrant(player=event.player)),
        pairings=(*pairings, *[PairingState(entrants=entrants) for entrants in event.pairings]),
    )


def _pairing_after(pairing: PairingState, event: _PairingEvent) -> PairingState:
    match event:
        case e.PairingStarted():
            return replace(
                pairing, status=PairingStatus.RUNNING, match=event.match, started_at=event.at, scores=(), flags=()
            )
        case e.ResultRecorded():
            return replace(
                pairing,
                status=PairingStatus.FINISHED,
                ended_at=event.at,
                version=event.version,
                head=event.head,
                scores=event.scores,
                flags=event.flags,
            )
        case e.ResultTakenBack():
            resumed = event.reason == NoResult.RESUMED
            return replace(
                pairing,
                status=PairingStatus.RUNNING if resumed else PairingStatus.VOID,
                version=event.version,
                head=event.head,
                scores=(),
                flags=(),
            )
        case e.PairingForfeited():
            return replace(pairing, status=PairingStatus.FORFEITED, scores=event.scores)
        case e.PairingVoided():
            return replace(pairing, status=PairingStatus.VOID)


def _without(players: tuple[str, ...], player: str) -> tuple[str, ...]:
    return tuple([other for other in players if other != player])
