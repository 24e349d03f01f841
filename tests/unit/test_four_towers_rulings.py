"""Rulings of Four Towers in cases that no figure of the rules page shows, by the game and by the slow reference."""

from dataclasses import replace

import pytest

from domain.four_towers import GAME
from domain.game import RulesError
from tests.support.slow_four_towers.board import DOUBLES, SQUARES, name, read, square_of, write
from tests.support.slow_four_towers.composed import multi_moves, rearrangements
from tests.support.slow_four_towers.moves import successors

QUIET = "w - -/- - 0 1"


def placed(pieces: str, fields: str = QUIET) -> str:
    """Return the position with ``pieces``, each a letter and a square; the kings stand on g1 and k9 if not named."""
    board = {square_of(word[1:]): word[0] for word in pieces.split()}
    for king, square in (("K", "g1"), ("k", "k9")):
        if king not in board.values():
            board[square_of(square)] = king
    return write(replace(read(f"3/6/9/10/10/9/10/10/9/6/3 {fields}"), board=board))


def by_the_reference(text: str) -> dict[str, str]:
    state = read(text)
    return {**successors(state), **multi_moves(state), **rearrangements(state)}


@pytest.mark.parametrize(
    ("pieces", "fields", "legal", "illegal"),
    [
        pytest.param("Pe3 Pe5 pf5", "b e4e5 -/- - 1 1", "f5xe4(e5)", "f5xe4", id="FT-01 a pawn that left a lancer"),
        pytest.param("Lg5 ph5", "w h6h5 -/- - 0 1", "g5xh6(h5) P/g5xh6(h5)", "", id="FT-01 a pawn leaving a lancer"),
        pytest.param(
            "Lf6 pi7", "w h6i7 -/- - 0 1", "f6xh6(i7)", "P/f6xh6(i7)", id="FT-01 two squares to the crossed one"
        ),
        pytest.param("Pe5 nf5", QUIET, "", "e5xf5", id="FT-02 pawns do not capture sideways"),
        pytest.param("Le5 ng5", QUIET, "e5xg5", "P/e5xf5", id="FT-02 lancers capture two squares sideways"),
        pytest.param("We8 Pc9", QUIET, "VII:Pc11", "VII:Pc11=Q", id="FT-09 a rearranged pawn stays one"),
        pytest.param("ne8", "w - -/- P@e8 0 1", "@P:c11", "@P:c11=Q", id="FT-09 a returned pawn stays one"),
        pytest.param("Pe3 Pe5", QUIET, "e3+e5", "e3-e5", id="FT-10 attaching by a double step"),
        pytest.param("Pe3 ne4 Pe5", QUIET, "", "e3+e5", id="FT-10 not over a piece"),
        pytest.param("Ld5 Pe6 Pe5 Pf7", QUIET, "e6+e5 e6+f7", "e6+d5", id="FT-10 attaching backward, diagonally"),
        pytest.param("Pe6 Pe5", QUIET, "", "e6+e5", id="FT-10 not backward without a lancer"),
        pytest.param("pd5 Le6", QUIET, "P/e6-e8 e6-e8", "P/e6-e5", id="FT-13 a part has the double step of a tower"),
        pytest.param("ld5 Le6", QUIET, "P/e6-e5 e6-e5", "P/e6-e8", id="FT-13 and the step backward"),
        pytest.param("Ld5", QUIET, "d5-d7 P/d5-d6", "d5-d4 P/d5-d4 P/d5-d7", id="FT-13 neither for who stands there"),
        pytest.param("Md5 Re6 be8", QUIET, "", "e6xe8", id="FT-14 a rook in the zone takes no bishop on a tower"),
        pytest.param("Md5 Mc7 ne8", QUIET, "c7xe8", "", id="FT-14 but a marshall a knight"),
        pytest.param("Md5 Qd7 ne8", QUIET, "d7xe8", "", id="FT-14 towers are outside: a queen takes the knight"),
        pytest.param("Md5 Qe10 ne6", QUIET, "", "e10xe6", id="FT-14 a queen takes no knight in the zone"),
        pytest.param("md5 Bc4", QUIET, "c4xd5", "", id="FT-14 the marshall itself can be taken"),
        pytest.param("md5 Ke4 re5 bf4", QUIET, "e4xf4", "e4xe5", id="FT-14 a king takes no rook in the zone"),
        pytest.param("Cd5 Qe6", QUIET, "B/e6-f7 R/e6-e7", "B/e6-g5", id="FT-15 a bishop leaving a queen runs"),
        pytest.param("Cd5 Me6", QUIET, "N/e6-g7 e6-g7", "N/e6-f7", id="FT-15 a knight leaving a marshall leaps"),
        pytest.param("Md5 Me6", QUIET, "R/e6-e7 N/e6-g7", "", id="FT-16 a marshall splits in both ways"),
        pytest.param("Md5 Ce6", QUIET, "B/e6-f7 e6-g7", "N/e6-g7", id="FT-16 no knight leaves a cardinal"),
        pytest.param(
            "md5 We6",
            QUIET,
            "B/e6-f7 Q/e6-e7 C/e6-g7 e6-g7",
            "R/e6-e7 N/e6-g7 M/e6-g7",
            id="FT-16 nor rook, knight or marshall a wizard",
        ),
        pytest.param("Cd5 Ng4", QUIET, "g4-e5 g4-h6", "g4-f3 g4-h5", id="FT-17 who stands on a tower is not switched"),
        pytest.param("Rd5 Ld3", QUIET, "d5<>d3", "d3<>d5", id="FT-18 a lancer is a partner only"),
        pytest.param("Re3 Ne5", QUIET, "e3+e5", "e3<>e5", id="FT-18 no swap between arenas"),
        pytest.param("Rd5 Re8 Bb4 Nc7", QUIET, "b4>>+c7", "b4<>c7", id="FT-18 no swap by a direct move"),
        pytest.param("Dd5 pd6 pd8", "w - K/- - 0 1", "d5xd6", "d5xd8", id="FT-19 a dragon is no king on a tower"),
        pytest.param("De6 Rf6", "w - -/- - 0 1", "", "e6-e7 e6+f6", id="FT-19 nothing to copy"),
        pytest.param("De6", "w - R/N - 0 1", "e6-e10 e6-g7", "e6-f7 e6-g8", id="FT-19 both memories"),
        pytest.param("Wd5 Kb4 Da3", QUIET, "I:Ka3,Db4 I:Da5,Kb4", "I:Da3,Kb4", id="FT-23 a king and a dragon"),
        pytest.param("Wd5 Nb4 na3", QUIET, "I:Nc5", "I:Na3 I:nc5 II:Ne3", id="FT-23 not on enemies, nor enemies"),
        pytest.param("Dd5 Pb4 ne6 Nf4", QUIET, "b4-b5;f4-h5", "b4-b5;f4xe6", id="FT-24 components do not capture"),
        pytest.param("Dd5 Kb5 rj6", QUIET, "b5-b6;b6-b7", "b5-b6", id="FT-29 a king crosses an attacked square"),
        pytest.param("Dd5 Kb4 ra5", QUIET, "", "b4-c5;c5-c4 b4-b3;b3-b5", id="FT-24 an arena is left only once"),
        pytest.param("Dd5 De6 Nb4", QUIET, "", "b4-c6;e6-e7", id="FT-24 dragons are no components"),
        pytest.param(
            "Dd5 Dh7 Pa4 Pf6 Pi6", QUIET, "a4-a5;f6-f7 f6-f7;i6-j6", "a4-a5;i6-j6", id="6.8 one dragon for all"
        ),
        pytest.param("Qd5 Ne4 Rc5", QUIET, "c5-c6", "e4>>b5 e4>>f7 c5-d6", id="FT-30 a queen"),
        pytest.param("Md5 Ra5", QUIET, "a5-c5", "a5-b6 a5+d5", id="FT-36 a marshall does not bend lines"),
        pytest.param("Nd5 Ra5", QUIET, "a5-b6", "", id="FT-36 a knight does"),
        pytest.param("nd5", "w - -/- D@d5 0 1", "@D:a3", "@D:d5 @D:d11 @R:a3", id="FT-37 a dragon returns"),
        pytest.param("nd5 Pa3", "w - -/- L@d5 0 1", "@L:a4", "@L:a3 @P:a4", id="FT-37 a lancer returns whole"),
        pytest.param("bd5 rg6", "w - -/- R@d5 0 1", "@R:g5 g1-f2", "@R:a3", id="FT-33 a return meets a check"),
    ],
)
def test_a_move_is_legal_or_not_as_it_was_ruled(pieces: str, fields: str, legal: str, illegal: str) -> None:
    text = placed(pieces, fields)
    position, expected = GAME.parse_position(text), by_the_reference(text)
    for move_text in legal.split():
        move = GAME.parse_move(position, move_text)
        assert GAME.format_move(position, move) == move_text
        assert GAME.format_position(GAME.play(position, move)) == expected[move_text]
    for move_text in illegal.split():
        assert move_text not in expected
        with pytest.raises(RulesError):
            GAME.parse_move(position, move_text)


