"""The decisions on commands to a tournament: state and command in, events out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import assert_never

from domain.contest.aggregate import Aggregate
from domain.contest.balance import balance_seats
from domain.contest.entry import refuse_announcement, refuse_entry
from domain.contest.schedules import Pairing, field_size, schedule
from domain.contest.tournament import commands as c, events as e
from domain.contest.tournament.evolve import evolve
from domain.contest.tournament.state import NoResult, PairingState, PairingStatus, TournamentState, TournamentStatus
from domain.contest.tournament.terms import MIN_FIELD, POSTPONEMENT_MS, DropOut, StartRule, check
from domain.match.refusals import CommandError

MAX_WAITING = 64
"""Entries beside those for whom there is a place."""


def decide(state: TournamentState | None, command: c.Command, now: int) -> tuple[e.Event, ...]:
    """Return the events that ``command`` causes at ``now`` (milliseconds since 1970 UTC); none when it changes nothing.

    Time never runs backwards within a tournament. Raises CommandError when the command is not allowed, ValueError when
    there is no seed and one is needed.
    """
    events: tuple[e.Event, ...]
    if isinstance(command, c.AnnounceTournament):
        if state is not None:
            raise CommandError("tournament-exists", "this tournament has been announced already")
        if command.facts is not None:
            refuse_announcement(command.facts)
        check(command.terms, now)
        return (e.TournamentAnnounced(at=now, organiser=command.organiser, terms=command.terms, series=command.series),)
    if state is None:
        raise CommandError("no-such-tournament", "there is no such tournament")
    now = max(now, state.updated_at)
    match command:
        case c.EnterTournament():
            events = _enter(state, command, now)
        case c.LeaveTournament():
            events = _leave(state, command, now)
        case c.CallOffTournament():
            events = _call_off(state, command, now)
        case c.CloseEntries():
            events = _close_entries(state, command, now)
        case c.StartPairing():
            events = _start_pairing(state, command, now)
        case c.RecordMatch():
            events = _record_match(state, command, now)
        case c.ExpirePairings():
            events = _expire(state, now)
        case _:
            assert_never(command)
    return (*events, *_consequences(state, events, now))


def deadline(state: TournamentState) -> int | None:
    """Return the instant at which time makes something due in the tournament; None when nothing will be."""
    if state.status == TournamentStatus.ENTRIES:
        return state.updated_at if _is_full(state) else state.starts_at
    if state.status == TournamentStatus.RUNNING and state.numbers(PairingStatus.WAITING):
        return state.terms.latest_end
    return None


def due(state: TournamentState, now: int) -> c.CloseEntries | c.ExpirePairings | None:
    """Return the command that is due by time at ``now``; None without one."""
    instant = deadline(state)
    if instant is None or now < instant:
        return None
    return c.CloseEntries(seed=None) if state.status == TournamentStatus.ENTRIES else c.ExpirePairings()


def draw_lots(seed: str, players: Iterable[str]) -> tuple[str, ...]:
    """Return ``players`` in the order of the SHA-256 of ``seed/player``: nobody's lot depends on who entered when."""
    return tuple(sorted(players, key=lambda player: sha256(f"{seed}/{player}".encode()).digest()))


def _is_full(state: TournamentState) -> bool:
    return state.terms.start == StartRule.WHEN_FULL and len(state.entries) >= state.terms.most


def _refuse_unless_open(state: TournamentState) -> None:
    if state.status == TournamentStatus.CALLED_OFF:
        raise CommandError("tournament-over", "this tournament was cancelled")
    if state.status != TournamentStatus.ENTRIES:
        raise CommandError("tournament-started", "this tournament has started")


def _call_off(state: TournamentState, command: c.CallOffTournament, now: int) -> tuple[e.Event, ...]:
    if not command.operator and command.player != state.organiser:
        raise CommandError("not-your-tournament", "only who has announced a tournament, or an operator, cancels it")
    _refuse_unless_open(state)
    reason = "by an operator" if command.operator else "by its organiser"
    return (e.TournamentCalledOff(at=now, reason=reason, canceller=command.player, operator=command.operator or None),)


def _enter(state: TournamentState, command: c.EnterTournament, now: int) -> tuple[e.Event, ...]:
    if state.status in (TournamentStatus.ENDED, TournamentStatus.CALLED_OFF):
        raise CommandError("tournament-over", "this tournament is over")
    if command.player in state.entries or state.entrant_of(command.player) is not None:
        return ()
    if any(entrant.player == command.player for entrant in state.entrants):
        raise CommandError("entry-refused", "you have left this tournament")
    if state.status == TournamentStatus.RUNNING and not state.numbers(PairingStatus.WAITING):
        raise CommandError("tournament-started", "all matches of this tournament have started: no place will be free")
    places = state.terms.most if state.status == TournamentStatus.ENTRIES else 0
    if len(state.entries) >= places + MAX_WAITING:
        raise CommandError("entry-refused", f"{MAX_WAITING} people wait for a place already")
    if command.facts is not None:
        refuse_entry(state.terms.entry, command.facts, now)
    return (e.EntryMade(at=now, player=command.player),)


