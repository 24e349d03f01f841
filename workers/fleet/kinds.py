"""The kinds of fleet jobs: how each is planned, and how a slice of it is done.

To add one: a function that returns the stages of slices, one that does the content of a slice and returns its result,
and a line in KINDS. What must happen after all the rest is a slice of a later stage.

Crash-safe: both may be killed at any moment and then run again, and both may run twice at once, in a worker that was
taken for dead. What they write must allow for it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from events.installation import Installation
from events.service.fleet_jobs import Parameters, PlannedSlice
from workers.fleet import audit, impact, ladder, rebuild, verify

REBUILD = "rebuild"
AUDIT = "audit"
VERIFY = "verify"
IMPACT = "impact"
LADDER = "ladder"

Plan = Callable[[Installation, Parameters], Sequence[Sequence[PlannedSlice]]]
Do = Callable[[Installation, Parameters, Any], Any]


class Kind(NamedTuple):
    """What a job of a kind does: ``result`` is the class of what ``do`` returns (``events.store.converter``)."""

    plan: Plan
    do: Do
    result: type[Any]


KINDS: Mapping[str, Kind] = {
    REBUILD: Kind(rebuild.plan, rebuild.do, rebuild.Rebuilt),
    AUDIT: Kind(audit.plan, audit.do, audit.Audited),
    VERIFY: Kind(verify.plan, verify.do, verify.VerifiedSlice),
    IMPACT: Kind(impact.plan, impact.do, impact.Replayed),
    LADDER: Kind(ladder.plan, ladder.do, ladder.PlayedGames),
}
