"""Rules: random playouts, generated moves and perft of every game, beside python-chess in the same turns.

A playout generates all legal moves and plays one of them at random until the position ends the game. Repetition, which
needs the history, is not checked: random games hardly ever repeat. Rates are per second of processor time, so that
other work on the machine does not count. Only the contract of games is used.
"""

import random
from collections.abc import Iterator

import chess

from deploy.cli.vectors import perft
from domain.game import AnyGame
from domain.games import GAMES
from tests.bench.measure import Measured, Rates, Table, measure_in_turns, repeat, verdict

TURNS = 5
TURN_SECONDS = 0.4
PERFT_NODES = 20_000
"""Perft runs at the first depth that counts this many."""

TARGETS = {"bashni": 4.0, "towers": 2.0, "tower-game": 0.5, "fourplay": 0.7, "four-towers": 0.2}
"""Playout moves per second as multiples of python-chess."""

GENERATED_TARGETS = {"four-towers": 0.4}
"""Legal moves generated per second of playouts, as multiples of python-chess."""


def tables() -> Iterator[Table]:
    subjects: dict[str, Measured] = {
        "chess": _chess_playouts(0),
        "chess moves": _chess_playouts(1),
        "chess perft": _chess_perft(),
    }
    for game, setup in _setups():
        name = f"{game.id} {setup}"
        subjects[name] = _playouts(game, setup, 0)
        subjects[f"{name} moves"] = _playouts(game, setup, 1)
        subjects[f"{name} perft"] = _perft(game, setup)
    rates = measure_in_turns(subjects, TURNS)
    table = Table(
        "Rules, per second of processor time (x: multiples of python-chess in the same turn)",
        *("game, setup", "moves played", "x", "target", "moves generated", "x", "target", "perft nodes", "x"),
    )
    table.add(
        "python-chess", rates["chess"].typical, "1", "", rates["chess moves"].typical, "1", "",
        rates["chess perft"].typical, "1",
    )  # fmt: skip
    for game, setup in _setups():
        _add_row(table, game, f"{game.id} {setup}", rates)
    yield table


def _add_row(table: Table, game: AnyGame, name: str, rates: dict[str, Rates]) -> None:
    played = rates[name].over(rates["chess"])
    target = TARGETS.get(game.id)
    cells: list[str | float] = [rates[name].typical, played, "" if target is None else verdict(played, target)]
    generated, target = rates[f"{name} moves"], GENERATED_TARGETS.get(game.id)
    multiple = generated.over(rates["chess moves"])
    cells += [generated.typical, multiple, "" if target is None else verdict(multiple, target)]
    cells += [rates[f"{name} perft"].typical, rates[f"{name} perft"].over(rates["chess perft"])]
    table.add(name, *cells)


def _setups() -> Iterator[tuple[AnyGame, str]]:
    for game in GAMES.values():
        for setup in game.setups:
            yield game, setup


def _playouts(game: AnyGame, setup: str, counted: int) -> Measured:
    chance = random.Random(1)

    def playout() -> int:
        position = game.initial(setup)
        counts = [0, 0]
        while moves := list(game.legal_moves(position)):
            position = game.play(position, chance.choice(moves))
            counts[0] += 1
            counts[1] += len(moves)
        return counts[counted]

    return repeat(playout, TURN_SECONDS)


def _chess_playouts(counted: int) -> Measured:
    chance = random.Random(1)

    def playout() -> int:
        board = chess.Board()
        counts = [0, 0]
        # Its own test for the end is slow; these cheap ones make it a stricter yardstick.
        while board.halfmove_clock < 100 and not board.is_insufficient_material():
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(chance.choice(moves))
            counts[0] += 1
            counts[1] += len(moves)
        return counts[counted]

    return repeat(playout, TURN_SECONDS)


def _perft(game: AnyGame, setup: str) -> Measured:
    position = game.initial(setup)
    depth = 1
    while perft(game, position, depth) < PERFT_NODES:
        depth += 1
    return repeat(lambda: perft(game, position, depth), 0.0)


def _chess_perft() -> Measured:
    def nodes(board: chess.Board, depth: int) -> int:
        if depth == 1:
            return sum(1 for _ in board.legal_moves)
        total = 0
        for move in board.legal_moves:
            board.push(move)
            total += nodes(board, depth - 1)
            board.pop()
        return total

    return repeat(lambda: nodes(chess.Board(), 4), 0.0)
