"""The Tower Game for people: which position strings and which moves are read, and why the others are not."""

import pytest

from domain.game import GameOver, IllegalMove, MalformedNotation, RulesError
from domain.tower_game import GAME

EMPTY = "5/5/5/5/5"
KINGS = f"4k/5/5/5/5|{EMPTY}|{EMPTY}|{EMPTY}|{EMPTY}|{EMPTY}|{EMPTY}|5/5/5/5/K4"
PAWNS = "ppppp/ppppp/ppppp/ppppp/ppppp"
MIDDLE = f"{PAWNS}|{EMPTY}|{EMPTY}|{EMPTY}|{EMPTY}|{PAWNS.upper()}"
CASTLES = f"r3r/5/2k2/5/r3r|{MIDDLE}|R3R/5/2K2/5/R3R"
ALL_RIGHTS = "aa1,ae1,ea1,ee1,aa8,ae8,ea8,ee8"
PASSED_CC6 = f"4k/5/5/5/5|{EMPTY}|{EMPTY}|5/2P2/2p2/5/5|{EMPTY}|{EMPTY}|{EMPTY}|5/2K2/5/5/5 w - cc6 0"
PASSED_CC3 = f"4k/5/5/5/5|{EMPTY}|{EMPTY}|{EMPTY}|5/2p2/2P2/5/5|{EMPTY}|{EMPTY}|5/5/5/5/K4 b - cc3 0"
TWO_PASS = f"4k/5/5/5/5|{EMPTY}|{EMPTY}|5/2P2/1Pp2/5/5|{EMPTY}|{EMPTY}|{EMPTY}|5/5/5/5/K4 w - cc6 0"
PROMOTES = f"4n/3r1/5/5/5|4P/5/2P2/5/5|{EMPTY}|5/5/5/5/4k|{EMPTY}|{EMPTY}|{EMPTY}|5/5/5/5/K4 w - - 0"
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f" {KINGS} w - - 0", "expected 5 fields"),
        (f"{KINGS}\tw - - 0", "expected 5 fields"),
        (f"{KINGS} w -  - 0", "expected 5 fields"),
        (f"|{KINGS} w - - 0", "expected 8 ranks separated by '|', got 9"),
        (f"{KINGS.removeprefix('4k/5/5/5/5|')} w - - 0", "expected 8 ranks separated by '|', got 7"),
        (f"{KINGS}/5 w - - 0", "rank 1: expected 5 rows separated by '/', got 6"),
        (f"{KINGS.replace('4k', '5k')} w - - 0", "rank 8, row e: has more than 5 cubes"),
        (f"{KINGS.replace('4k', 'k')} w - - 0", "rank 8, row e: has 1 cubes"),
        (f"{KINGS.replace('4k/5', '4k/')} w - - 0", "rank 8, row d: has 0 cubes"),
        (f"{KINGS.replace('4k', '13k')} w - - 0", "rank 8, row e: two digits in succession"),
        (f"{KINGS.replace('4k/5', '4k/05')} w - - 0", "rank 8, row d: unknown letter '0'"),
        (f"{KINGS.replace('4k', '４k')} w - - 0", "rank 8, row e: unknown letter"),
        (f"{KINGS.replace('4k', '3qk')} w - - 0", "rank 8, row e: unknown letter 'q'"),
        (f"{KINGS.replace('4k', '5')} w - - 0", "Black has 0 Kings"),
        (f"{KINGS.replace('4k', '3kk')} w - - 0", "Black has 2 Kings"),
        (f"{KINGS.replace('K4', 'k4')} w - - 0", "White has 0 Kings"),
        (f"{KINGS.replace('4k', '3Pk')} w - - 0", "rank 8, row e: a Pawn cannot stand on rank 8"),
        (f"{KINGS.replace('4k', '3pk')} w - - 0", "rank 8, row e: a Pawn cannot stand on rank 8"),
        (f"{KINGS.replace('K4', 'K3p')} w - - 0", "rank 1, row a: a Pawn cannot stand on rank 1"),
        (f"{KINGS.replace('K4', 'K3P')} w - - 0", "rank 1, row a: a Pawn cannot stand on rank 1"),
        (f"{KINGS} W - - 0", "side to move"),
        (f"{KINGS} - - - 0", "side to move"),
        (f"{KINGS} w  - 0", "castling: '' is no corner"),
        (f"{CASTLES} w KQkq - 0", "castling: 'KQkq' is no corner"),
        (f"{CASTLES} w cc1 - 0", "castling: 'cc1' is no corner"),
        (f"{CASTLES} w AA1 - 0", "castling: 'AA1' is no corner"),
        (f"{CASTLES} w aa1, - 0", "castling: '' is no corner"),
        (f"{CASTLES} w -,aa1 - 0", "castling: '-' is no corner"),
        (f"{CASTLES} w aa1,aa1 - 0", "aa1 is repeated or out of order"),
        (f"{CASTLES} w aa8,ee1 - 0", "ee1 is repeated or out of order"),
        (f"{CASTLES.replace('2k2', '3k1')} w ee8 - 0", "the King is not on cc8"),
        (f"{CASTLES.replace('2K2', '2k2').replace('2k2', '2K2', 1)} w ee1 - 0", "the King is not on cc1"),
        (f"{CASTLES.replace('R3R', 'R3r', 1)} w ee1 - 0", "no Rook of that side stands on ee1"),
        (f"{CASTLES.replace('r3r', 'R3r', 1)} w ae8 - 0", "no Rook of that side stands on ae8"),
        (f"{KINGS} w - - ", "clock"),
        (f"{KINGS} w - - -0", "clock"),
        (f"{KINGS} w - - +1", "clock"),
        (f"{KINGS} w - - 1.0", "clock"),
        (f"{KINGS} w - - 007", "clock"),
        (f"{KINGS} w - - 0x1", "clock"),
        (f"{KINGS} w - - ٣", "clock"),
        (f"{KINGS} w - - ²", "clock"),
        (f"{KINGS} w - - 0\n", "clock"),
        (f"{KINGS} w - - 1000", "clock"),
    ],
)
def test_a_position_that_is_spelled_otherwise_is_refused_with_the_place_and_the_reason(text: str, reason: str) -> None:
    assert reason in refusal(text)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("cc6 0", "cc6 1", "the clock must be 0"),
        ("cc6 0", "CC6 0", "expected '-' or a cube of rank 6"),
        ("cc6 0", "cc 0", "expected '-' or a cube of rank 6"),
        ("cc6 0", "cc3 0", "expected '-' or a cube of rank 6"),
        ("cc6 0", "cc6,cc6 0", "expected '-' or a cube of rank 6"),
        ("cc6 0", "dc6 0", "no enemy Pawn has just passed dc6"),
        ("5/2P2/2p2", "5/2P2/2n2", "no enemy Pawn has just passed cc6"),
        ("5/2P2/2p2", "5/2P2/2P2", "no enemy Pawn has just passed cc6"),
        ("5/2P2/2p2", "2P2/5/2p2", "no Pawn may legally capture on cc6"),
        ("5/2P2/2p2", "5/2p2/2p2", "no Pawn may legally capture on cc6"),
        ("5/2P2/2p2", "5/2N2/2p2", "no Pawn may legally capture on cc6"),
        (f"{EMPTY}|{EMPTY}|5/2P2", f"{EMPTY}|5/5/2n2/5/5|5/2P2", "must be empty"),
        (f"{EMPTY}|{EMPTY}|5/2P2", f"5/5/2n2/5/5|{EMPTY}|5/2P2", "must be empty"),
        ("4k/5", "4k/2r2", "no Pawn may legally capture on cc6"),
    ],
)
def test_a_passed_cube_is_refused_unless_a_pawn_has_passed_and_may_be_taken(old: str, new: str, reason: str) -> None:
    assert GAME.format_position(GAME.parse_position(PASSED_CC6)) == PASSED_CC6
    assert reason in refusal(PASSED_CC6.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("cc3 0", "cc6 0", "expected '-' or a cube of rank 3"),
        ("cc3 0", "cc2 0", "expected '-' or a cube of rank 3"),
        ("b - cc3", "w - cc3", "expected '-' or a cube of rank 6"),
        ("5/2p2/2P2", "5/2p2/2p2", "no enemy Pawn has just passed cc3"),
        ("5/2p2/2P2", "2p2/5/2P2", "no Pawn may legally capture on cc3"),
        (f"{EMPTY}|5/5/5/5/K4", "5/5/2N2/5/5|5/5/5/5/K4", "must be empty"),
    ],
)
def test_a_cube_passed_by_a_white_pawn_is_looked_at_from_the_other_side(old: str, new: str, reason: str) -> None:
    assert GAME.format_position(GAME.parse_position(PASSED_CC3)) == PASSED_CC3
    assert reason in refusal(PASSED_CC3.replace(old, new, 1))


