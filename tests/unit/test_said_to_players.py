"""What the games say about checks, compulsory moves, pieces that cannot move and what has been captured."""

import random
from collections import Counter
from typing import Any

import pytest

from domain.bashni import GAME as BASHNI
from domain.errors import IllegalMove, MalformedNotation
from domain.four_towers import GAME as FOUR_TOWERS
from domain.fourplay import GAME as FOURPLAY
from domain.fourplay.attacks import ENEMY, PlayerView, attacks, own_squares
from domain.fourplay.moves import add_piece_moves, split_move
from domain.game import AnyGame
from domain.games import GAMES
from domain.presentation import GameFact
from domain.tower_game import GAME as TOWER_GAME
from domain.towers import GAME as TOWERS
from tests.support.tables import table

NO_MEN = "5/5/5/5/5"
CAPTURES = "8/8/8/8/3b4/2w1w3/8/w7 w 0"
"""Bashni: c3 and e3 can capture on d4, a1 cannot."""
IN_CHECK = "15/bK13yK/15/1bR13/15/15/15/7*7/15/15/4rQ10/15/2rB12/1rK12gK/15 r play - - 0"
"""Fourplay: Blue's Rook attacks Red's King on b2."""
MATES = {
    "tower-game": (
        "1nmmr/C1m2/3Jj/N2j1/r4|rnpp1/1ppp1/2mp1/bb1p1/1p3|4p/5/crp2/1p3/pkpp1|5/4p/p1b1P/2pn1/4p|B1c2/5/K1p2/p3p/P1P1P|"
        "P4/1PC2/1P3/P1P2/5|1P1PP/P1P2/P1BPP/1P2P/1P1P1|2B1R/5/R1B2/JMMRN/RMM2 b - - 1",
        "ac6-cd5",
    ),
    "four-towers": ("dr1/2bk1B/5nb2/3b1np1pr/3r3n2/7D1/PbNR1pB3/B1nPP4P/q2r1N3/6/KM1 b - R/N - 0 57", "f5>>e2=M"),
}
"""A position and the move in it that mates."""


def tower_game(rank_8: str, rank_1: str, side: str = "w") -> Any:
    """Return the position with these men on rank 8 and rank 1, and one Pawn of each side between."""
    between = ["5/5/5/5/p4", *[NO_MEN] * 4, "5/5/5/5/P4"]
    return TOWER_GAME.parse_position("|".join([rank_8, *between, rank_1]) + f" {side} - - 0")


def spelled(game: Any, position: Any, move: str) -> str:
    return str(game.display_move(position, game.parse_move(position, move)))


def after(game: Any, position: Any, *moves: str) -> Any:
    for move in moves:
        position = game.play(position, game.parse_move(position, move))
    return position


def value(facts: tuple[GameFact, ...], title: str, seat: int | None = None) -> str:
    """Return the value of the only fact with this title about ``seat``."""
    (found,) = (fact.value for fact in facts if (fact.title, fact.seat) == (title, seat))
    return found


def played(game: Any, setup: str, *moves: str) -> tuple[tuple[Any, ...], Any]:
    positions = [game.initial(setup)]
    for move in moves:
        positions.append(after(game, positions[-1], move))
    return tuple(positions[:-1]), positions[-1]


# Check


def test_a_king_in_check_is_marked_and_said_in_the_tower_game() -> None:
    before = tower_game("5/5/2k2/5/5", "5/5/1K3/2R2/5")
    assert TOWER_GAME.scene(before).checked == ()
    assert spelled(TOWER_GAME, before, "cb1-ab1") == "Rab1"
    assert spelled(TOWER_GAME, before, "cb1-cb8") == "Rcb8+"
    scene = TOWER_GAME.scene(after(TOWER_GAME, before, "cb1-cb8"))
    assert scene.checked == ("cc8",)
    assert scene.spoken["cc8"] == "cc8: black king, in check"


