"""Domain events as drafts, and envelopes as domain events: strict, shapes read off the classes of the domain.

When the shape of a type changes, a function ``upcast_<type>_v<n>_v<n+1>`` is added and registered in ``UPCASTERS``
under the type and the schema that it starts from.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from domain.contest.seek import events as seek_events
from domain.contest.tournament import events as tournament_events
from domain.match import event_types as matches
from domain.match.events import Event
from events.runtime.errors import StoreError
from events.store.converter import Schema, SchemaError, Shape, integer, schema_of, shape_of, write_value
from events.store.envelope import Draft, Envelope
from events.store.kinds import StreamKind, kind_of

Content = Mapping[str, Any]
Upcaster = Callable[[Content], Content]
Upcasters = Mapping[tuple[str, int], Upcaster]

UPCASTERS: Upcasters = {}


class UndecodableEventError(StoreError):
    """A stored event that this Rookery cannot read."""


class UnknownEventError(UndecodableEventError):
    """An event of a type, or of a schema, that this Rookery does not know: a later one may have written it."""


class MalformedEventError(UndecodableEventError):
    """An event whose content does not have the shape of its type; the message names the place and the reason."""


E = TypeVar("E")


class EventCodec(Generic[E]):
    """The events of one kind of streams: classes with the field ``at``, by the names that they are stored under."""

    def __init__(self, types: Mapping[str, type[Any]]) -> None:
        self._types = types
        self._shapes: dict[str, Shape[Any]] = {name: shape_of(made, _IN_ENVELOPE) for name, made in types.items()}
        self._names = {made: name for name, made in types.items()}

    def draft_of(self, event: E, actor: str) -> Draft:
        """Return ``event`` as ``actor`` causes it, in the present schema of its type."""
        name = self._names[type(event)]
        content = write_value(event)
        at = content.pop("at")
        return Draft(name, present_schema(name), at, actor, content)

    def event_of(self, envelope: Envelope) -> E:
        """Return the domain event of ``envelope``. Raises UnknownEventError and MalformedEventError."""
        shape = self._shapes.get(envelope.type)
        if shape is None:
            raise UnknownEventError(f"{_place(envelope)}: there is no such type of event")
        latest = present_schema(envelope.type)
        if envelope.schema > latest:
            raise UnknownEventError(
                f"{_place(envelope)}: it has schema {envelope.schema}, and {latest} is the latest known here"
            )
        try:
            if envelope.schema < 1:
                raise SchemaError(f"schema {envelope.schema} was never in use")
            content = envelope.data
            if envelope.schema != latest:
                content = upcast(envelope.type, envelope.schema, content)
            event: E = shape.read(content, at=integer(envelope.at))
        except SchemaError as error:
            raise MalformedEventError(f"{_place(envelope)}{error.path}: {error}") from None
        return event

    def schemas(self) -> dict[str, Schema]:
        """Return the JSON Schema of the content of every type of event, in its present schema."""
        return {name: schema_of(made, _IN_ENVELOPE) for name, made in self._types.items()}


def decode(envelope: Envelope) -> object:
    """Return the domain event of ``envelope``, from a stream of any kind. Raises as ``EventCodec.event_of``."""
    return CODECS[kind_of(envelope.stream)].event_of(envelope)


def content_schemas() -> dict[str, Schema]:
    """Return the JSON Schema of the content of every type of event, of streams of all kinds."""
    return {name: schema for codec in CODECS.values() for name, schema in codec.schemas().items()}


def present_schema(type_name: str) -> int:
    """Return the schema number that events of this type are written with."""
    schema = 1
    while (type_name, schema) in UPCASTERS:
        schema += 1
    return schema


def upcast(type_name: str, schema: int, content: Content) -> Content:
    """Return ``content`` of an event of ``schema`` in the shape of the present schema of its type."""
    for older in range(schema, present_schema(type_name)):
        content = UPCASTERS[type_name, older](content)
    return content


def content_shown(envelope: Envelope) -> Content:
    """Return the content in the present schema of its type; that of an unknown one as it stands."""
    return upcast(envelope.type, max(envelope.schema, 1), envelope.data)


def _place(envelope: Envelope) -> str:
    return f"version {envelope.version} of {envelope.stream}, {envelope.type}"


_IN_ENVELOPE = frozenset({"at"})
MATCH_CODEC: EventCodec[Event] = EventCodec(matches.TYPES)
CODECS: Mapping[StreamKind, EventCodec[Any]] = {
    StreamKind.MATCH: MATCH_CODEC,
    StreamKind.SEEK: EventCodec(seek_events.TYPES),
    StreamKind.TOURNAMENT: EventCodec(tournament_events.TYPES),
}
draft_of, event_of = MATCH_CODEC.draft_of, MATCH_CODEC.event_of
"""Those of matches."""
