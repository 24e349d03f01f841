"""Golden matches of every ruleset: a ruleset always plays them as it did when they were recorded.

A failure means that a ruleset, or how events are read, has changed. A ruleset that has been played is never changed,
only succeeded: the change belongs into a new one. The files are not recorded again. They were once rewritten in the
first schema of every event; ``digests.json`` has the outcomes, positions and ratings from before that, by ruleset.
"""

import json
from dataclasses import replace
from functools import cache
from hashlib import sha256

import pytest

from domain.game import AnyGame
from domain.match.events import MatchCreated
from domain.match.impact import impact
from domain.match.state import MatchState
from domain.match.terms import DAY
from events.matches.readmodels.summary import rated_result, summarise
from events.store.codec import draft_of, event_of
from tests.golden.stored import DIRECTORY, Golden, envelopes, path_of, read, replayed
from tests.support.rating_book import RatingBook
from tests.support.rulesets import RULESETS

MAX_BYTES = 500_000
"""Bytes that all files together may have."""


@cache
def golden_of(name: str) -> tuple[Golden, ...]:
    game = RULESETS[name]
    return tuple(read(path_of(game.id, game.ruleset)))


@cache
def played(name: str, number: int) -> tuple[MatchState, str]:
    return replayed(golden_of(name)[number])


ALL = [pytest.param(name, number, id=match.match) for name in RULESETS for number, match in enumerate(golden_of(name))]
every_match = pytest.mark.parametrize(("name", "number"), ALL)
every_ruleset = pytest.mark.parametrize("name", RULESETS)
EARLIER = json.loads((DIRECTORY / "digests.json").read_text())
"""The digests by ruleset; rulesets that are younger have none."""


def test_every_ruleset_has_golden_matches_and_no_ruleset_that_has_some_is_missing() -> None:
    assert {path.name for path in DIRECTORY.glob("*.gz")} == {f"{name}.txt.gz" for name in RULESETS}
    assert sum(path.stat().st_size for path in DIRECTORY.glob("*.gz")) < MAX_BYTES


@every_match
def test_a_golden_match_is_read_and_played_as_it_was(name: str, number: int) -> None:
    golden = golden_of(name)[number]
    state, plays = played(name, number)
    assert (state.game, state.ruleset) == (RULESETS[name].id, RULESETS[name].ruleset)
    assert RULESETS[name].format_position(state.play.position) == golden.position
    assert (state.result.scores, state.result.reason) == (golden.scores, golden.reason)
    assert plays == golden.plays, "legal moves, positions or outcomes on the way are not what they were"


@every_ruleset
def test_events_are_written_today_byte_for_byte_as_they_were_then(name: str) -> None:
    for golden in golden_of(name):
        for event in envelopes(golden):
            assert draft_of(event_of(event), event.actor) == event.draft


@every_ruleset
def test_the_golden_matches_of_a_ruleset_show_every_setup_opponents_and_what_people_do(name: str) -> None:
    goldens = golden_of(name)
    created = [next(envelopes(golden)).data for golden in goldens]
    assert {data["setup"] for data in created} == set(RULESETS[name].setups)
    assert {data["ruleset"] for data in created} == {RULESETS[name].ruleset}
    packed = [line for golden in goldens for _, line in golden.events]
    for said in ('"level":', '["moves-taken-back"', '["player-resigned"', '["draw-accepted"'):
        assert any(said in line for line in packed), said
    assert len({golden.reason for golden in goldens} - {"resignation", "draw-agreed"}) >= 2


@pytest.mark.parametrize("name", EARLIER)
def test_outcomes_positions_and_ratings_are_those_that_commit_d4bdd19_gave(name: str) -> None:
    outcomes, positions, books = list[str](), list[str](), dict[str, RatingBook]()
    for number, golden in enumerate(golden_of(name)):
        state, plays = played(name, number)
        result = f"{state.status} {list(state.result.scores or ())} {state.result.reason}"
        outcomes.append(f"{golden.match} {result} {' '.join(state.play.moves)}")
        positions.append(f"{golden.match} {plays} {RULESETS[name].format_position(state.play.position)}")
        rated = rated_result(summarise(state)._replace(rated=True))
        if rated is not None:
            book = books.setdefault(rated.pool, RatingBook(rated.pool))
            book.put(rated._replace(at=rated.at + number * DAY // 4))
    ratings = [
        f"{pool} {player} {day} {' '.join(map(float.hex, end.rating))} {end.matches}"
        for pool, book in sorted(books.items())
        for player, days in sorted(book.timelines.items())
        for day, end in sorted(days.items())
    ]
    found = {"outcomes": outcomes, "positions": positions, "ratings": ratings}
    assert {kind: sha256("\n".join(lines).encode()).hexdigest() for kind, lines in found.items()} == EARLIER[name]


def test_a_change_of_one_stored_byte_is_seen() -> None:
    golden = golden_of("bashni-1")[0]
    digest, packed = golden.events[4]
    changed = packed.replace('"ply":2', '"ply":3')
    assert changed != packed
    with pytest.raises(AssertionError, match="version 5 of"):
        replayed(golden._replace(events=(*golden.events[:4], (digest, changed), *golden.events[5:])))


def by_another_ruleset(golden: Golden, other: AnyGame) -> bool:
    """Tell whether ``golden`` would be found to be played otherwise if its ruleset played as ``other`` does."""
    created, *rest = map(event_of, envelopes(golden))
    assert isinstance(created, MatchCreated)
    if impact(golden.match, [created, *rest], created.ruleset, other.ruleset) is not None:
        return True
    return replayed(golden, [replace(created, ruleset=other.ruleset), *rest])[1] != golden.plays


@pytest.mark.parametrize(("name", "other"), [("bashni-1", "bashni-2"), ("bashni-2", "bashni-1")])
def test_a_ruleset_that_came_to_play_like_another_one_would_be_found_out(name: str, other: str) -> None:
    assert any(by_another_ruleset(golden, RULESETS[other]) for golden in golden_of(name))
