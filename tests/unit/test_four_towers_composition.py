"""Rearrangements and multi-moves of Four Towers put together part by part, and the notes on squares."""

import json
import random
from pathlib import Path

import pytest

from domain.errors import MalformedNotation
from domain.four_towers import GAME
from domain.four_towers.position import Position
from domain.games import GAMES
from domain.presentation import Composed
from tests.support.tables import table

CASES = json.loads((Path(__file__).parents[1] / "vectors" / "four-towers.public.json").read_text("utf-8"))
COMPOSABLE = [
    case["position"]
    for case in CASES
    if "malformed" not in case and ("multi_moves" in case or "rearrangements" in case)
]
ONE_WIZARD = "3/6/8k/10/10/9/p2W6/1NN7/9/6/K2 w - -/- - 0 1"
ONE_DRAGON = "3/6/8k/10/10/3P5/3D6/P9/9/6/K2 w - -/- - 0 1"
TWO_DRAGONS = "3/6/8k/10/7N2/3P5/3D6/P5D3/9/5N/K2 w - -/- - 0 1"
SAVED_BY_MULTI = "3/6/9/9k/10/9/r2D6/1P8/K7r/P5/3 w - -/- - 0 1"


def position_of(text: str) -> Position:
    return GAME.parse_position(text)


def parts_of(composed: Composed) -> list[str]:
    return [hint.move for hints in composed.following.values() for hint in hints]


def reached(position: Position, kind: str, most: int) -> set[str]:
    """Return all moves that can be put together from at most ``most`` parts, following the offers alone."""
    moves = set()
    lines: list[list[str]] = [[]]
    while lines:
        parts = lines.pop()
        composed = GAME.compose(position, kind, parts)
        if composed.move is not None:
            moves.add(composed.move)
        if len(parts) < most:
            lines += [[*parts, part] for part in parts_of(composed)]
    return moves


@pytest.mark.parametrize("text", [ONE_DRAGON, SAVED_BY_MULTI, TWO_DRAGONS])
def test_following_the_offers_leads_to_every_multi_move_and_to_nothing_else(text: str) -> None:
    position = position_of(text)
    assert reached(position, "multi", 4) == {GAME.format_move(position, move) for move in GAME.multi_moves(position)}


def test_following_the_offers_leads_to_every_rearrangement_and_to_nothing_else() -> None:
    position = position_of(ONE_WIZARD)
    expected = {GAME.format_move(position, move) for move in GAME.rearrangements(position)}
    assert len(expected) == 27
    assert reached(position, "rearrange-I", 2) == expected


def test_what_is_put_together_is_legal_and_reads_back_as_the_same_canonical_string() -> None:
    chance = random.Random(11)
    finished = 0
    for text in COMPOSABLE:
        position = position_of(text)
        for composition in GAME.compositions(position):
            parts: list[str] = []
            for _ in range(6):
                composed = GAME.compose(position, composition.kind, parts)
                assert (composed.move is None) == bool(composed.reason)
                assert composed.failing is None
                if composed.move is not None:
                    finished += 1
                    move = GAME.parse_move(position, composed.move)
                    assert GAME.is_legal(position, move)
                    assert GAME.format_move(position, move) == composed.move
                    assert GAME.scene(GAME.play(position, move)).columns == composed.scene.columns
                offered = parts_of(composed)
                if not offered:
                    break
                parts.append(chance.choice(offered))
    assert finished > 20


def test_compositions_name_the_towers_the_pieces_and_the_free_squares() -> None:
    (rearrangement,) = GAME.compositions(position_of(ONE_WIZARD))
    assert rearrangement.kind == "rearrange-I"
    assert rearrangement.title == "Rearrange arena I"
    assert rearrangement.sources == ("d5",)
    assert rearrangement.pieces == ("b4", "c4")
    assert set(rearrangement.free) == {"a3", "a4", "b3", "b5", "c3", "c5"}
    (multi,) = GAME.compositions(position_of(ONE_DRAGON))
    assert (multi.kind, multi.sources, multi.free) == ("multi", ("d5",), ())
    assert set(multi.pieces) == {"a4", "e6"}
    (multi,) = GAME.compositions(position_of(TWO_DRAGONS))
    assert multi.sources == ("d5", "g4")


def test_nothing_is_put_together_without_a_wizard_or_dragon_on_a_tower_nor_in_a_drawn_game() -> None:
    assert GAME.compositions(GAME.initial("standard")) == ()
    is_drawn = position_of(ONE_WIZARD.replace(" 0 1", " 150 1"))
    assert GAME.compositions(is_drawn) == ()
    for kind in ("multi", "rearrange-I"):
        assert GAME.compose(is_drawn, kind, []).reason == "the game is over"
    assert "no wizard" in GAME.compose(position_of(ONE_DRAGON), "rearrange-V", []).reason
    assert "need a dragon" in GAME.compose(position_of(ONE_WIZARD), "multi", []).reason


@pytest.mark.parametrize(("text", "kind", "parts", "failing", "reason"), table(__file__, "a part that is not possible"))
def test_impossible_parts_are_named(text: str, kind: str, parts: list[str], failing: int, reason: str) -> None:
    composed = GAME.compose(position_of(text), kind, parts)
    assert (composed.move, composed.failing) == (None, failing)
    assert reason in composed.reason
    before = GAME.compose(position_of(text), kind, parts[:failing])
    assert (composed.scene, composed.following) == (before.scene, before.following)


