"""Seeks on a real server: they meet, fill like tables, expire, and give one match for each wish after any kill."""

import io
import json
import zipfile
from collections import Counter
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest

from domain.contest.seek import commands as c, events as e
from domain.contest.seek.state import Seek, SeekStatus, Taker
from domain.contest.wishes import Interval, SeekObstacle, SeekTerms
from domain.match.commands import Resign
from domain.match.enums import Control, OccasionKind, Status
from domain.match.refusals import CommandError
from domain.match.state import Occasion
from domain.match.terms import DAY
from domain.match.vacation import booked
from events.contests.audit import audit_contest
from events.contests.seeks import OPEN
from events.notify.notice import NoticeKind
from events.operations.personal_archive import make_archive
from events.people.blocks import BLOCK
from events.people.person import Person
from events.runtime.errors import StoreUnavailableError
from events.runtime.keys import ContestKeys
from events.store.codec import CODECS
from events.store.contract import Request
from events.store.kinds import StreamKind, is_match, only_matches, stream_id
from events.store.time import StoreClock
from tests.support.stepped_installation import SteppedInstallation, drain
from workers.fleet.audit import RECOMPUTE, Audit
from workers.fleet.kinds import REBUILD, make_work

_KEYS = count(1)
TWO = SeekTerms(games=("bashni/start", "towers/two-player"), seats=2, days=Interval(2, 5), rated=True)
FOUR = replace(TWO, games=("towers/four-player",), seats=4)


def execute(shop: SteppedInstallation, id: str, command: c.Command, actor: str) -> Seek:
    key = str(next(_KEYS))
    return shop.parts.seeks.contests.execute(id, command, actor, Request(key, key)).state


def post(shop: SteppedInstallation, author: str, terms: SeekTerms = TWO, **more: Any) -> str:
    """Post a seek; return its id."""
    shop.tick()
    id = stream_id(StreamKind.SEEK, author, str(next(_KEYS)))
    execute(shop, id, c.PostSeek(author, replace(terms, **more)), author)
    return id


def take(shop: SteppedInstallation, id: str, player: str, game: str = "bashni/start") -> Seek:
    return execute(shop, id, c.TakeSeek(player, game, state(shop, id).table.days, 1500), player)


def follow(shop: SteppedInstallation) -> None:
    """Let the relay do all that there is to do."""
    drain(shop.projections(), shop.contests())


def state(shop: SteppedInstallation, id: str) -> Seek:
    return shop.parts.seeks.contests.load(id).state


def matches(shop: SteppedInstallation) -> list[str]:
    return list(only_matches(shop.store.all_streams()))


def players(shop: SteppedInstallation, match: str) -> set[str | None]:
    return {seat.player for seat in shop.state(match).seats}


def test_a_seek_that_is_taken_by_hand_becomes_a_match_at_the_slowest_pace(shop: SteppedInstallation) -> None:
    id = post(shop, "ann")
    take(shop, id, "bob")
    follow(shop)
    assert state(shop, id).status == SeekStatus.ANSWERED
    (match,) = matches(shop)
    begun = shop.state(match)
    assert (begun.status, begun.rated, players(shop, match)) == (Status.PLAYING, True, {"ann", "bob"})
    assert (begun.terms.control, begun.terms.bank) == (Control.DAYS_PER_MOVE, 5 * DAY)
    assert begun.occasion == Occasion(kind=OccasionKind.SEEK, id=id, pairing="1")
    assert state(shop, id).matches == (match,)
    assert shop.parts.seeks.listed() == []


def test_two_seeks_that_agree_meet_by_themselves_the_oldest_first(shop: SteppedInstallation) -> None:
    slow = post(shop, "ann", days=Interval(6, 9))
    first, second = post(shop, "bob", games=("towers/two-player",)), post(shop, "cyd", days=Interval(1, 3))
    follow(shop)
    assert [state(shop, id).status for id in (slow, first, second)] == ["open", "answered", "answered"]
    (match,) = matches(shop)
    assert players(shop, match) == {"bob", "cyd"}
    assert (shop.state(match).game, shop.state(match).terms.bank) == ("towers", 3 * DAY)
    assert state(shop, first).matches == state(shop, second).matches == (match,)


def test_a_standing_seek_meets_one_seek_after_the_other(shop: SteppedInstallation) -> None:
    standing = post(shop, "ann", count=3)
    for player in ("bob", "cyd", "dan", "eve"):
        post(shop, player)
        follow(shop)
    assert state(shop, standing).status == SeekStatus.ANSWERED
    assert sum("ann" in players(shop, match) for match in matches(shop)) == 3
    assert [seek.author for seek in shop.parts.seeks.listed()] == ["eve"]


