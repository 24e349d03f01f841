"""Domain events as drafts, and envelopes as domain events: strict, shapes read off ``domain.match.events``."""

from typing import Any

from domain.match.event_types import TYPES
from domain.match.events import Event
from events.runtime.errors import StoreError
from events.store.converter import Schema, SchemaError, Shape, integer, schema_of, shape_of, write_value
from events.store.envelope import Draft, Envelope
from events.store.upcasters import UPCASTERS, Content, Upcasters, present_schema, upcast


class UndecodableEventError(StoreError):
    """A stored event that this Rookery cannot read."""


class UnknownEventError(UndecodableEventError):
    """An event of a type, or of a schema, that this Rookery does not know: a later one may have written it."""


class MalformedEventError(UndecodableEventError):
    """An event whose content does not have the shape of its type; the message names the place and the reason."""


def draft_of(event: Event, actor: str) -> Draft:
    """Return ``event`` as ``actor`` causes it, in the present schema of its type."""
    name = _NAMES[type(event)]
    content = write_value(event)
    del content["at"]
    return Draft(name, present_schema(name), event.at, actor, content)


def event_of(envelope: Envelope, upcasters: Upcasters = UPCASTERS) -> Event:
    """Return the domain event of ``envelope``. Raises UnknownEventError and MalformedEventError."""
    shape = _SHAPES.get(envelope.type)
    if shape is None:
        raise UnknownEventError(f"{_place(envelope)}: there is no such type of event")
    known = present_schema(envelope.type, upcasters)
    if envelope.schema > known:
        raise UnknownEventError(
            f"{_place(envelope)}: it has schema {envelope.schema}, and {known} is the latest known here"
        )
    try:
        if envelope.schema < 1:
            raise SchemaError(f"schema {envelope.schema} was never in use")
        content = envelope.data
        if envelope.schema != known:
            content = upcast(envelope.type, envelope.schema, content, upcasters)
        event: Event = shape.read(content, at=integer(envelope.at))
    except SchemaError as error:
        raise MalformedEventError(f"{_place(envelope)}{error.path}: {error}") from None
    return event


def content_shown(envelope: Envelope) -> Content:
    """Return the content in the present schema of its type; that of an unknown one as it stands."""
    return upcast(envelope.type, max(envelope.schema, 1), envelope.data)


def content_schemas() -> dict[str, Schema]:
    """Return the JSON Schema of the content of every type of event, in its present schema."""
    return {name: schema_of(made, _IN_ENVELOPE) for name, made in TYPES.items()}


def _place(envelope: Envelope) -> str:
    return f"version {envelope.version} of {envelope.stream}, {envelope.type}"


_IN_ENVELOPE = frozenset({"at"})
_SHAPES: dict[str, Shape[Any]] = {name: shape_of(made, _IN_ENVELOPE) for name, made in TYPES.items()}
_NAMES: dict[type[Event], str] = {made: name for name, made in TYPES.items()}
