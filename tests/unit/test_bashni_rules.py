"""The rules of Bashni, by the worked examples of the rules text, and what is refused with which words."""

import pytest

from domain.bashni import GAME, RULESETS
from domain.errors import GameOver, IllegalMove, MalformedNotation, RulesError
from domain.game import AnyGame, Outcome
from tests.support.tables import table

Bashni = AnyGame

START = "1b1b1b1b/b1b1b1b1/1b1b1b1b/8/8/w1w1w1w1/1w1w1w1w/w1w1w1w1 w 0"


def moves_of(text: str, game: Bashni = GAME) -> list[str]:
    position = game.parse_position(text)
    return [game.format_move(position, move) for move in game.legal_moves(position)]


def after(text: str, *moves: str, game: Bashni = GAME) -> str:
    position = game.parse_position(text)
    for move in moves:
        position = game.play(position, game.parse_move(position, move))
    return game.format_position(position)


def refused(text: str, move: str, game: Bashni = GAME) -> str:
    with pytest.raises(RulesError) as refusal:
        game.parse_move(game.parse_position(text), move)
    return str(refusal.value)


def test_the_start_has_twelve_men_a_side_and_white_to_move() -> None:
    assert GAME.format_position(GAME.initial("start")) == START
    assert GAME.to_move(GAME.initial("start")) == 0
    assert (GAME.seats, GAME.seat_names) == (2, ("White", "Black"))


def test_two_orders_of_capture_bury_a_king_at_different_depths() -> None:
    round_trip = "8/8/8/8/3b1b2/2w5/3B1b2/8 w 0"
    assert after(round_trip, "c3xe1xg3xe5xc3") == "8/8/8/8/8/2(wBbbb)5/8/8 b 0"
    assert after(round_trip, "c3xe5xg3xe1xc3") == "8/8/8/8/8/2(wbbbB)5/8/8 b 0"


def test_a_man_crowned_in_a_capture_goes_on_as_a_king() -> None:
    assert after("8/4b3/1b3w2/8/8/8/8/8 w 0", "f6xd8xa5") == "8/8/8/(Wbb)7/8/8/8/8 b 0"


def test_captures_of_a_man_crowned_on_its_way_are_sorted_too() -> None:
    found = moves_of("8/b3(Bw)1B1/1b1w4/4(ww)1(BwW)1/1(bww)1(bw)4/8/1(Bww)3b1(Bbbw)/8 w 29")
    assert len(found) > 2
    assert found == sorted(found)


def test_the_third_occurrence_and_not_the_second_is_a_draw() -> None:
    position = GAME.parse_position("1B6/8/8/8/8/8/8/W7 w 0")
    history = []
    outcomes = []
    for move in ("a1-b2", "b8-a7", "b2-a1", "a7-b8") * 2:
        history.append(position)
        position = GAME.play(position, GAME.parse_move(position, move))
        outcomes.append(GAME.outcome(position, history))
    assert outcomes == [None] * 7 + [Outcome((0.5, 0.5), "repetition")]


def test_the_same_board_with_the_other_side_to_move_is_another_position() -> None:
    white, black = (GAME.parse_position(f"1B6/8/8/8/8/8/8/W7 {side} 4") for side in "wb")
    assert GAME.key(white) != GAME.key(black)
    assert GAME.outcome(white, [black, black]) is None


def test_the_draw_counter_does_not_tell_positions_apart() -> None:
    early, late = (GAME.parse_position(f"1B6/8/8/8/8/8/8/W7 w {halfmove_clock}") for halfmove_clock in (0, 8))
    assert GAME.key(early) == GAME.key(late)
    assert early != late


def test_a_player_without_a_column_has_lost_before_any_draw_is_looked_at() -> None:
    position = GAME.parse_position("8/8/8/8/8/8/8/W7 b 30")
    assert GAME.outcome(position, [position, position]) == Outcome((1.0, 0.0), "no-moves")


def test_a_full_counter_is_examined_before_repetition() -> None:
    position = GAME.parse_position("1B6/8/8/8/8/8/1W6/8 b 30")
    assert GAME.outcome(position, [position, position]) == Outcome((0.5, 0.5), "no-progress")


def test_a_king_that_can_only_go_backwards_can_move() -> None:
    assert GAME.outcome(GAME.parse_position("7W/8/8/8/8/8/8/8 w 0"), ()) is None
    assert GAME.outcome(GAME.parse_position("7W/6b1/5b2/8/8/8/8/8 w 0"), ()) == Outcome((0.0, 1.0), "no-moves")


@pytest.mark.parametrize(("text", "move", "reason"), table(__file__, "a refused move says why"))
def test_a_refused_move_says_why(text: str, move: str, reason: str) -> None:
    assert refused(text, move) == reason


@pytest.mark.parametrize(("text", "move", "reason"), table(__file__, "ruleset 2 says why too"))
def test_ruleset_2_says_why_too(text: str, move: str, reason: str) -> None:
    assert refused(text, move, RULESETS[1]) == reason


@pytest.mark.parametrize(
    ("text", "move", "kind"),
    [
        (START, "c3:d4", MalformedNotation),
        (START, "c3-e5", IllegalMove),
        ("1B6/8/8/8/8/8/1W6/8 b 30", "b8-a7", GameOver),
        ("8/8/8/2b5/1b6/w7/8/8 w 0", "a3xc5", GameOver),
        ("8/8/8/2b5/1b6/w7/8/8 w 0", "a3", MalformedNotation),
    ],
)
def test_a_refusal_is_of_the_kind_that_tells_form_rules_and_end(text: str, move: str, kind: type[RulesError]) -> None:
    with pytest.raises(kind) as refusal:
        GAME.parse_move(GAME.parse_position(text), move)
    assert refusal.type is kind


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a refused position says why"))
def test_a_refused_position_says_why(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation) as refusal:
        GAME.parse_position(text)
    assert str(refusal.value) == reason