def test_four_seats_fill_like_a_table_by_seeks_and_by_hand(shop: SteppedInstallation) -> None:
    table = post(shop, "ann", FOUR)
    joined = post(shop, "bob", FOUR)
    follow(shop)
    assert state(shop, joined).status == SeekStatus.JOINED
    with pytest.raises(CommandError, match="waits at another table"):
        take(shop, joined, "cyd", "towers/four-player")
    take(shop, table, "cyd", "towers/four-player")
    take(shop, table, "dan", "towers/four-player")
    follow(shop)
    (match,) = matches(shop)
    assert players(shop, match) == {"ann", "bob", "cyd", "dan"}
    assert state(shop, joined).matches == (match,)


def test_a_seek_that_waited_at_a_table_comes_back_when_that_is_withdrawn(shop: SteppedInstallation) -> None:
    table, joined = post(shop, "ann", FOUR), post(shop, "bob", FOUR)
    follow(shop)
    execute(shop, table, c.CloseSeek("ann"), "ann")
    follow(shop)
    assert state(shop, joined).status == SeekStatus.OPEN
    assert [seek.id for seek in shop.parts.seeks.listed()] == [joined]


def test_a_withdrawn_seek_gives_its_seat_at_another_table_back(shop: SteppedInstallation) -> None:
    table, joined = post(shop, "ann", FOUR), post(shop, "bob", FOUR)
    follow(shop)
    execute(shop, joined, c.CloseSeek("bob"), "bob")
    follow(shop)
    assert state(shop, table).table.takers == ()


def test_after_a_week_a_table_begins_with_opponents_in_its_empty_seats(shop: SteppedInstallation) -> None:
    table = post(shop, "ann", FOUR)
    take(shop, table, "bob", "towers/four-player")
    shop.now += 7 * DAY
    execute(shop, table, c.SeatOpponents("ann", 1, "towers/four-player"), "ann")
    follow(shop)
    (match,) = matches(shop)
    assert sorted(seat.level or 0 for seat in shop.state(match).seats) == [0, 0, 1, 1]


def test_a_seek_expires_by_itself_and_those_who_waited_there_come_back(shop: SteppedInstallation) -> None:
    table = post(shop, "ann", FOUR)
    shop.now += DAY
    joined = post(shop, "bob", FOUR)
    follow(shop)
    shop.now = state(shop, table).expires_at
    shop.heartbeat.beat(shop.now, shop.now)
    shop.ticker().tick()
    follow(shop)
    assert [state(shop, id).status for id in (table, joined)] == [SeekStatus.EXPIRED, SeekStatus.OPEN]
    assert shop.parts.contest_lists.count("seeks:by:ann") == 0


def test_what_feed_and_ticker_have_missed_is_found_by_the_sweeper(shop: SteppedInstallation) -> None:
    first, second = post(shop, "ann"), post(shop, "bob")
    shop.sweeper().sweep()
    assert {state(shop, id).status for id in (first, second)} & {SeekStatus.JOINED, SeekStatus.ANSWERED}
    late = post(shop, "cyd", FOUR)
    shop.now = state(shop, late).expires_at
    shop.heartbeat.beat(shop.now, shop.now)
    shop.sweeper().sweep()
    assert state(shop, late).status == SeekStatus.EXPIRED


def test_people_who_block_each_other_do_not_meet_and_nobody_meets_on_vacation(shop: SteppedInstallation) -> None:
    shop.parts.blocks.put("bob", "ann", BLOCK)
    post(shop, "ann")
    post(shop, "bob")
    follow(shop)
    assert matches(shop) == []

    def on_vacation(stored: Any) -> Any:
        return stored._replace(book=booked(stored.book, shop.now, shop.now + 2 * DAY, shop.now))

    shop.availability.change("cyd", on_vacation)
    post(shop, "cyd")
    follow(shop)
    assert matches(shop) == []


def test_a_person_sees_which_seeks_are_not_for_them_and_why(shop: SteppedInstallation) -> None:
    shop.parts.blocks.put("bob", "ann", BLOCK)
    wanted = {
        post(shop, "ann"): SeekObstacle.SAME_PERSON,
        post(shop, "bob", days=Interval(7, 7)): SeekObstacle.BLOCKED,
        post(shop, "cyd", days=Interval(8, 8), rating=Interval(1800, 2000)): SeekObstacle.RATING,
        post(shop, "dan", days=Interval(9, 9)): None,
    }
    follow(shop)
    seen = shop.parts.seeks.seen_by(Person("ann", "Ann", "person", 0), shop.parts.seeks.listed())
    assert {each.seek.id: each.obstacle for each in seen} == wanted
    guest = shop.parts.seeks.seen_by(Person("gus", "guest-1", "guest", 0), shop.parts.seeks.listed())
    assert {each.obstacle for each in guest} == {SeekObstacle.RATED}


def test_who_has_begun_less_often_against_the_other_begins(shop: SteppedInstallation) -> None:
    first = Counter[str | None]()
    for _ in range(4):
        id = post(shop, "ann")
        take(shop, id, "bob")
        follow(shop)
        match = state(shop, id).matches[0]
        first[shop.state(match).seats[0].player] += 1
        shop.do(match, Resign(player="ann"))
        follow(shop)
    assert first == {"ann": 2, "bob": 2}


