"""How moves are played and taken back."""

from dataclasses import replace
from typing import Any

from domain import vector
from domain.match import clock as clocks, events as e, positions
from domain.match.enums import EndReason, RulingKind, Status
from domain.match.state import Ended, MatchResult, MatchState, Offers
from domain.vector import with_value


def match_finished(state: MatchState, event: e.MatchFinished) -> MatchState:
    """Return the match with its result."""
    result = MatchResult(
        scores=event.scores,
        reason=event.reason,
        ended_at=event.at,
        fallen=None if event.reason == EndReason.RULING else state.result.fallen,
    )
    return _ended(state, Status.FINISHED, result, event.at)


def match_aborted(state: MatchState, event: e.MatchAborted) -> MatchState:
    """Return the match cancelled."""
    result = replace(state.result, reason=EndReason.ABORTED, ended_at=event.at)
    return _ended(state, Status.ABORTED, result, event.at)


def match_annulled(state: MatchState, event: e.MatchAnnulled) -> MatchState:
    """Return the match without a result, and with how it stood before."""
    before = state.result
    result = MatchResult(
        reason=EndReason.ANNULLED,
        ended_at=event.at if before.ended_at is None else before.ended_at,
        fallen=before.fallen,
        annulled=Ended(status=state.status, scores=before.scores, reason=before.reason, ended_at=before.ended_at),
    )
    return _ended(state, Status.ABORTED, result, event.at)


def match_restored(state: MatchState, event: e.MatchRestored) -> MatchState:
    """Return the match as it stood before it was annulled."""
    before = state.result.annulled
    if before is None:
        raise ValueError(f"match {state.match_id} is restored at version {state.version + 1} but was not annulled")
    result = MatchResult(
        scores=before.scores, reason=before.reason, ended_at=before.ended_at, fallen=state.result.fallen
    )
    state = replace(state, status=before.status, result=result)
    if state.status != Status.PLAYING:
        return state
    return state.on_clock(clocks.start, positions.to_move(state), event.at)


def reopened(state: MatchState) -> MatchState:
    """Return the match as one that is played on after its end; an annulment stays."""
    return replace(state, status=Status.PLAYING, result=MatchResult(annulled=state.result.annulled))


def without_proposals(offers: Offers) -> Offers:
    """Return ``offers`` with neither a draw on offer nor a request to take moves back."""
    return replace(offers, draw_agreed=(), takeback=None)


def _ended(state: MatchState, status: Status, result: MatchResult, at: int) -> MatchState:
    state = replace(state, status=status, result=result, offers=without_proposals(state.offers))
    return state.on_clock(clocks.stop, at)


def move_submitted(state: MatchState, event: e.MoveSubmitted, position: Any = None) -> MatchState:
    """Return the match with the move played; ``position`` is the one that it leads to, where that is known already."""
    # Nearly all events are moves, and ``replace`` costs twice as much as to name all fields.
    play = positions.with_move(
        state,
        event.move,
        position,
        last_ply=with_value(state.play.last_ply, event.seat, event.ply),
        channels=vector.with_item(state.play.channels, event.channel),
    )
    breaks = play.broken is not None and state.play.broken is None
    offers = _offers_after_move(state.offers, event.seat)
    clock, game = state.clock, positions.rules_in_play(state, play)
    if breaks:
        clock = clocks.pass_turn(clock, None, event.at)
    # A turn of several plies, such as setting up an army piece by piece, is one move for the clock.
    if game is None or not game.is_mid_turn(play.position):
        clock = clocks.move(clock, event.seat, None if game is None else game.to_move(play.position), event.at)
    return MatchState(
        match_id=state.match_id,
        version=state.version + 1,
        creator=state.creator,
        game=state.game,
        ruleset=state.ruleset,
        setup=state.setup,
        rated=state.rated,
        private=state.private,
        seed=state.seed,
        rematch_of=state.rematch_of,
        occasion=state.occasion,
        status=state.status,
        created_at=state.created_at,
        updated_at=event.at,
        seats=state.seats,
        play=play,
        offers=without_proposals(offers) if breaks else offers,
        result=state.result,
        cases=state.cases,
        clock=clock,
    )


def _offers_after_move(offers: Offers, seat: int) -> Offers:
    """Return ``offers`` after a move of ``seat``, which declines the proposals of others."""
    draw_agreed = offers.draw_agreed if seat in offers.draw_agreed else ()
    if draw_agreed == offers.draw_agreed and offers.takeback is None and not any(offers.gifts):
        return offers
    return replace(offers, draw_agreed=draw_agreed, takeback=None, gifts=(0,) * len(offers.gifts))


def player_resigned(state: MatchState, event: e.PlayerResigned) -> MatchState:
    """Return the match without the seat."""
    return positions.without_seat(state, event.seat, event.at)


def moves_taken_back(state: MatchState, event: e.MovesTakenBack) -> MatchState:
    """Return the match as it goes on from the position after ``event.ply`` plies."""
    ply, play = event.ply, positions.taken_back(state, event.ply)
    disputes = tuple(
        dispute if dispute.settled is None else replace(dispute, settled=min(dispute.settled, ply))
        for dispute in state.cases.disputes
    )
    offers = replace(
        without_proposals(state.offers),
        draw_offered_at=_at_most(state.offers.draw_offered_at, ply),
        takeback_asked_at=_at_most(state.offers.takeback_asked_at, ply),
    )
    state = replace(reopened(state), play=play, offers=offers, cases=replace(state.cases, disputes=disputes))
    by_ruling = any(
        (ruling.ruling, ruling.at) == (RulingKind.TAKE_BACK, event.at)
        for dispute in disputes
        for ruling in dispute.rulings
    )
    return state.on_clock(clocks.revive if by_ruling else clocks.pass_turn, positions.to_move(state), event.at)


def _at_most(plies: tuple[int | None, ...], ply: int) -> tuple[int | None, ...]:
    return tuple(None if number is None else min(number, ply) for number in plies)
