"""The review of a finished match: losses, labels, accuracy, turning points."""

from typing import Any

import pytest

from domain.games import GAMES
from domain.review import Finding, MoveLabel, examine, judge
from domain.review.judgement import MIN_COUNTED_MOVES, NOISE
from domain.search.expectation import POINT

BASHNI = GAMES["bashni"]
NODES = 400


def finding(ply: int, loss: int = 0, expected: tuple[int, int] = (5000, 5000), **changes: Any) -> Finding:
    """Return what was found at a ply of a match of two, with four moves of which one looks best."""
    best = "b" if loss else "a"
    return Finding(ply, 1 - ply % 2, "a", best, expected, loss, 0, 4, 1, ("a",), (best,), (), NODES)._replace(**changes)


def test_losses_have_the_labels_of_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NOISE, "bashni", 100)
    losses = [0, 499, 500, 999, 1_000, 1_499, 1_500, POINT]
    review = judge("bashni", [finding(ply, loss) for ply, loss in enumerate(losses, 1)], (1, 0))
    inaccuracy, mistake, blunder = MoveLabel
    expected = [None, None, inaccuracy, inaccuracy, mistake, mistake, blunder, blunder]
    assert [move.label for move in review.moves] == expected


def test_no_label_is_given_within_three_deviations_of_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NOISE, "bashni", 400)
    labels = [judge("bashni", [finding(1, loss)], (1, 0)).moves[0].label for loss in (1_199, 1_200)]
    assert labels == [None, MoveLabel.MISTAKE]


def test_a_forced_move_is_not_judged() -> None:
    review = judge("bashni", [finding(1, 0, choices=1, near_best=1)], (1, 0))
    assert not review.moves[0].judged
    assert review.seats[0].counted == 0


def test_a_move_is_the_only_one_where_the_next_best_loses_much() -> None:
    plies = [finding(1, rival_loss=3000), finding(2, rival_loss=100), finding(3, 2000, rival_loss=3000)]
    assert [move.only for move in judge("bashni", plies, (1, 0)).moves] == [True, False, False]


def test_an_accuracy_is_given_from_eight_counted_moves_on() -> None:
    plies = [finding(ply) for ply in range(1, 2 * MIN_COUNTED_MOVES)]
    first, second = judge("bashni", plies, (1, 0)).seats
    assert (first.counted, first.accuracy) == (8, 1000)
    assert (second.counted, second.accuracy) == (7, None)


def test_moves_at_which_there_was_nothing_to_choose_count_for_nothing() -> None:
    equal = [finding(ply, 4000, near_best=4) for ply in range(1, 40)]
    assert [seat.counted for seat in judge("bashni", equal, (1, 0)).seats] == [0, 0]


def test_accuracy_follows_the_loss_and_weighs_the_choice() -> None:
    tenth = judge("bashni", [finding(2 * number + 1, 1000) for number in range(10)], (1, 0)).seats[0]
    assert tenth.accuracy == 647
    plies = [finding(2 * number + 1, 1000 * (number % 2), near_best=1 + 2 * (number % 2)) for number in range(20)]
    weighted = judge("bashni", plies, (1, 0)).seats[0].accuracy
    assert weighted is not None
    assert 900 < weighted < 1000


def test_the_three_largest_changes_for_the_leader_are_turning_points() -> None:
    values = [5000, 7000, 4000, 4500, 9000, 1000]
    plies = [finding(ply, 600, expected=(value, POINT - value)) for ply, value in enumerate(values, 1)]
    assert judge("bashni", plies, (0, 1)).turning_points == (2, 4, 5)
    quiet = [each._replace(loss=0) for each in plies]
    assert judge("bashni", quiet, (0, 1)).turning_points == ()
    assert judge("bashni", plies[:1], (0.5, 0.5)).turning_points == ()


def test_the_points_at_the_end_are_those_of_the_result() -> None:
    assert judge("bashni", [finding(1)], (0.5, 0.5)).expected[-1] == (5000, 5000)
    assert judge("bashni", [finding(1)], (1, 0)).expected[-1] == (10000, 0)


def test_the_played_move_never_gains_on_the_best_and_is_found_alike_twice() -> None:
    for game in GAMES.values():
        position = game.initial(next(iter(game.setups)))
        for move in list(game.legal_moves(position))[:2]:
            found = examine(game, position, (), move, NODES)
            assert found.loss >= 0
            assert len(found.expected) == game.seats_at(position)
            assert (found.loss == 0) or found.best != found.played
            assert found == examine(game, position, (), move, NODES)


def test_what_a_blunder_loses_is_named_among_the_differences() -> None:
    position, history = BASHNI.initial("start"), []
    for text in ("c3-d4", "b6-a5"):
        history.append(position)
        position = BASHNI.play(position, BASHNI.parse_move(position, text))
    found = examine(BASHNI, position, history, BASHNI.parse_move(position, "a3-b4"), 1500)
    assert found.loss > 1500
    named = {(each.title, each.seat) for each in found.differences}
    assert ("Prisoners", 1) in named or ("Prisoners", 0) in named
    assert all(each.after_played != each.after_best for each in found.differences)
    assert {each.title for each in found.differences} <= {"Columns", "Prisoners"}, (
        "what leads to a draw explains no loss"
    )


def test_a_proven_win_that_was_missed_is_shown_with_its_line() -> None:
    position = BASHNI.parse_position("7b/b3(wwwwbbb)3/8/8/5(wwwww)2/2(bw)5/5(WwbbBbbB)2/8 w 0")
    found = examine(BASHNI, position, (), BASHNI.parse_move(position, "f2-g3"), 1200)
    assert found.missed_win[0] == "f2-b6"
    for text in found.missed_win:
        position = BASHNI.play(position, BASHNI.parse_move(position, text))
    outcome = BASHNI.outcome(position, ())
    assert outcome is not None
    assert outcome.scores == (1.0, 0.0)
