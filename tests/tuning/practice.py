"""How games between equals go: ``python -m tests.tuning.practice GAME --games 200 --nodes 600``, for strategy pages.

Level 6 plays against itself, with fewer nodes, after a move of each seat that is drawn by lot. Every game has its own
seed and is one line of ``var/practice``, so that a run that has been stopped goes on where it was. It prints the
findings, such as the score of the side that did something first, and with ``--write`` notes them for the page
``/games/GAME/strategy``. It plays in compiled code when there is a build.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import sqrt
from random import Random
from statistics import mean, median, stdev
from typing import Any, NamedTuple

from deploy.local.environment import ROOT
from domain.game import AnyGame
from domain.games import GAMES
from domain.history import History
from domain.scene import Piece, Scene
from domain.search import choose
from domain.search.values import WIN
from tests.tuning.strength import in_compiled_code

LEVEL = 6
MAX_PLIES = 1_000
"""Plies after which a game is left without a result, and its points are shared."""
CLEAR_LEADS = {"bashni": 300, "tower-game": 300, "four-towers": 300}
"""The value, in hundredths of the smallest piece, from which a seat finds itself clearly ahead."""
MIN_GAMES = 20
"""Games that a finding needs."""

FOLDER = ROOT / "var" / "practice"
FINDINGS = ROOT / "api" / "pages" / "learning" / "strategy" / "findings.json"


class Moment(NamedTuple):
    """A position after a move of ``mover``, with its scene and the seats that are out."""

    scene: Scene
    mover: int
    out: tuple[int, ...]

    def tops(self) -> list[Piece]:
        """Return the piece on top of every column."""
        return [pieces[-1] for pieces in self.scene.columns.values()]

    def count(self, seat: int, *kinds: str) -> int:
        """Return how many pieces of some kinds a seat has on the board."""
        pieces = (piece for column in self.scene.columns.values() for piece in column)
        return sum(piece.seat == seat and piece.kind in kinds and not piece.frozen for piece in pieces)


def castles(moment: Moment, seat: int, height: int) -> int:
    """Return how many castles of that height or more a seat holds."""
    columns = moment.scene.columns.values()
    return sum(c[0].kind == "castle" and c[-1].seat == seat and len(c) >= height for c in columns)


def columns_of(moment: Moment, seat: int, height: int = 1) -> int:
    """Return how many columns of that height or more a seat has."""
    return sum(column[-1].seat == seat and len(column) >= height for column in moment.scene.columns.values())


TOWERS = ("d5", "g4", "e8", "h7")
OFFICERS = ("rook", "bishop", "merchant", "knight", "captain", "jester", "monarch")
COMPOUNDS = ("queen", "cardinal", "marshall", "wizard")
ARMY = (
    *("archer", "little-dog", "queen", "mutator", "giraffe", "rook", "bishop", "ant"),
    *("vertical-mover", "horizontal-mover", "monarch"),
)


def on_towers(moment: Moment, seat: int) -> int:
    """Return on how many towers a seat stands in Four Towers."""
    columns = moment.scene.columns
    return sum(square in columns and columns[square][-1].seat == seat for square in TOWERS)


Predicate = Callable[[Moment, int], bool]

FIRSTS: Mapping[str, Mapping[str, Predicate]] = {
    "bashni": {
        "take a piece": lambda at, seat: any(c[-1].seat == seat != c[0].seat for c in at.scene.columns.values()),
        "have three columns more": lambda at, seat: columns_of(at, seat) >= columns_of(at, 1 - seat) + 3,
        "have a tower of four": lambda at, seat: columns_of(at, seat, 4) > 0,
        "crown a king": lambda at, seat: any(top.seat == seat and top.kind == "king" for top in at.tops()),
    },
    "towers": {
        "hold a castle": lambda at, seat: castles(at, seat, 2) > 0,
        "hold two castles": lambda at, seat: castles(at, seat, 2) > 1,
        "hold three castles": lambda at, seat: castles(at, seat, 2) > 2,
        "crown a castle": lambda at, seat: castles(at, seat, 5) > 0,
        "have a tower of five": lambda at, seat: columns_of(at, seat, 5) > 0,
    },
    "tower-game": {
        "give check": lambda at, seat: bool(at.scene.checked) and at.mover == seat,
        "have a man less on the back ranks": lambda at, seat: at.count(seat, *OFFICERS) < 25,
        "have a Pawn less": lambda at, seat: at.count(seat, "pawn") < 25,
    },
    "fourplay": {
        "take a King": lambda at, seat: bool(at.out) and at.mover == seat,
        "be without the Queen": lambda at, seat: not at.count(seat, "queen"),
        "have a piece less": lambda at, seat: at.count(seat, *ARMY) < 16,
    },
    "four-towers": {
        "stand on a tower": lambda at, seat: on_towers(at, seat) > 0,
        "stand on two towers": lambda at, seat: on_towers(at, seat) > 1,
        "give check": lambda at, seat: bool(at.scene.checked) and at.mover == seat,
        "have another compound piece": lambda at, seat: at.count(seat, *COMPOUNDS) > 3,
        "have a lancer": lambda at, seat: at.count(seat, "lancer") > 0,
    },
}
"""By game the feats of which a seat may be the first to manage one."""


def play(game: AnyGame, setup: str, nodes: int, number: int) -> dict[str, Any]:
    """Return the facts of a game: scores, reason, plies, choices a move, and seat and ply of every first feat."""
    position, history = game.initial(setup), History(game)
    seats = range(game.seats_at(position))
    firsts: dict[str, tuple[int, int]] = {}
    chance = Random(f"{game.id}/{setup}/{number}")
    choices: list[int] = []
    forced, outcome = 0, None
    while len(choices) < MAX_PLIES and outcome is None:
        mover = game.to_move(position)
        choices.append(sum(1 for _ in game.legal_moves(position)))
        forced += game.is_forced(position)
        if len(choices) <= len(seats):
            move = chance.choice(list(game.legal_moves(position)))
        else:
            move, value, *_ = choose(game, position, history, LEVEL, number, nodes)
            if value >= CLEAR_LEADS.get(game.id, WIN):
                firsts.setdefault("be clearly ahead", (mover, len(choices)))
        history = history.with_position(position)
        position = game.play(position, move)
        outcome = game.outcome(position, history)
        moment = Moment(game.scene(position), mover, tuple(game.eliminated(position)))
        for name, predicate in FIRSTS[game.id].items():
            if name not in firsts and (doing := [seat for seat in seats if predicate(moment, seat)]):
                firsts[name] = (doing[0], len(choices))
    pieces = sum(map(len, moment.scene.columns.values()))
    return {
        "scores": outcome.scores if outcome else game.scores_after_leaving(position, ()),
        "reason": outcome.reason if outcome else "without a result",
        "plies": len(choices),
        "choices": mean(choices),
        "forced": forced / len(choices),
        "pieces": pieces,
        "tallest": max(map(len, moment.scene.columns.values())),
        "kings": sum(top.kind == "king" for top in moment.tops()),
        "firsts": firsts,
    }


def share(scores: Sequence[float]) -> str:
    """Return a mean score with its interval of 95 %, in per cent."""
    centre, margin = mean(scores), 1.96 * stdev(scores) / sqrt(len(scores))
    low, high = max(0.0, centre - margin), min(1.0, centre + margin)
    return f"{centre:.0%} (95 %: {low:.0%} to {high:.0%})".replace("%", " %").replace("95  %", "95 %")


def findings(game: AnyGame, setup: str, played: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return findings by name: the words that each completes are on the strategy pages."""
    number = len(played)
    reasons = Counter(record["reason"] for record in played)
    lengths = sorted(record["plies"] for record in played)
    lines = {
        "plies": f"{median(lengths):.0f} moves in the median, half of them between {lengths[number // 4]} and "
        f"{lengths[3 * number // 4]}",
        "choices": f"{mean(record['choices'] for record in played):.0f} moves to choose from",
        "forced": f"{mean(record['forced'] for record in played):.0%} of all moves",
        "pieces": f"{mean(record['pieces'] for record in played):.0f} pieces",
        "tallest": f"{mean(record['tallest'] for record in played):.1f} pieces",
        "kings": f"{sum(record['kings'] > 0 for record in played) / number:.0%} of the games",
        "ends": ", ".join(
            f"{game.reasons.get(reason, reason)} {count / number:.0%}" for reason, count in reasons.most_common()
        ),
    }
    for seat, name in enumerate(game.setups[setup].seat_names):
        lines[f"score of {name}"] = share([record["scores"][seat] for record in played])
    for name in ("be clearly ahead", *FIRSTS[game.id]):
        reached = [record for record in played if name in record["firsts"]]
        if len(reached) < MIN_GAMES:
            continue
        scores = [record["scores"][record["firsts"][name][0]] for record in reached]
        ply = median(record["firsts"][name][1] for record in reached)
        lines[f"first to {name}"] = f"{share(scores)} in {len(reached)} games, at move {ply:.0f} in the median"
    return {name: text.replace("%", " %").replace("  %", " %") for name, text in lines.items()}