def test_the_seeks_of_an_erased_person_are_withdrawn_and_seats_given_back(shop: SteppedInstallation) -> None:
    own, table = post(shop, "ann"), post(shop, "bob", FOUR)
    take(shop, table, "ann", "towers/four-player")
    follow(shop)
    shop.parts.seeks.erase("ann")
    follow(shop)
    assert state(shop, own).status == SeekStatus.WITHDRAWN
    assert state(shop, table).table.takers == ()
    assert [seek.id for seek in shop.parts.seeks.listed()] == [table]


class Kills:
    """Kills what runs at some writes of the store, before the write or after it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0

    def strike(self) -> None:
        if self.random.random() < 0.1:
            self.count += 1
            raise StoreUnavailableError("killed")


@pytest.mark.parametrize("seed", [1])
def test_whatever_is_killed_each_wish_gives_the_matches_that_it_was_for_and_no_more(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = Random(seed)
    ids = []
    for number in range(15):
        terms = FOUR if number % 3 == 0 else TWO
        least = random.randint(1, 4)
        pace = Interval(least, least + random.randint(0, 2))
        ids.append(post(shop, f"p{number}", terms, days=pace, count=random.randint(1, 2)))
    kills = Kills(random)
    for owner, name in ((shop.store, "append"), (shop.parts.contest_lists, "update")):
        plain = getattr(owner, name)

        def write(*arguments: Any, _plain: Any = plain, **options: Any) -> Any:
            kills.strike()
            written = _plain(*arguments, **options)
            kills.strike()
            return written

        monkeypatch.setattr(owner, name, write)
    for _ in range(2000):
        try:
            follow(shop)
        except StoreUnavailableError:
            continue
        break
    assert kills.count > 10
    seeks = {id: state(shop, id) for id in ids}
    given = Counter(match for seek in seeks.values() for match in seek.matches)
    assert sorted(given) == sorted(matches(shop))
    for match, mentions in given.items():
        assert mentions == len({*players(shop, match)}) == len(shop.state(match).seats)
    for seek in seeks.values():
        assert len(seek.matches) <= seek.terms.count
        assert sum(seek.author in players(shop, match) for match in given) == len(seek.matches)
        assert seek.status != SeekStatus.FULL
        if seek.joined is not None and seek.status == SeekStatus.JOINED:
            table = seeks[seek.joined.seek].table
            assert Taker(seek.author, seek.id, seek.joined.number) in table.takers
    assert {seek.id for seek in shop.parts.seeks.listed()} == {
        seek.id for seek in seeks.values() if seek.status == SeekStatus.OPEN
    }
    assert not any(is_match(id) for id in shop.parts.contest_lists.oldest(OPEN))


def test_seeks_are_audited_exported_and_listed_again_from_their_events(shop: SteppedInstallation) -> None:
    person = shop.parts.people.guest()
    id, table = post(shop, person.id, count=2), post(shop, "bob", FOUR)
    take(shop, id, "cyd")
    follow(shop)
    audited = Audit(shop.store, StoreClock(shop.client, lambda: shop.now), shop.parts.statements, shop.parts.people)
    assert not audited.do({RECOMPUTE: False}, [id, table]).findings
    with zipfile.ZipFile(io.BytesIO(make_archive(shop.parts, person))) as files:
        assert next(event["type"] for event in json.loads(files.read(f"contests/{id}.json"))) == "seek-posted"
    before = shop.parts.seeks.listed()
    keys = ContestKeys(shop.parts.prefix)
    shop.client.delete(*shop.client.keys(f"{keys.all}*"))
    assert shop.parts.seeks.listed() == []
    work = make_work(shop.parts, REBUILD)
    for stage in work.plan({}):
        for planned in stage:
            work.do({}, planned.content)
    assert shop.parts.seeks.listed() == before


def test_a_recorded_event_that_no_command_decides_is_found(shop: SteppedInstallation) -> None:
    id = post(shop, "ann")
    codec = CODECS[StreamKind.SEEK]
    loaded = shop.parts.seeks.contests.load(id)
    early = codec.draft_of(e.SeekExpired(at=shop.now), "clock")
    shop.store.append(id, loaded.head, [early], Request("forged", ""))
    (_, found) = audit_contest(id, shop.store.read(id))
    assert found.fault == "it is not what its command decides"


def test_the_author_of_a_seek_that_expires_is_told_once_and_nobody_else(shop: SteppedInstallation) -> None:
    person = shop.parts.people.sign_up("ann", "a secret of hers")
    id = post(shop, person.id, FOUR)
    execute(shop, id, c.TakeSeek("bob", "towers/four-player", FOUR.days, 1500), "bob")
    shop.now = state(shop, id).expires_at
    shop.heartbeat.beat(shop.now, shop.now)
    assert shop.parts.seeks.settle(id)
    follow(shop)
    drain(shop.contests())
    (notice,) = shop.ledger.page(person.id).notices
    assert (notice.kind, notice.match) == (NoticeKind.CONTEST, None)
    assert notice.summary.startswith("Your seek has expired")
    assert shop.ledger.page("bob").notices == []
