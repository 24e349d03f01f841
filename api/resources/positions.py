"""Positions that a match could come to: a line of moves from any of its plies, without playing anything."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint
from msgspec import Meta

from api.access.matches import visible_match
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer
from api.operations.exploration import PositionRequest, play_line
from api.representations.boards import (
    Composition,
    Hint,
    Outcome,
    represent_compositions,
    represent_hints,
    represent_outcome,
)

blueprint = Blueprint("positions", __name__, url_prefix=PREFIX)


class ExploredPosition(Answer):
    ply: int
    line: Annotated[Sequence[str], Meta(description="The moves in canonical form")]
    spelled: Annotated[Sequence[str], Meta(description="The moves as players like to read them")]
    position: str
    diagram: str
    to_move: int
    result: Outcome | None
    result_known: Annotated[
        bool,
        Meta(
            description="false: whether the game is over there takes too long to tell; of a played move it is always "
            "known"
        ),
    ]
    legal_moves: Annotated[Sequence[str], Meta(description="What is legal now")]
    hints: Mapping[str, Sequence[Hint]]
    compositions: Sequence[Composition]


@blueprint.post("/matches/<match_id>/positions")
@endpoint(answer=ExploredPosition, body=PositionRequest, costly=True, problems=[404, 409])
def explore(sent: Mapping[str, Any], match_id: str) -> ExploredPosition:
    """Play out a line of moves

    The position after a line from any ply, and the legal moves there. Nothing is played in the match.
    """
    state = visible_match(match_id).state
    ply = sent.get("ply", len(state.play.moves))
    line = play_line(state, ply, sent["line"])
    game, position, over = line.game, line.position, line.outcome is not None
    return ExploredPosition(
        ply=ply,
        line=line.moves,
        spelled=line.spelled,
        position=game.format_position(position),
        diagram=game.diagram(position),
        to_move=game.to_move(position),
        result=represent_outcome(line.outcome),
        result_known=line.outcome_known,
        legal_moves=[] if over else [game.format_move(position, move) for move in game.legal_moves(position)],
        hints={} if over else represent_hints(game.hints(position)),
        compositions=[] if over else represent_compositions(game.unlisted.compositions(position)),
    )
