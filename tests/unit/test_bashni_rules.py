"""The rules of Bashni, by the worked examples of the rules text, and what is refused with which words."""

import pytest

from domain.bashni import GAME, RULESETS
from domain.game import AnyGame, GameOver, IllegalMove, MalformedNotation, Outcome, RulesError

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


def test_only_the_setup_start_exists() -> None:
    assert list(GAME.setups) == ["start"]
    with pytest.raises(KeyError):
        GAME.initial("corner")


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


@pytest.mark.parametrize(
    ("text", "move", "reason"),
    [
        (START, "", "the move ends too early: expected a file from a to h as character 1"),
        (START, "c3", "the move ends too early: expected '-' or, for a capture, 'x' as character 3"),
        (START, "c3-d4 ", "character 6: the move should end before it"),
        (START, "C3-d4", "character 1: expected a file from a to h, found 'C'"),
        (START, "c9-d4", "character 2: expected a rank from 1 to 8, found '9'"),
        (START, "c3:d4", "character 3: expected '-' or, for a capture, 'x', found ':'"),
        (START, "c3xe5-g7", "character 6: expected 'x' and the next landing square, or the end, found '-'"),
        (START, "c3-c4", "character 4: c4 is a light square, which is not used"),
        (START, "c3-d٤", "character 5: expected a rank from 1 to 8, found '٤'"),
        (START, "b6-a5", "b6 holds no column of yours: White is to move"),
        (START, "d4-c5", "d4 is empty"),
        (START, "b2-c3", "c3 is not empty"),
        (START, "c3-e5", "a man moves one square at a time"),
        (START, "c3-c5", "c5 is not on a diagonal with c3"),
        (START, "c3xe5", "c3 has nothing to capture"),
        ("8/8/8/8/3w4/8/8/8 w 0", "d4-c3", "a man moves forward only, unless it captures"),
        ("8/8/8/8/3b4/8/8/8 b 0", "d4-e5", "a man moves forward only, unless it captures"),
        ("8/8/8/8/3w4/8/1W6/8 w 0", "b2-f6", "d4 is in the way"),
        ("8/8/8/4w3/3b3w/8/8/8 w 0", "h4-g5", "a capture is compulsory, such as e5xc3"),
        ("8/8/8/4w3/3b3w/8/8/8 w 0", "h4xf6", "h4 has nothing to capture"),
        ("8/8/8/4w3/3b3w/8/8/8 w 0", "e5xb2", "a man jumps a column beside it and lands right behind it"),
        ("8/8/8/4w3/3b3w/8/8/8 w 0", "e5xg7", "there is nothing to capture between e5 and g7"),
        ("8/8/8/4w3/3b3w/8/8/8 w 0", "e5xe1", "e1 is not on a diagonal with e5"),
        ("8/8/8/8/1b1b4/2w5/8/8 w 0", "c3-b4", "a capture is compulsory, such as c3xa5"),
        (START, "b3-c4", "character 1: b3 is a light square, which is not used"),
        ("8/8/8/2b3b1/1w3w2/8/8/8 w 0", "f4-e5", "a capture is compulsory, such as b4xd6 or f4xh6"),
        ("8/8/5b2/8/1b1b4/2w5/8/8 w 0", "c3xe5", "the capture must go on from e5"),
        ("8/8/5b2/8/1b1b4/2w5/8/8 w 0", "c3xa5xc7", "the capture ends on a5: nothing can be captured from there"),
        ("8/4b3/1b3w2/8/8/8/8/8 w 0", "f6xd8", "the capture must go on from d8"),
        ("8/8/8/8/5b2/2b5/8/W7 w 0", "a1xd4", "a king that can go on capturing must land where it can: on e5"),
        ("5W2/4(bb)3/8/2b5/8/(bww)7/8/8 w 0", "f8xd6xf8", "e7 has been jumped in this move already and is in the way"),
        ("8/8/5b2/8/8/2b5/8/W7 w 0", "a1xg7", "more than one column stands between a1 and g7"),
        ("8/6w1/8/4b3/8/2b5/8/W7 w 0", "a1xh8", "g7 is your own column, which cannot be jumped"),
        ("8/8/8/4w3/8/2b5/8/W7 w 0", "a1xe5", "e5 is not empty"),
    ],
)
def test_a_refused_move_says_why(text: str, move: str, reason: str) -> None:
    assert refused(text, move) == reason


