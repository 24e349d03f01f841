"""Read models on a real server: they follow the feed, once, whatever is delivered how often and in which order."""

from collections.abc import Callable
from random import Random

import pytest

from domain.match.commands import DeclineDraw, JoinMatch, OfferDraw, Resign
from domain.match.state import Seat
from events.matches.matches import CachedSummaries
from events.matches.readmodels import HeadToHead, Projected, Summary, summarise
from events.matches.readmodels.projector import Failures, Projector
from events.runtime.connections import StorePipeline
from events.runtime.errors import StoreUnavailableError
from events.store.contract import Head
from tests.support.feed_groups import lags_of
from tests.support.matches import FOUR
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation
from workers.consumers import project_deliveries


def listed(shop: SteppedInstallation, view: str, player: str | None = None, **also: object) -> list[str]:
    """Return the matches of a view, read in pages of two."""
    matches: list[str] = []
    cursor = None
    while True:
        page = shop.readmodels.matches(view, player, cursor=cursor, limit=2, **also)  # type: ignore[arg-type]
        matches += [summary.match for summary in page.items]
        cursor = page.next
        if cursor is None:
            return matches


def test_lists_follow_the_feed(shop: SteppedInstallation) -> None:
    invited = shop.create(Seat.taken("alice"), Seat.invited("bob"))
    lobby = shop.create(Seat.taken("carol"), Seat.open(), creator="carol")
    shop.project_all()
    assert listed(shop, "invited", "bob") == listed(shop, "awaiting", "bob") == [invited]
    assert listed(shop, "open") == [lobby]
    shop.do(invited, JoinMatch(player="bob"))
    shop.do(lobby, JoinMatch(player="bob"))
    shop.project_all()
    assert listed(shop, "open") == listed(shop, "invited", "bob") == listed(shop, "awaiting", "bob") == []
    assert listed(shop, "awaiting", "alice") == [invited]
    assert listed(shop, "active", "bob") == [lobby, invited]
    shop.do(invited, Resign(player="bob"))
    shop.project_all()
    assert listed(shop, "awaiting", "alice") == []
    assert listed(shop, "active", "bob") == [lobby]
    assert listed(shop, "finished", "alice") == [invited]


def test_what_awaits_a_player_is_listed_with_the_longest_wait_first(shop: SteppedInstallation) -> None:
    matches = [shop.start("alice", f"p{number}") for number in range(7)]
    for match in reversed(matches):
        shop.play(match, 2)
    shop.project_all()
    assert listed(shop, "awaiting", "alice") == list(reversed(matches))
    shop.play(matches[3], 1)
    shop.project_all()
    assert listed(shop, "awaiting", "alice") == [match for match in reversed(matches) if match != matches[3]]


def test_a_draw_offer_among_four_is_in_the_awaiting_lists_of_those_who_must_answer(shop: SteppedInstallation) -> None:
    match = shop.start(*FOUR, game="towers", setup="four-player")
    shop.do(match, OfferDraw(player=FOUR[2]))
    shop.project_all()
    assert [listed(shop, "awaiting", player) for player in FOUR] == [[match], [match], [], [match]]
    shop.do(match, DeclineDraw(player=FOUR[3]))
    shop.project_all()
    assert [listed(shop, "awaiting", player) for player in FOUR] == [[match], [], [], []]


def test_deliveries_again_and_in_another_order_change_nothing(shop: SteppedInstallation) -> None:
    matches = [shop.start("alice", "bob", "carol", "dora", game="towers", setup="four-player") for _ in range(3)]
    for match in matches:
        shop.play(match, 5)
    shop.project_all()
    once = shop.dump()
    again = shop.group("projections-again")
    deliveries = 2 * again.read(None)
    Random(3).shuffle(deliveries)
    handle = project_deliveries(again, shop.projector)
    for delivery in deliveries:
        assert handle([delivery]) == {}
    assert shop.dump() == once
    assert {summary.match for summary in shop.readmodels.matches("active", "dora").items} == set(matches)