@pytest.mark.parametrize(
    "men",
    [
        {"ee1": "R"},
        {"ce6": "B"},
        {"bb5": "M"},
        {"ed6": "N"},
        {"dd6": "C"},
        {"cc7": "J"},
        {"dd7": "F"},
        {"de7": "P"},
        {"dd7": "P"},
        {"aa1": " ", "dd8": "K"},
    ],
)
def test_a_position_is_refused_when_the_side_not_to_move_is_in_check_from_any_man(men: dict[str, str]) -> None:
    text = with_men(**men)
    assert refusal(text) == "the King on ee8 is in check although the other side is to move"
    if "K" not in men.values():
        assert GAME.in_check(GAME.parse_position(text.replace(" w ", " b ")))


@pytest.mark.parametrize(
    "men",
    [
        {"ee7": "P"},
        {"ee6": "P"},
        {"de8": "N", "aa2": "P"},
        {"ee1": "R", "ee5": "P"},
        {"ce6": "B", "de7": "n"},
        {"bb5": "M", "dd7": "p"},
        {"dc7": "N", "ec7": "C", "cb7": "J"},
    ],
)
def test_a_pawn_straight_ahead_and_riders_behind_a_man_give_no_check(men: dict[str, str]) -> None:
    position = GAME.parse_position(with_men(**men))
    assert list(GAME.legal_moves(position))
    assert not GAME.in_check(GAME.parse_position(with_men(**men).replace(" w ", " b ")))


