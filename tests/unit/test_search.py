"""The search: what it finds, on games small enough to know what is best."""

import random
from typing import Any

import pytest

from domain.game import AnyGame
from domain.search import choose
from domain.search.negamax import Choice, RootMove, Search, reduction
from domain.search.values import MAX_EVALUATION, WIN, value_of_scores
from tests.support.draws import sampled
from tests.support.toy_games import NOUGHTS, Graph, Node, graph

WON, LOST, DRAWN = (1.0, 0.0), (0.0, 1.0), (0.5, 0.5)


def best(game: AnyGame, position: Any, depth: int, history: tuple[Any, ...] = (), nodes: int = 10_000) -> Any:
    """The best move of the seat to move, without noise."""
    search = Search(game, game.to_move(position), len(game.seat_names), history, nodes)
    return search.best(position, [RootMove(move, 0) for move in game.legal_moves(position)], depth)


def random_tree(chance: random.Random, height: int) -> Graph:
    """A game tree of up to four moves a position, in which a seat may move several times running."""
    nodes: dict[str, Node] = {}

    def grow(name: str, left: int) -> None:
        nodes[name] = Node()  # holds its place: the root comes first
        seat = chance.randrange(2)
        if name != "r" and chance.random() < 0.15:
            nodes[name] = Node(seat, scores=chance.choice([WON, LOST, DRAWN, (0.75, 0.25)]))
            return
        moves = tuple(f"{name}{number}" for number in range(chance.randint(1, 4))) if left else ()
        nodes[name] = Node(seat, moves, chance.randint(-300, 300))
        for move in moves:
            grow(move, left - 1)

    grow("r", height)
    return graph(nodes)


def minimax(game: Graph, name: str, depth: int, ply: int = 0) -> int:
    """The value of a position for seat 0, by looking at everything."""
    node = game.nodes[name]
    if node.scores is not None:
        return value_of_scores(node.scores, 0, ply)
    if depth == 0 or not node.moves:
        return node.looks
    values = [minimax(game, move, depth - 1, ply + 1) for move in node.moves]
    return min(values) if node.seat else max(values)


@sampled("seed", range(60))
def test_pruning_changes_no_value(seed: int) -> None:
    game = random_tree(random.Random(seed), height=5)
    seat = game.nodes["r"].seat
    found = best(game, "r", depth=5)
    expected = minimax(game, "r", 5)
    assert found.value == (-expected if seat else expected)
    after = minimax(game, found.move, 4, 1)
    assert after == expected


def test_perfect_play_draws_noughts_and_crosses() -> None:
    game = NOUGHTS
    position, history = game.initial("start"), list[Any]()
    while (outcome := game.outcome(position, history)) is None:
        move = choose(game, position, history, 8, seed=3).move
        history.append(position)
        position = game.play(position, move)
    assert outcome.scores == (0.5, 0.5)


@sampled("seed", range(10))
def test_the_highest_level_never_loses_noughts_and_crosses(seed: int) -> None:
    game = NOUGHTS
    chance = random.Random(seed)
    position, history = game.initial("start"), list[Any]()
    while (outcome := game.outcome(position, history)) is None:
        own_turn = game.to_move(position) == seed % 2
        moves = list(game.legal_moves(position))
        move = choose(game, position, history, 7, seed).move if own_turn else chance.choice(moves)
        history.append(position)
        position = game.play(position, move)
    assert outcome.scores[seed % 2] >= 0.5


def test_a_shorter_win_is_preferred_and_a_loss_put_off() -> None:
    game = graph(
        {
            "start": Node(0, ("slow", "quick")), "slow": Node(1, ("later",)), "later": Node(0, ("won",)),
            "quick": Node(scores=WON), "won": Node(scores=WON), "losing": Node(0, ("at once", "in a while")),
            "at once": Node(scores=LOST), "in a while": Node(1, ("lost", "lost too")), "lost": Node(scores=LOST),
            "lost too": Node(scores=LOST),
        }
    )  # fmt: skip
    assert best(game, "start", 5)[:2] == ("quick", WIN - 1)
    assert best(game, "losing", 5)[:2] == ("in a while", -WIN + 2)