def test_a_slow_relay_does_not_put_an_older_summary_over_a_newer_one(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    fast = shop.projector
    reads: list[int] = []

    class Overtaken(CachedSummaries):
        """Summaries that are overtaken by a faster relay after the first one was read."""

        def read(self, match_id: str, version: int, head: Head | None) -> Projected | None:
            projected = super().read(match_id, version, head)
            if not reads:
                shop.play(match, 1)
                fast.project([match])
            reads.append(projected.summary.version if projected else 0)
            return projected

    Projector(shop.client, shop.keys, Overtaken(shop.matches, shop.store)).project([match])
    assert reads == [reads[0], reads[0] + 1]
    summary = shop.readmodels.summary(match)
    assert summary is not None
    assert summary.version == shop.state(match).version


def test_effect_and_acknowledgement_are_one_step(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "bob")
    group = shop.group("projections")
    deliveries = group.read()

    def dies(pipeline: StorePipeline, _: Failures) -> None:
        group.acknowledge(pipeline, deliveries)
        raise StoreUnavailableError("killed between effect and acknowledgement")

    with pytest.raises(StoreUnavailableError):
        shop.projector.project([match], on_commit=dies)
    assert shop.readmodels.summary(match) is None
    assert sum(lag.pending for lag in lags_of(group)) == len(deliveries)


def test_a_summary_ahead_of_its_stream_is_replaced(shop: SteppedInstallation, server: RealServer) -> None:
    match = shop.start("alice", "bob")
    shop.play(match, 2)
    backup = {key: shop.client.dump(key) for key in shop.client.scan_iter("*:m:*")}
    shop.play(match, 3)
    shop.project_all()
    assert listed(shop, "awaiting", "bob") == [match]
    for key, value in backup.items():
        if b":rm:" not in key:
            shop.client.restore(key, 0, value, replace=True)
    assert shop.sweeper().check_streams() == 1
    assert shop.readmodels.summary(match) == summarise(SteppedInstallation(server.url).state(match))
    assert (listed(shop, "awaiting", "alice"), listed(shop, "awaiting", "bob")) == ([match], [])


def test_paging_has_no_cap_and_no_doubles_even_where_many_share_one_instant(shop: SteppedInstallation) -> None:
    shop.matches._now = lambda: shop.now
    matches = {shop.create(Seat.taken("alice"), Seat.open(), match=f"m{number:03}") for number in range(130)}
    shop.project_all()
    for limit in (1, 7, 200):
        seen: list[str] = []
        cursor = None
        while True:
            page = shop.readmodels.matches("open", cursor=cursor, limit=limit)
            seen += [summary.match for summary in page.items]
            cursor = page.next
            if cursor is None:
                break
            assert len(page.items) == limit
        assert len(seen) == len(matches)
        assert set(seen) == matches


def test_paging_goes_on_where_it_was_when_matches_leave_the_list(shop: SteppedInstallation) -> None:
    matches = [shop.create(Seat.taken("alice"), Seat.open()) for _ in range(10)]
    shop.project_all()
    first = shop.readmodels.matches("open", limit=4)
    for match in matches[5:8]:
        shop.do(match, JoinMatch(player="bob"))
    shop.project_all()
    rest = shop.readmodels.matches("open", cursor=first.next, limit=50)
    assert [summary.match for summary in first.items] == matches[:5:-1]
    assert [summary.match for summary in rest.items] == matches[4::-1]
    assert rest.next is None


def test_a_game_and_privacy_narrow_a_view(shop: SteppedInstallation) -> None:
    bashni = shop.start("alice", "bob")
    towers = shop.start("alice", "bob", game="towers", setup="two-player")
    private = shop.start("alice", "bob", private=True)
    shop.project_all()
    assert listed(shop, "recent") == [towers, bashni]
    assert listed(shop, "recent", game="bashni") == [bashni]
    assert listed(shop, "active", "bob") == [private, towers, bashni]
    assert listed(shop, "active", "bob", game="bashni") == [private, bashni]
    assert listed(shop, "active", "bob", game="bashni", public=True) == [bashni]
    assert listed(shop, "recent", "bob") == [towers, bashni]


def test_the_lobby_of_a_player_holds_the_matches_in_which_he_waits_for_others(shop: SteppedInstallation) -> None:
    waiting = shop.create(Seat.taken("alice"), Seat.open())
    shop.create(Seat.taken("bob"), Seat.open(), creator="bob")
    shop.start("alice", "bob")
    shop.project_all()
    assert listed(shop, "open", "alice") == [waiting]


@pytest.mark.parametrize(
    "read",
    [
        lambda models: models.matches("nonsense"),
        lambda models: models.matches("awaiting"),
        lambda models: models.matches("open", limit=0),
        lambda models: models.matches("open", limit=201),
        lambda models: models.matches("open", cursor="nonsense"),
        lambda models: models.leaderboard("bashni-2", "nonsense"),
    ],
)
def test_a_page_that_does_not_exist_is_refused(shop: SteppedInstallation, read: Callable[[object], object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(shop.readmodels)


def test_players_are_compared_head_to_head(shop: SteppedInstallation) -> None:
    shop.win("bob", "alice")
    shop.win("alice", "bob")
    shop.win("bob", "alice", rated=False)
    four = shop.start("alice", "bob", "carol", "dora", game="towers", setup="four-player")
    shop.do(four, Resign(player="alice"))
    shop.project_all()
    summary: Summary | None = shop.readmodels.summary(four)
    assert summary is not None
    assert summary.status == "finished"
    assert shop.readmodels.head_to_head("bob", "alice") == [
        HeadToHead("bashni-2", 2, 0, 1),
        HeadToHead("towers-4", 1, 0, 0),
    ]
    assert shop.readmodels.head_to_head("alice", "bob")[0] == HeadToHead("bashni-2", 1, 0, 2)
    assert shop.readmodels.head_to_head("bob", "carol") == [HeadToHead("towers-4", 0, 1, 0)]
    assert shop.readmodels.head_to_head("bob", "nobody") == []
