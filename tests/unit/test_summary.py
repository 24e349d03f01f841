"""The summary of a match, the lists it stands in, and the result that counts for ratings."""

import pytest

from domain.match.commands import AbortMatch, DeclineDraw, JoinMatch, OfferDraw, OpenCase, Resign
from domain.match.enums import Ground
from domain.match.events import MoveSubmitted
from domain.match.state import Seat
from events.matches.readmodels import Projected, lists_of, rated_result, summarise
from events.matches.readmodels.paging import Place, format_cursor, parse_cursor
from events.matches.readmodels.summary import DAY_MS, LAYOUT, RatedResult, pack_summary, unpack_summary
from events.runtime.keys import ReadModelKeys
from tests.support.cases import WORDS, disputed, ruling
from tests.support.matches import FOUR, T0, PlayedMatch, creation, started, started_by_four
from tests.support.memory_store import MemoryStore


def names(match: PlayedMatch) -> set[str]:
    return {name for name, _ in lists_of(summarise(match.state))}


def test_an_open_match_awaits_nobody_and_stands_in_the_lobby() -> None:
    match = PlayedMatch()
    assert summarise(match.state).awaiting == ()
    assert names(match) == {"open", "open:bashni", "recent", "recent:bashni", "active:alice"}


def test_a_frozen_match_awaits_nobody_until_it_is_ruled_on() -> None:
    match = disputed()
    assert summarise(match.state).awaiting == ()
    assert {"cases", "active:alice", "active:bob"} <= names(match)
    match.do(ruling("let-stand"))
    assert summarise(match.state).awaiting == ("alice",)
    assert "cases" not in names(match)


def test_a_draw_offer_awaits_its_answer_beside_the_move() -> None:
    match = started()
    match.do(OfferDraw(player="alice"))
    assert summarise(match.state).awaiting == ("alice", "bob")
    match.do(DeclineDraw(player="bob"))
    assert summarise(match.state).awaiting == ("alice",)


def test_a_match_that_has_ended_awaits_nobody_and_leaves_the_active_lists() -> None:
    match = started()
    match.do(Resign(player="alice"))
    summary = summarise(match.state)
    assert (summary.status, summary.to_move, summary.awaiting) == ("finished", None, ())
    assert summary.scores == (0.0, 1.0)
    assert names(match) == {"recent", "recent:bashni", "finished:alice", "finished:bob", "met:alice:bob"}


def test_an_aborted_match_is_seen_by_its_players_only_and_is_no_meeting() -> None:
    match = started()
    match.do(AbortMatch(player="bob"))
    assert names(match) == {"finished:alice", "finished:bob"}


def test_a_creator_who_does_not_sit_in_the_match_finds_it_among_his_own() -> None:
    match = PlayedMatch(creation(Seat.opponent(1), Seat.opponent(2), creator="alice", private=True))
    assert names(match) == {
        "active:alice", "active:opponent-1", "active:opponent-2", "awaiting:opponent-1", "queue:opponent-1",
    }  # fmt: skip


def test_an_invitation_keeps_its_age_when_others_join() -> None:
    seats = (Seat.taken(FOUR[0]), Seat.invited(FOUR[1]), Seat.invited(FOUR[2]), Seat.invited(FOUR[3]))
    match = PlayedMatch(creation(*seats, creator=FOUR[0], game="towers", setup="four-player"))
    created = match.now
    match.do(JoinMatch(player=FOUR[2]))
    assert lists_of(summarise(match.state))[f"invited:{FOUR[3]}", "m"] == created
    assert f"invited:{FOUR[2]}" not in names(match)


def test_a_summary_is_read_back_as_it_was_packed() -> None:
    for match in (PlayedMatch(), started(), started_by_four()):
        projected = Projected(summarise(match.state), "0123456789abcdef")
        assert unpack_summary(pack_summary(projected)) == projected
    match.do(Resign(player=FOUR[0]))
    projected = Projected(summarise(match.state), "0123456789abcdef")
    assert unpack_summary(pack_summary(projected)) == projected


def test_a_summary_of_another_layout_counts_as_none() -> None:
    packed = pack_summary(Projected(summarise(started().state), "0123456789abcdef"))
    assert unpack_summary(packed.replace(LAYOUT.encode(), b"another-one!", 1)) is None


def test_a_summary_tells_the_last_move_as_players_read_it() -> None:
    match = PlayedMatch(creation(game="tower-game", setup="original"))
    match.do(JoinMatch(player="bob"))
    assert summarise(match.state).last_move == ""
    for player in ("alice", "bob", "alice"):
        match.move(player, match.legal_moves()[0])
        assert summarise(match.state).last_move == match.state.play.history.display_moves(match.state.play.moves)[-1]
    assert summarise(match.state).last_move != match.state.play.moves[-1]


def test_only_a_rated_match_that_was_played_counts_for_ratings() -> None:
    match = started()
    assert rated_result(summarise(match.state)) is None
    match.move("alice", match.legal_moves()[0])
    match.move("bob", match.legal_moves()[0])
    match.do(Resign(player="bob"))
    result = rated_result(summarise(match.state))
    assert result == RatedResult("m", "bashni-2", match.now, ("alice", "bob"), (1.0, 0.0))
    assert "rated" in names(match)


def test_a_broken_match_that_is_decided_counts_with_all_plies_on_record() -> None:
    match = started()
    moves = [
        MoveSubmitted(at=match.now, seat=0, ply=1, move="z9-z8"),
        MoveSubmitted(at=match.now, seat=1, ply=2, move="a7-b6"),
    ]
    match = PlayedMatch.recorded([*match.events, *moves])
    match.do(OpenCase(arbiter="olga", ply=1, ground=Ground.ILLEGAL_MOVE, statement=WORDS))
    match.do(ruling("decide", scores=(0.0, 1.0)))
    result = rated_result(summarise(match.state))
    assert result is not None
    assert result.scores == (0.0, 1.0)


def test_a_match_of_an_opponent_against_itself_counts_not() -> None:
    match = PlayedMatch(creation(Seat.opponent(1), Seat.opponent(1)))
    for _ in range(2):
        match.move("opponent-1", match.legal_moves()[0])
    match.do(Resign(player="opponent-1"))
    assert rated_result(summarise(match.state)) is None


def test_a_result_of_four_is_pairwise_and_leaves_out_meetings_with_oneself() -> None:
    result = RatedResult("m", "towers-4", T0, ("a", "b", "a", "c"), (1.0, 0.0, 0.0, 0.0))
    assert result.results() == {"a": (("b", 1.0), ("c", 1.0)), "b": (("a", 0.0),), "c": (("a", 0.0),)}
    assert result.day == T0 // DAY_MS


def test_read_models_and_store_agree_on_the_shard_of_a_match() -> None:
    store, keys = MemoryStore(16), ReadModelKeys("rk:", 16)
    assert [keys.shard_of(f"m{n}") for n in range(500)] == [store.shard_of(f"m{n}") for n in range(500)]


def test_a_cursor_is_read_back_as_the_place_it_was_made_of() -> None:
    for place in (Place(1_700_000_000_123.0, "m1"), Place(1512.3456789012345, "opponent-3"), Place(-0.5, "ü")):
        assert parse_cursor(format_cursor(place)) == place


@pytest.mark.parametrize("text", ["", "x", "ÿ", "e30", "W10", "WzEsMl0", "WyIxIiwiYSJd", "W05hTiwiYSJd", "A" * 400])
def test_a_text_that_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid cursor"):
        parse_cursor(text)