@pytest.mark.parametrize(
    ("text", "move", "reason"),
    [
        (
            "8/8/8/8/3(bb)1(bb)2/2w5/3(bb)1(bb)2/8 w 0",
            "c3xe1xc3xe1",
            "d2 was jumped last: another column must be jumped before it is again",
        ),
        ("5W2/4(bb)3/8/2b5/8/(bww)7/8/8 w 0", "f8xd6xb4", "the capture must go on from b4"),
        (
            "8/8/8/8/3(bw)1b2/2w5/3b1b2/8 w 0",
            "c3xe5xg3xe1xc3xe5",
            "the capture ends on c3: nothing can be captured from there",
        ),
        (
            "8/8/8/6b1/1(bb)6/W5b1/8/8 w 0",
            "a3xe7xh4xf2",
            "a king that can go on capturing must land where it can: on e1",
        ),
        ("8/8/8/6b1/1(bb)6/W5b1/8/8 w 0", "a3-b2", "a capture is compulsory, such as a3xd6xh2"),
    ],
)
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


@pytest.mark.parametrize("unit", ["x", "c3x", "a1xe5x", "(", "9", "c3-", "\n", "ä", " "])
def test_a_very_long_text_is_refused_in_few_words(unit: str) -> None:
    long = (unit * 10_000)[:10_000]
    position = GAME.parse_position("8/8/8/8/5b2/2b5/8/W7 w 0")
    assert len(refused(GAME.format_position(position), long)) < 200
    with pytest.raises(MalformedNotation) as refusal:
        GAME.parse_position(long + "/8/8/8/8/8/8/8 w 0")
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected 3 fields separated by single spaces (board, side, quiet plies)"),
        (START[:-2], "expected 3 fields separated by single spaces (board, side, quiet plies)"),
        (START.replace(" ", "  "), "expected 3 fields separated by single spaces (board, side, quiet plies)"),
        (START + " ", "expected 3 fields separated by single spaces (board, side, quiet plies)"),
        ("8/8/8/8/8/8/8 w 0", "expected 8 ranks separated by '/', got 7"),
        ("8/8/8/8/8/8/8/w6 w 0", "rank 1 has 7 squares, not 8"),
        ("8/8/8/8/8/8/8/w8 w 0", "rank 1 has 9 squares, not 8"),
        ("8/8/8/8/8/8/8/ w 0", "rank 1 has 0 squares, not 8"),
        ("8/8/8/8/8/8/8/w61 w 0", "rank 1 has two digits in a row"),
        ("8/8/8/8/8/8/8/1w6 w 0", "piece on the light square b1"),
        ("8/8/8/8/8/8/8/(w)7 w 0", "rank 1 has a bad token '(w)'"),
        ("8/8/8/8/8/8/8/()7 w 0", "rank 1 has a bad token '()'"),
        ("8/8/8/8/8/8/8/(wb7 w 0", "rank 1 has a bad token '('"),
        ("8/8/8/8/8/8/8/m7 w 0", "rank 1 has a bad token 'm'"),
        ("8/8/8/8/8/8/8/w٧ w 0", "rank 1 has a bad token '٧'"),
        ("9/8/8/8/8/8/8/8 w 0", "rank 8 has a bad token '9'"),
        (
            "8/8/8/8/8/8/8/(wbw)7 w 0",
            "the column on a1 mixes colours; prisoners must lie below all of the owner's pieces",
        ),
        ("1w6/8/8/8/8/8/8/8 w 0", "a man commands the column on b8, its own last row"),
        ("8/8/8/8/8/8/8/(bw)7 w 0", "a man commands the column on a1, its own last row"),
        ("8/8/8/8/8/8/8/(wwwwwwwwwwwww)7 w 0", "more than 12 white pieces"),
        ("1B1(BBB)3B/8/8/8/8/(bbbbbbbb)7/8/8 w 0", "more than 12 black pieces"),
        ("8/8/8/8/8/8/8/w7 x 0", "side to move must be 'w' or 'b'"),
        ("8/8/8/8/8/8/8/w7 w 00", "quiet plies must be a plain number from 0 to 30"),
        ("8/8/8/8/8/8/8/w7 w -1", "quiet plies must be a plain number from 0 to 30"),
        ("8/8/8/8/8/8/8/w7 w 31", "quiet plies must be a plain number from 0 to 30"),
    ],
)
def test_a_refused_position_says_why(text: str, reason: str) -> None:
    with pytest.raises(MalformedNotation) as refusal:
        GAME.parse_position(text)
    assert str(refusal.value) == reason
