"""Every game under all its rulesets: from its creation to the ratings, with opponents in all seats."""

from collections.abc import Sequence
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from domain.game import AnyGame
from domain.games import GAMES
from domain.match.enums import Status
from domain.match.state import MatchState
from domain.rating import DEFAULT, Result, rate
from events.matches.readmodels import summarise
from events.store.chain import verify
from tests.support.callers import ME, Caller, invited, opponent
from tests.support.draws import sampled
from tests.support.rulesets import RULESETS, register, variant
from tests.support.tables import table
from workers.composition import make_opponents

SEED = "2"
DEADLINE_S = 100.0

SETUPS = {
    f"{name}-{len(setup.seat_names)}": (game, setup.name, len(setup.seat_names))
    for name, game in RULESETS.items()
    for setup in reversed(list(game.setups.values()))
}
"""The first setup of every ruleset for each number of seats."""

every_setup = pytest.mark.parametrize(("game", "setup", "seats"), SETUPS.values(), ids=SETUPS)

LATE = {
    "tower-game": "5/1K3/5/1k3/5|5/5/5/5/5|2p2/5/2p2/5/5|2b2/2r2/2r2/2c2/5|5/5/1rr2/r4/5|5/p4/1p3/2c2/5|"
    "2np1/3m1/5/5/3m1|5/5/5/5/5 w - - 0",
    "fourplay": "15/bK13yK/15/3bQ7yQ3/15/15/15/7*7/15/15/15/3rQ7gQ3/15/15/rK13gK r play - - 0",
    "four-towers": "dwk/3dc1/3l1l2w/1p1m2p2p/6qp2/1p6p/2PP6/P2P1PD3/R1BP1PP1K/WCM3/1WD w - K/RB - 0 18",
}
"""By game: a position from which opponents come to an end in some twenty plies, where from the start it is hundreds."""


