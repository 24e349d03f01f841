"""Typed values as JSON: strict reading, writing, JSON Schema and layout, all read off the class.

Objects leave out fields that are None. Nothing is coerced, nothing unknown dropped. msgspec, which packs records that
are stored in large numbers, accepts unknown fields of dataclasses, and neither it nor cattrs says place and reason of a
refusal in the words that verifiers print.
"""

import functools
import hashlib
import json
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from enum import StrEnum
from typing import Any, Generic, NewType, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

Digest = NewType("Digest", str)

SignatureText = NewType("SignatureText", str)

T = TypeVar("T")
Reader = Callable[[Any], Any]
Writer = Callable[[Any], Any] | None
"""None for values that are JSON already."""

Schema = dict[str, Any]


class SchemaError(Exception):
    """A value of the wrong shape; ``path`` grows on the way up from the value: ``.seats[2].level``."""

    path = ""


class Shape(Generic[T]):
    """How the instances of a class are written as JSON objects and read; made by ``shape_of``."""

    def __init__(self, made: type[T]) -> None:
        self._made = made

    def _describe(self, hints: Mapping[str, Any]) -> None:
        self._absent = {name: None for name, hint in hints.items() if _allows_none(hint)}
        self._readers = {name: (_plain_type(hint), _reader(hint)) for name, hint in hints.items()}
        self._writers = [(name, _writer(hint)) for name, hint in hints.items()]

    def read(self, content: Any, **apart: Any) -> T:
        """Return the instance with the fields of ``content`` and those kept ``apart``; raises SchemaError."""
        if type(content) is not dict and not isinstance(content, Mapping):
            refuse("an object", content)
        values = {**self._absent, **apart}
        for name, value in content.items():
            field = self._readers.get(name)
            if field is None:
                raise SchemaError(f"the field {name!r} is unknown")
            plain, reader = field
            try:
                values[name] = value if type(value) is plain else reader(value)
            except SchemaError as error:
                error.path = f".{name}{error.path}"
                raise
        if len(values) != len(self._readers) + len(apart):
            missing = next(name for name in self._readers if name not in values)
            raise SchemaError(f"the field {missing!r} is missing")
        try:
            return self._made(**values)
        except ValueError as error:
            raise SchemaError(str(error)) from None

    def write(self, value: T) -> dict[str, Any]:
        """Return ``value`` as a JSON object."""
        content = {}
        for name, write in self._writers:
            item = getattr(value, name)
            if item is not None:
                content[name] = item if write is None else write(item)
        return content


def shape_of(made: type[T], apart: frozenset[str] = frozenset()) -> Shape[T]:
    """Return the shape of the class ``made`` without the fields that are kept ``apart``."""
    key = (cast(Any, made), apart)
    if key not in _SHAPES:
        # Known before it is described: a class may have instances of itself.
        _SHAPES[key] = shape = Shape(made)
        shape._describe({name: hint for name, hint in get_type_hints(made).items() if name not in apart})
    return _SHAPES[key]


def read_value(made: type[T], content: Any) -> T:
    """Return the instance of ``made`` that ``write_value`` wrote. Raises ValueError with the place and the reason."""
    try:
        return shape_of(made).read(content)
    except SchemaError as error:
        raise ValueError(f"{error.path}: {error}") from None


def write_value(value: Any) -> Any:
    """Return a value of any kind that has a form here as JSON values, classes as objects."""
    if _is_class(type(value)):
        return shape_of(type(value)).write(value)
    if isinstance(value, tuple | list):
        return [write_value(item) for item in value]
    return value.value if isinstance(value, StrEnum) else value


def pack(value: Any) -> bytes:
    """Return the JSON of ``value``, a NamedTuple as the array of its fields."""
    return msgspec.json.encode(value)


def unpack(made: type[T], packed: str | bytes) -> T:
    """Return the instance of ``made`` that was packed. Raises ValueError for anything else."""
    return cast(T, _decoder(cast(Any, made)).decode(packed))


def schema_of(made: type[Any], apart: frozenset[str] = frozenset()) -> Schema:
    """Return the JSON Schema (2020-12) of the values that the shape of ``made`` reads."""
    hints = {name: hint for name, hint in get_type_hints(made).items() if name not in apart}
    return {
        "type": "object",
        "properties": {name: _schema(hint) for name, hint in hints.items()},
        "required": [name for name, hint in hints.items() if not _allows_none(hint)],
        "additionalProperties": False,
    }


