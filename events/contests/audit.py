"""The audit of contests: every recorded event is decided again from its command, on the contest as it stood."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from domain.contest.aggregate import Aggregate
from domain.contest.seek.decide import SEEK
from domain.contest.tournament.decide import TOURNAMENTS
from domain.match.refusals import CommandError
from events.store.codec import CODECS, UndecodableEventError
from events.store.envelope import Envelope
from events.store.kinds import StreamKind, kind_of

AGGREGATES: Mapping[StreamKind, Aggregate[Any, Any, Any]] = {StreamKind.SEEK: SEEK, StreamKind.TOURNAMENT: TOURNAMENTS}


class AuditedEvent(NamedTuple):
    """A recorded event of a contest, and why it cannot have come about; None when it can."""

    envelope: Envelope
    fault: str | None


def audit_contest(contest: str, envelopes: Iterable[Envelope]) -> Iterator[AuditedEvent]:
    """Yield the events of a contest in order, up to the first that cannot have come about."""
    kind = kind_of(contest)
    aggregate, codec = AGGREGATES[kind], CODECS[kind]
    state: Any = None
    following: tuple[Any, ...] = ()
    at = 0
    for envelope in envelopes:
        fault = None
        try:
            event = codec.event_of(envelope)
            if not following:
                following = aggregate.decide(state, aggregate.command_behind(state, event, contest), event.at)
            if not following or following[0] != event:
                fault = "it is not what its command decides"
            elif event.at < at:
                fault = "it is dated before the event in front of it"
            else:
                state, following, at = aggregate.evolve(state, event, contest), following[1:], event.at
        except (CommandError, ValueError, UndecodableEventError) as error:
            fault = str(error)
        yield AuditedEvent(envelope, fault)
        if fault is not None:
            return
