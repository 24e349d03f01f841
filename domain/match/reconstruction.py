"""The commands behind recorded events: what the actor must have asked for, derived from the event."""

from collections.abc import Callable, Mapping
from typing import Any

from domain.match import clock as clocks
from domain.match import commands as c
from domain.match import events as e
from domain.match.disputes import DECIDE
from domain.match.state import CLOCK, CONSOLE, MatchState
from domain.match.terms import MINUTE, STANDARD

MAX_OUTAGE_AHEAD_MS = 2 * MINUTE
"""By how much an outage may end after the event that records it: another clock has noticed its end."""


class Unauthorized(Exception):
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
        terms=event.terms or STANDARD,
        rematch_of=event.rematch_of,
    )


def command_of(before: MatchState, event: Any, actor: str, following: e.Event | None) -> c.Command | None:
    """Return the command by which ``actor`` brings ``event`` about; None when it only ever follows from another one.

    Raises Unauthorized where the event itself says that ``actor`` cannot have done it.
    """
    if type(event) in SAID:
        made, fields = SAID[type(event)]
        command: c.Command = made(actor, *(getattr(event, field) for field in fields))
        return command
    match event:
        case e.MoveSubmitted():
            offers = isinstance(following, e.DrawOffered) and (following.seat, following.at) == (event.seat, event.at)
            return c.SubmitMove(actor, event.move, event.level, event.seed, event.engine, event.channel, offers)
        case e.MatchAborted():
            return c.CallTime() if actor == CLOCK else c.AbortMatch(actor)
        case e.FlagFell():
            if event.claimed_by is None:
                refuse_unless(CLOCK, actor)
                return c.CallTime()
            return c.CallTime(actor)
        case e.ClockPaused():
            return _pause(before, event, actor)
        case e.ClockResumed():
            return _return(event, actor)
        case e.TimeCorrected():
            refuse_unless(CONSOLE, actor)
            return c.CorrectTime()
        case e.DisputeRaised():
            opened = c.RaiseDispute if event.arbiter is None else c.OpenCase
            return opened(actor, event.ply, event.ground, event.statement)
        case e.MatchFrozen() | e.MatchUnfrozen():
            return c.Freeze(actor, isinstance(event, e.MatchFrozen))
        case e.RulingMade():
            return _ruling(event, actor, following)
    return None


_OWN_PAUSES = (clocks.VACATION, clocks.WEEKEND)
"""Reasons for which the clock of a single player stands still: what the player's diary says."""


def _pause(before: MatchState, event: e.ClockPaused, actor: str) -> c.PauseClock:
    player = None if event.seat is None else before.seats[event.seat].player
    if event.seat is not None and before.seats[event.seat].level is not None:
        raise Unauthorized(f"{player} is an opponent, which has no vacations and free days")
    if event.reason == clocks.OUTAGE or event.automatic:
        refuse_unless(CLOCK, actor)
    if event.reason == clocks.OUTAGE:
        if event.seat is not None or event.until is None or event.until > event.at + MAX_OUTAGE_AHEAD_MS:
            raise Unauthorized("an outage is recorded for all seats, and when it is over")
    elif event.reason not in _OWN_PAUSES or player is None:
        raise Unauthorized(f"a clock is never stopped for {event.reason!r} in this way")
    elif not event.automatic and actor != player:
        raise Unauthorized(f"{actor} stops the clock of {player}")
    return c.PauseClock(event.reason, player, event.since, event.until, bool(event.automatic))


def _return(event: e.ClockResumed, actor: str) -> c.ResumeClock:
    if (event.reason, event.seat) == (clocks.OUTAGE, None):
        refuse_unless(CONSOLE, actor)
        return c.ResumeClock(event.reason, None)
    if event.reason not in _OWN_PAUSES or event.seat is None:
        raise Unauthorized(f"a pause for {event.reason!r} never ends in this way")
    return c.ResumeClock(event.reason, actor)


def _ruling(event: e.RulingMade, actor: str, following: e.Event | None) -> c.Rule:
    return c.Rule(
        actor,
        event.ruling,
        event.reason,
        event.rule,
        ply=following.ply if isinstance(following, e.MovesTakenBack) else None,
        scores=following.scores if event.ruling == DECIDE and isinstance(following, e.MatchFinished) else None,
        remaining=following.remaining if isinstance(following, e.ClocksAdjusted) else None,
    )


SAID: Mapping[type[e.Event], tuple[Callable[..., c.Command], tuple[str, ...]]] = {
    e.PlayerJoined: (c.JoinMatch, ("seat",)),
    e.DrawOffered: (c.OfferDraw, ()),
    e.DrawAccepted: (c.AcceptDraw, ("engine", "channel")),
    e.DrawDeclined: (c.DeclineDraw, ("engine",)),
    e.PlayerResigned: (c.Resign, ("channel",)),
    e.CalendarSet: (c.SetCalendar, ("calendar",)),
    e.TimeGiven: (c.GiveTime, ("to", "time")),
    e.FlagForgiven: (c.ForgiveFlag, ()),
    e.TakebackRequested: (c.RequestTakeback, ()),
    e.TakebackAccepted: (c.AcceptTakeback, ()),
    e.TakebackDeclined: (c.DeclineTakeback, ()),
    e.StatementFiled: (c.FileStatement, ("statement",)),
    e.RulingAppealed: (c.Appeal, ("statement",)),
    e.CaseReopened: (c.ReopenCase, ("dispute", "statement", "operator")),
    e.RulesetProposed: (c.ProposeRuleset, ("ruleset", "reason")),
    e.RulesetAccepted: (c.AcceptRuleset, ()),
    e.RulesetDeclined: (c.DeclineRuleset, ()),
}
"""Commands that say no more than their event: what is made of the actor, and of these fields of the event."""


def refuse_unless(allowed: str, actor: str) -> None:
    """Raise Unauthorized unless ``actor`` is ``allowed``."""
    if actor != allowed:
        raise Unauthorized(f"only the {allowed} does this, and {actor} is recorded as its actor")
