"""What every game promises: one suite over all rulesets of all games."""

import inspect
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from domain.errors import IllegalMove, MalformedNotation, RulesError
from domain.game import AnyGame, Outcome
from domain.games import GAMES, UnknownRulesetError, find_ruleset
from domain.history import History
from tests.support.rulesets import RULESETS, WITH_TINY

SETUPS = {f"{name}-{setup}": (game, setup) for name, game in WITH_TINY.items() for setup in game.setups}
every_setup = pytest.mark.parametrize(("game", "setup"), SETUPS.values(), ids=SETUPS)
every_game = pytest.mark.parametrize("game", WITH_TINY.values(), ids=WITH_TINY)

SIGNS = "abcdefghijklmno0123456789-x*+<>=@;:,/().wbWBKQ _"


@cache
def random_game(game: AnyGame, setup: str, seed: int) -> tuple[list[Any], list[Any], Outcome]:
    """Play one game with random moves; return its positions, its moves and its outcome. All tests use a few games."""
    rng = random.Random(f"{game.id} {setup} {seed}")
    position, history = game.initial(setup), History(game)
    moves = []
    while (outcome := game.outcome(position, history)) is None:
        moves.append(rng.choice(list(game.legal_moves(position))))
        history = history.with_position(position)
        position = game.play(position, moves[-1])
    return [*history, position], moves, outcome


