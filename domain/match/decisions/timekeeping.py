"""Time in a match, and the acts of players and the server about it: flags, forgiveness, gifts, pauses."""

from domain.games import find_ruleset
from domain.match import commands as c, events as e
from domain.match.clock import Pause, falls_at, forecast
from domain.match.enums import EndReason, Limit, PauseReason, Status
from domain.match.guards import active_seat, refuse_if_broken, refuse_if_ended, refuse_if_frozen, seat_of, seats_playing
from domain.match.refusals import CommandError
from domain.match.state import CLOCK, MatchState
from domain.match.terms import DAY, HOUR, MAX_OPEN_MS, duration

MAX_FORGIVING_MS = 72 * HOUR
MAX_GIFT_MS = 30 * DAY


def call_time(state: MatchState, command: c.CallTime, now: int) -> tuple[e.Event, ...]:
    """Return the consequence of time being up: a flag, a match cancelled, or, with CommandError, nothing."""
    claimant = None if command.player is None else seat_of(state, command.player)
    refuse_if_ended(state)
    if state.status == Status.OPEN:
        if command.player is not None or now < state.created_at + MAX_OPEN_MS:
            raise CommandError("match-not-started", "this match has not started: not all seats are taken")
        return (e.MatchAborted(at=now, player=CLOCK),)
    refuse_if_broken(state)
    if claimant is not None and claimant not in seats_playing(state):
        raise CommandError("no-longer-playing", "you are out of this game already")
    expected = forecast(state.clock)
    if expected is None:
        raise CommandError("time-not-up", "no clock runs in this match")
    instant = falls_at(state.clock) if claimant is None else expected.at
    if claimant == expected.seat:
        raise CommandError("time-not-up", "it is your own time that runs")
    if instant is None:
        raise CommandError("time-not-up", "the clock stands still, and nobody knows how long yet")
    if expected.at is None or now < instant:
        raise CommandError("time-not-up", f"there are {duration(instant - now)} left")
    fell = e.FlagFell(at=now, seat=expected.seat, deadline=expected.at, limit=expected.limit, claimed_by=claimant)
    if expected.limit == Limit.FIRST_MOVE:
        return (fell, e.MatchAborted(at=now, player=CLOCK))
    game = find_ruleset(state.game, state.ruleset)
    going_on = game.without_seat(state.play.position, expected.seat)
    if going_on is None:
        return (
            fell,
            e.MatchFinished(
                at=now, scores=game.scores_after_leaving(state.play.position, (expected.seat,)), reason=EndReason.FLAG
            ),
        )
    outcome = game.outcome(going_on, state.play.history)
    return (fell,) if outcome is None else (fell, e.MatchFinished(at=now, scores=outcome.scores, reason=outcome.reason))


def forgive_flag(state: MatchState, command: c.ForgiveFlag, now: int) -> tuple[e.Event, ...]:
    """Return the forgiveness of a flag by its winner, no more than 72 hours after it: the match goes on."""
    seat = seat_of(state, command.player)
    if state.status != Status.FINISHED or state.result.fallen is None or state.result.scores is None:
        raise CommandError("nothing-to-forgive", "this match was not ended by a flag")
    refuse_if_frozen(state)
    if seat == state.result.fallen.seat:
        raise CommandError("nothing-to-forgive", "the flag was your own: only who won by it can forgive it")
    if len(state.seats) > 2:
        raise CommandError(
            "nothing-to-forgive", "in a game of several seats the game has gone on without the one that left"
        )
    if now > state.result.fallen.at + MAX_FORGIVING_MS:
        raise CommandError("too-late-to-forgive", f"a flag can be forgiven for {duration(MAX_FORGIVING_MS)} only")
    return (e.FlagForgiven(at=now, seat=seat),)


def give_time(state: MatchState, command: c.GiveTime, now: int) -> tuple[e.Event, ...]:
    """Return a gift of time from one seat to another."""
    seat = active_seat(state, command.player, now)
    if not 0 <= command.seat < len(state.seats) or command.seat == seat:
        raise CommandError("invalid-seats", "time is given to another seat of the match", "seat")
    if command.seat in find_ruleset(state.game, state.ruleset).eliminated(state.play.position):
        raise CommandError("invalid-seats", "that seat has left the game", "seat")
    if not HOUR <= command.time <= MAX_GIFT_MS:
        raise CommandError("invalid-gift", f"give {duration(HOUR)} to {duration(MAX_GIFT_MS)} at a time", "seconds")
    if state.clock.remaining[command.seat] + command.time > state.clock.terms.cap + MAX_GIFT_MS:
        raise CommandError(
            "invalid-gift", f"that seat has {duration(MAX_GIFT_MS)} above the usual then: enough", "seconds"
        )
    return (e.TimeGiven(at=now, seat=seat, to=command.seat, time=command.time),)


def pause_clock(state: MatchState, command: c.PauseClock, now: int) -> tuple[e.Event, ...]:
    """Return a pause of clocks; nothing when they have it already, or the terms do not allow it."""
    seat = None if command.player is None else seat_of(state, command.player)
    if state.ended:
        return ()
    terms = state.clock.terms
    if (command.reason == PauseReason.VACATION and not terms.vacations) or (
        command.reason == PauseReason.WEEKEND and not terms.weekends
    ):
        return ()
    if command.until is not None and command.until <= command.since:
        return ()
    if Pause(reason=command.reason, seat=seat, since=command.since, until=command.until) in state.clock.pauses:
        return ()
    automatic = command.automatic or None
    return (
        e.ClockPaused(
            at=now, reason=command.reason, since=command.since, seat=seat, until=command.until, automatic=automatic
        ),
    )


def correct_time(state: MatchState, _: c.CorrectTime, now: int) -> tuple[e.Event, ...]:
    """Return the correction of time to ``now``; nothing where no event is dated after it."""
    return (e.TimeCorrected(at=now),) if now < state.updated_at else ()


def resume_clock(state: MatchState, command: c.ResumeClock, now: int) -> tuple[e.Event, ...]:
    """Return the end of the present and later pauses of clocks for a reason."""
    seat = None if command.player is None else seat_of(state, command.player)
    if state.ended:
        return ()
    held = [
        pause
        for pause in state.clock.pauses
        if (pause.reason, pause.seat) == (command.reason, seat) and (pause.until is None or pause.until > now)
    ]
    return (e.ClockResumed(at=now, reason=command.reason, seat=seat),) if held else ()
