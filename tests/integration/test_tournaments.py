"""Tournaments on a real server: started by time, played in matches, recorded once in any order, and after any kill."""

from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest

from domain.contest.schedules import Form
from domain.contest.starting import Obstacle
from domain.contest.tournament import commands as c
from domain.contest.tournament.decide import draw_lots
from domain.contest.tournament.state import PairingStatus, TournamentState, TournamentStatus
from domain.contest.tournament.terms import EntryTerms, TournamentTerms
from domain.games import find_ruleset
from domain.match.commands import AbortMatch, CallTime, ForgiveFlag, RaiseDispute, Resign, Rule
from domain.match.enums import Ground, RulingKind, Status
from domain.match.refusals import CommandError
from domain.match.terms import DAY
from domain.match.vacation import booked
from events.contests import tournaments
from events.contests.audit import audit_contest
from events.contests.tournaments import WAITING
from events.matches.timekeeper import correct_matches
from events.operations.personal_data import forget
from events.people.blocks import BLOCK
from events.people.capacity import Capacity
from events.people.person import Person
from events.proof.tournaments import check_tournament
from events.runtime.errors import StoreUnavailableError
from events.store.contract import Request
from events.store.kinds import StreamKind, only_matches, stream_id
from tests.support.matches import T0
from tests.support.stepped_installation import SteppedInstallation, drain
from tests.support.tournaments import FOUR_SEATS, TWO_SEATS
from workers.fleet.rebuild import Rebuild

_KEYS = count(1)
PLAYERS = ("ann", "bob", "cyd", "dan", "eve")
DATES: dict[str, Any] = {"starts_at": T0 + DAY, "latest_end": T0 + 300 * DAY}


def announce(shop: SteppedInstallation, terms: TournamentTerms = TWO_SEATS, **more: Any) -> str:
    """Announce a tournament that starts a day later; return its id."""
    id = stream_id(StreamKind.TOURNAMENT, "olga", str(next(_KEYS)))
    execute(shop, id, c.AnnounceTournament(organiser="olga", terms=replace(terms, **{**DATES, **more})), "olga")
    return id


def execute(shop: SteppedInstallation, id: str, command: c.Command, actor: str) -> None:
    key = str(next(_KEYS))
    shop.parts.tournaments.contests.execute(id, command, actor, Request(key, key))


def enter(shop: SteppedInstallation, id: str, *players: str) -> None:
    for player in players:
        execute(shop, id, c.EnterTournament(player=player, facts=None), player)


def begin(shop: SteppedInstallation, *players: str, terms: TournamentTerms = TWO_SEATS, **more: Any) -> str:
    """Announce a tournament, let ``players`` enter, and let its time come; its first matches start."""
    id = announce(shop, terms, **more)
    enter(shop, id, *players)
    shop.now = max(shop.now, T0 + DAY)
    shop.heartbeat.beat(shop.now, shop.now)
    assert shop.parts.tournaments.settle(id)
    follow(shop)
    return id


def follow(shop: SteppedInstallation) -> None:
    """Let the relay do all that there is to do."""
    drain(shop.projections(), shop.contests())


def state(shop: SteppedInstallation, id: str) -> TournamentState:
    return shop.parts.tournaments.contests.load(id).state


def running(shop: SteppedInstallation, id: str) -> list[str]:
    now = state(shop, id)
    return [now.pairings[number - 1].match for number in now.numbers(PairingStatus.RUNNING)]


def lose_all_but(shop: SteppedInstallation, match: str, winner: int) -> None:
    """Let all seats of a match but one resign, as far as it goes on."""
    for seat, each in enumerate(shop.state(match).seats):
        now = shop.state(match)
        gone = find_ruleset(now.game, now.ruleset).eliminated(now.play.position)
        if seat != winner and seat not in gone and now.status == Status.PLAYING:
            shop.do(match, Resign(player=each.player))