def _leave(state: TournamentState, command: c.LeaveTournament, now: int) -> tuple[e.Event, ...]:
    erased = command.reason == e.Leaving.ERASURE
    if command.player in state.entries:
        return (e.EntryTakenBack(at=now, player=command.player, erased=erased or None),)
    entrant = state.entrant_of(command.player)
    if entrant is None:
        raise CommandError("not-entered", "you have not entered this tournament")
    if state.status != TournamentStatus.RUNNING:
        if erased:
            return ()
        raise CommandError("tournament-over", "this tournament is over")
    paired = [pairing.status for _, pairing in state.pairings_of(entrant) if pairing.status != PairingStatus.VOID]
    is_early = 2 * paired.count(PairingStatus.FINISHED) < len(paired)
    struck = is_early and state.terms.drop_out != DropOut.RESULTS_STAND
    left = e.PlayerLeft(at=now, player=command.player, reason=command.reason, struck=struck)
    waiting = [
        (number, pairing) for number, pairing in state.pairings_of(entrant) if pairing.status == PairingStatus.WAITING
    ]
    if waiting and state.entries:
        return (left, _fill_place(state, entrant, waiting, now))
    return (left, *[_forfeit(number, pairing, entrant, now) for number, pairing in waiting])


def _forfeit(number: int, pairing: PairingState, loser: int, now: int) -> e.PairingForfeited:
    """Return the forfeit of a pairing by ``loser``: all others share the first place."""
    return e.PairingForfeited(at=now, pairing=number, scores=tuple([float(one != loser) for one in pairing.entrants]))


def _fill_place(
    state: TournamentState, left: int, waiting: Sequence[tuple[int, PairingState]], now: int
) -> e.PlaceFilled:
    """Return the takeover, by the first who waits, of the pairings of the entrant ``left`` that have not started.

    At four seats the people of these pairings change seats where all then have their seats more evenly.
    """
    replaced = tuple([number for number, _ in waiting])
    new = len(state.entrants)
    pairings = tuple([tuple([new if one == left else one for one in pairing.entrants]) for _, pairing in waiting])
    if state.terms.seats == 4:
        others = [
            pairing.entrants
            for number, pairing in enumerate(state.pairings, 1)
            if number not in replaced and pairing.status in _PLAYED
        ]
        pairings = min((pairings, balance_seats(pairings)), key=lambda seated: _unevenness((*others, *seated)))
    return e.PlaceFilled(at=now, player=state.entries[0], left=left, replaced=replaced, pairings=pairings)


def _unevenness(pairings: Iterable[Pairing]) -> int:
    """Return the sum, over people and seats, of the squares of how often they have them."""
    times = Counter((one, seat) for pairing in pairings for seat, one in enumerate(pairing))
    return sum(count * count for count in times.values())


def _close_entries(state: TournamentState, command: c.CloseEntries, now: int) -> tuple[e.Event, ...]:
    _refuse_unless_open(state)
    if now < state.starts_at and not _is_full(state):
        raise CommandError("tournament-not-due", "the time of the start has not come")
    terms = state.terms
    size = field_size(terms.form, terms.seats, min(len(state.entries), terms.most))
    if size < terms.least and not state.postponed:
        return (e.StartPostponed(at=now, starts_at=state.starts_at + POSTPONEMENT_MS),)
    if size < min(terms.least, MIN_FIELD[terms.seats]):
        return (e.TournamentCalledOff(at=now, reason=f"because only {len(state.entries)} had entered at the start"),)
    if command.seed is None:
        raise ValueError(f"tournament {state.id} starts, and there is no seed for its lots")
    players = draw_lots(command.seed, state.entries[:size])
    pairings = schedule(terms.form, terms.seats, size)
    return (e.TournamentStarted(at=now, seed=command.seed, players=players, pairings=pairings),)


_PLAYED = (PairingStatus.WAITING, PairingStatus.RUNNING, PairingStatus.FINISHED)


def _pairing_of(state: TournamentState, command: c.StartPairing | c.RecordMatch) -> PairingState:
    pairing = state.pairing(command.pairing)
    if pairing is None or (pairing.match is not None and pairing.match != command.match):
        raise CommandError("no-such-pairing", "this match is none of the tournament's")
    return pairing


def _start_pairing(state: TournamentState, command: c.StartPairing, now: int) -> tuple[e.Event, ...]:
    """Return the start of a pairing. One that was forfeited or given up since its match began counts by its match."""
    if _pairing_of(state, command).match is not None:
        return ()
    return (e.PairingStarted(at=now, pairing=command.pairing, match=command.match),)