@pytest.mark.parametrize(
    "text",
    [
        f"4k/5/5/5/5|{PAWNS}|{PAWNS}|{EMPTY}|{EMPTY}|{EMPTY}|{EMPTY}|K4/5/5/5/5 w - - 0",
        f"{CASTLES} w {ALL_RIGHTS} - 100",
        f"{CASTLES} b aa1,ee8 - 57",
        f"{KINGS} w - - 100",
        PASSED_CC6.replace("cc6", "-"),
        PASSED_CC6.replace("cc6 0", "- 1"),
    ],
)
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


@pytest.mark.parametrize(
    ("position", "text", "move"),
    [
        (ROOKS, " cc1 - cc2\t", "cc1-cc2"),
        (ROOKS, "a c R x c c 4", "ac4xcc4"),
        (ROOKS, "8Rxcc4", "cc8xcc4"),
        (ROOKS, "cc8Rxcc4#", "cc8xcc4"),
        (ROOKS, "1Rcc3", "cc1-cc3"),
        (ROOKS, "aaKab1", "aa1-ab1"),
        (ROOKS, "aa1Kab1+", "aa1-ab1"),
        (TWO_PASS, "cdxcc6", "cd5xcc6"),
        (TWO_PASS, "cdxcc6e.p.+", "cd5xcc6"),
        (TWO_PASS, "bcxcc6 ep #", "bc5xcc6"),
        (PASSED_CC3, "cdxcc3e.p.", "cd4xcc3"),
        (PASSED_CC3, "cd3", "cd4-cd3"),
        (PROMOTES, "cc8=N+", "cc7-cc8=N"),
        (PROMOTES, "eexdd8=J", "ee7xdd8=J"),
        (f"{CASTLES} w {ALL_RIGHTS} - 0", "O-J", "cc1-ea1"),
        (f"{CASTLES} w {ALL_RIGHTS} - 0", "O - J +", "cc1-ea1"),
        (f"{CASTLES} b {ALL_RIGHTS} - 0", "O-B", "cc8-aa8"),
        (f"{CASTLES} b {ALL_RIGHTS} - 0", "O-J", "cc8-ea8"),
        (f"{CASTLES} b {ALL_RIGHTS} - 0", "Kae8", "cc8-ae8"),
        (f"{CASTLES} b {ALL_RIGHTS} - 0", "ccKae8", "cc8-ae8"),
    ],
)
def test_a_move_is_read_with_spaces_marks_and_a_longer_prefix_than_needed(position: str, text: str, move: str) -> None:
    standing = GAME.parse_position(position)
    assert GAME.format_move(standing, GAME.parse_san(standing, text, None)) == move