@pytest.mark.parametrize(
    ("pieces", "fields", "move", "after"),
    [
        pytest.param("Le3", QUIET, "P/e3-e5", "e4e5 -/- - 1", id="FT-01 a part's double step is noted"),
        pytest.param("Le5 ng7", QUIET, "e5xg7", "f6g7 -/- - 0", id="FT-01 a lancer's capture of two squares is noted"),
        pytest.param("Pe3 Pe5", QUIET, "e3+e5", "e4e5 -/- - 1", id="FT-10 an attaching double step is noted"),
        pytest.param("Cd5 Be6 Rg7", QUIET, "e6+g7", "- N/- - 1", id="FT-20 a switched bishop attaches"),
        pytest.param("Cd5 Be7", QUIET, "e7<>d5", "- N/- - 1", id="FT-20 a switched bishop swaps"),
        pytest.param("Cd5 Rg4 Be6", QUIET, "e6>>d3", "- N/- - 1", id="FT-20 a switched bishop goes directly"),
        pytest.param("Cd5 Ne6", QUIET, "e6-f7", "- B/- - 1", id="FT-20 a switched knight"),
        pytest.param("Cd5 Me6", QUIET, "N/e6-g7", "- N/- - 1", id="FT-20 a part is not switched"),
        pytest.param("Kd5 pd9", "w - R/B - 4 1", "d5xd9", "- K/B - 0", id="FT-20 a king taking like a queen"),
        pytest.param("Rd5 Kb4", "w - R/B - 4 1", "b4>>c7", "- K/B - 5", id="FT-20 a king going directly"),
        pytest.param("Pe5 nf6", "w - R/B - 4 1", "e5xf6", "- R/B - 0", id="FT-20 pawns leave the memory alone"),
        pytest.param("De5", "w - N/B - 4 1", "e5-f6", "- N/B - 5", id="FT-20 dragons leave the memory alone"),
        pytest.param("Dd5 Bd3", "w - R/- - 4 1", "d5<>d3", "- R/- - 5", id="FT-20 a dragon swapping, too"),
        pytest.param("nd5", "w - N/B W@d5 3 1", "@W:a3", "- RBN/B - 4", id="FT-20 a wizard returns"),
        pytest.param("nd5", "w - N/B L@d5 3 1", "@L:a3", "- N/B - 4", id="FT-20 a lancer returns"),
        pytest.param("cd5", "w - -/- N@d5 3 1", "@N:a3", "- N/- - 4", id="FT-20 a knight returns unswitched"),
        pytest.param("Wd5 Nb4", "w - R/B - 3 1", "I:Nb5", "- R/B - 4", id="FT-20 a rearrangement"),
        pytest.param("Dd5 Pa4 Pe6", "w - R/B - 3 1", "a4-a5;e6-e7", "- R/B - 4", id="FT-20 a multi-move of pawns"),
        pytest.param("Dd5 Ka4 Ne6", "w - R/B - 3 1", "a4-a5;e6-g7", "- NK/B - 4", id="FT-20 a multi-move of others"),
        pytest.param("Bc4 nd5", "w - -/- - 7 1", "c4xd5", "- B/- n@d5 8", id="FT-27 a capture on a tower adds one"),
        pytest.param("Bc4 nd5 re8", "w - -/- R@e8 7 1", "c4xd5", "- B/- n@d5 0", id="FT-27 it lets a right lapse"),
        pytest.param("nd5 Pa4 Pe6 Dh7 Ni4", "w - -/- R@d5 7 1", "e6-e7;i4-j6", "- N/- - 0", id="FT-27 so does a multi"),
        pytest.param("nd5 We8 Nc7", "w - -/- R@d5 7 1", "IV:Nb6", "- -/- - 0", id="FT-27 and a rearrangement"),
        pytest.param("Pd10 Pe11", "w - -/- - 7 1", "d10+e11=Q", "- -/- - 0", id="FT-27 promotion by attaching"),
        pytest.param("Le3 nd5", "w - -/- - 7 1", "P/e3-e4", "- -/- - 8", id="FT-27 detaching adds one"),
        pytest.param("Qc4 nd5", "w - -/- - 7 1", "B/c4xd5", "- B/- n@d5 8", id="6.9 a part captures on a tower"),
    ],
)
def test_memory_rights_and_clock_are_as_it_was_ruled(pieces: str, fields: str, move: str, after: str) -> None:
    text = placed(pieces, fields)
    position = GAME.parse_position(text)
    result = GAME.format_position(GAME.play(position, GAME.parse_move(position, move)))
    assert " ".join(result.split()[2:6]) == after
    assert result == by_the_reference(text)[move]


