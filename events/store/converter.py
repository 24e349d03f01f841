"""NamedTuple classes as JSON: strict reading, writing, and the JSON Schema that follows from the class.

Fields that are None are left out when they are written, and may be missing when their type says that they may be None.
Nothing is coerced and nothing unknown is dropped. Everything is read off the class, so that a class is described once.
"""

import re
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any, NamedTuple, NewType, NoReturn, Union, get_args, get_origin, get_type_hints

Digest = NewType("Digest", str)
"""32 bytes as 64 lower-case hexadecimal digits."""

SignatureText = NewType("SignatureText", str)
"""64 bytes as 128 lower-case hexadecimal digits."""

Reader = Callable[[Any], Any]
Schema = dict[str, Any]


class Misfit(Exception):
    """A value of the wrong shape; ``path`` grows on the way up from the value: ``.seats[2].level``."""

    path = ""


class Shape(NamedTuple):
    """The fields of a NamedTuple class as JSON: a reader for each, and those that may be absent."""

    made: type[Any]
    readers: Mapping[str, Reader]
    optional: frozenset[str]

    def read(self, content: Any, **given: Any) -> Any:
        """Return an instance made of ``content`` and the ``given`` fields; raises Misfit."""
        if type(content) is not dict and not isinstance(content, Mapping):
            refuse("an object", content)
        for name, value in content.items():
            reader = self.readers.get(name)
            if reader is None:
                raise Misfit(f"the field {name!r} is unknown")
            try:
                given[name] = reader(value)
            except Misfit as misfit:
                misfit.path = f".{name}{misfit.path}"
                raise
        for name in self.readers:
            if name not in content:
                if name not in self.optional:
                    raise Misfit(f"the field {name!r} is missing")
                given[name] = None
        return self.made(**given)


def shape_of(made: type[Any], apart: frozenset[str] = frozenset()) -> Shape:
    """Return the shape of the NamedTuple class ``made`` without the fields that are kept ``apart``."""
    hints = _hints(made, apart)
    return Shape(made, {name: _reader(hint) for name, hint in hints.items()}, _optional(hints))


def read_value(made: type[Any], content: Any) -> Any:
    """Return the instance of the NamedTuple class ``made`` that ``written`` wrote.

    Raises ValueError with the place and the reason.
    """
    try:
        return shape_of(made).read(content)
    except Misfit as misfit:
        raise ValueError(f"{misfit.path}: {misfit}") from None


def written(value: Any) -> Any:
    """Return a value of the domain as JSON values: objects without what is None, tuples as lists."""
    if is_dataclass(value):
        named = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: written(item) for name, item in named if item is not None}
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            pairs = zip(value._fields, value, strict=True)
            return {name: written(item) for name, item in pairs if item is not None}
        return [written(item) for item in value]
    return value.value if isinstance(value, StrEnum) else value


def schema_of(made: type[Any], apart: frozenset[str] = frozenset()) -> Schema:
    """Return the JSON Schema (2020-12) of what ``shape_of`` reads."""
    hints = _hints(made, apart)
    optional = _optional(hints)
    return {
        "type": "object",
        "properties": {name: _schema(hint) for name, hint in hints.items()},
        "required": [name for name in hints if name not in optional],
        "additionalProperties": False,
    }


def integer(value: Any) -> int:
    """Return ``value`` if it is a whole number; raises Misfit."""
    if type(value) is not int:
        refuse("a whole number", value)
    return value


def refuse(expected: str, value: Any) -> NoReturn:
    """Raise the Misfit of a ``value`` in whose place something else was ``expected``."""
    found = "null" if value is None else f"{type(value).__name__} {value!r:.40}"
    raise Misfit(f"{expected} was expected, not {found}")


def _hints(made: type[Any], apart: frozenset[str]) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(made).items() if name not in apart}


def _optional(hints: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name for name, hint in hints.items() if types.NoneType in get_args(hint))


def _float(value: Any) -> float:
    if type(value) not in (int, float):
        refuse("a number", value)
    return float(value)


def _str(value: Any) -> str:
    if type(value) is not str:
        refuse("a string", value)
    return value


def _bool(value: Any) -> bool:
    if type(value) is not bool:
        refuse("true or false", value)
    return value


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        refuse("an object", value)
    return value


def _hexadecimal(digits: int) -> Reader:
    fits = re.compile(f"[0-9a-f]{{{digits}}}").fullmatch

    def read(value: Any) -> str:
        if type(value) is not str or fits(value) is None:
            refuse(f"a string of {digits} lower-case hexadecimal digits", value)
        return value

    return read


def _tuple_of(reader: Reader) -> Reader:
    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            refuse("a list", value)
        items = []
        for number, item in enumerate(value):
            try:
                items.append(reader(item))
            except Misfit as misfit:
                misfit.path = f"[{number}]{misfit.path}"
                raise
        return tuple(items)

    return read


def _member_of(enum: type[StrEnum]) -> Reader:
    members = {member.value: member for member in enum}

    def read(value: Any) -> StrEnum:
        if type(value) is not str or value not in members:
            refuse(f"one of {', '.join(members)}", value)
        return members[value]

    return read


def _or_none(reader: Reader) -> Reader:
    return lambda value: None if value is None else reader(value)


def _plain(hint: Any) -> Any:
    """Return ``hint`` without the None that it allows."""
    if get_origin(hint) in (types.UnionType, Union):
        (hint,) = (option for option in get_args(hint) if option is not types.NoneType)
    return hint


def _reader(hint: Any) -> Reader:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        return _tuple_of(_or_none(_reader(item)) if types.NoneType in get_args(item) else _reader(item))
    if hasattr(hint, "_fields") or is_dataclass(hint):
        return shape_of(hint).read
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _member_of(hint)
    return _READERS[hint]


def _schema(hint: Any) -> Schema:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        items = _schema(item)
        return {
            "type": "array",
            "items": {"anyOf": [items, {"type": "null"}]} if types.NoneType in get_args(item) else items,
        }
    if hasattr(hint, "_fields") or is_dataclass(hint):
        return schema_of(hint)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        # Not its values: a published schema stays as it is when a value is added.
        hint = str
    return dict(_SCHEMAS[hint])


_READERS: dict[Any, Reader] = {
    int: integer,
    float: _float,
    str: _str,
    bool: _bool,
    Digest: _hexadecimal(64),
    SignatureText: _hexadecimal(128),
    Mapping[str, Any]: _object,
}

_SCHEMAS: dict[Any, Schema] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    Digest: {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    SignatureText: {"type": "string", "pattern": "^[0-9a-f]{128}$"},
    Mapping[str, Any]: {"type": "object"},
}
