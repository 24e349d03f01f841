"""Decisions as they were made before a rule became stricter: for verifying what was recorded by them.

An event keeps the schema that it was stored with. So a stricter rule comes with a new schema of its event, and what has
an older one is decided again as it was then. Nothing new is decided by these.
"""

from collections.abc import Mapping
from functools import partial

from domain.match import commands as c
from domain.match import disputes
from domain.match import events as e
from domain.match.decide import Decision
from domain.match.state import MatchState


def appeal_that_freezes(state: MatchState, command: c.Appeal, now: int) -> tuple[e.Event, ...]:
    """Return an appeal from before appeals said whether they froze the match: all of them did."""
    (appealed,) = disputes.appeal(state, command, now, settles=False)
    return (
        e.RulingAppealed(
            at=now, dispute=appealed.dispute, seat=appealed.seat, statement=appealed.statement, freezes=True
        ),
    )


EARLIER: tuple[tuple[type[c.Command], type[e.Event], int, Decision], ...] = (
    (c.Appeal, e.RulingAppealed, 1, appeal_that_freezes),
    (c.Appeal, e.RulingAppealed, 2, partial(disputes.appeal, settles=False)),
    (c.RaiseDispute, e.DisputeRaised, 1, partial(disputes.raise_dispute, settles=False)),
    (c.OpenCase, e.DisputeRaised, 1, partial(disputes.open_case, settles=False)),
    (c.Rule, e.RulingMade, 1, partial(disputes.rule, settles=False)),
)
"""By command and event, up to which schema of the event it was decided so; the oldest first."""


PRESENT: Mapping[type[e.Event], int] = {
    e.MatchCreated: 4,
    e.MoveSubmitted: 2,
    e.DrawAccepted: 3,
    e.DrawDeclined: 2,
    e.PlayerResigned: 2,
    e.SeedDrawn: 2,
    e.DisputeRaised: 2,
    e.RulingMade: 2,
    e.RulingAppealed: 3,
    e.RulesetProposed: 2,
}
"""The schemas with which events are stored now, of types that were stored otherwise before."""

_SAME_RULES_SINCE: Mapping[type[e.Event], int] = {e.MatchCreated: 3}
"""The schemas with which the present rules came, of types whose shape has changed since."""

_BEGUN = (e.MatchCreated, e.SeedDrawn, e.DisputeRaised, e.RulingMade, e.RulingAppealed, e.RulesetProposed)
"""The types of which a schema came with the rules that are in force now, together in one release."""


def is_of_present_release(event: e.Event, schema: int) -> bool:
    """Tell whether only a release with the present rules stores ``event`` with ``schema``."""
    return type(event) in _BEGUN and schema >= _first_schema(event)


def is_of_earlier_release(event: e.Event, schema: int) -> bool:
    """Tell whether only releases before the present rules store ``event`` with ``schema``, or at all."""
    if isinstance(event, e.CalendarSet):
        return event.calendar is not None
    return schema < _first_schema(event)


def _first_schema(event: e.Event) -> int:
    """Return the first schema of the type that releases with the present rules store."""
    return _SAME_RULES_SINCE.get(type(event)) or PRESENT.get(type(event), 1)


def decision_of(command: c.Command, event: e.Event, schema: int) -> Decision | None:
    """Return how ``command`` was decided when ``event`` was recorded with ``schema``; None: as it is decided now."""
    for asked, made, newest, decision in EARLIER:
        if (type(command), type(event)) == (asked, made) and schema <= newest:
            return decision
    return None
