"""Turns of several plies: submitted at once, all or none, and one move for the clock."""

import pytest

from domain.fourplay import GAME
from domain.games import GAMES
from domain.match import events as e
from domain.match.clock import forecast
from domain.match.commands import AcceptTakeback, RequestTakeback, SubmitMove, SubmitMoves
from domain.match.decisions.moves import MAX_MOVES_PER_SUBMISSION
from domain.match.enums import Channel
from domain.match.lines import ConditionalMoves
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from domain.match.terms import DAY, HOUR, STANDARD, Terms, days_per_move
from domain.presentation import ArmyDraft
from tests.support.matches import FOUR, PlayedMatch, started, started_by_four

RED, BLUE = FOUR[0], FOUR[1]
BANK = STANDARD._replace(bank=10 * DAY, increment=DAY, cap=20 * DAY)


def drafting(terms: Terms = STANDARD) -> PlayedMatch:
    """Return a match of Fourplay in which Red has to set up an army."""
    return started_by_four(terms, "fourplay", "draft")


def offered(match: PlayedMatch) -> ArmyDraft:
    draft = GAME.draft(match.state.play.position)
    assert draft is not None
    return draft


def army(match: PlayedMatch) -> tuple[str, ...]:
    """Return the ready-made army of the seat to move, with which its turn ends."""
    draft = offered(match)
    return (*draft.ready, draft.done)


def refusal(match: PlayedMatch, player: str, *moves: str) -> str:
    """Return code, field and reason of the refusal of ``moves``, which must change nothing."""
    before = match.state
    with pytest.raises(CommandError) as refused:
        match.do(SubmitMoves(player=player, moves=moves))
    assert match.state == before
    return f"{refused.value.code} {refused.value.field}: {refused.value}"


def remaining(state: MatchState, seat: int) -> int:
    """Return the time of a seat when its last turn had ended."""
    assert state.clock is not None
    return state.clock.remaining[seat]


def test_a_whole_army_is_recorded_as_if_its_pieces_had_been_placed_one_by_one() -> None:
    at_once, one_by_one = drafting(), drafting()
    moves = army(at_once)
    happened = at_once.do(SubmitMoves(player=RED, moves=moves, channel=Channel.API, offer_draw=True))
    assert happened == (
        *(
            e.MoveSubmitted(at=at_once.now, seat=0, ply=ply, move=move, channel=Channel.API)
            for ply, move in enumerate(moves, 1)
        ),
        e.DrawOffered(at=at_once.now, seat=0),
    )
    one_by_one.move(RED, *moves)
    assert at_once.state.play.position == one_by_one.state.play.position
    assert at_once.state.play.moves == one_by_one.state.play.moves
    assert GAME.to_move(at_once.state.play.position) == 1


@pytest.mark.parametrize("seat", range(4))
def test_the_ready_made_army_is_legal_in_every_quadrant(seat: int) -> None:
    match = drafting()
    for player in FOUR[: seat + 1]:
        match.do(SubmitMoves(player=player, moves=army(match)))
    assert GAME.to_move(match.state.play.position) == (seat + 1) % 4


def test_the_first_wrong_move_is_named_by_its_place_and_none_is_played() -> None:
    match = drafting()
    assert refusal(match, RED, "K@a1", "Q@b2", "Q@c3").startswith("illegal-move moves.2: you have 1 of Queen already")
    assert refusal(match, RED, "K@a1", "Q@b99").startswith("malformed-move moves.1: 'Q@b99' is no move")
    assert refusal(match, RED, "Q@b2", "K@a1") == "illegal-move moves.0: the King must be placed first"
    assert refusal(match, BLUE, "K@a9") == "not-your-turn None: it is not your turn: Red is to move"


def test_a_list_in_which_another_seat_would_have_to_move_is_refused() -> None:
    match = drafting()
    moves = (*army(match), "K@a9")
    assert refusal(match, RED, *moves) == (
        f"not-your-turn moves.{len(moves) - 1}: it is not your turn: Blue is to move"
    )
    assert refusal(started(), "alice", "c3-d4", "b6-a5") == (
        "not-your-turn moves.1: it is not your turn: Black is to move"
    )


@pytest.mark.parametrize("moves", [(), ("K@a1",) * (MAX_MOVES_PER_SUBMISSION + 1)])
def test_the_length_of_a_submission_is_limited(moves: tuple[str, ...]) -> None:
    assert refusal(drafting(), RED, *moves) == "malformed-move moves: submit 1 to 64 moves at a time"


