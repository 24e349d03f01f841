"""Why did it do that? The sentences about a move of an opponent agree with the board."""

from random import Random

import pytest

from api.pages.move_reasons import explain
from domain.game import AnyGame
from domain.games import GAMES
from domain.match import events as e
from domain.search import ENGINE_VERSION, choose, moves_seen

SEED = 7
PLIES = 20


def reasons(game_id: str, position: str, *moves: str, viewer: int = 0) -> str:
    """Return the sentences about the last of ``moves``, without the one about overlooked moves."""
    game = GAMES[game_id]
    positions = [game.parse_position(position)]
    for text in moves:
        positions.append(game.play(positions[-1], game.parse_move(positions[-1], text)))
    setups = (setup for setup in game.setups.values() if len(setup.seat_names) == game.seats_at(positions[0]))
    event = e.MoveSubmitted(at=0, seat=game.to_move(positions[-2]), ply=len(moves), move=moves[-1])
    return " ".join(explain(game, positions, next(setups).seat_names, viewer, event))


def test_a_compulsory_capture_says_what_it_takes_in_return_and_sets_free() -> None:
    start = "8/6b1/5b2/8/3b4/2w5/8/8 w 0"
    assert reasons("bashni", start, "c3xe5", "f6xd4") == (
        "It had no other move. It takes your man on e5 in return. It sets free its own man on e5."
    )
    assert reasons("bashni", "8/8/8/4b3/3w1w2/8/8/w7 b 0", "e5xg3").startswith(
        "A capture was compulsory. It takes your man on f4."
    )


def test_what_the_moved_piece_could_take_next_is_said_and_what_other_pieces_could_is_not() -> None:
    assert reasons("bashni", "8/b7/5b2/8/8/4w3/8/8 b 0", "f6-g5") == (
        "It takes nothing, and what has moved attacks nothing."
    )
    assert reasons("bashni", "8/b7/5b2/8/3w4/8/8/8 b 0", "f6-e5") == (
        "If nothing changes, what has moved can take your man on d4 next."
    )
    assert reasons("fourplay", "15/bK13yK/15/15/15/15/15/7*7/15/15/15/4rG10/bR14/14gK/rK14 b play - - 0", "a3-e3") == (
        "If nothing changes, what has moved can take your Giraffe on e4 next."
    )


def test_builds_and_castles_have_words_of_their_own() -> None:
    start = "7/3,g,3/7/1,g,1,g,1,g,1/7/3,g,3/ww,4,bb,1 2 b 0"
    assert reasons("towers", start, "+f1") == "It builds: the tower on f1 has 3 pieces now."
    castle = "7/2,bb,g,3/7/1,g,1,g,1,g,1/7/3,g,3/ww,6 2 b 0"
    assert reasons("towers", castle, "c6-d6") == "It takes over the castle on d6."
    handed = "7/3,gwb,ww,2/7/1,g,1,g,1,g,1/7/3,g,3/bb,6 2 b 0"
    assert "It gives up your tower on d6." in reasons("towers", handed, "d6-e6")


def test_checks_and_new_kinds_of_pieces_are_named() -> None:
    promotion = "4K/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/2p2/5/5|5/5/5/5/k4 b - - 0"
    assert reasons("tower-game", promotion, "cc2-cc1=R").startswith("It has gained a rook.")
    check = "4K/5/5/5/5|5/5/P4/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|r4/5/5/5/k4 b - - 0"
    assert "It gives check." in reasons("tower-game", check, "ae1-ee1")
    rook_and_queen = "15/bK13yK/15/15/15/15/15/7*7/15/bR14/15/15/15/1yQ13/rK13gK b play - - 0"
    assert "It gives check." not in reasons("fourplay", rook_and_queen, "a6-a5")  # the Queen did that before
    assert reasons("four-towers", "k2/6/9/10/10/9/10/10/rn7/6/K2 b - -/- - 0 1", "a3+b3").startswith(
        "It has gained a marshall."
    )


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_every_move_of_the_weakest_level_is_explained_by_what_it_has_seen(game: AnyGame) -> None:
    chance, setup = Random(SEED), next(iter(game.setups.values()))
    positions = [game.initial(setup.name)]
    for ply in range(1, PLIES):
        before = positions[-1]
        if game.outcome(before, positions[:-1]) is not None:
            break
        seat, seed = game.to_move(before), chance.getrandbits(40)
        move = choose(game, before, positions[:-1], 1, seed).move
        positions.append(game.play(before, move))
        text = game.format_move(before, move)
        event = e.MoveSubmitted(at=0, seat=seat, ply=ply, move=text, level=1, seed=seed, engine=str(ENGINE_VERSION))
        sentences = explain(game, positions, setup.seat_names, 1 - min(seat, 1), event)
        assert sentences
        seen, legal = moves_seen(game, before, ply - 1, 1, seed), list(game.legal_moves(before))
        assert move in seen
        if len(legal) > 1:
            looked = sum(each in seen for each in legal)
            assert f"it looked at {looked} of its {len(legal)} moves" in sentences[-1]
