"""The worst time to refuse a position or a move: long texts, and texts crafted to be slow to refuse.

Each text is refused several times and the quickest time counts, in milliseconds of processor time, so that other work
on the machine does not; of all texts the slowest is shown.
"""

import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from domain.game import AnyGame, RulesError
from domain.games import GAMES
from domain.match.decisions.moves import MAX_MOVE_CHARACTERS
from tests.bench.measure import Table, verdict

TARGET_MS = 50.0
REPEATS = 3
PLIES = 160
POSITIONS = 8
"""Positions per random game of each setup in which moves are tried, beside those of the vector files."""

MOVES = 60
"""Legal moves of a position from which texts are made."""

SIGNS = "aA1wbK-x*+<>@:;,./|() \t\né٣\x00"

VECTORS = Path(__file__).parents[1] / "vectors"
KINDS_OF_MOVES = ("moves", "multi_moves", "legal", "illegal")
MARKS = ("-", "x", "*", "<", ">", "<>", "+", ">>", ">>+")
WORDS = ("pass", "done", "O-B", "O-M", "O-C", "O-J")
_SQUARE = re.compile("[a-o]{1,2}[0-9]{1,2}")


class Slowest(NamedTuple):
    """The text whose refusal took longest, its milliseconds, and the number of texts refused."""

    milliseconds: float
    text: str
    refused: int


def tables() -> Iterator[Table]:
    """Measure and yield the table."""
    table = Table(
        f"Refusals: the slowest of texts up to {MAX_MOVE_CHARACTERS:,} signs, ms of processor time (best of {REPEATS})",
        *("game", "positions refused", "worst ms", "target", "moves refused", "worst ms", "target", "slowest move"),
    )
    for game in GAMES.values():
        visited = [*_visited(game), *_worked_examples(game)]
        positions = _slowest((game.parse_position, text) for text in _positions(game, visited))
        moves = _slowest(_moves(game, visited))
        table.add(
            game.id,
            f"{positions.refused:,}",
            positions.milliseconds,
            verdict(positions.milliseconds, TARGET_MS, at_least=False),
            f"{moves.refused:,}",
            moves.milliseconds,
            verdict(moves.milliseconds, TARGET_MS, at_least=False),
            ascii(moves.text if len(moves.text) <= 40 else moves.text[:37] + "..."),
        )
    yield table


def _slowest(trials: Iterator[tuple[Callable[[str], Any], str]]) -> Slowest:
    """Return the slowest refusal among ``trials`` of a parser and a text; texts that parse do not count."""
    worst, slow, refused = 0.0, "", 0
    for reading, text in trials:
        times = list(_refusals(reading, text))
        refused += bool(times)
        if times and min(times) > worst:
            worst, slow = min(times), text
    return Slowest(1000 * worst, slow, refused)


def _refusals(reading: Callable[[str], Any], text: str) -> Iterator[float]:
    """Yield the seconds of some refusals of ``text``; none when it parses."""
    for _ in range(REPEATS):
        start = time.process_time()
        try:
            reading(text)
        except RulesError:
            yield time.process_time() - start
        else:
            return


def _visited(game: AnyGame) -> Iterator[tuple[Any, list[str]]]:
    """Yield positions of random games, each with some of its legal moves as text."""
    for setup in game.setups:
        chance, position = random.Random(setup), game.initial(setup)
        for ply in range(PLIES):
            moves = list(game.legal_moves(position))
            if ply % (PLIES // POSITIONS) == 0 or not moves:
                shown = chance.sample(moves, min(MOVES, len(moves)))
                yield position, [game.format_move(position, move) for move in shown]
            if not moves:
                break
            position = game.play(position, chance.choice(moves))


def _worked_examples(game: AnyGame) -> Iterator[tuple[Any, list[str]]]:
    """Yield the positions of the vector files of a game, each with some of the moves named there."""
    chance = random.Random(game.id)
    for case in json.loads((VECTORS / f"{game.id}.public.json").read_text("utf-8")):
        if "position" in case and "malformed" not in case:
            named = [case.get(kind) for kind in KINDS_OF_MOVES]
            moves = [move for texts in named if isinstance(texts, list) for move in texts if move]
            yield game.parse_position(case["position"]), chance.sample(moves, min(MOVES, len(moves)))


def _positions(game: AnyGame, visited: Sequence[tuple[Any, list[str]]]) -> Iterator[str]:
    """Yield invalid positions: long runs of one character, and positions with a part repeated or changed."""
    yield from _monotonous()
    chance = random.Random(game.id)
    for position, _ in visited:
        text = game.format_position(position)
        fields = text.split(" ")
        for number, field in enumerate(fields):
            for part in {field, field + ",", field + ";", field + "/", "a1>a2;", "e4e5,", "aa1,", "(wb)", "1", "5/"}:
                stretched = _repeated(part, MAX_MOVE_CHARACTERS - len(text) + len(field))
                yield " ".join((*fields[:number], stretched, *fields[number + 1 :]))
        for _ in range(40):
            place = chance.randrange(len(text))
            yield text[:place] + chance.choice(SIGNS) + text[place + 1 :]


def _moves(game: AnyGame, visited: Sequence[tuple[Any, list[str]]]) -> Iterator[tuple[Callable[[str], Any], str]]:
    """Yield invalid moves with positions: long ones, joined ones, and moves of other positions."""
    chance = random.Random(game.id)
    everywhere = [move for _, moves in visited for move in moves]

    def reading(position: Any) -> Callable[[str], Any]:
        return lambda text: game.parse_move(position, text)

    for position, moves in visited:
        read = reading(position)
        for text in _monotonous():
            yield read, text
        known = moves or everywhere
        for move in chance.sample(known, min(12, len(known))):
            yield read, move + _repeated(" ", MAX_MOVE_CHARACTERS - len(move) - 1) + "?"
            for joint in ("", ";", ",", "x", "-", " "):
                yield read, _repeated(move + joint, MAX_MOVE_CHARACTERS)
                yield read, joint.join((move, *chance.sample(known, min(chance.randint(1, 8), len(known)))))
            place = chance.randrange(len(move))
            yield read, move[:place] + chance.choice(SIGNS) + move[place + 1 :]
        for move in chance.sample(everywhere, min(150, len(everywhere))):
            yield read, move
        squares = sorted({square for move in everywhere for square in _SQUARE.findall(move)})
        for mark in MARKS:
            for _ in range(40):
                yield read, mark.join(chance.choices(squares, k=2))
        for word in WORDS:
            yield read, word


def _monotonous() -> Iterator[str]:
    for sign in (*SIGNS, "O-", "e.p.", "a1", "IX:", "a1>"):
        yield _repeated(sign, MAX_MOVE_CHARACTERS)


def _repeated(part: str, length: int) -> str:
    return (part * (length // len(part) + 1))[:length] if part else ""
