"""The commands behind recorded events: the wish of the actor, derived from the event."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from domain.match import commands as c, events as e
from domain.match.enums import PauseReason, RulingKind
from domain.match.state import CLOCK, CONSOLE, MatchState
from domain.match.terms import MINUTE

MAX_OUTAGE_AHEAD_MS = 2 * MINUTE
"""By how much an outage may end after the event that records it: another clock has noticed its end."""


class UnauthorizedError(Exception):
    """An event that its actor cannot have brought about; the message says why."""


def creation_of(match: str, event: e.MatchCreated, actor: str) -> c.CreateMatch:
    """Return the command by which ``actor`` creates ``match`` as ``event`` records it."""
    return c.CreateMatch(
        match=match,
        creator=actor,
        game=event.game,
        setup=event.setup,
        seats=event.seats,
        rated=event.rated,
        private=event.private,
        seed=event.seed,
        ruleset=event.ruleset,
        terms=event.terms,
        rematch_of=event.rematch_of,
        occasion=event.occasion,
    )


def command_of(before: MatchState, event: e.Event, actor: str, following: e.Event | None) -> c.Command | None:
    """Return the command by which ``actor`` brings ``event`` about; None when it only ever follows from another one.

    Raises UnauthorizedError where the event itself says that ``actor`` cannot have done it.
    """
    if isinstance(event, FOLLOWING):
        return None
    return _COMMANDS[type(event)](before, event, actor, following)


FOLLOWING = (
    e.MatchCreated,
    e.MatchStarted,
    e.MatchFinished,
    e.MovesTakenBack,
    e.SeedDrawn,
    e.ClocksAdjusted,
    e.MatchAnnulled,
    e.MatchRestored,
    e.RulesetChanged,
)
"""Events that follow from others, and the creation of a match."""


def _alike(_: MatchState, event: e.Event, actor: str, __: e.Event | None) -> c.Command:
    command = c.COMMANDS_BEHIND[type(event)]
    person, *others = (field.name for field in fields(command))
    given: dict[str, Any] = {name: getattr(event, name) for name in others if hasattr(event, name)}
    given[person] = actor
    return command(**given)


def _submit_move(_: MatchState, event: e.MoveSubmitted, actor: str, following: e.Event | None) -> c.SubmitMove:
    return c.SubmitMove(
        player=actor,
        move=event.move,
        level=event.level,
        seed=event.seed,
        engine=event.engine,
        nodes=event.nodes,
        channel=event.channel,
        offer_draw=isinstance(following, e.DrawOffered) and (following.seat, following.at) == (event.seat, event.at),
        signed=event.signed,
    )


def _give_time(_: MatchState, event: e.TimeGiven, actor: str, __: e.Event | None) -> c.GiveTime:
    return c.GiveTime(player=actor, seat=event.to, time=event.time)


def _abort_match(_: MatchState, __: e.MatchAborted, actor: str, ___: e.Event | None) -> c.CallTime | c.AbortMatch:
    return c.CallTime() if actor == CLOCK else c.AbortMatch(player=actor)


def _call_time(_: MatchState, event: e.FlagFell, actor: str, __: e.Event | None) -> c.CallTime:
    if event.claimed_by is None:
        refuse_unless(CLOCK, actor)
        return c.CallTime()
    return c.CallTime(player=actor)


def _correct_time(_: MatchState, __: e.TimeCorrected, actor: str, ___: e.Event | None) -> c.CorrectTime:
    refuse_unless(CONSOLE, actor)
    return c.CorrectTime()


def _open_case(_: MatchState, event: e.DisputeRaised, actor: str, __: e.Event | None) -> c.RaiseDispute | c.OpenCase:
    if event.arbiter is None:
        return c.RaiseDispute(player=actor, ply=event.ply, ground=event.ground, statement=event.statement)
    return c.OpenCase(arbiter=actor, ply=event.ply, ground=event.ground, statement=event.statement)


def _freeze(_: MatchState, event: e.MatchFrozen | e.MatchUnfrozen, actor: str, __: e.Event | None) -> c.Freeze:
    return c.Freeze(arbiter=actor, frozen=isinstance(event, e.MatchFrozen))


_OWN_PAUSES = (PauseReason.VACATION, PauseReason.WEEKEND)
"""Reasons for which the clock of a single player stands still, from the player's availability."""