@pytest.mark.parametrize("white", [True, False])
def test_a_lone_pawn_has_the_double_step_on_the_squares_of_the_list_and_no_others(white: bool) -> None:
    """FT-05."""
    for start in {name(square) for square in SQUARES if square[1] < 9} - {"k8", "j4"}:
        try:
            text = placed(f"P{start} Kk8 kj4")
            position = GAME.parse_position(text if white else turned(text))
        except RulesError:
            continue
        results = {GAME.format_position(GAME.play(position, move)) for move in GAME.legal_moves(position)}
        assert results == set(successors(read(GAME.format_position(position))).values())
        noted = [result for result in results if result.split()[2] != "-"]
        x, y = square_of(start)
        assert len(noted) == (start in DOUBLES and (x, y + 2) in SQUARES), start


def turned(text: str) -> str:
    """Return the position after half a turn with exchanged colours."""
    state = read(text)
    board = {(12 - x, 12 - y): letter.swapcase() for (x, y), letter in state.board.items()}
    return write(replace(state, board=board, white=not state.white))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("3/6/8k/8Q1/10/9/10/9R/9/6/K2 b - -/- - 150 1", "checkmate"),
        ("3/6/8k/7Q2/10/9/10/10/9/6/K2 b - -/- - 150 1", "stalemate"),
        ("3/6/8k/10/10/9/10/10/9/6/K2 w - -/- - 150 1", "insufficient-material"),
        ("3/6/9/10/10/9/3k6/10/9/6/K2 w - -/- N@d5 3 1", None),
        ("3/6/9/10/10/9/3k6/10/9/6/K2 w - -/- N@d5 150 1", "no-progress"),
        ("3/6/9/10/10/9/3k6/10/9/6/K2 w - -/- - 3 1", "insufficient-material"),
    ],
)
def test_the_conditions_of_the_end_are_looked_at_in_their_order(text: str, reason: str | None) -> None:
    position = GAME.parse_position(text)
    outcome = GAME.outcome(position, ())
    assert (outcome and outcome.reason) == reason
    assert bool(list(GAME.legal_moves(position))) == (reason is None)


def test_a_third_time_counts_before_the_clock_and_a_different_right_to_pass_makes_another_position() -> None:
    """FT-26."""
    position, passed = (GAME.parse_position(placed("Rd3 pf5", f"w {pairs} -/- - 150 1")) for pairs in ("-", "f6f5"))
    earlier = [position._replace(halfmove_clock=halfmove_clock) for halfmove_clock in (142, 146)]
    others = [passed._replace(halfmove_clock=halfmove_clock) for halfmove_clock in (142, 146)]
    history = [position._replace(side=1)] * 3
    for before, reason in ((earlier, "repetition"), (others, "no-progress")):
        outcome = GAME.outcome(position, [before[0], *history, before[1], *history])
        assert outcome is not None
        assert outcome.reason == reason
