"""The sweeper: what was lost on the way is found and asked for again, ever less often."""

from functools import partial
from itertools import pairwise

import pytest

from domain.match.commands import OfferDraw
from events.matches.readmodels import summarise
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from workers.composition import make_opponents
from workers.reminders import DAY_MS
from workers.retries import DELAYS_MS
from workers.sweeper import MIN_PASS_MS, STREAMS_PER_SWEEP

FIRST_DELAY_MS = int(DELAYS_MS.first)


def test_an_opponent_that_has_kept_others_waiting_is_asked_again(shop: SteppedInstallation) -> None:
    waiting = shop.start("opponent-1", "alice")
    shop.start("alice", "opponent-1")
    shop.project_all()
    sweeper = shop.sweeper()
    assert sweeper.remind_opponents() == 0
    shop.now += FIRST_DELAY_MS + 1000
    assert sweeper.remind_opponents() == 1
    assert shop.answers == [waiting]


def test_a_draw_offer_that_an_opponent_has_not_answered_is_found(shop: SteppedInstallation) -> None:
    match = shop.start("alice", "opponent-1")
    shop.do(match, OfferDraw(player="alice"), "alice")
    shop.project_all()
    shop.now += FIRST_DELAY_MS + 1000
    shop.sweeper().remind_opponents()
    assert shop.answers == [match]


def test_reminders_grow_rarer_and_begin_anew_with_the_next_turn(shop: SteppedInstallation) -> None:
    match = shop.start("opponent-1", "opponent-2")
    shop.project_all()
    sweeper = shop.sweeper()
    start = shop.now
    asked = []
    while shop.now < start + 2 * DELAYS_MS.longest:
        shop.now += FIRST_DELAY_MS // 10
        if sweeper.remind_opponents():
            asked.append(shop.now - start)
    gaps = [later - earlier for earlier, later in pairwise(asked)]
    assert gaps == sorted(gaps)
    assert gaps[0] < 2 * FIRST_DELAY_MS
    assert len(asked) < 12
    make_opponents(shop.parts).answer(match)
    shop.project_all()
    shop.now += FIRST_DELAY_MS + 1000
    assert sweeper.remind_opponents() == 1


def test_a_result_that_is_not_in_the_ratings_is_asked_for_again(shop: SteppedInstallation) -> None:
    rated, lost = shop.win("alice", "bob"), shop.win("carol", "bob")
    shop.win("alice", "carol", rated=False)
    shop.project_all()
    shop.ratings.rate(rated)
    sweeper = shop.sweeper()
    assert sweeper.remind_ratings() == 0
    shop.now += FIRST_DELAY_MS + 1000
    assert sweeper.remind_ratings() == 1
    assert shop.rated == [lost]


def test_an_old_result_that_is_not_in_the_ratings_is_found_on_the_round(shop: SteppedInstallation) -> None:
    lost = shop.win("carol", "bob")
    shop.project_all()
    shop.now += 30 * 24 * 3_600_000
    sweeper = shop.sweeper()
    assert sweeper.remind_ratings() == 0
    assert sweeper.check_streams() == 1
    assert shop.rated == [lost]


def test_read_models_that_are_behind_their_streams_are_brought_up_to_date(shop: SteppedInstallation) -> None:
    matches = [shop.start("alice", "bob") for _ in range(3)]
    sweeper = shop.sweeper()
    assert sweeper.check_streams() == 3
    assert [shop.readmodels.summary(match) for match in matches] == [summarise(shop.state(match)) for match in matches]
    shop.play(matches[1], 2)
    assert sweeper.check_streams() == 0, "the next pass begins a minute later"
    shop.now += MIN_PASS_MS
    assert sweeper.check_streams() == 1
    assert shop.readmodels.summary(matches[1]) == summarise(shop.state(matches[1]))


def test_unsettled_ratings_are_settled_later(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    early, late = shop.win("alice", "bob"), shop.win("alice", "carol", shop.now + DAY_MS)
    shop.ratings.rate(late)
    sweeper = shop.sweeper()
    with monkeypatch.context() as patch:
        patch.setattr("events.matches.readmodels.ratings.MAX_ENTRIES_PER_STEP", 0)
        patch.setattr("events.matches.readmodels.ratings.Ratings.settle", lambda _: None)
        shop.ratings.rate(early)
    assert [sweeper.remind_unsettled() for _ in range(2)] == [1, 0], "less and less often"
    assert shop.tasks.settlements == 1
    shop.ratings.settle()
    shop.now += int(DELAYS_MS.longest)
    assert sweeper.remind_unsettled() == 0
    (_, last) = shop.readmodels.rating_history("alice", "bashni-2")
    assert (last.match, shop.readmodels.rating_change(late)["alice"]) == (late, (last.before, last.after))


def test_the_round_comes_to_every_match(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.sweeper.STREAMS_PER_SWEEP", 4)
    for _ in range(10):
        shop.start("alice", "bob")
    sweeper = shop.sweeper()
    assert [sweeper.check_streams() for _ in range(5)] == [4, 4, 2, 0, 0]
    assert STREAMS_PER_SWEEP > 4


def test_several_sweepers_divide_the_matches_and_one_of_them_does_the_rounds(shop: SteppedInstallation) -> None:
    matches = [shop.start("alice", "bob") for _ in range(12)]
    shares, rounds = {"first": frozenset({0, 1}), "second": frozenset({2, 3})}, list[str]()
    sweepers = {
        name: shop.sweeper(partial(shares.__getitem__, name), [partial(rounds.append, name)]) for name in shares
    }
    of_first = sum(shop.keys.shard_of(match) in (0, 1) for match in matches)
    assert 0 < of_first < len(matches)
    assert [sweeper.sweep() for sweeper in sweepers.values()] == [of_first, len(matches) - of_first]
    assert (rounds, len(shop.checkpoints_asked)) == (["first"], 1)
    shares |= {"first": frozenset(), "second": frozenset(range(4))}
    shop.play(next(match for match in matches if shop.keys.shard_of(match) < 2), 1)
    shop.now += MIN_PASS_MS
    found = [[sweeper.sweep() for sweeper in sweepers.values()] for _ in range(2)]
    assert [sum(of_sweeper) for of_sweeper in zip(*found, strict=True)] == [0, 1]
    assert rounds == ["first", "second", "second"]


@pytest.mark.parametrize("damage", [b"{}", None])
def test_a_damaged_checkpoint_keeps_nothing_else_undone(shop: SteppedInstallation, damage: bytes | None) -> None:
    day = shop.checkpoints.sign(shop.now).day
    days = f"{PREFIX}{{proof}}:log:checkpoints"
    shop.client.hdel(days, day) if damage is None else shop.client.hset(days, day, damage)
    rounds: list[int] = []
    assert shop.sweeper(rounds=[lambda: rounds.append(shop.now)]).sweep() == 0
    assert (shop.checkpoints_asked, rounds) == ([day], [shop.now])
    shop.now += DAY_MS
    assert shop.checkpoints.sign(shop.now).day > day
