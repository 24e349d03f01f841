"""A review as the API answers it: the stored document, with a sentence about each move that has one."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from api.http.answers import Answer, one_of
from domain.game import AnyGame
from domain.review.judgement import MIN_COUNTED_MOVES, MoveLabel
from domain.search.expectation import POINT
from events.matches.reviews import ReviewState

LINE_PLIES = 4
"""Plies of a line that a sentence names."""

_ARTICLES = {MoveLabel.INACCURACY: "an inaccuracy", MoveLabel.MISTAKE: "a mistake", MoveLabel.BLUNDER: "a blunder"}


class ReviewedSeat(Answer):
    """How a seat has played: its mean accuracy, weighted by how much each choice mattered."""

    seat: int
    accuracy: Annotated[
        float | None, Meta(description=f"0 to 100; null with fewer than {MIN_COUNTED_MOVES} counted moves")
    ]
    counted: Annotated[int, Meta(description="The moves that count: those at which there was something to choose")]


class ReviewedMove(Answer):
    """A move and what the engine found instead, valued by one search; moves in canonical notation."""

    ply: int
    seat: int
    played: str
    best: str
    loss: Annotated[float, Meta(description="The expected points that the move cost its seat")]
    judged: Annotated[bool, Meta(description="false: it was the only legal move")]
    label: Annotated[Annotated[str, one_of(MoveLabel)] | None, Meta(description="null: as good as the best, or nearly")]
    only: Annotated[bool, Meta(description="Whether it was the only move that did not lose much")]
    played_line: Annotated[Sequence[str], Meta(description="The best play after the move, from it on")]
    best_line: Annotated[Sequence[str], Meta(description="The best play after the best move, from it on")]
    missed_win: Annotated[Sequence[str], Meta(description="A proven win that was missed: the longest resistance")]
    words: Annotated[str, Meta(description="A label or mark in a sentence or more; empty without one")]


class ReviewOfMatch(Answer):
    """The review of a match; points are counted as those of its result."""

    head: Annotated[str, Meta(description="The digest of the last event of the match as it was reviewed")]
    engine: int
    expectation: Annotated[int, Meta(description="The version of the curves that give expected points")]
    nodes: Annotated[int, Meta(description="How many positions the search of each position could visit")]
    expected: Annotated[
        Sequence[Sequence[float]],
        Meta(description="The points that each seat could expect: before every ply, and at the end"),
    ]
    seats: Sequence[ReviewedSeat]
    moves: Sequence[ReviewedMove]
    turning_points: Annotated[Sequence[int], Meta(description="The plies that changed most, three at most")]
    text: Annotated[str, Meta(description="The review as text")]


class RequestedReview(Answer):
    """How far a review has come, and the review when it is finished."""

    state: Annotated[str, one_of(ReviewState, "none: it was not requested")]
    digest: Annotated[
        str | None,
        Meta(description="SHA-256 of the document: equal wherever this match is reviewed by the same engine"),
    ]
    review: ReviewOfMatch | None


def represent_review(document: bytes, game: AnyGame, names: Sequence[str]) -> ReviewOfMatch:
    """Return the review in a stored document; ``names`` are those of the seats."""
    content: dict[str, Any] = msgspec.json.decode(document)
    seats = [
        ReviewedSeat(
            seat=seat["seat"],
            accuracy=None if seat["accuracy"] is None else seat["accuracy"] / 10,
            counted=seat["counted"],
        )
        for seat in content["seats"]
    ]
    moves = [_represent_move(move, names) for move in content["moves"]]
    return ReviewOfMatch(
        **{name: content[name] for name in ("head", "engine", "expectation", "nodes", "turning_points")},
        expected=[[points / POINT for points in before] for before in content["expected"]],
        seats=seats,
        moves=moves,
        text=_text(game.title, names, seats, moves, content["turning_points"]),
    )


def _represent_move(move: dict[str, Any], names: Sequence[str]) -> ReviewedMove:
    kept = {name: value for name, value in move.items() if name not in ("loss", "differences")}
    return ReviewedMove(**kept, loss=move["loss"] / POINT, words=_words(move, names))


def _words(move: dict[str, Any], names: Sequence[str]) -> str:
    played, label = move["played"], move["label"]
    if move["only"]:
        return f"{names[move['seat']]} found the only good move, {played}."
    win = move["missed_win"]
    missed = f"A win by force in {len(win)} moves was there, by proof: {', '.join(win[:LINE_PLIES])} ..." if win else ""
    if label is None:
        return missed
    lost = f"{move['loss'] / POINT:.2f} points lost"
    sentences = [f"{names[move['seat']]} played {played}, {_ARTICLES[label]}: {lost}.", f"Better was {move['best']}."]
    if len(move["played_line"]) > 1:
        sentences.append(f"After it follows {', '.join(move['played_line'][1:LINE_PLIES])}.")
    sentences += (_difference(difference, names) for difference in move["differences"])
    return " ".join([*sentences, missed]).strip()


def _difference(difference: dict[str, Any], names: Sequence[str]) -> str:
    played, best = (difference[name].strip("–") or "none" for name in ("after_played", "after_best"))
    return f"{difference['title']} of {names[difference['seat']]}: {played}, after the better move {best}."


def _text(
    title: str,
    names: Sequence[str],
    seats: Sequence[ReviewedSeat],
    moves: Sequence[ReviewedMove],
    turning_points: Sequence[int],
) -> str:
    lines = [f"Review of a match of {title}."]
    for seat in seats:
        counted = f"{seat.counted} counted move{'' if seat.counted == 1 else 's'}"
        accuracy = "no accuracy" if seat.accuracy is None else f"accuracy {seat.accuracy:.1f} %"
        lines.append(f"{names[seat.seat]}: {accuracy}, {counted}.")
    if turning_points:
        lines.append(f"The match turned at move {', '.join(map(str, turning_points))}.")
    lines += (f"Move {move.ply}: {move.words}" for move in moves if move.words)
    return "\n".join(lines)
