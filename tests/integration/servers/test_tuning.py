"""The tools that tune the opponents: openings, regression, weights, and the table of strength."""

from itertools import islice
from math import exp
from pathlib import Path
from random import Random

import pytest

from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History
from domain.search import node_budget
from domain.search.negamax import Choice
from tests.tuning import strength
from tests.tuning.__main__ import noise, written
from tests.tuning.book import PLIES, book, draw, openings, path_of
from tests.tuning.duel import Claims, Player, level_player, play_pair, player_score
from tests.tuning.fit import encounters, fit_curve, inverted, newton
from tests.tuning.selfplay import Quiet, Sample, games
from tests.tuning.variants import evaluation_with, weights_of

BOOKS = [(game.id, setup) for game in GAMES.values() for setup in game.setups if path_of(game.id, setup).exists()]
BASHNI, TOWERS = GAMES["bashni"], GAMES["towers"]


def first_move(value: int) -> Player:
    """Return a player that takes the first of its moves and always finds ``value``."""

    def move(game: AnyGame, position: object, history: object, seed: int) -> Choice[object]:
        return Choice(next(iter(game.legal_moves(position))), value, 1, 1)

    return move


@pytest.mark.parametrize("game_id", GAMES)
def test_an_opening_follows_from_its_number(game_id: str) -> None:
    game = GAMES[game_id]
    setup = next(iter(game.setups))
    drawn = draw(game, setup, 4)
    assert drawn == draw(game, setup, 4)
    assert len(drawn.moves) >= PLIES.get(game_id, 8)
    assert drawn.moves != draw(game, setup, 6).moves


@pytest.mark.parametrize(("game_id", "setup"), BOOKS)
def test_a_book_has_the_openings_of_its_numbers(game_id: str, setup: str) -> None:
    game = GAMES[game_id]
    openings_of_book = book(game, setup)
    assert [opening.number for opening in openings_of_book] == sorted({opening.number for opening in openings_of_book})
    assert len({game.key(opening.position) for opening in openings_of_book}) == len(openings_of_book)
    for opening in openings_of_book[::40]:
        assert opening.moves == draw(game, setup, opening.number).moves
        assert game.outcome(opening.position, ()) is None


def test_the_openings_of_a_book_differ() -> None:
    assert len({TOWERS.key(opening.position) for opening in islice(openings(TOWERS, "two-player"), 300)}) == 300


def test_a_pair_of_games_between_equals_is_shared() -> None:
    opening = next(openings(BASHNI, "start"))
    assert play_pair(BASHNI, opening, first_move(0), first_move(0)) == 0.5


def test_every_game_of_every_opening_draws_other_moves_to_overlook() -> None:
    seeds: list[int] = []

    def first(game: AnyGame, position: object, history: History, seed: int) -> Choice[object]:
        seeds.append(seed)
        return first_move(0)(game, position, history, seed)

    for opening in islice(openings(BASHNI, "start"), 2):
        play_pair(BASHNI, opening, first, first)
    assert len(seeds) == len(set(seeds)) > 4


def test_a_game_ends_early_when_both_players_agree_for_six_plies_on_its_winner() -> None:
    opening = next(openings(BASHNI, "start"))
    winner, loser = first_move(700), first_move(-700)
    assert play_pair(BASHNI, opening, winner, loser, 600) == 1.0
    assert play_pair(BASHNI, opening, winner, loser, 800) == play_pair(BASHNI, opening, winner, winner, 600) == 0.5


def test_among_four_seats_the_score_counts_who_comes_out_ahead_of_whom() -> None:
    assert player_score((1, 2 / 3, 1 / 3, 0), (0, 1)) == 1
    assert player_score((1, 2 / 3, 1 / 3, 0), (0, 3)) == 0.5
    assert player_score((0.75, 0.75, 0.25, 0.25), (1, 2)) == 0.5
    assert player_score((1, 0, 0, 0), (0, 1)) == 0.75
    assert player_score((0.75, 0.25), (0,)) == 0.75


def test_a_claim_that_is_interrupted_begins_again() -> None:
    claims = Claims(600)
    values = [650, -650] * 2 + [650, -500] + [650, -650] * 3
    assert [claims.winner(ply % 2, value) for ply, value in enumerate(values)] == [None] * 11 + [0]


def test_a_high_level_beats_the_lowest_in_a_pair_of_games() -> None:
    assert play_pair(BASHNI, next(openings(BASHNI, "start")), level_player(4), level_player(1)) >= 0.5


def test_a_run_of_matches_goes_on_where_it_has_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.tsv"
    arguments = ["--games", "bashni", "--levels", "1", "2", "--results", str(results)]
    strength.main([*arguments, "--pairs", "1"])
    first = results.read_text()
    strength.main([*arguments, "--pairs", "2"])
    assert results.read_text().startswith(first)
    assert len(results.read_text().splitlines()) == 2
    played = results.read_text()
    strength.main([*arguments, "--pairs", "2"])
    assert results.read_text() == played
    assert "| Bashni | start | 2 to 1 | 4 |" in capsys.readouterr().out


