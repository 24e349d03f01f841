"""The Tower Game for people: which position strings and which moves are read, and why the others are not."""

import pytest

from domain.errors import GameOver, IllegalMove, MalformedNotation, RulesError
from domain.tower_game import GAME
from tests.support.tables import table

EMPTY = "5/5/5/5/5"
PAWNS = "ppppp/ppppp/ppppp/ppppp/ppppp"
MIDDLE = f"{PAWNS}|{EMPTY}|{EMPTY}|{EMPTY}|{EMPTY}|{PAWNS.upper()}"
CASTLES = f"r3r/5/2k2/5/r3r|{MIDDLE}|R3R/5/2K2/5/R3R"
ALL_RIGHTS = "aa1,ae1,ea1,ee1,aa8,ae8,ea8,ee8"
PASSED_CC6 = f"4k/5/5/5/5|{EMPTY}|{EMPTY}|5/2P2/2p2/5/5|{EMPTY}|{EMPTY}|{EMPTY}|5/2K2/5/5/5 w - cc6 0"
PASSED_CC3 = f"4k/5/5/5/5|{EMPTY}|{EMPTY}|{EMPTY}|5/2p2/2P2/5/5|{EMPTY}|{EMPTY}|5/5/5/5/K4 b - cc3 0"
ROOKS = f"4k/5/2R2/5/5|5/5/5/5/p4|{EMPTY}|{EMPTY}|5/5/R1n2/5/5|{EMPTY}|{EMPTY}|5/5/2R2/5/K4 w - - 0"


def with_men(**men: str) -> str:
    """Return the string of a position in which White is to move, with the Kings on aa1 and ee8 and ``men`` by cube."""
    board = {"aa1": "K", "ee8": "k", **men}
    ranks = [
        "/".join("".join(board.get(column + row + rank, " ") for column in "abcde") for row in "edcba")
        for rank in "87654321"
    ]
    text = "|".join(ranks)
    for run in range(5, 0, -1):
        text = text.replace(" " * run, str(run))
    return f"{text} w - - 0"


def refusal(text: str) -> str:
    with pytest.raises(MalformedNotation) as refused:
        GAME.parse_position(text)
    return str(refused.value)


@pytest.mark.parametrize(("text", "reason"), table(__file__, "a position that is spelled otherwise is refused"))
def test_a_position_that_is_spelled_otherwise_is_refused_with_the_place_and_the_reason(text: str, reason: str) -> None:
    assert reason in refusal(text)


@pytest.mark.parametrize(("old", "new", "reason"), table(__file__, "a passed cube is refused unless a pawn has passed"))
def test_a_passed_cube_is_refused_unless_a_pawn_has_passed_and_may_be_taken(old: str, new: str, reason: str) -> None:
    assert GAME.format_position(GAME.parse_position(PASSED_CC6)) == PASSED_CC6
    assert reason in refusal(PASSED_CC6.replace(old, new, 1))


@pytest.mark.parametrize(("old", "new", "reason"), table(__file__, "a cube passed by a white pawn is looked at from"))
def test_a_cube_passed_by_a_white_pawn_is_looked_at_from_the_other_side(old: str, new: str, reason: str) -> None:
    assert GAME.format_position(GAME.parse_position(PASSED_CC3)) == PASSED_CC3
    assert reason in refusal(PASSED_CC3.replace(old, new, 1))


@pytest.mark.parametrize(
    "men", table(__file__, "a position is refused when the side not to move is in check from any man")
)
def test_a_position_is_refused_when_the_side_not_to_move_is_in_check_from_any_man(men: dict[str, str]) -> None:
    text = with_men(**men)
    assert refusal(text) == "the King on ee8 is in check although the other side is to move"
    if "K" not in men.values():
        assert GAME.in_check(GAME.parse_position(text.replace(" w ", " b ")))


@pytest.mark.parametrize("men", table(__file__, "a pawn straight ahead and riders behind a man give no check"))
def test_a_pawn_straight_ahead_and_riders_behind_a_man_give_no_check(men: dict[str, str]) -> None:
    position = GAME.parse_position(with_men(**men))
    assert list(GAME.legal_moves(position))
    assert not GAME.in_check(GAME.parse_position(with_men(**men).replace(" w ", " b ")))


@pytest.mark.parametrize("text", table(__file__, "numbers of men and ended games are no reason to refuse a position"))
def test_numbers_of_men_and_ended_games_are_no_reason_to_refuse_a_position(text: str) -> None:
    assert GAME.format_position(GAME.parse_position(text)) == text