def _pause(before: MatchState, event: e.ClockPaused, actor: str, _: e.Event | None) -> c.PauseClock:
    player = None if event.seat is None else before.seats[event.seat].player
    if event.seat is not None and before.seats[event.seat].level is not None:
        raise UnauthorizedError(f"{player} is an opponent, which has no vacations and free days")
    if event.reason == PauseReason.OUTAGE or event.automatic:
        refuse_unless(CLOCK, actor)
    if event.reason == PauseReason.OUTAGE:
        if event.seat is not None or event.until is None or event.until > event.at + MAX_OUTAGE_AHEAD_MS:
            raise UnauthorizedError("an outage is recorded for all seats, and when it is over")
    elif event.reason not in _OWN_PAUSES or player is None:
        raise UnauthorizedError(f"a clock is never stopped for {str(event.reason)!r} in this way")
    elif not event.automatic and actor != player:
        raise UnauthorizedError(f"{actor} stops the clock of {player}")
    return c.PauseClock(
        reason=event.reason, player=player, since=event.since, until=event.until, automatic=bool(event.automatic)
    )


def _return(_: MatchState, event: e.ClockResumed, actor: str, __: e.Event | None) -> c.ResumeClock:
    if (event.reason, event.seat) == (PauseReason.OUTAGE, None):
        refuse_unless(CONSOLE, actor)
        return c.ResumeClock(reason=event.reason, player=None)
    if event.reason not in _OWN_PAUSES or event.seat is None:
        raise UnauthorizedError(f"a pause for {str(event.reason)!r} never ends in this way")
    return c.ResumeClock(reason=event.reason, player=actor)


def _ruling(_: MatchState, event: e.RulingMade, actor: str, following: e.Event | None) -> c.Rule:
    return c.Rule(
        arbiter=actor,
        ruling=event.ruling,
        reason=event.reason,
        rule=event.rule,
        ply=following.ply if isinstance(following, e.MovesTakenBack) else None,
        scores=following.scores
        if event.ruling == RulingKind.DECIDE and isinstance(following, e.MatchFinished)
        else None,
        remaining=following.remaining if isinstance(following, e.ClocksAdjusted) else None,
        sole_arbiter=bool(event.sole_arbiter),
    )


_COMMANDS: Mapping[type[e.Event], Callable[[MatchState, Any, str, e.Event | None], c.Command]] = {
    **dict.fromkeys(c.COMMANDS_BEHIND, _alike),
    e.MoveSubmitted: _submit_move,
    e.TimeGiven: _give_time,
    e.MatchAborted: _abort_match,
    e.FlagFell: _call_time,
    e.ClockPaused: _pause,
    e.ClockResumed: _return,
    e.TimeCorrected: _correct_time,
    e.DisputeRaised: _open_case,
    e.MatchFrozen: _freeze,
    e.MatchUnfrozen: _freeze,
    e.RulingMade: _ruling,
}

BY_ONE_SEAT = (
    e.MoveSubmitted,
    e.TimeGiven,
    *(made for made, command in c.COMMANDS_BEHIND.items() if fields(command)[0].name == "player"),
)
"""The types of events in whose ``seat`` the player sits who brings them about."""


def refuse_unless(allowed: str, actor: str) -> None:
    """Raise UnauthorizedError unless ``actor`` is ``allowed``."""
    if actor != allowed:
        raise UnauthorizedError(f"only the {allowed} does this, and {actor} is recorded as its actor")
