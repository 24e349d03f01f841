"""One contract for the heartbeat of an installation, in memory and on a real server."""

import pytest

from domain.match.due import MAX_BEAT_GAP_MS, Outage
from events.matches.outages import Heartbeat
from tests.support.matches import T0
from tests.support.memory_heartbeat import MemoryHeartbeat
from tests.support.server import RealServer

HOUR = 3_600_000


@pytest.fixture(params=["memory", "redis"])
def heartbeat(request: pytest.FixtureRequest) -> Heartbeat:
    if request.param == "memory":
        return MemoryHeartbeat()
    server: RealServer = request.getfixturevalue("server")
    return Heartbeat(server.client(), "rk:")


def test_the_first_beat_ends_no_outage(heartbeat: Heartbeat) -> None:
    assert heartbeat.last_beat() is None
    assert heartbeat.beat(T0, 0) == []
    assert heartbeat.last_beat() == T0
    assert heartbeat.uncredited() == []


def test_a_gap_is_an_outage_only_when_it_is_longer_than_two_minutes(heartbeat: Heartbeat) -> None:
    heartbeat.beat(T0, 0)
    assert heartbeat.beat(T0 + MAX_BEAT_GAP_MS, 0) == []
    late = T0 + 2 * MAX_BEAT_GAP_MS + 1
    assert heartbeat.beat(late, 0) == [Outage(T0 + MAX_BEAT_GAP_MS, late)]


def test_an_outage_is_recorded_once_however_many_processes_beat_after_it(heartbeat: Heartbeat) -> None:
    heartbeat.beat(T0, 0)
    outage = Outage(T0, T0 + HOUR)
    assert heartbeat.beat(T0 + HOUR, 0) == [outage]
    assert heartbeat.beat(T0 + HOUR, 0) == [outage]
    assert heartbeat.beat(T0 + HOUR + 1000, 0) == [outage]
    assert heartbeat.uncredited() == [outage]


def test_outages_that_ended_before_do_not_matter(heartbeat: Heartbeat) -> None:
    heartbeat.beat(T0, 0)
    heartbeat.beat(T0 + HOUR, 0)
    heartbeat.beat(T0 + 3 * HOUR, 0)
    assert heartbeat.beat(T0 + 3 * HOUR, T0 + HOUR) == [Outage(T0 + HOUR, T0 + 3 * HOUR)]
    assert heartbeat.beat(T0 + 3 * HOUR, T0 + 3 * HOUR) == []


def test_a_clock_that_is_behind_changes_nothing(heartbeat: Heartbeat) -> None:
    heartbeat.beat(T0, 0)
    heartbeat.beat(T0 - HOUR, 0)
    assert heartbeat.last_beat() == T0
    assert heartbeat.beat(T0 + 1000, 0) == []


def test_an_outage_waits_until_all_matches_know_of_it(heartbeat: Heartbeat) -> None:
    heartbeat.beat(T0, 0)
    heartbeat.beat(T0 + HOUR, 0)
    heartbeat.beat(T0 + 3 * HOUR, 0)
    first, second = heartbeat.uncredited()
    heartbeat.mark_credited(first)
    heartbeat.mark_credited(first)
    assert heartbeat.uncredited() == [second]
    assert heartbeat.beat(T0 + 3 * HOUR, 0) == [first, second]