@pytest.mark.parametrize(("text", "kind", "parts", "reason"), table(__file__, "a whole that is no move yet says why"))
def test_a_whole_that_is_no_move_says_why(text: str, kind: str, parts: list[str], reason: str) -> None:
    composed = GAME.compose(position_of(text), kind, parts)
    assert composed.failing is None
    assert (composed.move is not None) == (not reason)
    assert reason in composed.reason


def test_two_pieces_of_an_arena_exchange_places_in_one_part() -> None:
    position = position_of("3/6/8k/10/10/9/3W6/1NR7/9/6/K2 w - -/- - 0 1")
    assert GAME.compose(position, "rearrange-I", ["b4-c4"]).move == "I:Rb4,Nc4"
    labels = {hint.move: hint.label for hint in GAME.compose(position, "rearrange-I", []).following["b4"]}
    assert (labels["b4-c4"], labels["b4-b5"]) == ("exchange with the rook", "put")


def test_every_playable_order_of_components_composes_the_same_canonical_move() -> None:
    position = position_of(ONE_DRAGON)
    assert {GAME.compose(position, "multi", parts).move for parts in (["e6-d6", "a4-b4"], ["a4-b4", " e6 - d6 "])} == {
        "a4-b4;e6-d6"
    }


def test_a_component_may_promote_and_the_promotions_are_distinguished() -> None:
    position = position_of("3/4P1/9/3D5k/10/9/10/10/9/6/K2 w - -/- - 0 1")
    composed = GAME.compose(position, "multi", [])
    promotions = [hint for hint in composed.following["g10"] if "=" in hint.move]
    assert len({hint.label for hint in promotions if hint.path == promotions[0].path}) == 8


@pytest.mark.parametrize(("kind", "part"), table(__file__, "a part that is written like none is malformed"))
def test_a_part_that_is_written_like_none_is_malformed(kind: str, part: str) -> None:
    with pytest.raises(MalformedNotation, match="1"):
        GAME.compose(position_of(ONE_DRAGON), kind, [part])


def test_a_kind_that_the_game_does_not_know_is_a_key_error() -> None:
    for game in GAMES.values():
        position = game.initial(next(iter(game.setups)))
        with pytest.raises(KeyError):
            game.compose(position, "castling", [])
        assert game.compositions(position) == ()


def test_composing_answers_with_a_move_or_a_reason_whatever_the_parts_are() -> None:
    chance = random.Random(12)
    squares = [cell.square for cell in GAME.scene(GAME.initial("standard")).cells]
    for text in (ONE_DRAGON, TWO_DRAGONS, ONE_WIZARD, SAVED_BY_MULTI):
        position = position_of(text)
        for _ in range(100):
            parts = [f"{chance.choice(squares)}-{chance.choice(squares)}" for _ in range(chance.randint(1, 6))]
            for kind in ("multi", "rearrange-I", "rearrange-IX"):
                composed = GAME.compose(position, kind, parts)
                assert (composed.move is None) == bool(composed.reason)
                assert composed.failing is None or 0 <= composed.failing < len(parts)


def notes_on(text: str, square: str) -> dict[str, str]:
    return {note.title: note.text for note in GAME.scene(position_of(text)).notes if note.square == square}


@pytest.mark.parametrize("letter", "RBNQMCWDPL")
def test_every_piece_on_a_tower_has_a_note_on_what_it_does(letter: str) -> None:
    notes = notes_on(f"3/6/8k/10/10/9/3{letter}6/10/9/6/K2 w - -/- - 0 1", "d5")
    (text,) = (text for title, text in notes.items() if title.endswith("on a tower"))
    assert "{" not in text
    assert "I, II, IV and V" in text or "I–V" in text or "I–II" in text


def test_dragons_say_what_they_can_imitate_now() -> None:
    silent = notes_on("3/6/5D2k/10/10/9/10/10/9/6/K2 w - -/- - 0 1", "h9")
    assert silent == {"What dragons imitate": "No dragon has anything to imitate yet."}
    text = notes_on("3/6/5D3/10/10/9/10/k9/9/6/K2 w - RN/K - 0 1", "h9")["What dragons imitate"]
    assert "a rook, a knight and a king" in text


def test_notes_tell_of_switched_pieces_covered_kings_and_rights_of_one_turn() -> None:
    switched = "3/6/8k/10/10/3B5/3C6/2N7/9/6/K2 w - -/- - 0 1"
    assert "Moves like a knight" in notes_on(switched, "e6")
    assert "Moves like a bishop" in notes_on(switched, "c4")
    is_shielded = "2r/6/8k/10/10/9/3Q6/4K5/9/6/3 w - -/- - 0 1"
    assert "Safe from check" in notes_on(is_shielded, "e4")
    assert "A piece may return" in notes_on("k2/6/9/10/10/9/3N6/10/9/6/K2 b - N/- b@d5 8 5", "d5")
    assert "En passant" in notes_on("2k/6/1L2l4/10/10/4l2p1/4L1L3/10/9/6/K2 w i7i6 -/- - 1 2", "i6")