def test_three_quarters_of_a_point_is_better_than_a_draw_and_worse_than_a_win() -> None:
    ends = {"draw": DRAWN, "most": (0.75, 0.25), "all": WON, "least": (0.25, 0.75)}
    nodes = {name: Node(scores=scores) for name, scores in ends.items()}
    assert best(graph({"start": Node(0, tuple(ends)), **nodes}), "start", 2).move == "all"
    assert best(graph({"start": Node(0, ("draw", "most", "least")), **nodes}), "start", 2).move == "most"
    assert best(graph({"start": Node(1, tuple(ends)), **nodes}), "start", 2)[:2] == ("least", WIN // 2 - 1)


REPEATING = {
    "start": Node(0, ("again", "worse")), "again": Node(1, ("start", "far"), looks=200),
    "worse": Node(1, ("end",), looks=-50), "end": Node(0, ("worse",), looks=-50), "far": Node(0, ("again",), looks=500),
}  # fmt: skip


def test_a_position_that_has_been_counts_as_a_draw() -> None:
    game = graph(REPEATING)
    assert best(game, "start", 1).value == 200
    assert best(game, "start", 1, history=("again",))[:2] == ("again", 0)


def test_the_better_side_leaves_the_repetition() -> None:
    better = {**REPEATING, "worse": Node(1, ("end",), looks=150), "end": Node(0, ("worse",), looks=150)}
    assert best(graph(better), "start", 1, history=("start", "again")).move == "worse"


def test_compulsory_moves_do_not_count_as_depth() -> None:
    chain = {
        f"c{step}": Node(step % 2, (f"c{step + 1}",), -500, None, (f"c{step + 1}",), False) for step in range(1, 6)
    }
    game = graph(
        {
            "start": Node(0, ("quiet", "c1")),
            "quiet": Node(1, ("quiet2",), 50),
            "quiet2": Node(0, ("quiet",), 50),
            **chain,
            "c6": Node(0, ("quiet",), looks=700),
        }
    )
    assert best(game, "start", 1)[:2] == ("c1", 700)


def test_noisy_moves_on_the_horizon_may_be_declined() -> None:
    def game(declinable: bool) -> Graph:
        return graph(
            {
                "start": Node(0, ("hanging", "safe")),
                "hanging": Node(1, ("taken", "retreat"), 300, None, ("taken",), declinable),
                "taken": Node(0, ("safe",), -400), "retreat": Node(0, ("safe",), 300), "safe": Node(1, ("start2",), 10),
                "start2": Node(0, ("safe",), 10), "poisoned": Node(0, ("trap", "safe")),
                "trap": Node(1, ("sprung", "retreat")[: 1 + declinable], 300, None, ("sprung",), declinable),
                "sprung": Node(0, ("safe",), 900),
            }
        )  # fmt: skip

    assert best(game(True), "start", 1).move == "safe"
    assert best(game(True), "poisoned", 1)[:2] == ("trap", 300)
    assert best(game(False), "poisoned", 1)[:2] == ("trap", 900)


def test_an_endless_exchange_comes_to_an_end() -> None:
    game = graph(
        {
            "a": Node(0, ("b",), 5, None, ("b",), False),
            "b": Node(1, ("a", "c"), 7, None, ("a", "c"), False),
            "c": Node(0, ("a",), 9, None, ("a",), False),
        }
    )
    found = best(game, "b", 6, nodes=500)
    assert found.move in ("a", "c")
    assert found.nodes <= 500


def crowd(*looks: int) -> dict[str, Node]:
    """Seat 0 chooses between ``calm`` and ``bold``; after ``bold`` it takes both others to bring about the worst."""
    usual, first, second, both, calm = looks
    return {
        "start": Node(0, ("calm", "bold")), "calm": Node(1, ("calm1",), calm), "calm1": Node(2, ("calm2",), calm),
        "calm2": Node(0, ("calm",), calm), "bold": Node(1, ("usual", "spite")), "usual": Node(2, ("usual2", "spite2")),
        "spite": Node(2, ("then usual", "then spite")), "usual2": Node(0, ("calm",), usual),
        "spite2": Node(0, ("calm",), second), "then usual": Node(0, ("calm",), first),
        "then spite": Node(0, ("calm",), both),
    }  # fmt: skip


def test_of_several_others_one_at_a_time_is_expected_to_choose_against_the_seat() -> None:
    assert best(graph(crowd(100, 60, 50, -900, 10), seats=3), "start", 3)[:2] == ("bold", 50)


@pytest.mark.parametrize("looks", [(100, -200, 50, 40, 10), (100, 50, -200, 40, 10)])
def test_what_a_single_one_of_the_others_can_do_is_feared(looks: tuple[int, ...]) -> None:
    assert best(graph(crowd(*looks), seats=3), "start", 3)[:2] == ("calm", 10)


def test_the_last_of_several_seats_wins_and_loses_by_its_own_score() -> None:
    ends = {"mine": (0.0, 0.0, 1.0), "theirs": (1.0, 0.0, 0.0), "shared": (1 / 3, 1 / 3, 1 / 3)}
    game = graph({"start": Node(2, tuple(ends)), **{name: Node(scores=ends[name]) for name in ends}}, seats=3)
    assert best(game, "start", 2)[:2] == ("mine", WIN - 1)
    assert value_of_scores(ends["theirs"], 2, 0) < value_of_scores(ends["shared"], 2, 0) == 0


@pytest.mark.parametrize(("looks", "move"), [(400, "on"), (300, "end")])
def test_where_places_have_points_only_who_stands_better_than_an_end_plays_on(looks: int, move: str) -> None:
    game = graph(
        {
            "start": Node(0, ("end", "on")),
            "end": Node(scores=(2 / 3, 2 / 3, 2 / 3, 0.0)),
            "on": Node(1, ("on2",), looks),
            "on2": Node(0, ("on",), looks),
        },
        seats=4,
    )
    assert best(game, "start", 1).move == "end"
    game.place_worth = 3_000
    assert best(game, "start", 1).move == move


def test_where_places_have_points_only_the_first_one_is_a_certain_win() -> None:
    scores = (2 / 3, 1.0, 0.0, 1 / 3)
    assert [value_of_scores(scores, seat, 3, 3_000) for seat in range(4)] == [-167, WIN - 3, -2_500, -1_333]


@pytest.mark.parametrize("nodes", [1, 2, 7, 9, 10, 11, 60, 333])
def test_a_budget_is_never_exceeded_and_always_gives_a_move(nodes: int) -> None:
    game = NOUGHTS
    found: Choice[Any] = best(game, game.initial("start"), 9, nodes=nodes)
    assert found.nodes <= nodes
    assert found.move in game.legal_moves(game.initial("start"))


def test_what_an_unfinished_iteration_has_found_better_counts() -> None:
    game = graph(
        {
            "start": Node(0, ("first", "second", "third")),
            "first": Node(1, ("first1", "first2"), 30),
            "second": Node(1, ("second1", "second2"), 20),
            "third": Node(1, ("third1", "third2"), 10),
            **{f"{name}{reply}": Node(0, ("start",), -40) for name in ("first", "third") for reply in "12"},
            **{f"second{reply}": Node(0, ("start",), 25) for reply in "12"},
        }
    )
    moves = [best(game, "start", 2, nodes=nodes)[:3] for nodes in (3, 6, 12)]
    # Three nodes are one iteration, three more the first move two plies deep, six more the second, which is searched
    # once to find that it is better and once to find its value.
    assert moves == [("first", 30, 1), ("first", -40, 1), ("second", 25, 1)]


def test_a_move_that_the_game_never_lists_is_played_when_it_is_best() -> None:
    game = graph(
        {
            "start": Node(0, ("usual", "other"), unlisted=("dull", "rare")), "usual": Node(1, ("usual2",), 100),
            "usual2": Node(0, ("usual",), 100), "other": Node(1, ("usual2",), 90), "dull": Node(1, ("usual2",), 80),
            "rare": Node(scores=WON),
        }
    )  # fmt: skip
    assert choose(game, "start", (), 8, 1).move == "rare"


def test_a_move_that_the_game_never_lists_is_feared_as_an_answer() -> None:
    game = graph(
        {
            "start": Node(0, ("greedy", "safe")), "greedy": Node(1, ("start2",), 300, unlisted=("punished",)),
            "start2": Node(0, ("greedy", "safe"), 300), "punished": Node(scores=LOST), "safe": Node(1, ("start3",), 10),
            "start3": Node(0, ("safe",), 10),
        }
    )  # fmt: skip
    assert best(game, "start", 2)[:2] == ("safe", 10)


def test_of_many_moves_that_are_never_listed_the_search_follows_the_best() -> None:
    names = tuple(f"rare{number:02}" for number in range(20))
    rare = {name: Node(1, (f"{name}!", f"{name}?"), number) for number, name in enumerate(names)}
    answers = {f"{name}{sign}": Node(0, ("usual",), 50) for name in names for sign in "!?"}
    game = graph(
        {
            "start": Node(0, ("usual", "other"), unlisted=names),
            "usual": Node(1, ("usual2",), 5),
            "usual2": Node(0, ("usual",), 5),
            "other": Node(1, ("usual2",), 4),
            **rare,
            **answers,
            "rare00!": Node(scores=WON),
            "rare00?": Node(scores=WON),
            "rare19!": Node(0, ("usual",), 90),
            "rare19?": Node(0, ("usual",), 90),
        }
    )
    everything = [RootMove(move, 0, move in names) for move in ("usual", "other", *names)]
    found = Search(game, 0, 2, (), 10_000).best("start", everything, 2)
    # The first looks worst at once: nobody looks on to find that it wins.
    assert found[:2] == ("rare19", 90)


@pytest.mark.parametrize(
    ("scores", "value"), [(WON, WIN - 3), (DRAWN, 0), (LOST, 3 - WIN), ((0.75, 0.25), WIN // 2 - 3)]
)
def test_the_value_of_an_end_counts_the_plies_until_then(scores: tuple[float, ...], value: int) -> None:
    assert value_of_scores(scores, 0, 3) == value
    assert abs(value) > MAX_EVALUATION or value == 0


@pytest.mark.parametrize(
    ("depth", "number", "plies"), [(1, 9, 0), (2, 40, 0), (3, 3, 0), (3, 4, 1), (5, 40, 1), (6, 15, 1), (6, 16, 2)]
)
def test_late_moves_are_reduced_the_more_the_deeper_the_search(depth: int, number: int, plies: int) -> None:
    assert reduction(depth, number) == plies


def test_progress_is_reported_and_may_end_the_search() -> None:
    reported: list[int] = []
    choose(NOUGHTS, NOUGHTS.initial("start"), (), 8, 1, 5_000, reported.append)
    assert reported == [1024, 2048, 3072, 4096]

    def stop(_: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        choose(NOUGHTS, NOUGHTS.initial("start"), (), 8, 1, None, stop)
