"""Events of matches as the public sees them."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from api.http.answers import Answer, Instant
from domain.match.event_types import SEEDS
from events.runtime.wall_clock import rfc3339
from events.store.codec import content_shown
from events.store.envelope import Envelope


class Event(Answer):
    """An event of a match."""

    id: Annotated[str, Meta(description="The hash of this event and all before it")]
    version: int
    type: str
    at: Instant
    actor: str
    data: Annotated[
        Mapping[str, Any],
        Meta(description="As it was recorded: instants in milliseconds since 1970 UTC, durations in milliseconds"),
    ]


def represent_event(envelope: Envelope) -> Event:
    """Return an event with its content in the order of names: the same bytes whenever it is read.

    The content has the present schema: texts that an older one recorded, and that may have to be erased, are left out.
    So is the seed of a match: with it, players could compute the moves of their opponents beforehand.
    """
    hidden = "seed" if envelope.type in SEEDS else None
    return Event(
        id=envelope.id,
        version=envelope.version,
        type=envelope.type,
        at=rfc3339(envelope.at),
        actor=envelope.actor,
        data={name: value for name, value in sorted(content_shown(envelope).items()) if name != hidden},
    )
