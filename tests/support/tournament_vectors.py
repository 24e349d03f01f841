"""Test vectors of tournaments: true ones of every form, and one for every fault that a verifier must find."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.contest.points import PointsRule
from domain.contest.schedules import Form
from domain.contest.standings import TieBreak
from domain.contest.tournament import commands as c
from domain.contest.tournament.state import PairingStatus
from domain.contest.tournament.terms import TournamentTerms
from events.store.codec import CODECS
from events.store.kinds import StreamKind
from tests.support.bundle_vectors import FOLDER as BUNDLES
from tests.support.plain_bundles import Content, linked, put, signed, unsealed, written
from tests.support.tournaments import FOUR_SEATS, TWO_SEATS, PlayedTournament
from tests.support.vectors import Vector

FILE = BUNDLES.parent / "tournament" / "tournament.json"
PROVED = ("well-formed", "chain", "signature", "tournament")
SCORES: Mapping[int, Sequence[tuple[float, ...]]] = {
    2: [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)],
    4: [(1.0, 0.6667, 0.3333, 0.0), (0.8333, 0.0, 0.8333, 0.3333)],
}


def text() -> str:
    """Return the file: a JSON array, one vector a line."""
    lines = ",\n".join(vector.line for vector in (*_good(), *_faults()))
    return f"[\n{lines}\n]\n"


def played(terms: TournamentTerms, people: int) -> PlayedTournament:
    """Return a tournament of ``people``: one leaves and gives way to who waits, and at last a result changes."""
    tournament = PlayedTournament(terms, tie_breaks=tuple(TieBreak))
    tournament.begin(*(f"player-{number}" for number in range(people)))
    scores = SCORES[terms.seats]
    waiting = tournament.state.numbers(PairingStatus.WAITING)
    for number in waiting[: len(waiting) // 2]:
        tournament.record(number, scores[number % len(scores)], flags=(1,) if number % 5 == 0 else ())
    tournament.do(c.LeaveTournament(player=tournament.state.entrants[0].player))
    for number in tournament.state.numbers(PairingStatus.WAITING):
        tournament.record(number, scores[number % len(scores)])
    tournament.record(1, scores[-1], version=20)
    return tournament


def content_of(tournament: PlayedTournament) -> Content:
    """Return the bundle of a tournament, signed."""
    drafts = [CODECS[StreamKind.TOURNAMENT].draft_of(event, "somebody") for event in tournament.events]
    content = unsealed(*(("somebody", 1, draft.type, draft.schema, dict(draft.data)) for draft in drafts))
    content["match"] = "tournament-vector"
    content["facts"] = {"replayed": 0, "rulesets": [], "seats": [], "terms": {}}
    return signed(linked(content))


def _good() -> Iterator[Vector]:
    for terms, people in (
        (TWO_SEATS, 4),
        (replace(TWO_SEATS, most=5), 7),
        (replace(TWO_SEATS, form=Form.SHIFTED, least=5, most=20), 7),
        (FOUR_SEATS, 5),
        (replace(FOUR_SEATS, points=PointsRule.WINNER), 14),
        *((replace(FOUR_SEATS, form=Form.PERFECT, most=17), size) for size in (5, 10)),
        *((replace(FOUR_SEATS, form=Form.WHIST, least=8), size) for size in (9,)),
    ):
        name = f"{terms.form}, {terms.seats} seats, {people} people, {terms.points}"
        yield Vector(name, written(content_of(played(terms, people))), PROVED)


def _faults() -> Iterator[Vector]:
    tournament = played(replace(TWO_SEATS, most=4), 5)
    whole = content_of(tournament)
    of_type = {event["type"]: number for number, event in reversed(list(enumerate(whole["events"])))}

    def fault(name: str, kind: str, member: str, change: Callable[[Any], Any], place: str | None = None) -> Vector:
        content = content_of(tournament)
        at = f"events[{of_type[kind]}].data"
        put(f"{at}.{member}", change)(content)
        packed = written(signed(linked(content)))
        return Vector(name, packed, PROVED[:3], ("tournament", f"{at}.{place or member}"))

    yield fault("another seed", "tournament-started", "seed", lambda _: "other", "players")
    yield fault("two lots exchanged", "tournament-started", "players", lambda order: [order[1], order[0], *order[2:]])
    yield fault("a player less", "tournament-started", "players", lambda order: order[:-1])
    yield fault("seats exchanged", "tournament-started", "pairings", lambda all: [all[0][::-1], *all[1:]])
    yield fault("a pairing less", "tournament-started", "pairings", lambda all: all[:-1])
    yield fault("no pairings", "tournament-started", "pairings", lambda _: [], "players")
    yield fault("a place for somebody else", "place-filled", "player", lambda _: "player-3")
    yield fault("the seats of who left exchanged", "place-filled", "pairings", lambda all: [all[0][::-1], *all[1:]])
    yield fault("a result of no pairing", "result-recorded", "pairing", lambda _: 999)
    yield fault("a score too many", "result-recorded", "scores", lambda scores: [*scores, 0])
    yield fault("points more", "tournament-ended", "table", lambda table: [{**table[0], "points": 99}, *table[1:]])
    yield fault("a place shared that is not", "tournament-ended", "table", _with_shared_place)
    yield fault("a table less one line", "tournament-ended", "table", lambda table: table[:-1])
    yield fault("a table in another order", "tournament-ended", "table", lambda table: table[::-1])
    yield fault("a correction that is none", "table-corrected", "table", lambda table: table[1:])
    content = content_of(tournament)
    del content["events"][0]
    for number, event in enumerate(content["events"], 1):
        event["version"] = number
    unannounced = written(signed(linked(content)))
    yield Vector("not announced", unannounced, PROVED[:3], ("tournament", "events[0].data"))


def _with_shared_place(table: list[Content]) -> list[Content]:
    return [{**table[0], "sharing": table[0]["sharing"] + 1}, *table[1:]]
