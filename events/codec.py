"""Domain events as drafts, and envelopes as domain events: strict, and nothing is guessed.

``at`` of an event lives in the envelope, all other fields in its content. Fields that are None are left out. What an
event type looks like is read off its class in ``domain.match.events``, once, when this module is imported.
"""

import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

from domain.match.calendar import Calendar, Offset
from domain.match.clock import Clock, Former, Pause, Turn
from domain.match.events import TYPES, Event
from domain.match.state import Dispute, Ended, Fallen, Proposal, Ruling, Seat, Takeback
from domain.match.terms import Terms
from events.envelope import Draft, Envelope
from events.store import StoreError
from events.upcasters import UPCASTERS, Upcasters, present_schema, upcast


class UndecodableEvent(StoreError):
    """A stored event that this Rookery cannot read."""


class UnknownEvent(UndecodableEvent):
    """An event of a type, or of a schema, that this Rookery does not know: a later one may have written it."""


class MalformedEvent(UndecodableEvent):
    """An event whose content does not have the shape of its type; the message names the place and the reason."""


def draft_of(event: Event, actor: str) -> Draft:
    """Return ``event`` as ``actor`` causes it, in the present schema of its type."""
    name = _NAMES[type(event)]
    content = written(event)
    del content["at"]
    return Draft(name, present_schema(name), event.at, actor, content)


def event_of(envelope: Envelope, upcasters: Upcasters = UPCASTERS) -> Event:
    """Return the domain event of ``envelope``. Raises UnknownEvent and MalformedEvent."""
    shape = _SHAPES.get(envelope.type)
    if shape is None:
        raise UnknownEvent(f"{_place(envelope)}: there is no such type of event")
    known = present_schema(envelope.type, upcasters)
    if envelope.schema > known:
        raise UnknownEvent(f"{_place(envelope)}: it has schema {envelope.schema}, and {known} is the latest known here")
    try:
        if envelope.schema < 1:
            raise _Misfit(f"schema {envelope.schema} was never in use")
        content = upcast(envelope.type, envelope.schema, envelope.data, upcasters)
        event: Event = shape.read(content, at=_int(envelope.at))
    except _Misfit as misfit:
        raise MalformedEvent(f"{_place(envelope)}{misfit.path}: {misfit}") from None
    return event


def read_value(made: type[Any], content: Any) -> Any:
    """Return the instance of ``made`` (a named tuple that occurs in events or states) that ``written`` wrote.

    Raises ValueError with the place and the reason.
    """
    try:
        return _READERS[made](content)
    except _Misfit as misfit:
        raise ValueError(f"{misfit.path}: {misfit}") from None


def _place(envelope: Envelope) -> str:
    return f"version {envelope.version} of {envelope.stream}, {envelope.type}"


class _Misfit(Exception):
    """A value of the wrong shape; ``path`` grows on the way up from the value to the event."""

    path = ""


Reader = Callable[[Any], Any]


class _Shape(NamedTuple):
    """The fields of a NamedTuple class as JSON: a reader for each, and those that may be absent."""

    made: type[Any]
    readers: Mapping[str, Reader]
    optional: frozenset[str]

    def read(self, content: Any, **given: Any) -> Any:
        """Return an instance made of ``content`` and the ``given`` fields; raises _Misfit."""
        if not isinstance(content, Mapping):
            _refuse("an object", content)
        for name, value in content.items():
            reader = self.readers.get(name)
            if reader is None:
                raise _Misfit(f"the field {name!r} is unknown")
            try:
                given[name] = reader(value)
            except _Misfit as misfit:
                misfit.path = f".{name}{misfit.path}"
                raise
        for name in self.readers:
            if name not in content:
                if name not in self.optional:
                    raise _Misfit(f"the field {name!r} is missing")
                given[name] = None
        return self.made(**given)


def written(value: Any) -> Any:
    """Return a value of the domain as JSON values: named tuples as objects without their None, tuples as lists."""
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            pairs = zip(value._fields, value, strict=True)
            return {name: written(item) for name, item in pairs if item is not None}
        return [written(item) for item in value]
    return value


def _refuse(expected: str, value: Any) -> NoReturn:
    found = "null" if value is None else f"{type(value).__name__} {value!r:.40}"
    raise _Misfit(f"{expected} was expected, not {found}")


def _int(value: Any) -> int:
    if type(value) is not int:
        _refuse("a whole number", value)
    return value


def _float(value: Any) -> float:
    if type(value) not in (int, float):
        _refuse("a number", value)
    return float(value)


def _str(value: Any) -> str:
    if type(value) is not str:
        _refuse("a string", value)
    return value


def _bool(value: Any) -> bool:
    if type(value) is not bool:
        _refuse("true or false", value)
    return value


def _tuple_of(reader: Reader) -> Reader:
    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            _refuse("a list", value)
        items = []
        for number, item in enumerate(value):
            try:
                items.append(reader(item))
            except _Misfit as misfit:
                misfit.path = f"[{number}]{misfit.path}"
                raise
        return tuple(items)

    return read


def _or_none(reader: Reader) -> Reader:
    return lambda value: None if value is None else reader(value)


def _reader(hint: Any) -> Reader:
    if get_origin(hint) is types.UnionType:
        (hint,) = (option for option in get_args(hint) if option is not types.NoneType)
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        return _tuple_of(_or_none(_reader(item)) if types.NoneType in get_args(item) else _reader(item))
    return _READERS[hint]


def _shape(made: type[Any]) -> _Shape:
    hints = {name: hint for name, hint in get_type_hints(made).items() if name != "at"}
    optional = frozenset(name for name, hint in hints.items() if types.NoneType in get_args(hint))
    return _Shape(made, {name: _reader(hint) for name, hint in hints.items()}, optional)


_READERS: dict[Any, Reader] = {int: _int, float: _float, str: _str, bool: _bool}
_PARTS: tuple[type[Any], ...] = (Seat, Terms, Offset, Calendar, Pause, Turn, Former, Clock, Takeback, Fallen)
for _part in (*_PARTS, Ruling, Dispute, Proposal, Ended):
    _READERS[_part] = _shape(_part).read
_SHAPES: dict[str, _Shape] = {name: _shape(made) for name, made in TYPES.items()}
_NAMES: dict[type[Event], str] = {made: name for name, made in TYPES.items()}
