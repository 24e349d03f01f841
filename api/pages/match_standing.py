"""How a match stands, in words: whose turn it is, what the match waits for, its result."""

from collections.abc import Sequence
from typing import NamedTuple

from api.pages.announcements import is_turn_of
from api.pages.match_seats import SeatView
from api.pages.picture_responses import plies_in_words
from api.pages.position_facts import describe_position
from api.pages.wording import headline
from domain.match.enums import Status
from domain.match.state import MatchState
from events.readmodels import rated_result, summarise


class Standing(NamedTuple):
    """How a match stands for its viewer.

    ``waiting_for`` is a sentence, empty after the end; ``circumstances`` are sentences about checks and demands of the
    rules. ``rated`` tells whether the match counts for the ratings, ``rating_pending`` that they are being computed.
    """

    viewer_to_move: bool
    waiting_for: str
    circumstances: Sequence[str]
    headline: str
    rated: bool
    rating_pending: bool


def describe_standing(state: MatchState, seats: Sequence[SeatView], seat: int | None) -> Standing:
    """Return how the match stands for the viewer, who holds ``seat``."""
    names = [each.name for each in seats]
    rated = rated_result(summarise(state)) is not None
    return Standing(
        viewer_to_move=is_turn_of(state, seat),
        waiting_for=_describe_waiting(state, seats, seat),
        circumstances=describe_position(state, names, seat),
        headline=headline(state.result.scores, names) if state.result.scores else "",
        rated=rated,
        rating_pending=rated and not any(each.change for each in seats),
    )


def summarise_standing(state: MatchState, seats: Sequence[SeatView]) -> str:
    """Return in one sentence how the match stands, for previews of links to its page."""
    plies = plies_in_words(len(state.play.moves))
    if state.result.scores:
        return f"{headline(state.result.scores, [each.name for each in seats])}, {plies}."
    mover = next((each.name for each in seats if each.to_move), None)
    return f"{plies.capitalize()}, {mover} to move." if mover else f"{plies.capitalize()}."


def _describe_waiting(state: MatchState, seats: Sequence[SeatView], seat: int | None) -> str:
    """Return in one sentence what the match waits for."""
    if state.ended:
        return ""
    if state.cases.frozen or state.play.broken is not None:
        why = "is frozen" if state.cases.frozen else "cannot be replayed"
        return f"The match {why}: it continues when an arbiter has ruled."
    if state.status == Status.OPEN:
        return _describe_open_seats(state, seats, seat)
    mover = next((each for each in seats if each.to_move), seats[0])
    if mover.seat == seat:
        return f"Your move: you play {mover.name}."
    if mover.player is not None and mover.player.kind == "opponent":
        return f"{mover.player_name} ({mover.name}) is thinking and will move soon."
    return f"Waiting for {mover.player_name} ({mover.name}) to move."


def _describe_open_seats(state: MatchState, seats: Sequence[SeatView], seat: int | None) -> str:
    if seat is not None and not state.seats[seat].joined:
        return f"You are invited to play {seats[seat].name}."
    missing = [each for each in seats if each.state != "taken"]
    names = " and ".join(each.player_name if each.player else f"someone to play {each.name}" for each in missing)
    sentences = [f"Waiting for {names} to join."]
    if seat is None:
        sentences += (f"{each.name} is reserved for {each.player_name}." for each in missing if each.player)
    return " ".join(sentences)