def _record_match(state: TournamentState, command: c.RecordMatch, now: int) -> tuple[e.Event, ...]:
    """Return the effect of the match. A version older than the recorded one has none: results come in any order."""
    pairing = _pairing_of(state, command)
    if pairing.match is None:
        raise CommandError("pairing-not-started", "the start of this pairing is not recorded")
    if command.version <= pairing.version:
        return ()
    number, version, head = command.pairing, command.version, command.head
    scores, flags, forfeit = command.scores, command.flags, command.forfeit
    if forfeit is not None:
        scores = tuple([float(seat != forfeit) for seat in range(len(pairing.entrants))])
    if scores is not None:
        recorded = e.ResultRecorded(
            at=now, pairing=number, version=version, head=head, scores=scores, flags=flags, forfeit=forfeit
        )
        return (recorded,)
    if not command.ended and pairing.status == PairingStatus.RUNNING:
        return ()
    reason = NoResult.CALLED_OFF if command.ended else NoResult.RESUMED
    if command.annulled:
        reason = NoResult.ANNULLED
    return (e.ResultTakenBack(at=now, pairing=number, version=version, head=head, reason=reason),)


def _expire(state: TournamentState, now: int) -> tuple[e.Event, ...]:
    if state.status != TournamentStatus.RUNNING or now < state.terms.latest_end:
        raise CommandError("tournament-not-due", "the latest end has not come")
    return tuple(
        e.PairingVoided(at=now, pairing=number, reason=NoResult.EXPIRED)
        for number in state.numbers(PairingStatus.WAITING)
    )


def _consequences(state: TournamentState, events: Sequence[e.Event], now: int) -> tuple[e.Event, ...]:
    """Return the end of the tournament, or the correction of its table, if ``events`` bring it about."""
    after = state
    for event in events:
        after = evolve(after, event, state.id)
    if after.status == TournamentStatus.RUNNING:
        if after.numbers(PairingStatus.WAITING) or after.numbers(PairingStatus.RUNNING):
            return ()
        return (e.TournamentEnded(at=now, table=after.places()),)
    if after.status != TournamentStatus.ENDED or (table := after.places()) == after.table:
        return ()
    match events:
        case [e.ResultTakenBack(pairing=pairing, reason=reason)]:
            return (e.TableCorrected(at=now, table=table, pairing=pairing, reason=reason),)
        case [e.ResultRecorded(pairing=pairing) | e.PairingStarted(pairing=pairing)]:
            return (e.TableCorrected(at=now, table=table, pairing=pairing),)
    raise AssertionError("unreachable: after the end only results change")


def command_behind(state: TournamentState | None, event: e.Event, id: str) -> c.Command:
    """Return the command that causes ``event`` and its consequences. Raises ValueError for an event that is one.

    The facts of an entry were judged when it was made, and are not recorded.
    """
    match event:
        case e.TournamentAnnounced():
            return c.AnnounceTournament(organiser=event.organiser, terms=event.terms, series=event.series)
        case e.EntryMade():
            return c.EnterTournament(player=event.player, facts=None)
        case e.EntryTakenBack():
            reason = e.Leaving.ERASURE if event.erased else e.Leaving.WISH
            return c.LeaveTournament(player=event.player, reason=reason)
        case e.PlayerLeft():
            return c.LeaveTournament(player=event.player, reason=event.reason)
        case e.StartPostponed():
            return c.CloseEntries(seed=None)
        case e.TournamentStarted():
            return c.CloseEntries(seed=event.seed)
        case e.TournamentCalledOff():
            if event.canceller is None:
                return c.CloseEntries(seed=None)
            return c.CallOffTournament(player=event.canceller, operator=bool(event.operator))
        case e.PairingStarted():
            return c.StartPairing(pairing=event.pairing, match=event.match)
        case e.ResultRecorded() | e.ResultTakenBack():
            return _recording(state, event)
        case e.PairingVoided():
            return c.ExpirePairings()
        case _:
            raise ValueError(f"tournament {id}: nothing causes {type(event).__name__} at this place")


def _recording(state: TournamentState | None, event: e.ResultRecorded | e.ResultTakenBack) -> c.RecordMatch:
    pairing = state.pairing(event.pairing) if state else None
    match = (pairing.match if pairing else None) or ""
    number, version, head = event.pairing, event.version, event.head
    if isinstance(event, e.ResultTakenBack):
        ended, annulled = event.reason != NoResult.RESUMED, event.reason == NoResult.ANNULLED
        return c.RecordMatch(
            pairing=number, match=match, version=version, head=head, scores=None, ended=ended, annulled=annulled
        )
    return c.RecordMatch(
        pairing=number,
        match=match,
        version=version,
        head=head,
        scores=event.scores,
        flags=event.flags,
        ended=True,
        forfeit=event.forfeit,
    )


TOURNAMENTS = Aggregate(decide, evolve, deadline, due, command_behind)
"""Tournaments as contests."""