def test_a_king_in_check_is_marked_and_said_in_four_towers() -> None:
    before = FOUR_TOWERS.parse_position("3/1k4/9/10/10/9/10/P2K6/9/6/3 w - -/- - 0 1")
    assert FOUR_TOWERS.scene(before).checked == ()
    # A king on a tower attacks along lines, as a queen does.
    assert spelled(FOUR_TOWERS, before, "d4-d5") == "d4-d5+"
    assert spelled(FOUR_TOWERS, before, "d4-c4") == "d4-c4"
    scene = FOUR_TOWERS.scene(after(FOUR_TOWERS, before, "d4-d5"))
    assert scene.checked == ("d10",)
    assert scene.spoken["d10"] == "d10, arena VII: black king, in check"


def test_every_king_that_another_player_could_capture_is_in_check_in_fourplay() -> None:
    position = FOURPLAY.parse_position(IN_CHECK)
    assert FOURPLAY.scene(position).checked == ("b2",)
    assert FOURPLAY.scene(position).spoken["b2"] == "b2: red King, in check"
    out = FOURPLAY.parse_position(IN_CHECK.replace("bK", "1").replace("113", "14").replace("play -", "play b"))
    assert FOURPLAY.scene(out).checked == ()
    # Only who has moved counts for the mark in the list: Red's Queen attacks no King after e5-d5.
    assert spelled(FOURPLAY, position, "e5-d5") == "e5-d5"
    assert spelled(FOURPLAY, position, "e5-a5") == "e5-a5+"


def test_a_move_that_mates_ends_with_a_hash_and_is_stored_without_it() -> None:
    for name, (text, move) in MATES.items():
        game = GAMES[name]
        position = game.parse_position(text)
        assert spelled(game, position, move).endswith("#")
        read = game.read_move(position, spelled(game, position, move), next(iter(game.setups)))
        assert game.format_move(position, read) == move
        ended = game.outcome(after(game, position, move), ())
        assert ended is not None
        assert ended.reason == "checkmate"


def test_whom_a_piece_of_fourplay_attacks_is_what_its_moves_can_capture() -> None:
    seen = Counter[bool]()
    for seed in range(4):
        chance, position = random.Random(seed), FOURPLAY.initial("standard")
        for ply in range(150):
            moves = list(FOURPLAY.legal_moves(position))
            if not moves:
                break
            if ply % 10 == 9:
                for player in set(range(4)) - set(position.eliminated):
                    player_view = PlayerView(position, player)
                    for square in own_squares(player_view):
                        generated: list[str] = []
                        add_piece_moves(player_view, square, generated)
                        captures = {split_move(move)[2] for move in generated if split_move(move)[1] in "x*"}
                        enemies = [target for target, there in enumerate(player_view.occupants) if there == ENEMY]
                        attacked = {target for target in enemies if attacks(player_view, square, target)}
                        assert attacked == captures
                        seen[bool(captures)] += 1
            position = FOURPLAY.play(position, chance.choice(moves))
    assert min(seen[True], seen[False]) > 100


# Pieces that cannot move, and moves that must be made


def test_a_compulsory_capture_is_demanded_and_says_why_other_columns_stand_still() -> None:
    position = BASHNI.parse_position(CAPTURES)
    assert BASHNI.demand(position) == "You must capture: c3 can, e3 can."
    assert BASHNI.why_not(position, "c3") is None
    assert BASHNI.why_not(position, "a1") == "you must capture: c3 can, e3 can"
    assert BASHNI.why_not(position, "d4") == "the column on d4 is Black's, and White is to move"
    assert BASHNI.why_not(position, "b2") == "b2 is empty"
    assert BASHNI.why_not(position, "a2") == "a2 is a light square, which is not used"
    assert BASHNI.demand(BASHNI.initial("start")) == ""
    assert "blocked" in str(BASHNI.why_not(BASHNI.initial("start"), "a1"))


def test_a_pinned_man_and_one_that_does_not_help_in_check_say_so() -> None:
    crossed = tower_game("5/5/2k2/5/5", "5/5/KNr2/5/5")
    assert TOWER_GAME.why_not(crossed, "bc1") == "the Knight on bc1 may not leave: the King would be attacked"
    assert TOWER_GAME.why_not(crossed, "cc1") == "the Rook on cc1 is Black's, and White is to move"
    checked = tower_game("5/5/2k2/5/5", "4N/5/K1r2/5/5")
    assert TOWER_GAME.why_not(checked, "ee1") == "the King is in check, and no move of the Knight on ee1 ends it"
    start = TOWER_GAME.initial("original")
    assert "your own pieces stand wherever it could go" in str(TOWER_GAME.why_not(start, "aa1"))


