"""Whatever happens to the clocks of a match: two computations agree, nothing costs time, and no match is endless."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, strategies as st

from domain.games import GAMES
from domain.match import clock as clocks
from domain.match.calendar import Calendar
from domain.match.clock import Clock, Pause, forecast
from domain.match.commands import (
    AcceptTakeback,
    CallTime,
    Command,
    ForgiveFlag,
    GiveTime,
    PauseClock,
    RequestTakeback,
    Resign,
    ResumeClock,
    SubmitMove,
)
from domain.match.enums import Control, FlagRule, PauseReason
from domain.match.evolve import replay
from domain.match.refusals import CommandError
from domain.match.terms import DAY, HOUR, MINUTE, Terms, check, days_per_move
from tests.simulation.reference_clock import ExpectedFlag, expected_flag
from tests.support.draws import draws
from tests.support.matches import PlayedMatch, started, started_by_four
from tests.support.zones import ZONES, calendar_of, instant, set_calendar

START = instant(2024, 3, 20)
STEP = 30 * MINUTE
CALENDARS = [calendar_of(zone, (), START - 30 * DAY, START + 400 * DAY) for zone in ZONES]

steps = st.integers(0, 20 * 48).map(lambda number: number * STEP)
free_days = st.sets(st.integers(0, 6), max_size=3).map(lambda days: tuple(sorted(days)))
calendars = st.builds(Calendar._replace, st.sampled_from(CALENDARS), free_days=free_days)


@st.composite
def all_terms(draw: st.DrawFn) -> Terms:
    switches = {name: draw(st.booleans()) for name in ("vacations", "weekends")}
    common: dict[str, Any] = switches | {
        "flag": draw(st.sampled_from([FlagRule.AUTOMATIC, FlagRule.CLAIM])),
        "ceiling": draw(st.none() | st.integers(1, 40).map(lambda number: number * 6 * HOUR)),
        "first_move": draw(st.integers(1, 80)) * 3 * HOUR, "takebacks": True, "lines": True,
    }  # fmt: skip
    if draw(st.booleans()):
        return days_per_move(draw(st.integers(1, 20)))._replace(**common)
    bank = draw(st.integers(1, 60)) * 6 * HOUR
    cap = bank + draw(st.integers(0, 40)) * 6 * HOUR
    return Terms(control=Control.BANK, bank=bank, increment=draw(st.integers(0, 8)) * 3 * HOUR, cap=cap, **common)


pauses = st.builds(
    lambda reason, seat, since, length: Pause(
        reason=reason, seat=seat, since=START + since, until=START + since + length
    ),
    st.sampled_from(PauseReason),
    st.sampled_from([None, 0, 1]),
    steps,
    steps.map(lambda length: length + STEP),
)


def running(terms: Terms) -> Clock:
    return clocks.start(clocks.new_clock(terms, 2), 0, START)


def flag(clock: Clock) -> int:
    expected = forecast(clock)
    assert expected is not None
    assert expected.at is not None
    return expected.at


def with_pauses(clock: Clock, held: list[Pause]) -> Clock:
    for pause in held:
        clock = clocks.pause(clock, pause)
    return clock


quickly = draws(80)


@given(terms=all_terms(), held=st.lists(pauses, max_size=5), calendar=calendars)
@quickly
def test_no_match_is_endless_and_paused_time_drops_no_flag(terms: Terms, held: list[Pause], calendar: Calendar) -> None:
    check(terms)
    clock = with_pauses(set_calendar(running(terms), 0, calendar, START), held)
    at = flag(clock)
    longest = min(terms.bank, terms.first_move, terms.ceiling or terms.bank)
    paused = sum((pause.until or 0) - pause.since for pause in held)
    assert START + longest <= at <= START + 2 * longest + paused + 10 * DAY
    assert not clocks.pauses_at(clock, 0, at)
    assert clocks.spent(clock, 0, START, at) == longest
    assert clocks.falls_at(clock) == at


@given(terms=all_terms(), held=st.lists(pauses, max_size=4), more=pauses, calendar=calendars)
@quickly
def test_a_pause_never_costs_time(terms: Terms, held: list[Pause], more: Pause, calendar: Calendar) -> None:
    clock = with_pauses(set_calendar(running(terms), 0, calendar, START), held)
    longer = clocks.pause(clock, more)
    assert flag(longer) >= flag(clock)
    for hours in (0, 5, 50, 500):
        assert clocks.left(longer, 0, START + hours * HOUR) >= clocks.left(clock, 0, START + hours * HOUR)


@given(terms=all_terms(), held=st.lists(pauses, max_size=4), more=st.integers(0, 30), calendar=calendars)
@quickly
def test_more_time_never_brings_the_flag_nearer(terms: Terms, held: list[Pause], more: int, calendar: Calendar) -> None:
    clock = with_pauses(set_calendar(running(terms), 0, calendar, START), held)
    assert flag(clocks.give(clock, 0, more * 6 * HOUR)) >= flag(clock)
    richer = terms._replace(bank=terms.bank + more * HOUR, cap=terms.cap + more * HOUR)
    assert flag(replace(clock, terms=richer, remaining=(richer.bank, richer.bank))) >= flag(clock)


@given(terms=all_terms(), held=st.lists(pauses, max_size=4), calendar=calendars, free=st.integers(0, 6))
@quickly
def test_free_days_never_bring_flags_nearer(terms: Terms, held: list[Pause], calendar: Calendar, free: int) -> None:
    clock = with_pauses(set_calendar(running(terms), 0, calendar, START), held)
    freer = calendar._replace(free_days=tuple(sorted({*calendar.free_days, free})))
    assert flag(set_calendar(clock, 0, freer, START)) >= flag(clock)


@given(terms=all_terms(), held=st.lists(pauses, max_size=4), calendar=calendars, instants=st.lists(steps, min_size=2))
@quickly
def test_time_left_never_grows(terms: Terms, held: list[Pause], calendar: Calendar, instants: list[int]) -> None:
    clock = with_pauses(set_calendar(running(terms), 0, calendar, START), held)
    lefts = [clocks.left(clock, 0, START + at) for at in sorted(instants)]
    assert lefts == sorted(lefts, reverse=True)
    assert all(0 <= each <= terms.bank for each in lefts)


@given(terms=all_terms(), pause=pauses, calendar=calendars, gaps=st.lists(steps, min_size=1, max_size=3), gift=steps)
@quickly
def test_a_pause_that_is_recorded_after_the_move_counts_as_if_it_had_been_recorded_before(
    terms: Terms, pause: Pause, calendar: Calendar, gaps: list[int], gift: int
) -> None:
    def played(*changes: Callable[[Clock], Clock]) -> Clock:
        clock = set_calendar(running(terms), 0, calendar, START)
        at = START
        for change in changes:
            clock = change(clock)
        for number, gap in enumerate(gaps):
            at += gap
            clock = clocks.move(clock, number % 2, (number + 1) % 2, at)
        return clocks.give(clock, 1, gift)

    last_of_seat_0 = len(gaps) < 3
    late, in_time = clocks.pause(played(), pause), played(lambda clock: clocks.pause(clock, pause))
    assert late.remaining[1] == in_time.remaining[1]
    if last_of_seat_0:
        assert late.remaining == in_time.remaining
        assert forecast(late) == forecast(in_time)


lengths = st.integers(1, 400).map(lambda number: number * STEP)


@st.composite
def commands(draw: st.DrawFn, match: PlayedMatch) -> Command:
    """Return something that somebody or the server may ask of ``match`` now; it may well be refused."""
    seats = [seat.player for seat in match.state.seats]
    player = draw(st.sampled_from(seats)) or ""
    kind = draw(st.integers(0, 13))
    if kind < 6:
        state, game = match.state, GAMES[match.state.game]
        moves = list(islice(game.legal_moves(state.play.position), 5))
        move = game.format_move(state.play.position, draw(st.sampled_from(moves))) if moves else "?"
        return SubmitMove(player=seats[game.to_move(state.play.position)] or "", move=move)
    if kind < 9:
        since = match.now + draw(st.integers(-200, 200)) * STEP
        whose = draw(st.sampled_from([None, player]))
        return PauseClock(
            reason=draw(st.sampled_from(PauseReason)), player=whose, since=since, until=since + draw(lengths)
        )
    if kind == 9:
        return ResumeClock(reason=draw(st.sampled_from(PauseReason)), player=draw(st.sampled_from([None, player])))
    if kind == 10:
        return GiveTime(player=player, seat=draw(st.integers(0, len(seats) - 1)), time=draw(lengths) + HOUR)
    if kind == 11:
        takebacks: list[Command] = [RequestTakeback(player=player), AcceptTakeback(player=player)]
        return draw(st.sampled_from(takebacks))
    if kind == 12:
        claims: list[Command] = [CallTime(), CallTime(player=player), ForgiveFlag(player=player)]
        return draw(st.sampled_from(claims))
    return Resign(player=player)


@pytest.mark.parametrize("four", [False, True])
@given(terms=all_terms(), draw=st.data())
@draws(40)
def test_two_computations_of_the_flag_agree_after_every_event(four: bool, terms: Terms, draw: st.DataObject) -> None:
    match = started_by_four(terms, "fourplay", "standard") if four else started(terms)
    for _ in range(draw.draw(st.integers(5, 25))):
        before = match.state
        command = draw.draw(commands(match))
        try:
            match.do(command, match.now + draw.draw(st.integers(0, 150)) * STEP)
        except CommandError:
            assert match.state == before
        state = match.state
        expected = forecast(state.clock) if state.clock is not None else None
        assert expected_flag(match.events) == (expected and ExpectedFlag(expected.seat, expected.at, expected.limit))
        if state.ended:
            assert state.clock is not None
            assert state.clock.seat is None
    assert replay("m", match.events) == match.state