def main(arguments: list[str]) -> None:
    """Play the missing games within the time, print the findings and note them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=list(GAMES))
    parser.add_argument("--setup", help="default: the first of the game")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=600, help="of each move, at most")
    parser.add_argument("--seconds", type=float, default=600, help="after which no further game begins")
    parser.add_argument("--write", action="store_true", help="note the findings for the strategy page")
    options = parser.parse_args(arguments)
    game, began = GAMES[options.game], time.monotonic()
    setup = options.setup or next(iter(game.setups))
    path = FOLDER / f"{game.id}-{setup}-{options.nodes}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    played = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    while len(played) < options.games and time.monotonic() - began < options.seconds:
        played.append(json.loads(json.dumps(play(game, setup, options.nodes, len(played)))))
        with path.open("a") as file:
            file.write(json.dumps(played[-1]) + "\n")
    if len(played) < MIN_GAMES:
        sys.exit(f"{len(played)} games are too few: {MIN_GAMES} say something")
    named = findings(game, setup, played[: options.games])
    for name, text in named.items():
        print(f"{name:42} {text}")
    if options.write:
        noted = json.loads(FINDINGS.read_text()) if FINDINGS.exists() else {}
        noted[game.id] = {
            "games": len(played[: options.games]),
            "setup": setup,
            "level": LEVEL,
            "nodes": options.nodes,
            "date": datetime.now(UTC).date().isoformat(),
            "findings": named,
        }
        FINDINGS.write_text(json.dumps(noted, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    in_compiled_code(sys.argv[1:], "tests.tuning.practice")
    main(sys.argv[1:])