def finish(shop: SteppedInstallation, id: str) -> None:
    """Let the first seat win match after match, until nothing is left to play."""
    while matches := running(shop, id):
        for match in matches:
            lose_all_but(shop, match, 0)
        follow(shop)


def listed(shop: SteppedInstallation, name: str) -> list[str]:
    return list(shop.parts.contest_lists.page(name).items)


@pytest.mark.parametrize("terms", [TWO_SEATS, FOUR_SEATS])
def test_a_tournament_starts_by_time_is_played_in_matches_and_ends_with_its_table(
    shop: SteppedInstallation, terms: TournamentTerms
) -> None:
    id = announce(shop, terms)
    enter(shop, id, *PLAYERS)
    follow(shop)
    assert listed(shop, "tournaments:entries") == [id]
    assert shop.ticker().tick() <= T0 + DAY
    assert state(shop, id).status == TournamentStatus.ENTRIES
    shop.now = T0 + DAY
    shop.heartbeat.beat(shop.now, shop.now)
    shop.ticker().tick()
    follow(shop)
    assert listed(shop, "tournaments:running") == listed(shop, "of:ann") == [id]
    match = shop.state(running(shop, id)[0])
    assert match.status == Status.PLAYING
    assert (match.occasion.id, match.rated, match.terms) == (id, True, terms.clock)
    finish(shop, id)
    assert state(shop, id).status == TournamentStatus.ENDED
    assert listed(shop, "tournaments:ended") == [id]
    assert listed(shop, "tournaments:running") == []
    events = shop.parts.tournaments.contests.events(id)
    check_tournament(id, events)
    assert [audited.fault for audited in audit_contest(id, events)] == [None] * len(events)
    started = next(place for place, event in enumerate(events) if event.type == "tournament-started")
    drawn = events[started].data["players"]
    seed = next(seed for seed in map(str, range(99)) if list(draw_lots(seed, drawn)) != drawn)
    other = events[started]._replace(data={**events[started].data, "seed": seed})
    *_, last = audit_contest(id, [*events[:started], other, *events[started + 1 :]])
    assert (last.envelope.version, last.fault) == (started + 1, "it is not what its command decides")


def test_the_lists_of_tournaments_are_rebuilt_from_their_events(shop: SteppedInstallation) -> None:
    id = begin(shop, *PLAYERS)
    before = listed(shop, "tournaments:running"), shop.parts.contest_lists.contents([id])
    for key in shop.client.scan_iter("*{contests}*"):
        shop.client.delete(key)
    assert listed(shop, "tournaments:running") == []
    parts = shop.parts
    rebuild = Rebuild(parts.store, parts.readmodels, parts.ratings, parts.archiver, parts.tournaments.refresh)
    for stage in rebuild.plan({}):
        for planned in stage:
            rebuild.do({}, planned.content)
    assert (listed(shop, "tournaments:running"), shop.parts.contest_lists.contents([id])) == before


def test_nobody_plays_more_at_once_than_the_terms_say_and_the_rest_starts_as_matches_end(
    shop: SteppedInstallation,
) -> None:
    id = begin(shop, *PLAYERS, at_once=2)
    assert len(running(shop, id)) == 5
    assert listed(shop, WAITING) == [id]
    lose_all_but(shop, running(shop, id)[0], 0)
    follow(shop)
    waiting = shop.parts.tournaments.next_matches(state(shop, id)).waiting
    assert {each.obstacle for each in waiting} == {Obstacle.AT_ONCE}
    finish(shop, id)
    assert listed(shop, WAITING) == []


