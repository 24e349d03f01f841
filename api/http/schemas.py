"""The base of all schemas: strict ones for what comes in, complete ones for what goes out.

Incoming values are never coerced and unknown fields never dropped. Validators raise: in marshmallow 4 one that returns
False would let everything pass.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from api.http.messages import LARGEST_NUMBER as LARGEST_NUMBER
from api.http.messages import reword
from events.store.contract import DIGEST_DIGITS

_SURROGATE = re.compile("[\ud800-\udfff]")


class Strict(ma.Schema):
    """What a caller sends: an object with these fields and no others."""

    class Meta:
        unknown = ma.RAISE

    error_messages = {"unknown": "is not known here", "type": "must be an object"}  # noqa: RUF012

    def on_bind_field(self, _: str, field_obj: Any) -> None:
        """Give the field messages for people."""
        reword(field_obj)


class Either(Strict):
    """An object that has exactly one of the fields in ``EITHER``."""

    EITHER: tuple[str, ...] = ()

    @ma.validates_schema(skip_on_field_errors=True)
    def refuse_unless_one(self, sent: Mapping[str, Any], **_: Any) -> None:
        """Raise ValidationError unless exactly one of the fields was sent."""
        if sum(name in sent for name in self.EITHER) != 1:
            first, *others = self.EITHER
            raise ma.ValidationError(f"must be sent, or else {' or '.join(others)}, but no two of them", first)


class Empty(Strict):
    """An empty object."""


class Shown(ma.Schema):
    """What the server answers: every field is always there. Only documentation; answers are built by hand.

    Documents that are signed or kept leave out what they do not have: such fields have ``{"optional": True}`` in their
    metadata.
    """

    class Meta:
        unknown = ma.RAISE

    def on_bind_field(self, _: str, field_obj: Any) -> None:
        """Mark each field as required that is not optional."""
        field_obj.required = not field_obj.metadata.get("optional", False)


class Text(fields.String):
    """A string, and nothing that could be turned into one."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        if not isinstance(value, str):
            raise ma.ValidationError("must be a string")
        if _SURROGATE.search(value):
            raise ma.ValidationError("must be proper Unicode, without half surrogates")
        return value


class Whole(fields.Integer):
    """A whole number: 5 and 5.0, as JSON Schema's "integer" has it, but neither "5" nor true."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            raise ma.ValidationError("must be a whole number")
        return int(value)


class Number(fields.Float):
    """A number, and nothing that could be turned into one."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ma.ValidationError("must be a number")
        try:
            return float(value)
        except OverflowError:
            raise ma.ValidationError("is too large a number") from None


class Flag(fields.Boolean):
    """True or false, and nothing that means as much."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> bool:
        if not isinstance(value, bool):
            raise ma.ValidationError("must be true or false")
        return value


_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_instant(text: str) -> int | None:
    """Return the instant that ``text`` names as RFC 3339 (section 5.6) says, in milliseconds since 1970 UTC, or None.

    A leap second is read as the second after it; parts of a millisecond are left out.
    """
    if not _INSTANT.fullmatch(text):
        return None
    leap = text[17:19] == "60"
    seconds = text[:17] + "59" + text[19:] if leap else text
    try:
        moment = datetime.fromisoformat(seconds.upper())
        return (moment - _EPOCH) // timedelta(milliseconds=1) + (1000 if leap else 0)
    except (ValueError, OverflowError):
        return None


class Instant(fields.Field):  # type: ignore[type-arg]
    """An instant as RFC 3339 writes it, read as milliseconds since 1970 UTC."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        instant = read_instant(value) if isinstance(value, str) else None
        if instant is None:
            raise ma.ValidationError("must be an instant like 2026-12-24T00:00:00Z")
        return instant


class Tree(fields.List):  # type: ignore[type-arg]
    """A list of objects, each of which may have such a list again as ``next``.

    Read by hand, node by node, so that no depth of a body exhausts the stack; deeper than ``deepest`` is refused.
    """

    def __init__(self, inner: fields.Nested, *, deepest: int = 0, **options: Any) -> None:
        super().__init__(inner, **options)
        self._deepest = deepest

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> list[Any]:  # noqa: ARG002
        node = type(self.inner.schema)(exclude=("next",))  # type: ignore[attr-defined]
        return _grown(node, value, self._deepest)


