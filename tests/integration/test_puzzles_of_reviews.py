"""Puzzles from reviews: found in public matches that are over, once, within limits, and offered like all others."""

from functools import partial

import pytest

from api.operations import puzzles as operations
from api.operations.puzzles import puzzles_of
from api.pages.learning import pages
from api.services import Services
from domain.games import GAMES
from domain.match.commands import Resign
from domain.puzzles import lines
from domain.puzzles.puzzle import TRIALS, Puzzle
from domain.search import budgets, choose
from events.matches import reviews
from events.matches.reviews import REVIEW, ReviewQuery, query_of
from events.people import puzzles as found_puzzles
from tests.support.callers import Caller
from tests.support.fleet import run_here, slice_worker
from tests.support.stepped_installation import SteppedInstallation
from workers.fleet import review
from workers.fleet.puzzles import PUZZLES

NODES = 300
PLIES = 14
PUZZLE_PLIES = [8, 11]
"""The plies of the match below before which one move is far better than all others, at so few nodes."""

POSITION = "1b1b1b1b/b3b1b1/3b1b1b/2b1(bw)3/1w6/w1w1w3/3w1w1w/w1w1w1w1 b 0"
"""That before ply 8."""


@pytest.fixture(autouse=True)
def few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reviews, and searches for puzzles, search little."""
    monkeypatch.setattr(reviews, "NODES", NODES)
    monkeypatch.setattr(review, "NODES", NODES)
    monkeypatch.setattr(lines, "level_nodes", lambda _: NODES)
    monkeypatch.setattr(lines, "choose", partial(choose, nodes=NODES))


def reviewed(shop: SteppedInstallation, *, private: bool = False, match: str = "m1") -> ReviewQuery:
    """Have a match played to its end and reviewed; return the query of its review."""
    shop.start("alice", "bob", private=private, rated=False, match=match)
    shop.play(match, PLIES, seed=9)
    shop.do(match, Resign(player="bob"), "bob")
    query = query_of(shop.matches.load(match))
    shop.parts.reviews.request(query)
    run_here(shop.parts, REVIEW, query._asdict())
    return query


def searched(shop: SteppedInstallation, query: ReviewQuery) -> list[Puzzle]:
    """Have the job done that the review has requested; return the puzzles of the game, in the order of their plies."""
    assert shop.parts.fleet_jobs.find_running(PUZZLES, query._asdict())
    run_here(shop.parts, PUZZLES, query._asdict())
    return sorted(shop.parts.puzzles.of("bashni"), key=lambda puzzle: puzzle.ply or 0)


def test_positions_of_a_reviewed_match_become_puzzles_of_which_the_search_is_sure(shop: SteppedInstallation) -> None:
    found = searched(shop, reviewed(shop))
    assert [puzzle.ply for puzzle in found] == PUZZLE_PLIES
    state = shop.state("m1")
    for puzzle in found:
        assert puzzle.ply is not None
        assert puzzle.match == "m1"
        assert puzzle.position == GAMES["bashni"].format_position(state.play.position_after(puzzle.ply - 1))
        assert puzzle.is_solved_by(puzzle.solver_moves)
        assert (puzzle.factor, len(puzzle.solved)) == (10, len(TRIALS))


def test_a_slice_that_is_done_again_after_a_kill_adds_no_second_puzzle(shop: SteppedInstallation) -> None:
    query = reviewed(shop)
    jobs = shop.parts.fleet_jobs
    jobs.work.lease_ms = 0
    job = jobs.find_running(PUZZLES, query._asdict())
    while job is not None:
        assert jobs.claim(job) is not None  # by a worker that is killed
        claimed = jobs.claim(job)
        assert claimed is not None
        slice_worker(shop.parts).do_slice(claimed)
        job = jobs.find_running(PUZZLES, query._asdict())
    first = shop.parts.puzzles.of("bashni")
    assert sorted(puzzle.ply or 0 for puzzle in first) == PUZZLE_PLIES
    run_here(shop.parts, PUZZLES, query._asdict())
    assert shop.parts.puzzles.of("bashni") == first


def test_one_match_is_searched_at_a_time(shop: SteppedInstallation) -> None:
    first, second = reviewed(shop), reviewed(shop, match="m2")
    jobs = shop.parts.fleet_jobs
    assert [job.parameters for job in jobs.running() if job.kind == PUZZLES] == [first._asdict()]
    assert jobs.find_running(PUZZLES, second._asdict()) is None


def test_private_matches_yield_no_puzzles(shop: SteppedInstallation) -> None:
    query = reviewed(shop, private=True)
    assert searched(shop, query) == []


def test_a_game_with_enough_puzzles_gets_no_more(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    query = reviewed(shop)
    assert len(searched(shop, query)) == 2
    monkeypatch.setattr(found_puzzles, "MAX_PUZZLES", 2)
    assert run_here(shop.parts, PUZZLES, query._asdict()) == []


def test_a_build_in_which_a_search_would_keep_a_worker_for_minutes_looks_for_none(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = reviewed(shop)
    monkeypatch.setitem(budgets.PACES, "bashni", budgets.PACES["bashni"]._replace(plain=7_000, compiled=7_000))
    assert run_here(shop.parts, PUZZLES, query._asdict()) == []


def test_a_puzzle_of_a_review_is_listed_rated_and_leads_to_its_match(anna: Caller, services: Services) -> None:
    line = ("e5-d4", "c3xe5xc7", "d8xb6")
    puzzle = Puzzle("bashni", POSITION, line, (), 2, 10, (0, 0, 0, 0, 4, 1, 1, 1), "m1", 8)
    services.puzzles.add(puzzle)
    listed = [item["id"] for item in anna.get("/games/bashni/puzzles").json["items"]]
    assert sorted(listed) == sorted([puzzle.id, *puzzles_of("bashni")])
    assert listed.index(puzzle.id) not in (0, len(listed) - 1), "they come in the order of difficulty"
    assert f'href="/games/bashni/puzzles/{puzzle.id}"' in anna.client.get("/games/bashni/puzzles").text
    page = anna.client.get(f"/games/bashni/puzzles/{puzzle.id}").text
    assert 'The position is from <a href="/matches/m1?ply=7">a match that was played here</a>.' in page
    assert anna.post(f"/games/bashni/puzzles/{puzzle.id}/looks").json["rated"]
    tried = anna.post(f"/games/bashni/puzzles/{puzzle.id}/attempts", {"moves": ["e5-d4", "d8xb6"]}).json
    assert tried["solved"]
    assert tried["after"]["rating"] > tried["before"]["rating"]


def test_a_game_without_a_table_lists_puzzles_of_matches_and_none_of_the_day(
    anna: Caller, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "puzzles_of", lambda _: {})
    monkeypatch.setattr(pages, "puzzles_of", lambda _: {})
    missing = anna.client.get("/games/bashni/puzzles")
    assert (missing.status_code, "There are no puzzles of this game." in missing.text) == (404, True)
    line = ("e5-d4", "c3xe5xc7", "d8xb6")
    services.puzzles.add(Puzzle("bashni", POSITION, line, (), 2, 10, (0, 0, 0, 0, 4, 1, 1, 1), "m1", 8))
    page = anna.client.get("/games/bashni/puzzles").text
    assert "From games of the computer against itself: 0; from matches that were played here: 1." in page
    assert "Puzzle of the day" not in page
    assert "There is no such puzzle." in anna.client.get("/games/bashni/puzzles/none").text