def test_a_match_of_somebody_on_vacation_starts_when_the_vacation_is_over(shop: SteppedInstallation) -> None:
    def go(until: int) -> None:
        shop.availability.change("ann", lambda own: own._replace(book=booked(own.book, shop.now, until, shop.now)))

    id = announce(shop)
    enter(shop, id, *PLAYERS)
    shop.now = T0 + DAY
    go(shop.now + 5 * DAY)
    shop.parts.tournaments.settle(id)
    follow(shop)
    ann = state(shop, id).entrant_of("ann")
    waiting = shop.parts.tournaments.next_matches(state(shop, id)).waiting
    assert {(each.obstacle, each.entrants) for each in waiting} >= {(Obstacle.NO_ROOM, (ann,))}
    assert all(ann not in state(shop, id).pairings[number - 1].entrants for number in started_numbers(shop, id))
    shop.now += 6 * DAY
    shop.parts.tournaments.start_waiting()
    follow(shop)
    assert any(ann in state(shop, id).pairings[number - 1].entrants for number in started_numbers(shop, id))


def started_numbers(shop: SteppedInstallation, id: str) -> tuple[int, ...]:
    return state(shop, id).numbers(PairingStatus.RUNNING)


def test_two_who_block_each_other_are_not_placed_together_and_one_of_them_cannot_enter(
    shop: SteppedInstallation,
) -> None:
    id = announce(shop)
    enter(shop, id, "ann")
    shop.parts.blocks.put("ann", "bob", BLOCK)
    bob = person(shop, "bob")
    facts = shop.parts.tournaments.entry_facts(bob, state(shop, id))
    with pytest.raises(CommandError, match="cannot be placed at one table"):
        execute(shop, id, c.EnterTournament(player="bob", facts=facts), "bob")
    enter(shop, id, *PLAYERS[1:])
    shop.now = T0 + DAY
    shop.parts.tournaments.settle(id)
    follow(shop)
    finish(shop, id)
    (apart,) = shop.parts.tournaments.next_matches(state(shop, id)).waiting
    assert (apart.obstacle, apart.entrants) == (Obstacle.APART, ())
    shop.now = DATES["latest_end"]
    assert shop.parts.tournaments.settle(id)
    assert state(shop, id).status == TournamentStatus.ENDED


def test_an_annulment_takes_a_result_back_even_after_the_end_and_deliveries_may_come_in_any_order(
    shop: SteppedInstallation,
) -> None:
    id = begin(shop, *PLAYERS)
    finish(shop, id)
    before = state(shop, id)
    match = before.pairings[0].match
    old, old_head = shop.matches.load(match)[:2]
    annul(shop, match)
    follow(shop)
    after = state(shop, id)
    assert after.pairings[0].status == PairingStatus.VOID
    assert after.table != before.table
    shop.parts.tournaments.record(old.occasion, old, old_head)
    assert state(shop, id) == after


def test_who_calls_a_match_off_or_makes_no_first_move_loses_it(shop: SteppedInstallation) -> None:
    id = begin(shop, *PLAYERS)
    first, second, *_ = running(shop, id)
    caller = shop.state(first).seats[1].player
    shop.do(first, AbortMatch(player=caller))
    shop.settle_until_flag(second)
    shop.do(second, CallTime())
    follow(shop)
    by_match = {pairing.match: pairing for pairing in state(shop, id).pairings}
    assert by_match[first].scores == (1.0, 0.0)
    assert by_match[second].scores == (0.0, 1.0)
    assert by_match[second].flags == (0,)


def test_a_participant_who_is_erased_leaves_and_who_waits_takes_the_place(shop: SteppedInstallation) -> None:
    id = begin(shop, *PLAYERS, "fay", most=5, at_once=1)
    forget(shop.parts, "ann")
    forget(shop.parts, "ann")
    follow(shop)
    now = state(shop, id)
    assert now.entrant_of("ann") is None
    assert now.entrant_of("fay") is not None
    finish(shop, id)
    assert state(shop, id).status == TournamentStatus.ENDED
    assert shop.parts.tournaments.barred_until("ann") > shop.now