def layout_of(*made: type[Any]) -> str:
    """Return a digest of the fields of classes: a cache with another layout counts as none."""
    return hashlib.sha256(json.dumps([_layout(made_type, ()) for made_type in made]).encode()).hexdigest()[:12]


def integer(value: Any) -> int:
    """Return ``value`` if it is a whole number; raises SchemaError."""
    if type(value) is not int:
        refuse("a whole number", value)
    return value


def refuse(expected: str, value: Any) -> NoReturn:
    """Raise the SchemaError of a ``value`` in whose place something else was ``expected``."""
    given = "null" if value is None else f"{type(value).__name__} {value!r:.40}"
    raise SchemaError(f"{expected} was expected, not {given}")


def _allows_none(hint: Any) -> bool:
    return types.NoneType in get_args(hint)


def _plain(hint: Any) -> Any:
    """Return ``hint`` without the None that it allows; a tuple for any sequence, which is written and read as one."""
    if get_origin(hint) in (types.UnionType, Union):
        (hint,) = (option for option in get_args(hint) if option is not types.NoneType)
    if get_origin(hint) is Sequence:
        return types.GenericAlias(tuple, (*get_args(hint), ...))
    return hint


def _is_class(hint: Any) -> bool:
    return hasattr(hint, "_fields") or is_dataclass(hint)


def _reader(hint: Any) -> Reader:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        return _tuple_of(_or_none(_reader(item), item))
    if _is_class(hint):
        return shape_of(hint).read
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _member_of(hint)
    if get_origin(hint) is Mapping and hint not in _READERS:
        return _mapping_of(_reader(get_args(hint)[1]))
    return _READERS[hint]


def _plain_type(hint: Any) -> type:
    """Return the type whose values are read as they are; one that no value has where all must be looked at."""
    hint = _plain(hint)
    return hint if hint in (int, float, str, bool) else SchemaError


def _writer(hint: Any) -> Writer:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        write = _writer(get_args(hint)[0])
        return list if write is None else lambda value: [None if item is None else write(item) for item in value]
    if _is_class(hint):
        return shape_of(hint).write
    # Of an enum, also where the type says only that it is a string, the value is written.
    return str if isinstance(hint, type) and issubclass(hint, str) else None


def _as_it_is(value: Any) -> Any:
    return value


def _schema(hint: Any) -> Schema:
    hint = _plain(hint)
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        items = _schema(item)
        return {"type": "array", "items": {"anyOf": [items, {"type": "null"}]} if _allows_none(item) else items}
    if _is_class(hint):
        return schema_of(hint)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        # Not its values: a published schema stays as it is when a value is added.
        hint = str
    return dict(_SCHEMAS[hint])


def _layout(hint: Any, within: tuple[Any, ...]) -> Any:
    none = ["none"] if _allows_none(hint) else []
    hint = _plain(hint)
    if get_origin(hint) in (tuple, Mapping):
        return [str(get_origin(hint)), *none, *(_layout(item, within) for item in get_args(hint) if item is not ...)]
    if _is_class(hint):
        if hint in within:
            return [within.index(hint), *none]
        fields = get_type_hints(hint).items()
        return [*none, {name: _layout(item, (*within, hint)) for name, item in fields}]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        hint = str
    return [getattr(hint, "__name__", str(hint)), *none]


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


def _member_of(enum: type[StrEnum]) -> Reader:
    members = {member.value: member for member in enum}

    def read(value: Any) -> StrEnum:
        if type(value) is not str or value not in members:
            refuse(f"one of {', '.join(members)}", value)
        return members[value]

    return read


def _tuple_of(reader: Reader) -> Reader:
    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            refuse("a list", value)
        items = []
        for number, item in enumerate(value):
            try:
                items.append(reader(item))
            except SchemaError as error:
                error.path = f"[{number}]{error.path}"
                raise
        return tuple(items)

    return read


def _mapping_of(reader: Reader) -> Reader:
    return lambda value: {name: reader(item) for name, item in _object(value).items()}


def _or_none(reader: Reader, hint: Any) -> Reader:
    return (lambda value: None if value is None else reader(value)) if _allows_none(hint) else reader


_READERS: dict[Any, Reader] = {
    int: integer,
    float: _float,
    str: _str,
    bool: _bool,
    Digest: _hexadecimal(64),
    SignatureText: _hexadecimal(128),
    Mapping[str, Any]: _object,
    Any: _as_it_is,
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

_SHAPES: dict[tuple[Any, frozenset[str]], Shape[Any]] = {}
_decoder = functools.cache(msgspec.json.Decoder)