def sampled(game: AnyGame, setup: str, seed: int, most: int) -> Iterator[Any]:
    """Yield up to ``most`` positions spread over one random game, others for each ``seed``."""
    positions, _, _ = random_game(game, setup, seed % 3)
    step = max(1, len(positions) // most)
    yield from positions[seed % step :: step]


OPERATIONS = {
    "initial": ["setup"], "to_move": ["position"], "legal_moves": ["position"], "is_legal": ["position", "move"],
    "play": ["position", "move"], "outcome": ["position", "history"], "parse_position": ["text"],
    "format_position": ["position"], "parse_move": ["position", "text"], "format_move": ["position", "move"],
    "diagram": ["position"], "hints": ["position"],
}  # fmt: skip
"""The operations that tools outside this repository call, and the names of their arguments."""


@every_game
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_operations_that_outside_tools_call_keep_their_argument_names(game: AnyGame, name: str) -> None:
    parameters = inspect.signature(getattr(game, name)).parameters.values()
    assert [parameter.name for parameter in parameters if parameter.default is parameter.empty] == OPERATIONS[name]


@every_game
def test_reasons_are_named_in_kebab_case_and_described_in_words(game: AnyGame) -> None:
    assert all(re.fullmatch("[a-z]+(-[a-z]+)*", reason) for reason in game.reasons)
    assert all(words and words[0].islower() and words[-1].isalnum() for words in game.reasons.values())


@every_setup
def test_random_games_end_with_one_score_for_every_seat(game: AnyGame, setup: str) -> None:
    for seed in range(3):
        positions, moves, outcome = random_game(game, setup, seed)
        assert len(outcome.scores) == len(game.setups[setup].seat_names)
        assert all(0 <= score <= 1 for score in outcome.scores)
        assert sum(outcome.scores) == pytest.approx(sum(game.scores_after_leaving(positions[0], ())), abs=0.001)
        assert outcome.reason in game.reasons
        assert len(positions) == len(moves) + 1


@every_setup
def test_positions_and_moves_read_back_as_they_were_written(game: AnyGame, setup: str) -> None:
    for position in sampled(game, setup, seed=11, most=20):
        text = game.format_position(position)
        assert game.parse_position(text) == position
        assert game.format_position(game.parse_position(text)) == text
        for move in game.legal_moves(position):
            assert game.parse_move(position, game.format_move(position, move)) == move


@every_setup
def test_generated_moves_are_legal_distinct_in_order_and_apply(game: AnyGame, setup: str) -> None:
    for position in sampled(game, setup, seed=12, most=12):
        moves = list(game.legal_moves(position))
        texts = [game.format_move(position, move) for move in moves]
        assert texts == sorted(set(texts))
        for move in moves:
            assert game.is_legal(position, move)
            following = game.play(position, move)
            assert game.parse_position(game.format_position(following)) == following


@every_setup
def test_equal_strings_mean_equal_positions(game: AnyGame, setup: str) -> None:
    positions = [position for seed in (1, 2) for position in random_game(game, setup, seed)[0]]
    by_text: dict[str, Any] = {}
    for position in positions:
        assert by_text.setdefault(game.format_position(position), position) == position
    assert len(by_text) == len(set(positions))


@every_setup
def test_positions_have_the_same_key_exactly_when_their_key_strings_are_the_same(game: AnyGame, setup: str) -> None:
    positions = [position for seed in (1, 2) for position in random_game(game, setup, seed)[0]]
    pairs = {(game.key(position), game.key_string(position)) for position in positions}
    assert len({key for key, _ in pairs}) == len({text for _, text in pairs}) == len(pairs)


@every_setup
def test_perturbed_moves_are_refused_with_a_reason_or_are_legal_themselves(game: AnyGame, setup: str) -> None:
    rng = random.Random(f"{game.id} {setup}")
    for position in sampled(game, setup, seed=13, most=12):
        texts = [game.format_move(position, move) for move in game.legal_moves(position)]
        for text in rng.sample(texts, min(8, len(texts))):
            place = rng.randrange(len(text))
            changed = text[:place] + rng.choice(SIGNS) + text[place + rng.choice((0, 1)) :]
            try:
                move = game.parse_move(position, changed)
            except RulesError as refusal:
                reason = str(refusal)
            else:
                reason = "it is legal" if game.is_legal(position, move) else ""
            assert reason


@every_setup
def test_a_refused_move_changes_nothing(game: AnyGame, setup: str) -> None:
    position = game.initial(setup)
    text = game.format_position(position)
    for wrong in ("", " ", "a1", "zz", "a1-a1", "-" * 50, "\x00", "É1-a2"):
        with pytest.raises((MalformedNotation, IllegalMove)):
            game.parse_move(position, wrong)
    assert game.format_position(position) == text
    assert position == game.initial(setup)


@every_setup
def test_an_ended_game_has_no_moves_and_refuses_all(game: AnyGame, setup: str) -> None:
    positions, moves, outcome = random_game(game, setup, seed=0)
    if outcome.reason != "repetition":
        assert list(game.legal_moves(positions[-1])) == []
        assert not game.is_legal(positions[-1], moves[-1])
        with pytest.raises(IllegalMove):
            game.parse_move(positions[-1], game.format_move(positions[-2], moves[-1]))


@every_setup
def test_the_outcome_of_a_position_that_was_played_on_needs_no_search_for_moves(game: AnyGame, setup: str) -> None:
    positions, _, _ = random_game(game, setup, seed=2)
    for ply in range(0, len(positions) - 1, max(1, len(positions) // 20)):
        position, history = positions[ply], positions[:ply]
        for earlier in (history, [*history, position], [*history, position, position]):
            assert game.outcome_by_history(position, earlier) == game.outcome(position, earlier)


@every_setup
def test_the_hints_of_a_board_are_exactly_the_legal_moves(game: AnyGame, setup: str) -> None:
    for position in sampled(game, setup, seed=15, most=8):
        hinted = [hint.move for hints in game.hints(position).values() for hint in hints]
        assert sorted(hinted) == [game.format_move(position, move) for move in game.legal_moves(position)]


@every_setup
def test_the_picture_shows_known_squares_and_says_every_one_in_words(game: AnyGame, setup: str) -> None:
    for position in sampled(game, setup, seed=16, most=5):
        scene = game.scene(position)
        squares = {cell.square for cell in scene.cells}
        assert all(scene.contents(square).startswith(f"{square}") for square in scene.columns)
        assert set(scene.columns) <= squares
        assert {square for pair in scene.links for square in pair} <= set(scene.columns)
        for square, hints in game.hints(position).items():
            assert square in squares or square == ""
            assert all(step in squares for hint in hints for step in hint.path)
        assert game.diagram(position) == "\n".join(line.rstrip() for line in game.diagram(position).split("\n"))


@every_setup
def test_what_is_good_for_one_of_two_seats_is_bad_for_the_other(game: AnyGame, setup: str) -> None:
    for position in sampled(game, setup, seed=17, most=10):
        if game.outcome(position, ()) is None:
            values = [game.evaluate(position, seat) for seat in range(len(game.setups[setup].seat_names))]
            assert len(values) > 2 or values[0] == -values[1]


@every_setup
def test_ordering_keeps_all_moves_and_noisy_moves_are_legal(game: AnyGame, setup: str) -> None:
    for position in sampled(game, setup, seed=18, most=10):
        moves = list(game.legal_moves(position))
        assert sorted(map(repr, game.order(position, moves))) == sorted(map(repr, moves))
        if moves:
            assert set(game.noisy_moves(position)) <= set(moves)


@every_setup
def test_seats_that_give_up_share_nothing_and_the_scores_add_up(game: AnyGame, setup: str) -> None:
    position = game.initial(setup)
    seats = len(game.setups[setup].seat_names)
    everybody = game.scores_after_leaving(position, ())
    assert len(set(everybody)) == 1
    assert len(everybody) == seats
    for seat in range(seats):
        scores = game.scores_after_leaving(position, (seat,))
        assert scores[seat] == 0
        assert sum(scores) == pytest.approx(sum(everybody), abs=0.001)


@every_game
def test_wrong_positions_of_any_length_are_refused_in_words(game: AnyGame) -> None:
    rng = random.Random(game.id)
    start = game.format_position(game.initial(next(iter(game.setups))))
    wrong = ["", " ", "x" * 10_000, "/" * 10_000, "(" * 10_000, "9" * 10_000, start + " ", start[:-1] + "٣"]
    for _ in range(200):
        place = rng.randrange(len(start))
        wrong.append(start[:place] + rng.choice(SIGNS) + start[place + 1 :])
    for text in wrong:
        try:
            position = game.parse_position(text)
        except MalformedNotation as refusal:
            reason = str(refusal)
        else:
            reason = "it is a position" if game.format_position(position) == text else ""
        assert reason


@pytest.mark.parametrize("game", RULESETS.values(), ids=RULESETS)
def test_a_ruleset_is_found_by_its_version_only(game: AnyGame) -> None:
    assert find_ruleset(game.id, game.ruleset) is game
    with pytest.raises(UnknownRulesetError):
        find_ruleset(game.id, game.ruleset + 1000)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_rulesets_of_a_game_tell_themselves_apart_and_share_everything_else(game: AnyGame) -> None:
    rulesets = GAMES.rulesets[game.id]
    assert game in rulesets
    versions = [other.ruleset for other in rulesets]
    assert versions == sorted(set(versions))
    assert min(versions) >= 1
    said = [other.distinction for other in rulesets]
    assert said == [""] or len(set(filter(None, said))) == len(rulesets)
    assert {(other.id, other.title, tuple(other.setups.values())) for other in rulesets} == {
        (game.id, game.title, tuple(game.setups.values()))
    }