def test_a_forgiven_flag_lets_the_match_of_a_pairing_go_on(shop: SteppedInstallation) -> None:
    id = begin(shop, *PLAYERS)
    match, *_ = running(shop, id)
    shop.play(match, 2)
    shop.settle_until_flag(match)
    shop.do(match, CallTime())
    follow(shop)
    (fallen,) = state(shop, id).numbers(PairingStatus.FINISHED)
    assert state(shop, id).pairings[fallen - 1].flags == (0,)
    shop.do(match, ForgiveFlag(player=shop.state(match).seats[1].player))
    follow(shop)
    assert match in running(shop, id)
    assert state(shop, id).records() == []
    lose_all_but(shop, match, 0)
    follow(shop)
    pairing = state(shop, id).pairings[fallen - 1]
    assert (pairing.status, pairing.scores, pairing.flags) == (PairingStatus.FINISHED, (1.0, 0.0), ())


def test_clocks_that_are_repaired_leave_a_tournament_that_goes_on_and_starts_nothing_twice(
    shop: SteppedInstallation,
) -> None:
    id = begin(shop, *PLAYERS, at_once=1)
    right, started = shop.now, running(shop, id)
    shop.now += 5 * DAY  # a wrong clock
    shop.play(started[0], 1)
    enter(shop, id, "gus")
    follow(shop)
    shop.now = right + DAY
    corrected = {each.match for each in correct_matches(shop.store, shop.matches, shop.timekeeper, lambda: shop.now)}
    assert started[0] in corrected
    follow(shop)
    assert running(shop, id) == started
    finish(shop, id)
    assert state(shop, id).status == TournamentStatus.ENDED
    events = shop.parts.tournaments.contests.events(id)
    assert [audited.fault for audited in audit_contest(id, events)] == [None] * len(events)
    assert len(list(only_matches(shop.store.all_streams()))) == len(state(shop, id).pairings)


def test_a_tournament_whose_organiser_is_erased_is_played_to_its_end(shop: SteppedInstallation) -> None:
    person(shop, "olga")
    id = announce(shop)
    enter(shop, id, "olga", *PLAYERS)
    follow(shop)
    forget(shop.parts, "olga")
    assert state(shop, id).entries == PLAYERS
    shop.now = T0 + DAY
    shop.parts.tournaments.settle(id)
    follow(shop)
    finish(shop, id)
    assert state(shop, id).status == TournamentStatus.ENDED


def test_a_series_announces_its_next_tournament_once_while_its_organiser_has_an_account(
    shop: SteppedInstallation,
) -> None:
    person(shop, "olga")
    id = begin(shop, *PLAYERS, repeat_weeks=4)
    for _ in range(2):
        shop.parts.tournaments.follow(id)
    (following,) = listed(shop, "tournaments:entries")
    second = state(shop, following)
    assert (second.series, second.starts_at) == (id, T0 + 29 * DAY)
    enter(shop, following, *PLAYERS)
    forget(shop.parts, "olga")
    shop.now = second.starts_at
    shop.parts.tournaments.settle(following)
    follow(shop)
    assert state(shop, following).status == TournamentStatus.RUNNING
    assert listed(shop, "tournaments:entries") == []
    events = shop.parts.tournaments.contests.events(following)
    assert [audited.fault for audited in audit_contest(following, events)] == [None] * len(events)


def test_a_bot_enters_where_the_terms_allow_it_and_plays_within_its_capacity(shop: SteppedInstallation) -> None:
    bot = shop.parts.bots.declare(person(shop, "robo"), Capacity(games=("bashni",), concurrent=1))
    id = announce(shop, entry=EntryTerms(bots=True), at_once=4)
    facts = shop.parts.tournaments.entry_facts(bot, state(shop, id))
    execute(shop, id, c.EnterTournament(player=bot.id, facts=facts), bot.id)
    enter(shop, id, *PLAYERS[:4])
    shop.now = T0 + DAY
    shop.parts.tournaments.settle(id)
    follow(shop)
    plays = [match for match in running(shop, id) if shop.state(match).seat_of(bot.id) is not None]
    assert len(plays) == 1
    finish(shop, id)
    assert state(shop, id).status == TournamentStatus.ENDED


