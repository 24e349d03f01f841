"""Decisions as they were made before a rule became stricter: for verifying what was recorded by them.

An event keeps the schema that it was stored with. So a stricter rule comes with a new schema of its event, and what has
an older one is decided again as it was then. Nothing new is decided by these.
"""

from collections.abc import Mapping
from dataclasses import replace

from domain.match import events as e

BEFORE_SETTLING: Mapping[type[e.Event], int] = {
    e.RulingAppealed: 2,
    e.DisputeRaised: 1,
    e.RulingMade: 1,
}
"""Up to which schema of an event it was decided before appeals settled a case."""

FREEZES_ALWAYS = 1
"""The schema of RulingAppealed from before appeals said whether they froze the match: all of them did."""


PRESENT: Mapping[type[e.Event], int] = {
    e.MatchCreated: 4,
    e.MoveSubmitted: 2,
    e.DrawOffered: 2,
    e.DrawAccepted: 4,
    e.DrawDeclined: 2,
    e.PlayerResigned: 3,
    e.SeedDrawn: 2,
    e.DisputeRaised: 2,
    e.RulingMade: 2,
    e.RulingAppealed: 4,
    e.RulesetProposed: 2,
}
"""The schemas with which events are stored now, of types that were stored otherwise before."""

_SAME_RULES_SINCE: Mapping[type[e.Event], int] = {
    e.MatchCreated: 3,
    e.DrawOffered: 1,
    e.DrawAccepted: 3,
    e.PlayerResigned: 2,
    e.RulingAppealed: 3,
}
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


def is_before_settling(event: e.Event, schema: int) -> bool:
    """Return whether ``event``, stored with ``schema``, was decided before appeals settled a case."""
    return schema <= BEFORE_SETTLING.get(type(event), 0)


def as_then_decided(decided: e.Event, schema: int) -> e.Event:
    """Return ``decided`` as releases decided it that stored it with ``schema``."""
    if isinstance(decided, e.RulingAppealed) and schema <= FREEZES_ALWAYS:
        return replace(decided, freezes=True)
    return decided
