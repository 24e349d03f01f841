"""How relays divide the shards."""

from collections import Counter

import pytest

from events.runtime.liveness import MAX_REPORT_AGE_MS, MAX_SILENCE_S, RelayReport, working_relays
from workers.shares import Shares, divide, has_shard

RELAYS = ("ash-1", "birch-2", "cedar-3", "oak-4")


@pytest.mark.parametrize("shards", [1, 3, 16, 64])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_shard_has_one_relay_and_all_relays_have_as_many(shards: int, count: int) -> None:
    owners = divide(RELAYS[:count], shards)
    sizes = Counter(dict.fromkeys(RELAYS[:count], 0)) + Counter(owners.values())
    assert sorted(owners) == list(range(shards))
    assert max(sizes.values()) - min(sizes[relay] for relay in RELAYS[:count]) <= 1


def test_the_division_follows_from_the_names_alone() -> None:
    assert divide(RELAYS, 64) == divide(RELAYS, 64)
    assert [divide(("a", "b"), 4)[shard] for shard in range(4)] == ["b", "a", "a", "b"]


def test_few_shards_change_hands_when_a_relay_comes_or_goes() -> None:
    before, after = divide(RELAYS, 64), divide(RELAYS[1:], 64)
    kept = sum(before[shard] == after[shard] for shard in range(64))
    assert kept >= 64 * 3 / 4 * 0.75, "of those of the three that stay"


def test_without_a_relay_there_is_no_owner() -> None:
    assert divide((), 4) == {}


def test_a_relay_that_is_silent_or_hangs_has_no_share() -> None:
    reports = [
        RelayReport("lives", 0, {"ticker": MAX_SILENCE_S - 1}),
        RelayReport("dead", MAX_REPORT_AGE_MS, {"ticker": 0.0}),
        RelayReport("hangs", 0, {"ticker": 0.0, "projections": MAX_SILENCE_S}),
    ]
    assert working_relays(reports) == ["lives"]
    assert working_relays(reports[1:]) == ["hangs"], "better than none"


class Clock:
    """Seconds that a test sets; relays report to it and learn of each other."""

    def __init__(self) -> None:
        self.now = 0.0
        self.reports: dict[str, float] = {}

    def __call__(self) -> float:
        return self.now

    def report(self, relay: str, silences_s: dict[str, float]) -> list[RelayReport]:
        self.reports[relay] = self.now
        return [RelayReport(name, int(1000 * (self.now - at)), {}) for name, at in self.reports.items()]

    def leave(self, relay: str) -> None:
        del self.reports[relay]


def shares(clock: Clock, name: str) -> Shares:
    """Return the share of a relay that reports to ``clock``."""
    return Shares(clock, name, 8)  # type: ignore[arg-type]


def test_a_relay_takes_over_what_another_one_had_when_that_reports_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("workers.shares.monotonic", clock)
    one, two = shares(clock, "one"), shares(clock, "two")
    assert [one.renew({}), two.renew({}), one.renew({})] == [False, False, False]
    assert (len(one.own()), one.own() | two.own(), one.own() & two.own()) == (4, frozenset(range(8)), frozenset())
    clock.now += MAX_REPORT_AGE_MS / 1000
    assert one.renew({}), "what the other one held may be claimed"
    assert (one.own(), two.own()) == (frozenset(range(8)), frozenset())
    assert not one.renew({}), "once"


def test_a_relay_that_gives_its_share_up_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("workers.shares.monotonic", clock)
    one, two = shares(clock, "one"), shares(clock, "two")
    two.renew({})
    one.renew({})
    two.leave()
    one.renew({})
    assert (len(one.own()), two.own()) == (8, frozenset())


def test_a_part_without_a_share_of_its_own_looks_after_all_shards() -> None:
    assert has_shard(lambda: None, 3)
    assert not has_shard(lambda: frozenset({2}), 3)
