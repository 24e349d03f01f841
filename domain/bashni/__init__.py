"""Bashni: draughts in which captured pieces go under the capturing column and come back when it is captured."""

from collections.abc import Sequence
from functools import partial

from domain.bashni import diagram, evaluate, legality, moves, notation, position
from domain.bashni.board import Move
from domain.bashni.moves import Jump, again_after_another, never_again
from domain.bashni.position import Position
from domain.game import Game, Setup, operations


def _ruleset(version: int, jump: Jump, distinction: str) -> Game[Position, Move]:
    """Return the ruleset ``version``. The rulesets differ in ``jump`` alone: see ``domain.bashni.moves``."""

    # The two that the search calls are no partials: a bound keyword takes longer than a call.
    def legal_moves(position: Position) -> list[Move]:
        return moves.legal_moves(position, jump)

    def captures(position: Position) -> tuple[Sequence[Move], bool]:
        return evaluate.noisy_moves(position, jump)

    return Game(
        id="bashni",
        title="Bashni",
        ruleset=version,
        distinction=distinction,
        blurb=(
            "Russian column draughts. What is captured goes under the piece that captured it and may come free again: "
            "no piece ever leaves the board."
        ),
        goal="Leave your opponent without a move: all columns of theirs captured or blocked.",
        ending=(
            "Thirty king moves without capture in a row and the third occurrence of a position are a draw, and the "
            "positions are finitely many."
        ),
        setups={
            "start": Setup(
                "start",
                "Start",
                ("White", "Black"),
                ("white", "black"),
                "1b1b1b1b/b1b1b1b1/1b1b1b1b/8/8/w1w1w1w1/1w1w1w1w/w1w1w1w1 w 0",
            )
        },
        reasons={
            "no-moves": "no legal move was left",
            "no-progress": "too many moves without progress",
            "repetition": "the position stood for the third time",
        },
        showcase="8/8/1b6/4(Wwbb)3/3(wwwwbb)1(bw)2/(Bbwww)1(bbbb)5/1w6/2w5 b 1",
        counters=1,
        **operations(
            *(position, moves, legality, notation, diagram, evaluate),
            legal_moves=legal_moves,
            is_legal=partial(legality.is_legal, jump=jump),
            parse_move=partial(notation.parse_move, jump=jump),
            read_move=partial(notation.read_move, jump=jump),
            hints=partial(diagram.hints, jump=jump),
            noisy_moves=captures,
        ),
    )


GAME = _ruleset(1, never_again, "In one move no column is jumped twice.")

RULESETS = (
    GAME,
    _ruleset(
        2,
        again_after_another,
        "In one move a column may be jumped again, once another column has been jumped in between.",
    ),
)
