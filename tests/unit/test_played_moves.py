"""The list of moves on the page of a match: rounds, and what has happened since the own last move."""

from api.pages.played_moves import Played, played_moves, rounds, runs_since
from domain.games import find_ruleset
from domain.match.commands import SubmitMoves
from domain.match.state import MatchState
from tests.support.matches import FOUR, PlayedMatch, started, started_by_four


def listed(state: MatchState) -> list[list[str]]:
    """Return the rounds with the moves of each turn as one text."""
    game = find_ruleset(state.game, state.ruleset)
    return [
        [" ".join(move.move for move in turn) for turn in cells] for cells in rounds(state, game, played_moves(state))
    ]


def drafted(armies: int) -> PlayedMatch:
    """Return a match of Fourplay in which that many armies have been set up."""
    match = started_by_four(game="fourplay", setup="draft")
    for player in FOUR[:armies]:
        draft = find_ruleset("fourplay", 1).draft(match.state.play.position)
        assert draft is not None
        match.do(SubmitMoves(player=player, moves=(*draft.ready, draft.done)))
    return match


def test_moves_are_listed_in_rounds() -> None:
    match = started()
    match.move("alice", "c3-d4")
    match.move("bob", "b6-a5")
    match.move("alice", "d4-c5")
    assert listed(match.state) == [["c3-d4", "b6-a5"], ["d4-c5", ""]]


def test_an_army_is_one_turn_of_a_round() -> None:
    match = drafted(4)
    match.move(FOUR[0], "a1-a2")
    first, second = listed(match.state)
    assert [turn.count("@") for turn in first] == [16] * 4
    assert {turn.split()[-1] for turn in first} == {"done"}
    assert second == ["a1-a2", "", "", ""]


def test_moves_since_the_own_last_one_are_told_by_seat_and_an_army_by_its_last_move() -> None:
    match = drafted(4)
    played = played_moves(match.state)
    assert [(run.seat, run.moves, [move.move for move in run.named]) for run in runs_since(played, 0)] == [
        (1, 17, ["done"]),
        (2, 17, ["done"]),
        (3, 17, ["done"]),
    ]
    assert runs_since(played, 3) == []
    bashni = started()
    bashni.move("alice", "c3-d4")
    assert [(run.seat, run.moves, run.named) for run in runs_since(played_moves(bashni.state), 1)] == [
        (0, 1, [Played(1, 0, "c3-d4", None)])
    ]
