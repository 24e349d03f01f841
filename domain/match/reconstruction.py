"""The commands behind recorded events: the wish of the actor, derived from the event."""

from typing import assert_never

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


def command_of(before: MatchState, event: e.Event, actor: str, following: e.Event | None) -> c.Command | None:  # noqa: C901
    """Return the command by which ``actor`` brings ``event`` about; None when it only ever follows from another one.

    Raises UnauthorizedError where the event itself says that ``actor`` cannot have done it.
    """
    match event:
        case e.PlayerJoined():
            return c.JoinMatch(player=actor, seat=event.seat)
        case e.DrawOffered():
            return c.OfferDraw(player=actor, signed=event.signed)
        case e.DrawAccepted():
            return c.AcceptDraw(
                player=actor, engine=event.engine, nodes=event.nodes, channel=event.channel, signed=event.signed
            )
        case e.DrawDeclined():
            return c.DeclineDraw(player=actor, engine=event.engine, nodes=event.nodes)
        case e.PlayerResigned():
            return c.Resign(player=actor, channel=event.channel, signed=event.signed)
        case e.TimeGiven():
            return c.GiveTime(player=actor, seat=event.to, time=event.time)
        case e.FlagForgiven():
            return c.ForgiveFlag(player=actor)
        case e.TakebackRequested():
            return c.RequestTakeback(player=actor)
        case e.TakebackAccepted():
            return c.AcceptTakeback(player=actor)
        case e.TakebackDeclined():
            return c.DeclineTakeback(player=actor)
        case e.StatementFiled():
            return c.FileStatement(player=actor, statement=event.statement)
        case e.RulingAppealed():
            return c.Appeal(player=actor, statement=event.statement, signed=event.signed)
        case e.CaseReopened():
            return c.ReopenCase(person=actor, dispute=event.dispute, statement=event.statement, operator=event.operator)
        case e.RulesetProposed():
            return c.ProposeRuleset(arbiter=actor, ruleset=event.ruleset, reason=event.reason)
        case e.RulesetAccepted():
            return c.AcceptRuleset(player=actor)
        case e.RulesetDeclined():
            return c.DeclineRuleset(player=actor)
        case e.MoveSubmitted():
            offers = isinstance(following, e.DrawOffered) and (following.seat, following.at) == (event.seat, event.at)
            return c.SubmitMove(
                player=actor,
                move=event.move,
                level=event.level,
                seed=event.seed,
                engine=event.engine,
                nodes=event.nodes,
                channel=event.channel,
                offer_draw=offers,
                signed=event.signed,
            )
        case e.MatchAborted():
            return c.CallTime() if actor == CLOCK else c.AbortMatch(player=actor)
        case e.FlagFell():
            if event.claimed_by is None:
                refuse_unless(CLOCK, actor)
                return c.CallTime()
            return c.CallTime(player=actor)
        case e.ClockPaused():
            return _pause(before, event, actor)
        case e.ClockResumed():
            return _return(event, actor)
        case e.TimeCorrected():
            refuse_unless(CONSOLE, actor)
            return c.CorrectTime()
        case e.DisputeRaised():
            if event.arbiter is None:
                return c.RaiseDispute(player=actor, ply=event.ply, ground=event.ground, statement=event.statement)
            return c.OpenCase(arbiter=actor, ply=event.ply, ground=event.ground, statement=event.statement)
        case e.MatchFrozen() | e.MatchUnfrozen():
            return c.Freeze(arbiter=actor, frozen=isinstance(event, e.MatchFrozen))
        case e.RulingMade():
            return _ruling(event, actor, following)
        case (
            e.MatchCreated()
            | e.MatchStarted()
            | e.MatchFinished()
            | e.MovesTakenBack()
            | e.SeedDrawn()
            | e.ClocksAdjusted()
            | e.MatchAnnulled()
            | e.MatchRestored()
            | e.RulesetChanged()
        ):
            return None
        case _:
            assert_never(event)


_OWN_PAUSES = (PauseReason.VACATION, PauseReason.WEEKEND)
"""Reasons for which the clock of a single player stands still, from the player's availability."""


def _pause(before: MatchState, event: e.ClockPaused, actor: str) -> c.PauseClock:
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


def _return(event: e.ClockResumed, actor: str) -> c.ResumeClock:
    if (event.reason, event.seat) == (PauseReason.OUTAGE, None):
        refuse_unless(CONSOLE, actor)
        return c.ResumeClock(reason=event.reason, player=None)
    if event.reason not in _OWN_PAUSES or event.seat is None:
        raise UnauthorizedError(f"a pause for {str(event.reason)!r} never ends in this way")
    return c.ResumeClock(reason=event.reason, player=actor)


def _ruling(event: e.RulingMade, actor: str, following: e.Event | None) -> c.Rule:
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


BY_ONE_SEAT = (
    e.PlayerJoined,
    e.MoveSubmitted,
    e.DrawOffered,
    e.DrawAccepted,
    e.DrawDeclined,
    e.PlayerResigned,
    e.TimeGiven,
    e.FlagForgiven,
    e.TakebackRequested,
    e.TakebackAccepted,
    e.TakebackDeclined,
    e.StatementFiled,
    e.RulingAppealed,
    e.RulesetAccepted,
    e.RulesetDeclined,
)
"""The types of events in whose ``seat`` the player sits who brings them about."""


def refuse_unless(allowed: str, actor: str) -> None:
    """Raise UnauthorizedError unless ``actor`` is ``allowed``."""
    if actor != allowed:
        raise UnauthorizedError(f"only the {allowed} does this, and {actor} is recorded as its actor")
