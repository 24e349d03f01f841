"""Proofs of wins: found where there are any, claimed nowhere else, and replayed with every reply."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from domain.bashni import GAME as BASHNI
from domain.four_towers import GAME as FOUR_TOWERS
from domain.game import AnyGame
from domain.games import GAMES
from domain.search import choose, prove
from domain.search.proof import NotProvenError, ProvenWin, verify
from domain.search.values import WIN
from domain.tower_game import GAME as TOWER_GAME
from domain.towers import GAME as TOWERS
from tests.support.toy_games import NOUGHTS, Graph, Node, graph

WON, LOST, DRAWN = (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)
NODES = 20_000
CASTLES_IN_TWO = (
    "w,wwwww,wwww,wbbb,wwbbb,b,bbb/www,www,wwww,gbbw,bwww,bb,bbb/www,wbbb,bw,www,b,bb,bbwb/wwww,gbbb,bbw,gww,bbb,gbb,bbb"
    "/bwww,bbw,bb,ww,wwb,www,wbb/bbb,bbw,bbb,gwbw,wwb,www,wwbb/bwwbb,bbb,bbw,bbw,bbww,wwb,wwb 2 w 33"
)
MATE_IN_TWO = "5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/5/5/5|5/5/2K2/5/5|5/5/5/5/F4|5/5/5/5/5|5/5/5/5/k4 w - - 0"


def assert_won(game: AnyGame, position: Any, history: list[Any], proof: ProvenWin[Any, Any]) -> None:
    """Step through the line, and play the answers against every reply."""
    seat = game.to_move(position)
    assert verify(game, position, history, proof.answers) == proof.line
    for move in proof.line:
        assert game.is_legal(position, move)
        history = [*history, position]
        position = game.play(position, move)
    outcome = game.outcome(position, history)
    assert outcome is not None
    assert outcome.scores[seat] == 1


def random_graph(chance: random.Random) -> Graph:
    """A game whose positions lead to later and to earlier ones: lines come together, and go in circles."""
    names = [f"p{number}" for number in range(14)]
    nodes = {
        name: Node(chance.randrange(2), tuple(dict.fromkeys(chance.choices([*names, "won", "lost", "drawn"], k=3))))
        for name in names
    }
    ends = {"won": Node(scores=WON), "lost": Node(scores=LOST), "drawn": Node(scores=DRAWN)}
    return graph({**nodes, **ends})


def wins_by_retrograde_analysis(game: Graph, seat: int) -> set[str]:
    """The positions from which ``seat`` reaches its win whatever the other does."""
    won = {name for name, node in game.nodes.items() if node.scores is not None and node.scores[seat] == 1}
    while True:
        more = {
            name
            for name, node in game.nodes.items()
            if node.moves and (any if node.seat == seat else all)(move in won for move in node.moves)
        }
        if more <= won:
            return won
        won |= more


@pytest.mark.parametrize("seed", range(60))
def test_a_win_is_proven_exactly_where_there_is_one_whatever_repeats(seed: int) -> None:
    game = random_graph(random.Random(seed))
    for name, node in game.nodes.items():
        if node.moves:
            proof = prove(game, name, (), NODES)
            assert (proof is not None) == (name in wins_by_retrograde_analysis(game, node.seat))
            if proof is not None:
                assert_won(game, name, [], proof)


def test_noughts_and_crosses_is_no_win_and_a_fork_is_one() -> None:
    assert prove(NOUGHTS, NOUGHTS.initial("start"), (), NODES) is None
    fork = (0b000000001, 0b000000010, 0)  # a cross in a corner, a nought beside it
    proof = prove(NOUGHTS, fork, (), NODES)
    assert proof is not None
    assert len(proof.line) == 5
    assert_won(NOUGHTS, fork, [], proof)


def test_a_position_of_the_game_so_far_counts_as_not_won() -> None:
    game = graph(
        {"here": Node(0, ("there",)), "there": Node(1, ("on",)), "on": Node(0, ("won",)), "won": Node(scores=WON)}
    )
    assert prove(game, "here", (), NODES) is not None
    assert prove(game, "here", ("on",), NODES) is None


def test_nothing_is_claimed_where_a_reply_is_not_listed() -> None:
    def game(*unlisted: str) -> Graph:
        return graph(
            {"here": Node(0, ("there",)), "there": Node(1, ("won",), unlisted=unlisted), "won": Node(scores=WON)}
            | {"saved": Node(scores=DRAWN)}
        )

    assert prove(game(), "here", (), NODES) is not None
    assert prove(game("saved"), "here", (), NODES) is None


def before_the_end(game: AnyGame, setup: str, plies: int, games: int) -> Iterator[tuple[Any, list[Any]]]:
    """Positions ``plies`` plies before the end of random games, with their history."""
    for seed in range(games):
        chance = random.Random(f"{game.id}/{seed}")
        position, history = game.initial(setup), list[Any]()
        while game.outcome(position, history) is None:
            history.append(position)
            position = game.play(position, chance.choice(list(game.legal_moves(position))))
        yield history[-plies], history[:-plies]


def wins_within(game: AnyGame, position: Any, history: list[Any], seat: int, plies: int) -> bool:
    """Whether ``seat`` wins in at most ``plies`` plies, by looking at everything."""
    outcome = game.outcome(position, history)
    if outcome is not None or plies == 0:
        return outcome is not None and outcome.scores[seat] == 1
    choice = any if game.to_move(position) == seat else all
    longer = [*history, position]
    return choice(
        wins_within(game, game.play(position, move), longer, seat, plies - 1) for move in game.legal_moves(position)
    )


@pytest.mark.parametrize(
    ("game", "setup", "plies"), [(BASHNI, "start", 3), (TOWERS, "two-player", 1)], ids=["bashni", "towers"]
)
def test_wins_that_brute_force_sees_are_proven(game: AnyGame, setup: str, plies: int) -> None:
    seen = 0
    for position, history in before_the_end(game, setup, plies, games=12):
        if wins_within(game, position, history, game.to_move(position), plies):
            proof = prove(game, position, history, NODES)
            assert proof is not None
            assert_won(game, position, history, proof)
            seen += 1
    assert seen >= 3


@pytest.mark.parametrize(
    ("game", "text", "plies"),
    [
        (BASHNI, "8/4b3/8/8/8/2W5/8/W7 w 0", 9),
        (BASHNI, "1b6/8/1W6/8/8/4W3/8/W7 w 0", 9),
        (TOWER_GAME, MATE_IN_TWO, 3),
        (TOWERS, CASTLES_IN_TWO, 3),
        (FOUR_TOWERS, "3/6/3W5/9Q/8K1/3W5/10/10/9/6/2k w - -/- - 0 1", 1),
        (FOUR_TOWERS, "3/Q5/9/2k7/10/9/10/10/4K4/3W2/W2 w - -/- - 0 1", 3),
        (FOUR_TOWERS, "2K/6/6Q2/10/10/9/W9/2W7/5k3/6/3 w - -/- - 0 1", 5),
    ],
)
def test_a_known_win_is_proven_to_its_end(game: AnyGame, text: str, plies: int) -> None:
    position = game.parse_position(text)
    proof = prove(game, position, (), NODES)
    assert proof is not None
    assert len(proof.line) == plies
    assert_won(game, position, [], proof)


def test_a_proof_that_misses_a_reply_is_refused() -> None:
    position = BASHNI.parse_position("8/4b3/8/8/8/2W5/8/W7 w 0")
    proof = prove(BASHNI, position, (), NODES)
    assert proof is not None
    for missing in proof.answers:
        answers = {place: move for place, move in proof.answers.items() if place != missing}
        with pytest.raises(NotProvenError):
            verify(BASHNI, position, (), answers)


def test_a_proof_keeps_within_its_nodes_and_repeats_itself() -> None:
    position = BASHNI.parse_position("8/4b3/8/8/8/2W5/8/W7 w 0")
    proof = prove(BASHNI, position, (), NODES)
    assert proof is not None
    assert prove(BASHNI, position, (), NODES) == proof
    assert prove(BASHNI, position, (), proof.nodes) == proof
    assert prove(BASHNI, position, (), proof.nodes - 1) is None


def test_an_opponent_that_thinks_for_long_plays_the_proof() -> None:
    position = BASHNI.parse_position("8/4b3/8/8/8/2W5/8/W7 w 0")
    reported: list[int] = []
    choice = choose(BASHNI, position, (), 9, 1, 16_000, reported.append)
    proof = prove(BASHNI, position, (), 1_000)
    assert proof is not None
    assert choice == (proof.line[0], WIN - len(proof.line), len(proof.line), proof.nodes)


def test_the_nodes_of_a_proof_that_failed_count() -> None:
    reported: list[int] = []
    choice = choose(BASHNI, BASHNI.initial("start"), (), 9, 1, 16 * 1_100, reported.append)
    assert choice.nodes <= 16 * 1_100
    assert reported[:2] == [1024, 1100 + 1024]


def test_games_of_more_than_two_seats_have_no_proofs() -> None:
    game = GAMES["fourplay"]
    assert prove(game, game.initial("standard"), (), NODES) is None