def person(shop: SteppedInstallation, name: str) -> Person:
    found = Person(name, name, "person", 0)
    shop.parts.people.enrol(found, "")
    return found


def annul(shop: SteppedInstallation, match: str) -> None:
    """Let an arbiter take the result of a match away."""
    loser = shop.state(match).seats[1].player
    shop.do(match, RaiseDispute(player=loser, ply=0, ground=Ground.WRONG_RESULT, statement="0" * 64))
    shop.do(match, Rule(arbiter="judge", ruling=RulingKind.ANNUL, reason="0" * 64, rule="0" * 64))


class Kills:
    """Kills the running step at one write of the store in ``period``, before the write or after it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0

    def strike(self) -> None:
        if self.random.random() < 0.1:
            self.count += 1
            raise StoreUnavailableError("killed")


def kill_at_random(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, seed: int) -> Kills:
    """Let writes of contests, matches and read models fail at random, before or after they are done."""
    kills = Kills(Random(seed))
    for owner, name in ((shop.store, "append"), (shop.parts.contest_lists, "update")):
        plain = getattr(owner, name)

        def write(*arguments: Any, _plain: Any = plain, **options: Any) -> Any:
            kills.strike()
            written = _plain(*arguments, **options)
            kills.strike()
            return written

        monkeypatch.setattr(owner, name, write)
    return kills


def after_kills(work: Any) -> None:
    """Do ``work`` again and again until it is not killed."""
    for _ in range(2000):
        try:
            work()
        except StoreUnavailableError:
            continue
        return
    raise AssertionError("it was killed every time")


@pytest.mark.parametrize(("terms", "seed"), [(TWO_SEATS, 1), (FOUR_SEATS, 2)])
def test_whatever_is_killed_nothing_starts_twice_and_the_table_is_that_of_an_undisturbed_tournament(
    shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch, terms: TournamentTerms, seed: int
) -> None:
    players = [f"p{number}" for number in range(40)]
    wide = replace(terms, form=Form.SHIFTED, least=5, most=40, at_once=4)
    monkeypatch.setattr(tournaments, "fresh_seed", lambda: "the same lots")
    undisturbed = play(shop, announce(shop, wide), players)
    shop.now = T0
    kills = kill_at_random(shop, monkeypatch, seed)
    disturbed = play(shop, announce_after_kills(shop, wide), players)
    assert kills.count > 30
    assert table(disturbed) == table(undisturbed)
    assert len(list(only_matches(shop.store.all_streams()))) == 2 * len(disturbed.pairings)
    check_tournament(disturbed.id, shop.parts.tournaments.contests.events(disturbed.id))


def announce_after_kills(shop: SteppedInstallation, terms: TournamentTerms) -> str:
    ids: list[str] = []
    after_kills(lambda: ids.append(announce(shop, terms)))
    return ids[-1]


def play(shop: SteppedInstallation, id: str, players: list[str]) -> TournamentState:
    """Let everybody enter, and the player with the lower number win each match; return the tournament at its end."""
    for player in players:
        after_kills(lambda player=player: enter(shop, id, player))
    shop.now = T0 + DAY
    after_kills(lambda: shop.parts.tournaments.settle(id))
    after_kills(lambda: follow(shop))
    while matches := running(shop, id):
        for match in matches:
            best = min(shop.state(match).seats, key=lambda seat: int(seat.player[1:])).player
            after_kills(lambda match=match, best=best: lose_all_but(shop, match, shop.state(match).seat_of(best)))
        after_kills(lambda: follow(shop))
    now = state(shop, id)
    assert now.status == TournamentStatus.ENDED
    return now


def table(tournament: TournamentState) -> dict[str, int]:
    return {line.player: line.points for line in tournament.table}
