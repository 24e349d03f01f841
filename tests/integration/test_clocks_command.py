"""``rookery clocks``: what it shows, what it confirms, and what it repairs after the store's own clock was wrong."""

import re
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from domain.match.due import Outage
from domain.match.enums import Status
from domain.match.terms import DAY, HOUR, days_per_move
from events.matches.outages import Heartbeat
from events.people.administration import Administration
from events.runtime.wall_clock import now_ms, rfc3339
from events.store.time import StoreClock
from tests.support.eventually import eventually
from tests.support.relays import running
from tests.support.stepped_installation import PREFIX, SteppedInstallation
from workers.relay import Relay

TEN_YEARS = 3653 * DAY


@pytest.fixture
def rookery(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("REDIS_URL", shop.settings.redis_url)
    monkeypatch.setenv("ROOKERY_PREFIX", PREFIX)
    return lambda *arguments: CliRunner().invoke(main, arguments)


@pytest.fixture
def wrong_year(shop: SteppedInstallation) -> list[str]:
    """Return matches whose server was in a wrong year for a moment, its store too: one was played in, one settled."""
    shop.now = now_ms() - HOUR
    shop.heartbeat.beat(shop.now, 0)
    matches = [shop.start("alice", "bob", terms=days_per_move(3)) for _ in range(2)]
    for match in matches:
        shop.play(match, 2)
    shop.now += TEN_YEARS
    shop.ticker().tick()
    shop.play(matches[0], 1)
    shop.now = now_ms()
    return matches


def test_a_wrong_year_is_told(shop: SteppedInstallation, wrong_year: list[str], rookery: Callable[..., Result]) -> None:
    verified, audited = rookery("verify"), rookery("audit", "all", "--processes", "1")
    assert (verified.exit_code, audited.exit_code) == (1, 1)
    assert f"DATED IN THE FUTURE {wrong_year[0]} at version" in verified.output
    assert "DATED IN THE FUTURE an outage" in verified.output
    assert (
        f"{wrong_year[0]} at version {shop.state(wrong_year[0]).version}: it is dated in the future" in audited.output
    )
    assert "ENDS IN THE FUTURE: rookery clocks repair" in rookery("clocks").output
    repaired = rookery("clocks", "repair")
    assert repaired.exit_code == 0, repaired.output
    assert "2 matches corrected." in repaired.output
    for match in wrong_year:
        state = shop.state(match)
        assert state.status == Status.PLAYING
        assert state.updated_at <= now_ms()
        assert state.clock is not None
        assert [pause for pause in state.clock.pauses if pause.until is None or pause.until > now_ms()] == []
    assert rookery("verify").exit_code == 0
    assert rookery("audit", "all", "--processes", "1").exit_code == 0
    assert "FUTURE" not in rookery("clocks").output


def test_a_repair_is_logged_and_made_once(
    shop: SteppedInstallation, wrong_year: list[str], rookery: Callable[..., Result]
) -> None:
    rookery("clocks", "repair")
    heads = [shop.store.head(match) for match in wrong_year]
    assert "0 matches corrected." in rookery("clocks", "repair").output
    assert [shop.store.head(match) for match in wrong_year] == heads
    log = Administration(shop.client, PREFIX, now_ms)
    acts = [(act.act, act.facts.get("match"), act.facts.get("digest")) for act in log.acts()]
    corrected = [("time-corrected", match, head.digest.hex()) for match, head in zip(wrong_year, heads, strict=True)]
    assert sorted(acts[1:], key=str) == sorted(corrected, key=str)
    assert acts[0][0] == "outage-corrected"


def test_a_future_heartbeat_is_set_back_by_the_next_beat(shop: SteppedInstallation, wrong_year: list[str]) -> None:
    assert wrong_year
    assert (shop.heartbeat.last_beat() or 0) > now_ms() + DAY
    heartbeat, now = Heartbeat(shop.client, PREFIX, StoreClock(shop.client, now_ms)), now_ms()
    before = heartbeat.outages()
    heartbeat.beat(now, now)
    assert heartbeat.last_beat() == now
    assert heartbeat.outages() == before


def test_who_keeps_time_and_whose_clock_is_wrong_is_shown(
    shop: SteppedInstallation, rookery: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Time has never been kept." in rookery("clocks").output
    monkeypatch.setattr("events.installation.now_ms", lambda: now_ms() - 110_000)
    with running(Relay(shop.settings)):
        eventually(shop.heartbeat.offsets, "the relay's word about its clock")
    shown = rookery("clocks").output
    assert "this process: its clock agrees with the store's" in shown
    assert re.search(r"relay \S+: its clock KEEPS NO TIME, is 11\d\.\d s behind the store's", shown)
    assert "No outages." in shown


def test_an_outage_is_confirmed_by_its_beginning(shop: SteppedInstallation, rookery: Callable[..., Result]) -> None:
    since, until = now_ms() - 3 * DAY, now_ms() - DAY
    shop.heartbeat.beat(since, 0)
    shop.heartbeat.beat(until, 0)
    assert shop.heartbeat.provisional() == [Outage(since, until)]
    shown = rookery("clocks")
    assert f"2 days, provisional: rookery clocks confirm {rfc3339(since)}" in shown.output
    assert rookery("clocks", "confirm", "2020-01-01T00:00:00.000Z").exit_code == 1
    assert rookery("clocks", "confirm", rfc3339(since)).exit_code == 0
    assert rookery("clocks", "confirm", rfc3339(since)).exit_code == 1
    assert (shop.heartbeat.provisional(), shop.heartbeat.outages()) == ([], [Outage(since, until)])
    assert [act.act for act in Administration(shop.client, PREFIX, now_ms).acts()] == ["outage-confirmed"]


def test_a_process_whose_clock_is_wrong_repairs_nothing(
    shop: SteppedInstallation, wrong_year: list[str], rookery: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [shop.store.head(match) for match in wrong_year]
    monkeypatch.setattr("events.store.time.StoreClock.offset_ms", lambda _: 110_000)
    refused = rookery("clocks", "repair")
    assert refused.exit_code == 1
    assert "110.0 s ahead of the store's" in refused.output
    assert [shop.store.head(match) for match in wrong_year] == before