@pytest.mark.parametrize("setup", ["original", "alternate"])
def test_the_starts_have_blacks_men_opposite_to_whites_and_the_bishops_exchanged(setup: str) -> None:
    men = {name: column[0].kind for name, column in GAME.scene(GAME.initial(setup)).columns.items()}
    exchanged = {"bishop": "merchant", "merchant": "bishop"} if setup == "original" else {}
    assert len(men) == 100
    assert {name[:2]: men[name] for name in men if name[2] == "8"} == {
        name[:2]: exchanged.get(men[name], men[name]) for name in men if name[2] == "1"
    }
    assert {men[name] for name in men if name[2] in "27"} == {"pawn"}
    assert (men["cc1"], men["cc8"]) == ("monarch", "monarch")
    assert GAME.format_position(GAME.initial(setup)).endswith(f" w {ALL_RIGHTS} - 0")


@pytest.mark.parametrize(("position", "text", "move"), table(__file__, "a move is read with spaces marks and a longer"))
def test_a_move_is_read_with_spaces_marks_and_a_longer_prefix_than_needed(position: str, text: str, move: str) -> None:
    standing = GAME.parse_position(position)
    assert GAME.format_move(standing, GAME.parse_san(standing, text, None)) == move


@pytest.mark.parametrize(("position", "texts"), table(__file__, "a move that is written otherwise or is none"))
def test_a_move_that_is_written_otherwise_or_is_none_or_several_is_refused(position: str, texts: str) -> None:
    standing = GAME.parse_position(position)
    read = []
    for text in texts.split(" "):
        try:
            read.append((text, GAME.format_move(standing, GAME.parse_san(standing, text, None))))
        except RulesError:
            continue
    assert read == []


@pytest.mark.parametrize("text", ["O-B", "O-M", "O-C"])
def test_a_castling_name_that_differs_between_the_setups_asks_for_the_kings_move(text: str) -> None:
    standing = GAME.parse_position(f"{CASTLES} w {ALL_RIGHTS} - 0")
    with pytest.raises(IllegalMove, match="names different Rooks in the two setups: write the King's move instead"):
        GAME.parse_san(standing, text, None)


@pytest.mark.parametrize(("setup", "move"), [("original", "cc1-ee1"), ("alternate", "cc1-aa1")])
def test_a_match_reads_a_castling_name_after_its_setup(setup: str, move: str) -> None:
    standing = GAME.parse_position(f"{CASTLES} w {ALL_RIGHTS} - 0")
    assert GAME.format_move(standing, GAME.read_move(standing, "O-B", setup)) == move


def test_a_castling_name_never_means_another_man_that_stands_on_the_kings_home() -> None:
    standing = GAME.parse_position(f"4k/5/5/5/5|{MIDDLE}|5/5/2B2/5/K4 w - - 0")
    assert GAME.format_move(standing, GAME.parse_san(standing, "Bee1", None)) == "cc1-ee1"
    with pytest.raises(IllegalMove, match="the King is not on cc1: it cannot castle"):
        GAME.parse_san(standing, "O-B", "original")


def test_the_refusal_distinguishes_several_moves() -> None:
    with pytest.raises(IllegalMove, match="could be several moves: write acRxcc4 or cc1Rxcc4 or cc8Rxcc4"):
        GAME.parse_san(GAME.parse_position(ROOKS), "Rxcc4", None)


@pytest.mark.parametrize(("position", "text", "reason"), table(__file__, "a refusal says what is wrong with the one"))
def test_a_refusal_says_what_is_wrong_with_the_one_move_meant(position: str, text: str, reason: str) -> None:
    standing = GAME.parse_position(position)
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse_san(standing, text, None)


def test_a_mark_behind_the_long_form_is_named_as_what_is_wrong() -> None:
    with pytest.raises(MalformedNotation, match="takes no mark behind it: write cc1-cc2"):
        GAME.parse_san(GAME.parse_position(ROOKS), "cc1-cc2+", None)


@pytest.mark.parametrize("text", ["aa1-ab1", "Kab1", "hello", "O-J"])
def test_no_move_is_read_when_the_game_is_over(text: str) -> None:
    ended = GAME.parse_position(f"{ROOKS[:-1]}100")
    with pytest.raises(GameOver, match="no-progress"):
        GAME.parse_san(ended, text, None)
