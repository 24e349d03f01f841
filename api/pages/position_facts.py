"""What the match page says about the present position: checks, demands and counts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from domain.games import find_ruleset
from domain.match.enums import Status
from domain.match.state import MatchState
from domain.presentation import Fact
from domain.scene import Scene


class Counts(NamedTuple):
    """Facts as a table: ``rows`` have a value for each seat, ``common`` facts are about the whole game."""

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
    """Return a sentence for each king in check; ``viewer`` is the seat of the reader."""
    sentences = []
    for square in scene.checked:
        king = scene.columns[square][-1]
        owner = "Your" if king.seat == viewer else f"{seat_names[king.seat]}'s"
        sentences.append(f"{owner} king on {square} is in check.")
    return sentences


def describe_position(state: MatchState, seat_names: Sequence[str], viewer: int | None) -> list[str]:
    """Return sentences about checks and about what the rules demand of ``viewer``; none unless the match is in play."""
    if state.status != Status.PLAYING or state.cases.frozen or state.play.broken is not None:
        return []
    game = find_ruleset(state.game, state.ruleset)
    demand = game.demand(state.play.position) if viewer == game.to_move(state.play.position) else ""
    return [*describe_checks(game.scene(state.play.position), seat_names, viewer), *filter(None, [demand])]