def _grown(node: ma.Schema, value: Any, deepest: int) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise ma.ValidationError("must be a list")
    if value and not deepest:
        raise ma.ValidationError("goes too deep")
    found, errors = [], {}
    for number, each in enumerate(value):
        try:
            found.append(_branch(node, each, deepest - 1))
        except ma.ValidationError as error:
            errors[number] = error.messages
    if errors:
        raise ma.ValidationError(errors)
    return found


def _branch(node: ma.Schema, value: Any, deepest: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ma.ValidationError("must be an object")
    loaded: dict[str, Any] = node.load({name: part for name, part in value.items() if name != "next"})
    if "next" in value:
        try:
            loaded["next"] = _grown(node, value["next"], deepest)
        except ma.ValidationError as error:
            raise ma.ValidationError({"next": error.messages}) from error
    return loaded


class QueryNumber(fields.Integer):
    """A whole number written in decimal digits in a query string."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        if not isinstance(value, str) or not re.fullmatch("-?[0-9]{1,15}", value):
            raise ma.ValidationError("must be a whole number")
        return int(value)


def page_limit(default: int, most: int) -> QueryNumber:
    """Return the field of how many items a page has at most."""
    return QueryNumber(load_default=default, validate=validate.Range(1, most, error=f"must be 1 to {most}"))


def next_page() -> fields.Integer:
    """Return the field of an answer that says where the next page begins."""
    return fields.Integer(allow_none=True, metadata={"description": "What to pass as after for the next page"})


def words(max_characters: int, **options: Any) -> Text:
    """Return the field of a text that must not be blank."""
    return Text(
        required=True,
        validate=[
            validate.Length(1, max_characters, error=f"must have 1 to {max_characters} characters"),
            pattern(r"[\s\S]*\S[\s\S]*", "must not be blank"),
        ],
        **options,
    )


def pattern(regex: str, message: str) -> validate.Validator:
    """Return a validator of the whole text, documented with the same ``regex``."""
    return _Pattern(f"^{regex}$", error=message)


class _Pattern(validate.Regexp):
    def __call__(self, value: Any) -> Any:
        if re.fullmatch(self.regex, value) is None:
            raise ma.ValidationError(self.error)
        return value


def flattened(messages: Any, prefix: str = "") -> dict[str, list[str]]:
    """Return marshmallow's nested messages keyed by the path of each field: {"seats.1.level": [...]}."""
    if isinstance(messages, Mapping):
        flat: dict[str, list[str]] = {}
        for key, inner in messages.items():
            name = prefix if key == "_schema" else f"{prefix}.{key}".lstrip(".")
            for field, found in flattened(inner, name).items():
                flat.setdefault(field, []).extend(found)
        return flat
    return {prefix or "body": [str(message) for message in (messages if isinstance(messages, list) else [messages])]}


TAG_PATTERN = f"[0-9]{{1,15}}-[0-9a-f]{{{DIGEST_DIGITS}}}"
EXAMPLE_TAG = "6-3fa9c1d25b0e7c44"
TAG_WORDS = f"the version_tag of an answer, such as {EXAMPLE_TAG}"


def version_tag() -> fields.String:
    """Return the field of a version tag in an answer."""
    return fields.String(
        validate=pattern(TAG_PATTERN, "is no version tag"),
        metadata={
            "description": "The version and the beginning of its event's digest: a version number alone does not tell "
            "which history it belongs to. In quotation marks it is the ETag",
            "example": EXAMPLE_TAG,
        },
    )


class PlayerShown(Shown):
    """A person, a guest or an opponent. ``level`` is an opponent's, null for people."""

    id = fields.String()
    name = fields.String()
    kind = fields.String(validate=validate.OneOf(["person", "guest", "opponent"]))
    level = fields.Integer(allow_none=True)


class ProblemShown(ma.Schema):
    """RFC 9457. ``errors`` maps a field to what is wrong with it."""

    class Meta:
        unknown = ma.RAISE

    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True)
    code = fields.String(required=True)
    errors = fields.Dict(keys=fields.String(), values=fields.List(fields.String()))
    quota = fields.String(metadata={"description": "quota-exceeded only: which one"})
    bytes_kept = fields.Integer()
    bytes_allowed = fields.Integer()
    more_errors = fields.Integer(metadata={"description": "How many fields are wrong beyond those in errors"})
    current_version = fields.Integer(metadata={"description": "stale-version only: the version to act upon"})
    current_version_tag = fields.String(metadata={"description": "stale-version only: what If-Match must name then"})


class Paging(Strict):
    """Which part of a long list: a cursor from an earlier answer and the length of a page."""

    cursor = Text(validate=validate.Length(min=1, max=500))
    limit = page_limit(50, 200)