def test_what_seats_have_laid_down_follows_the_whole_submission() -> None:
    match = drafting()
    match.orders[0] = ConditionalMoves(forced=True)
    *placements, _ = army(match)
    happened = match.do(SubmitMoves(player=RED, moves=tuple(placements)))
    assert [event.channel for event in happened if isinstance(event, e.MoveSubmitted)][-2:] == [None, "forced"]
    assert GAME.to_move(match.state.play.position) == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_an_army_brings_one_increment_when_it_is_complete(at_once: bool) -> None:
    match = drafting(BANK)
    began, moves = match.now, army(match)
    if at_once:
        match.do(SubmitMoves(player=RED, moves=moves), at=began + 2 * DAY)
    else:
        for number, move in enumerate(moves, 1):
            assert remaining(match.state, 0) == 10 * DAY
            match.do(SubmitMove(player=RED, move=move), at=began + 2 * DAY * number // len(moves))
    assert remaining(match.state, 0) == 9 * DAY
    assert match.state.clock is not None
    assert match.state.clock.since == began + 2 * DAY


def test_the_deadline_stays_where_it_is_until_the_army_is_complete() -> None:
    match = drafting(days_per_move(3))
    before = forecast(match.state.clock) if match.state.clock else None
    match.do(SubmitMove(player=RED, move="K@b2"), at=match.now + DAY)
    match.do(SubmitMove(player=RED, move="Q@b3"), at=match.now + DAY)
    assert match.state.clock is not None
    assert forecast(match.state.clock) == before
    with pytest.raises(CommandError, match="the time of Red is up"):
        match.do(SubmitMove(player=RED, move="R@b4"), at=match.now + DAY)


def test_the_turn_begins_anew_when_a_placement_is_taken_back() -> None:
    match = drafting(BANK._replace(takebacks=True))
    began = match.now
    match.do(SubmitMove(player=RED, move="K@b2"), at=began + DAY)
    match.do(RequestTakeback(player=RED), at=began + DAY)
    for player in FOUR[1:]:
        match.do(AcceptTakeback(player=player), at=began + DAY)
    assert remaining(match.state, 0) == 9 * DAY
    match.do(SubmitMoves(player=RED, moves=army(match)), at=began + DAY + HOUR)
    assert remaining(match.state, 0) == 10 * DAY - HOUR


def test_a_seat_that_moves_again_because_all_others_are_skipped_begins_another_turn() -> None:
    for game in GAMES.values():
        for setup in game.setups:
            position = game.initial(setup)
            assert not game.is_mid_turn(position)
            if game.draft(position) is None:
                move = next(iter(game.legal_moves(position)))
                assert not game.is_mid_turn(game.play(position, move))


def test_a_draft_says_all_that_an_army_must_fulfil() -> None:
    match = drafting()
    match.do(SubmitMoves(player=RED, moves=army(match)))
    fresh = offered(match)
    assert (fresh.first, fresh.budget, fresh.least, fresh.placed, fresh.done) == ("K", 60, 51, {}, "done")
    kinds = {piece.code: piece for piece in fresh.pieces}
    assert [f"{piece.code} {piece.price} {piece.limit} {len(piece.squares)}" for piece in fresh.pieces] == [
        *("K 0 1 49", "A 10 2 49", "Dg 7 2 49", "Q 15 1 49", "Mu 7 7 49", "G 1 6 49", "R 5 2 49", "B 3 2 49"),
        *(", 1 4 48", "VM 2 4 49", "HM 2 4 49"),
    ]
    assert "a15" in kinds["K"].squares
    assert "a15" not in kinds[","].squares
    assert kinds["Q"].title == "Queen"
    assert kinds["Q"].piece.title == "blue Queen"
    for piece in fresh.pieces:
        if piece.code != "K":
            continue
        open_now = {f"{piece.code}@{square}" for square in piece.squares}
        assert open_now == set(match.legal_moves())
    match.move(BLUE, "K@a15", "Q@b14")
    going_on = offered(match)
    assert going_on.placed == {"a15": "K", "b14": "Q"}
    assert going_on.ready == ()
    open_now = {
        f"{piece.code}@{square}"
        for piece in going_on.pieces
        for square in piece.squares
        if square not in going_on.placed and list(going_on.placed.values()).count(piece.code) < piece.limit
    }
    assert open_now == set(match.legal_moves())