@pytest.mark.parametrize(
    ("position", "texts"),
    [
        (ROOKS, "Rcc4 Rxcc4 ccRxcc4 4Rcc4 ca4Rxcc4 aRxcc4 cRxcc4 Racxcc4 Rac4xcc4 acrxcc4 acRXcc4 acR:cc4 acR-cc4"),
        (ROOKS, "cc1-cc2+ cc1-cc2e.p. 1Rcc3e.p. 1Rcc3++ 1Rcc3+# +1Rcc3 1Rcc3! 1Rcc3=R Paa2 cc1 CC1-CC2 1Rcc9 1Rfc3"),
        (ROOKS, "Kcc3 0-B O-J o-j O-O O-O-O O-"),
        (TWO_PASS, "xcc6 cc6 cc6e.p. cxcc6 cd5xcc6e.p. e.p. cdxcc6e.p cdxcc6EP cdxcc6+ep cd6e.p. Pcdxcc6"),
        (PROMOTES, "cc8 cc8F cc8=f cc8=K cc8=P cc8=Q cc8=FF ccxdd8 ccxdd8=B=B ccxdd8=Be.p. dd8=B ccxcc8=R cc7-cc8"),
        (f"{CASTLES} w {ALL_RIGHTS} - 0", "O-B O-M O-C O-Je.p. O-j o-J 0-J O-K OJ O--J Kxea1 Kea1=R Kcc3 cc1xea1"),
        (f"{CASTLES} b {ALL_RIGHTS} - 0", "O-M O-C cc1-ea1 Kea1 cc8-cc6"),
        (f"{CASTLES} w aa1,ee1 - 0", "O-J Kea1 cc1-ea1"),
    ],
)
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


@pytest.mark.parametrize(
    ("position", "text", "reason"),
    [
        (f"{CASTLES} w {ALL_RIGHTS} - 0", "cc1xee1", "castling takes no x and no promotion: write cc1-ee1"),
        (f"{CASTLES} w {ALL_RIGHTS} - 0", "cc1-ee1=R", "castling takes no x and no promotion: write cc1-ee1"),
        (f"{CASTLES} w aa1 - 0", "Kee1", "the right to castle to ee1 is gone"),
        (f"{CASTLES} b aa1 - 0", "O-J", "the right to castle to ea8 is gone"),
        (PASSED_CC6, "cd5-cc6", "that is a capture: write cd5xcc6"),
        (PROMOTES, "cc7-dd8=R", "that is a capture: write cc7xdd8=R"),
        (PROMOTES, "ccxdd8", "a Pawn that reaches the last rank must promote"),
        (PROMOTES, "cc8", "a Pawn that reaches the last rank must promote"),
        (PROMOTES, "ee7-ee8=F", "a Pawn does not move from ee7 to ee8, or something stands in the way"),
        (ROOKS, "acRcc4", "that is a capture: write ac4xcc4"),
        (ROOKS, "Kaa3", "a King does not move from aa1 to aa3"),
        (ROOKS.replace("2R2/5/5", "2R2/r4/5", 1), "Kab1", "the King may not go to ab1: that cube is attacked"),
    ],
)
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