def test_pieces_of_four_towers_say_why_they_stand_still() -> None:
    start = FOUR_TOWERS.initial("standard")
    assert FOUR_TOWERS.why_not(start, "f2") == "a dragon has nothing to imitate yet"
    assert FOUR_TOWERS.why_not(start, "e11") == "the king on e11 is Black's, and White is to move"
    pinned = FOUR_TOWERS.parse_position("2k/6/R8/10/10/9/10/10/1N5d1/4D1/K2 w - -/- - 0 1")
    assert FOUR_TOWERS.why_not(pinned, "b3") == "the knight on b3 may not move: your king would be in check"
    returning = FOUR_TOWERS.parse_position("k2/6/9/10/10/9/3N6/10/9/6/K2 b - N/- b@d5 8 5")
    assert FOUR_TOWERS.demand(returning) == "Your bishop, captured on d5, may be put back: this turn only."
    assert FOUR_TOWERS.why_not(returning, "b5") is None
    composed = FOUR_TOWERS.parse_position("3/6/9/9k/10/9/r2D6/1P8/K7r/P5/3 w - -/- - 0 1")
    assert str(FOUR_TOWERS.why_not(composed, "d2")).endswith(
        "; it can only take part in a rearrangement or a multi-move"
    )


def test_pieces_of_fourplay_say_why_they_stand_still() -> None:
    frozen = FOURPLAY.parse_position("15/rRbRbDg11yK/15/15/15/15/15/7*7/15/15/15/15/2g,12/14gK/rK14 y play b c14>b14 0")
    assert FOURPLAY.why_not(frozen, "b14") == "the Rook on b14 is frozen: Blue is out of the game"
    assert FOURPLAY.why_not(frozen, "h8") == "the Neutron belongs to nobody and never moves"
    lonely = FOURPLAY.parse_position("15/bK13yK/15/15/15/15/15/7*7/15/15/15/4rMu10/15/14gK/rK14 r play - - 0")
    assert "none that it could copy" in str(FOURPLAY.why_not(lonely, "e4"))
    assert FOURPLAY.why_not(lonely, "o2") == "the King on o2 is Green's, and Red is to move"
    draft = FOURPLAY.initial("draft")
    assert FOURPLAY.why_not(draft, "a9") == "a9 is outside the quadrant of Red, who is setting up"
    placed = after(FOURPLAY, draft, "K@a1")
    assert FOURPLAY.why_not(placed, "a1") == "a1 is occupied"
    stuck = "15/bK13yK/15/12y,2/15/15/15/7*7/15/15/15/15/rMurMurMu12/rHMrMurMu11gK/rKrMurMu12 r play - - 0"
    assert FOURPLAY.demand(FOURPLAY.parse_position(stuck)) == "You have no move: you must pass."


def test_towers_say_why_they_cannot_act() -> None:
    start = TOWERS.initial("two-player")
    assert TOWERS.why_not(start, "a6") is None
    assert TOWERS.why_not(start, "a2") == "you do not control a2: Black does"
    assert TOWERS.why_not(start, "d4") == "you do not control d4: the castle is neutral"
    assert TOWERS.why_not(start, "a1") == "a1 is empty"
    with pytest.raises(MalformedNotation):
        TOWERS.why_not(start, "h1")


# Loose spellings


def test_a_loose_spelling_that_fits_several_moves_is_refused_with_all_of_them() -> None:
    swaps = FOUR_TOWERS.parse_position("k2/6/9/3B6/10/9/3R6/1N6N1/9/6/K2 w - -/- - 0 1")
    with pytest.raises(IllegalMove, match=r"'e8 I4' could be several moves: write e8\+i4 or e8<>i4"):
        FOUR_TOWERS.read_move(swaps, "e8 I4", "standard")
    with pytest.raises(IllegalMove, match="i4 is held by a piece of your own"):
        FOUR_TOWERS.read_move(swaps, "e8-i4", "standard")
    rooks = tower_game("5/5/2k2/5/5", "R3R/5/5/K4/5")
    with pytest.raises(IllegalMove, match="could be several moves: write aeRce1 or eeRce1"):
        TOWER_GAME.read_move(rooks, "rce1", "original")