@pytest.fixture(autouse=True)
def one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all matches have one seed, so that the opponents play the same games every time."""
    monkeypatch.setattr("api.resources.new_matches.fresh_seed", lambda: SEED)


def begin_late(monkeypatch: pytest.MonkeyPatch, game: AnyGame) -> None:
    """Let matches of a long game begin with the position from which they end soon; others begin as ever."""
    if game.id in LATE:
        begin_from(monkeypatch, game, LATE[game.id])


def begin_from(monkeypatch: pytest.MonkeyPatch, game: AnyGame, start: str) -> None:
    """Let matches of ``game`` begin with the position ``start``."""
    setups = {name: setup._replace(start=start) for name, setup in game.setups.items()}
    register(monkeypatch, variant(game, setups=setups))


def opponents(seats: int) -> list[dict[str, object]]:
    """Return ``seats`` seats of opponents, of level 1 and 2 by turns."""
    return [opponent(1 + seat % 2) for seat in range(seats)]


def answered(services: Services, match_id: str) -> MatchState:
    """Let the opponents do all that they owe the match; return it as it stands then."""
    while make_opponents(services).answer(match_id) is not None:
        pass
    return services.matches.load(match_id).state


def settle(services: Services, match_id: str) -> None:
    """Bring the read models and the ratings up to the match, as the relay and the workers do."""
    services.projector.project([match_id])
    services.ratings.rate(match_id)


def rating_after(players: Sequence[str | None], scores: Sequence[float], player: str) -> float:
    """Return the first rating of ``player``: every seat of his against every seat of the others that compares."""
    duel, best = len(scores) == 2, max(scores)
    results = [
        Result(DEFAULT, mine if duel else 0.5 if mine == theirs else float(mine > theirs), 2 / len(scores))
        for owner, mine in zip(players, scores, strict=True)
        for other, theirs in zip(players, scores, strict=True)
        if owner == player != other and (duel or mine != theirs or mine == best)
    ]
    return rate(DEFAULT, results).rating


def assert_settled(services: Services, caller: Caller, match_id: str) -> None:
    """Check that the result of a rated match, the first of its pool, says the same wherever it is told."""
    state = services.matches.load(match_id).state
    summary = summarise(state)
    assert state.status == Status.FINISHED
    assert state.result.scores is not None
    assert verify(services.store, match_id).head.version == state.version
    assert services.readmodels.summary(match_id) == summary
    players = [seat.player for seat in state.seats]
    expected = {player: rating_after(players, state.result.scores, player) for player in players if player is not None}
    changes = services.readmodels.rating_change(match_id)
    assert {player: before for player, (before, _) in changes.items()} == dict.fromkeys(expected, DEFAULT.rating)
    assert {player: after for player, (_, after) in changes.items()} == pytest.approx(expected)
    result = {"scores": list(state.result.scores), "reason": state.result.reason}
    assert caller.get(f"/matches/{match_id}").json["result"] == result
    assert [each["result"] for each in caller.get("/matches").json["items"]] == [result]
    for player, rating in expected.items():
        (shown,) = caller.get(f"/players/{player}/ratings").json["items"]
        assert (shown["pool"], shown["rating"], shown["provisional"]) == (summary.pool, pytest.approx(rating), True)
        (entry,) = caller.get(f"/players/{player}/ratings/{summary.pool}/matches").json["items"]
        assert (entry["match"], entry["weight"]) == (match_id, 2 / len(players))
        assert entry["after"]["rating"] == pytest.approx(rating)
        assert {each["expected"] for each in entry["results"]} == {0.5}
    assert caller.get(f"/leaderboards/{summary.pool}").json["items"] == [], "after one match no rating is certain"


def test_late_starts_are_those_of_registered_games() -> None:
    assert LATE.keys() <= GAMES.keys()


@every_setup
def test_opponents_begin_at_once(services: Services, anna: Caller, game: AnyGame, setup: str, seats: int) -> None:
    match_id = anna.create(*opponents(seats), game=game.id, setup=setup, ruleset=game.ruleset, rated=True)
    for ply in range(1, 2 * seats + 1):
        assert make_opponents(services).answer(match_id) is not None
        assert len(services.matches.load(match_id).state.play.moves) == ply


@sampled(("game", "setup", "seats"), SETUPS.values())
def test_a_match_of_opponents_ends_with_a_result_that_counts(
    services: Services, anna: Caller, monkeypatch: pytest.MonkeyPatch, game: AnyGame, setup: str, seats: int
) -> None:
    begin_late(monkeypatch, game)
    match_id = anna.create(*opponents(seats), game=game.id, setup=setup, ruleset=game.ruleset, rated=True)
    state = answered(services, match_id)
    outcome = game.outcome(state.play.position, state.play.history)
    assert state.ruleset == game.ruleset
    assert outcome is not None
    assert (state.result.scores, state.result.reason) == outcome
    settle(services, match_id)
    assert_settled(services, anna, match_id)


def test_four_play_on_after_a_resignation(services: Services, anna: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    begin_late(monkeypatch, GAMES["fourplay"])
    match_id = anna.create(ME, opponent(1), opponent(2), opponent(1), game="fourplay", setup="standard", rated=True)
    anna.move(match_id)
    make_opponents(services).answer(match_id)
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    left = anna.get(f"/matches/{match_id}").json
    assert (left["status"], left["to_move"], left["result"]) == ("playing", 2, None)
    state = answered(services, match_id)
    assert state.play.last_ply[0] == 1
    assert min(state.play.last_ply[1:]) > 1
    assert state.result.scores is not None
    assert state.result.scores[0] == 0
    settle(services, match_id)
    assert_settled(services, anna, match_id)
    assert services.readmodels.rating_change(match_id)[anna.id][1] < DEFAULT.rating


def test_who_has_left_a_match_of_four_can_neither_move_nor_stop_a_draw(app: Flask, anna: Caller) -> None:
    others = [Caller(app).sign_up(name) for name in ("boris", "clara", "dmitri")]
    match_id = anna.create(ME, *(invited(each.name) for each in others), game="fourplay", setup="standard", rated=True)
    for each in others:
        each.post(f"/matches/{match_id}/joins")
    for each in (anna, *others):
        assert each.move(match_id).status_code == 201
    assert anna.post(f"/matches/{match_id}/resignation").status_code == 201
    boris, clara, dmitri = others
    assert (
        boris.move(match_id).status_code == clara.move(match_id).status_code == dmitri.move(match_id).status_code == 201
    )
    assert anna.get(f"/matches/{match_id}").json["to_move"] == 1
    assert anna.move(match_id).status_code == 409
    assert boris.post(f"/matches/{match_id}/draw-offers").status_code == 201
    assert anna.post(f"/matches/{match_id}/draw-refusal").json["code"] == "no-longer-playing"
    assert clara.post(f"/matches/{match_id}/draw-acceptance").status_code == 201
    assert anna.get(f"/matches/{match_id}").json["status"] == "playing"
    assert dmitri.post(f"/matches/{match_id}/draw-acceptance").status_code == 201
    result = anna.get(f"/matches/{match_id}").json["result"]
    assert result == {"scores": [0, 0.6667, 0.6667, 0.6667], "reason": "draw-agreed"}


ENDINGS: dict[str, list[Any]] = table(__file__, "endings")
"""By name: game, setup, a position to begin from, the moves from there, how they end, and what the page says of it."""


@pytest.mark.parametrize(("game", "setup", "start", "moves", "outcome", "words"), ENDINGS.values(), ids=ENDINGS)
def test_parts_of_a_win_and_shared_places_come_through_to_ratings_and_pages(
    app: Flask,
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
    game: str,
    setup: str,
    start: str,
    moves: str,
    outcome: list[Any],
    words: list[str],
) -> None:
    rules = GAMES[game]
    begin_from(monkeypatch, rules, start)
    names = ("anna", "boris", "clara", "dmitri")[: len(rules.setups[setup].seat_names)]
    people = [Caller(app).sign_up(name) for name in names]
    host, *others = people
    match_id = host.create(ME, *(invited(each.name) for each in others), game=game, setup=setup, rated=True)
    for each in others:
        each.post(f"/matches/{match_id}/joins")
    for move in moves.split():
        mover = people[host.get(f"/matches/{match_id}").json["to_move"]]
        assert mover.move(match_id, move).status_code == 201
    state = services.matches.load(match_id).state
    assert ([*(state.result.scores or ())], state.result.reason) == tuple(outcome)
    settle(services, match_id)
    assert_settled(services, host, match_id)
    page = host.client.get(f"/matches/{match_id}").text
    assert [word for word in words if word not in page] == []
