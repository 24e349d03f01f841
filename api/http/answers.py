"""What the API answers: structs that are written as JSON, and described by the schema that follows from their class."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, dataclass_transform

import msgspec
from flask import Response
from msgspec import Meta

from events.runtime.wall_clock import rfc3339

JSON = "application/json"


@dataclass_transform(frozen_default=True, kw_only_default=True)
class _AnswerType(msgspec.StructMeta):
    """Makes every class of answers frozen and keyword-only."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> "_AnswerType":
        """Return the class."""
        return super().__new__(cls, name, bases, namespace, frozen=True, kw_only=True, forbid_unknown_fields=True)


class Answer(msgspec.Struct, metaclass=_AnswerType):
    """A JSON object in an answer. All its fields are always there, unless they are ``msgspec.UNSET``."""


Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""An instant as RFC 3339 writes it."""


def one_of(values: Iterable[str], description: str | None = None) -> Meta:
    """Return the annotation of a field that has one of ``values``."""
    return Meta(description=description, extra_json_schema={"enum": list(values)})


Next = Annotated[str | None, Meta(description="The cursor of the next page")]
NextAfter = Annotated[int | None, Meta(description="What to pass as after for the next page")]
"""Where the next page begins; null on the last one."""


def instant(at: int | None) -> str | None:
    """Return ``at`` (milliseconds since 1970 UTC) as RFC 3339 writes it, None for None."""
    return None if at is None else rfc3339(at)


def json_response(payload: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return ``payload``, an ``Answer`` or JSON values, as a response."""
    return Response(msgspec.json.encode(payload), status, headers, content_type=JSON)