def test_games_at_a_fraction_of_the_budgets_count_apart_from_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.tsv"
    arguments = ["--games", "bashni", "--levels", "8", "9", "--pairs", "1", "--results", str(results)]
    strength.main([*arguments, "--divisor", "2400"])
    strength.main([*arguments, "--divisor", "4800"])
    levels = [line.split("\t")[3] for line in results.read_text().splitlines()]
    assert levels == [
        f"9:{node_budget('bashni', 9) // divisor}/64/0.0/10 8:{24_000 // divisor}/64/0.0/10" for divisor in (2400, 4800)
    ]
    printed = capsys.readouterr().out
    assert all(f"| Bashni | start, budgets / {divisor} | 9 to 8 | 2 |" in printed for divisor in (2400, 4800))


def test_games_that_may_end_early_are_counted_and_printed_apart_from_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.tsv"
    arguments = ["--games", "bashni", "--levels", "1", "2", "--pairs", "1", "--results", str(results)]
    strength.main(arguments)
    assert "| Bashni | start | 2 to 1 | 2 |" in capsys.readouterr().out
    strength.main([*arguments, "--adjudicate", "600"])
    assert "| Bashni | start, lead 600 | 2 to 1 | 2 |" in capsys.readouterr().out
    assert len(results.read_text().splitlines()) == 2


def test_games_that_have_been_played_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "games.tsv"
    played = games(BASHNI, "start", path, 2, nodes=20, jobs=1)
    assert games(BASHNI, "start", path, 2, nodes=20, jobs=1) == played
    assert all(sum(sample.scores) == 1 for sample in played)
    assert all(BASHNI.parse_position(quiet.position) for sample in played for quiet in sample.positions)


def test_the_regression_finds_the_weights_that_results_come_from() -> None:
    chance = Random(1)
    rows = []
    for _ in range(6_000):
        features = {0: chance.uniform(-2, 2), 1: chance.uniform(-2, 2)}
        expected = 1 / (1 + exp(-(0.8 * features[0] - 0.5 * features[1])))
        rows.append((features, float(chance.random() < expected), 1.0))
    values, variances = newton(rows, [0.0, 0.0], [10.0, 10.0])
    assert values == pytest.approx([0.8, -0.5], abs=4 * max(variances) ** 0.5)


def test_the_curve_of_expected_points_tells_how_far_better_scores_lead_to_more_points() -> None:
    start = BASHNI.format_position(BASHNI.initial("start"))
    chance = Random(2)
    samples = []
    for _ in range(4_000):
        value = chance.randrange(-1_500, 1_501)
        first = float(chance.random() < 1 / (1 + exp(-(value - 100) / 400)))
        samples.append(Sample((first, 1 - first), (Quiet(value, start),)))
    curve = fit_curve(BASHNI, samples, by_places=False)
    assert curve.scale == pytest.approx(400, abs=30)
    assert curve.centre == pytest.approx(100, abs=30)
    assert curve.scale_interval[0] < 400 < curve.scale_interval[1]
    reversed_samples = [sample._replace(scores=sample.scores[::-1]) for sample in samples]
    with pytest.raises(ValueError, match="better scores have not led to more points in 4000 games"):
        fit_curve(BASHNI, reversed_samples, by_places=False)


def test_among_four_seats_shared_places_count_as_halves_and_losers_are_not_compared() -> None:
    scores = (3.0, 2.0, 1.0, 0.0)
    of_winner = encounters(scores, (0, 1, 0, 0), 1.0, with_ties=False)
    assert [(lead[0], result) for lead, result, _ in of_winner] == [(-1, 1), (-1, 0), (-2, 0)]
    of_places = encounters(scores, (5 / 6, 5 / 6, 1 / 3, 0), 1.0, with_ties=True)
    assert [result for _, result, _ in of_places] == [0.5, 0, 0, 0, 0, 0]


def test_the_noise_of_expected_points_is_that_of_a_search_with_more_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [Sample((1.0, 0.0), (Quiet(0, BASHNI.format_position(BASHNI.initial("start"))),))] * 2
    monkeypatch.setattr("tests.tuning.__main__.NODES", (30, 30))
    assert noise(BASHNI, samples, jobs=1) == 0
    monkeypatch.setattr("tests.tuning.__main__.NODES", (30, 300))
    assert noise(BASHNI, samples, jobs=1) > 0


def test_a_matrix_times_its_inverse_is_the_unit() -> None:
    matrix = [[4.0, 1.0], [1.0, 3.0]]
    inverse = inverted(matrix)
    product = [[sum(matrix[i][k] * inverse[k][j] for k in range(2)) for j in range(2)] for i in range(2)]
    assert [value for row in product for value in row] == pytest.approx([1, 0, 0, 1])


def test_changed_weights_change_the_evaluation_alone() -> None:
    start = BASHNI.initial("start")
    assert evaluation_with("bashni", {"TURN": 55})(start, 0) == 55
    assert BASHNI.evaluate(start, 0) == weights_of("bashni")["TURN"]


def test_weights_are_written_where_they_stand() -> None:
    source = '"""Weights."""\n\nMAN: Final = 100\n"""A man."""\nROWS: Final = (1, 2)\n'
    assert written(source, {"MAN": 90, "ROWS.1": 7}) == source.replace("100", "90").replace("(1, 2)", "(1, 7)")
