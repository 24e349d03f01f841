"""The kinds of fleet jobs: how each is planned, and how a slice of it is done.

To add one: a function that returns the stages of slices, one that does a slice and returns its result, and a line in
KINDS. Crash-safe: both may be killed, run again, and run twice at once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from events.installation import Installation
from events.matches.fleet_jobs import Parameters, PlannedSlice
from workers.fleet import audit, impact, ladder, rebuild, verify

REBUILD = "rebuild"
AUDIT = "audit"
VERIFY = "verify"
IMPACT = "impact"
LADDER = "ladder"

Plan = Callable[[Installation, Parameters], Sequence[Sequence[PlannedSlice]]]
Do = Callable[[Installation, Parameters, Any], Any]


class JobKind(NamedTuple):
    """The work of a kind of job: ``result`` is the class of the results of ``do`` (``events.store.converter``)."""

    plan: Plan
    do: Do
    result: type[Any]


KINDS: Mapping[str, JobKind] = {
    REBUILD: JobKind(rebuild.plan, rebuild.do, rebuild.Rebuilt),
    AUDIT: JobKind(audit.plan, audit.do, audit.Audited),
    VERIFY: JobKind(verify.plan, verify.do, verify.VerifiedSlice),
    IMPACT: JobKind(impact.plan, impact.do, impact.Replayed),
    LADDER: JobKind(ladder.plan, ladder.do, ladder.PlayedGames),
}
