"""Answers of the API: structs that are written as JSON, and described by the schema that follows from their class."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Self, Union, dataclass_transform, get_args, get_origin, get_type_hints

import msgspec
from flask import Response
from msgspec import Meta
from werkzeug.datastructures import Headers

from events.runtime.wall_clock import rfc3339

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

JSON = "application/json"


@dataclass_transform(frozen_default=True, kw_only_default=True)
class _AnswerType(msgspec.StructMeta):
    """Makes every class of answers frozen and keyword-only."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> "_AnswerType":
        """Return the class."""
        return super().__new__(cls, name, bases, namespace, frozen=True, kw_only=True, forbid_unknown_fields=True)


class Answer(msgspec.Struct, metaclass=_AnswerType):
    """A JSON object in an answer. All its fields are always there, unless they are ``msgspec.UNSET``."""

    @classmethod
    def of(cls, source: object, **members: Any) -> Self:
        """Return the answer with ``members``; its other fields are the attributes of ``source`` that have their names.

        Instants among these (milliseconds since 1970 UTC) are written as RFC 3339, answers are made in the same way.
        """
        others = {name: write(getattr(source, name)) for name, write in _writers(cls).items() if name not in members}
        return cls(**others, **members)


_INSTANT = Meta(extra_json_schema={"format": "date-time"})
Instant = Annotated[str, _INSTANT]
"""An instant as RFC 3339 writes it."""


@cache
def _writers(kind: type[Answer]) -> Mapping[str, Callable[[Any], Any]]:
    return {name: _writer(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}


def _writer(hint: Any) -> Callable[[Any], Any]:
    """Return the function that makes a field of the type ``hint`` of the value that it shows."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return rfc3339 if _INSTANT in hint.__metadata__ else _writer(arguments[0])
    if origin in (UnionType, Union) and arguments[1:] == (type(None),):
        write = _writer(arguments[0])
        return lambda value: None if value is None else write(value)
    if origin is Sequence:
        write = _writer(arguments[0])
        return lambda values: [write(value) for value in values]
    if isinstance(hint, type) and issubclass(hint, Answer):
        return hint.of
    return lambda value: value


def one_of(values: Iterable[str], description: str | None = None) -> Meta:
    """Return the annotation of a field that has one of ``values``."""
    return Meta(description=description, extra_json_schema={"enum": list(values)})


Next = Annotated[str | None, Meta(description="The cursor of the next page")]
NextAfter = Annotated[int | None, Meta(description="What to pass as after for the next page")]
"""Where the next page begins; null on the last one."""


def instant(at: int | None) -> str | None:
    """Return ``at`` (milliseconds since 1970 UTC) as RFC 3339 writes it, None for None."""
    return None if at is None else rfc3339(at)


class JsonResponse(Response):
    """A response whose headers are sent as they are."""

    def get_wsgi_headers(self, environ: "WSGIEnvironment") -> Headers:
        """Return the headers; werkzeug would copy each of them to change none."""
        return self.headers if self.status_code in (200, 201) else super().get_wsgi_headers(environ)


def json_response(payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return ``payload``, an ``Answer`` or JSON values, as a response."""
    return JsonResponse(msgspec.json.encode(payload), status, headers, content_type=JSON)
