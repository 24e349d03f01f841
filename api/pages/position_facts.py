"""What the page of a match tells about the position as it stands: checks, demands and counts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from domain.games import find_ruleset
from domain.match.enums import Status
from domain.match.state import MatchState
from domain.presentation import Fact
from domain.scene import Scene


class Counts(NamedTuple):
    """Facts as a table: the titles with a value for each seat, and those about the game as a whole."""

    rows: Mapping[str, list[str]]
    common: Mapping[str, str]


def tabulate_facts(facts: Iterable[Fact], seats: int) -> Counts:
    """Return ``facts`` as a table of ``seats`` columns."""
    rows: dict[str, list[str]] = {}
    common: dict[str, str] = {}
    for fact in facts:
        if fact.seat is None:
            common[fact.title] = fact.value
        else:
            rows.setdefault(fact.title, [""] * seats)[fact.seat] = fact.value
    return Counts(rows, common)


def describe_checks(scene: Scene, seat_names: Sequence[str], viewer: int | None) -> list[str]:
    """Return a sentence for each king in check; ``viewer`` is the seat that reads it."""
    sentences = []
    for square in scene.checked:
        king = scene.columns[square][-1]
        owner = "Your" if king.seat == viewer else f"{seat_names[king.seat]}'s"
        sentences.append(f"{owner} king on {square} is in check.")
    return sentences


def describe_position(state: MatchState, seat_names: Sequence[str], viewer: int | None) -> list[str]:
    """Return who is in check in a match that goes on, and what the rules demand of ``viewer`` now."""
    if state.status != Status.PLAYING or state.cases.frozen or state.play.broken is not None:
        return []
    game = find_ruleset(state.game, state.ruleset)
    demand = game.demand(state.play.position) if viewer == game.to_move(state.play.position) else ""
    return [*describe_checks(game.scene(state.play.position), seat_names, viewer), *filter(None, [demand])]