@pytest.mark.parametrize(("name", "position", "text", "move"), table(__file__, "what is unambiguous is read"))
def test_what_is_unambiguous_is_read(name: str, position: str, text: str, move: str) -> None:
    game = GAMES[name]
    setup = next(iter(game.setups))
    here = game.parse_position(position) if position else game.initial(setup)
    assert game.format_move(here, game.read_move(here, text, setup)) == move


def test_parse_move_stays_strict() -> None:
    written: list[tuple[AnyGame, str]] = [
        (BASHNI, "c3d4"),
        (TOWER_GAME, "CC2-CC4"),
        (FOUR_TOWERS, "d3d4"),
        (FOURPLAY, "e5g7"),
        (TOWERS, "A6"),
    ]
    for game, text in written:
        with pytest.raises(MalformedNotation):
            game.parse_move(game.initial(next(iter(game.setups))), text)


# Facts


def test_captured_men_are_counted_by_seat() -> None:
    earlier, position = played(TOWER_GAME, "original", "cc2-cc4", "dd7-dd5", "cc4xdd5", "cc7-cc6")
    facts = TOWER_GAME.facts(position, earlier)
    assert value(facts, "Lost", 1) == "pawn"
    assert value(facts, "Lost", 0) == "–"
    assert value(facts, "Moves without a capture or a Pawn move") == "0 of 100"


def test_a_piece_put_back_and_a_compound_taken_apart_are_not_lost() -> None:
    captured = FOUR_TOWERS.parse_position("k2/6/9/10/10/9/3b6/1N8/9/6/K2 w - -/- - 7 5")
    taken = after(FOUR_TOWERS, captured, "b4xd5")
    assert value(FOUR_TOWERS.facts(taken, (captured,)), "Lost", 1) == "bishop"
    back = after(FOUR_TOWERS, taken, "@B:e6")
    assert value(FOUR_TOWERS.facts(back, (captured, taken)), "Lost", 1) == "–"
    queen = FOUR_TOWERS.parse_position("k2/6/9/10/10/9/5p4/4Q5/9/6/K2 w - -/- - 0 1")
    apart = after(FOUR_TOWERS, queen, "B/e4xf5")
    facts = FOUR_TOWERS.facts(apart, (queen,))
    assert (value(facts, "Lost", 0), value(facts, "Lost", 1)) == ("–", "pawn")


def test_armies_are_counted_in_points_and_losses_in_fourplay() -> None:
    before = FOURPLAY.parse_position("15/1bR12yK/15/15/15/15/15/7*7/15/15/15/15/yQrRg,12/14gK/1rK13 y play b - 7")
    capturing = after(FOURPLAY, before, "a3xb3")
    facts = FOURPLAY.facts(capturing, (before,))
    assert [value(facts, "Points", seat) for seat in range(4)] == ["0", "5", "15", "1"]
    assert value(facts, "Lost", 0) == "Rook"
    assert value(facts, "Turns without a capture") == "0 of 100"


def test_columns_prisoners_supplies_and_castles_are_counted() -> None:
    position = BASHNI.parse_position("8/8/8/8/3(bww)4/2w5/8/(Wb)7 w 3")
    facts = BASHNI.facts(position, ())
    assert [value(facts, title, seat) for title in ("Columns", "Prisoners") for seat in (0, 1)] == ["2", "1", "1", "2"]
    assert value(facts, "King moves without a capture in a row") == "3 of 30"
    facts = TOWERS.facts(after(TOWERS, TOWERS.initial("two-player"), "+a6"), ())
    assert [value(facts, "Supply", seat) for seat in (0, 1)] == ["66", "67"]
    assert value(facts, "Castles", 0) == "0 of 4"
    assert value(facts, "Pushes in a row") == "0 of 50"
