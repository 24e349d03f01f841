"""Schemas of requests: nothing is coerced, and no unknown field is dropped.

Validators raise: in marshmallow 4 one that returns False would let everything pass.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from events.people.passwords import MAX_PASSWORD_LENGTH

MAX_NUMBER = 10**15 - 1
"""The largest number that is accepted: JSON and JavaScript represent it exactly."""

_MESSAGES = {"required": "is missing", "null": "must not be null"}
_KINDS = {fields.List: "must be a list", fields.Dict: "must be an object", fields.Nested: "must be an object"}


def reword(field: Any) -> None:
    """Replace the messages of marshmallow in ``field``, and in the items of a list or the values of an object."""
    invalid = _KINDS.get(type(field), field.error_messages.get("invalid"))
    field.error_messages = {**field.error_messages, **_MESSAGES, "invalid": invalid}
    for validator in field.validators:
        if getattr(validator, "error", "") in (None, getattr(validator, "default_message", None)):
            validator.error = _requirement(validator, isinstance(field, fields.List))
    for part in ("inner", "key_field", "value_field"):
        if getattr(field, part, None) is not None:
            reword(getattr(field, part))


def sentences(errors: dict[str, list[str]], more: int) -> str:
    """Return ``errors`` as sentences, and the number of ``more`` invalid fields."""
    listed = [f"The field {field} {message}." for field, messages in errors.items() for message in messages]
    if more:
        listed.append(f"{more} more fields are invalid." if more > 1 else "One more field is invalid.")
    return " ".join(listed)


def _requirement(validator: validate.Validator, is_list: bool) -> str | None:
    match validator:
        case validate.Length():
            return f"must have {_between(validator.min, validator.max)} {'entries' if is_list else 'characters'}"
        case validate.Range():
            return f"must be {_between(validator.min, validator.max)}"
        case validate.OneOf():
            return f"must be one of {', '.join(map(str, validator.choices))}"
    return None


def _between(minimum: Any, maximum: Any) -> str:
    if minimum in (None, 0) and maximum not in (None, MAX_NUMBER):
        return f"at most {maximum}"
    return f"at least {minimum or 0}" if maximum in (None, MAX_NUMBER) else f"{minimum} to {maximum}"


_SURROGATE = re.compile("[\ud800-\udfff]")


class StrictSchema(ma.Schema):
    """The body of a request: an object with these fields and no others."""

    class Meta:
        unknown = ma.RAISE

    error_messages = {"unknown": "is not known here", "type": "must be an object"}  # noqa: RUF012

    def on_bind_field(self, _: str, field_obj: Any) -> None:
        """Give the field messages for people."""
        reword(field_obj)


class ExactlyOne(StrictSchema):
    """An object that has exactly one of ``FIELDS``."""

    FIELDS: tuple[str, ...] = ()

    @ma.validates_schema(skip_on_field_errors=True)
    def refuse_unless_one(self, sent: Mapping[str, Any], **_: Any) -> None:
        """Raise ValidationError unless exactly one of the fields was sent."""
        if sum(name in sent for name in self.FIELDS) != 1:
            first, *others = self.FIELDS
            raise ma.ValidationError(f"must be sent, or else {' or '.join(others)}, but no two of them", first)


class EmptyBody(StrictSchema):
    """An empty object."""


def _described(options: dict[str, Any], about: str, bounds: validate.Validator | None = None) -> dict[str, Any]:
    """Return the ``options`` of a field with its description ``about``, and with its ``bounds``."""
    described = {**options, "metadata": {"description": about}} if about else options
    return {**described, "validate": bounds} if bounds else described


class StrictString(fields.String):
    """A string, and nothing that could be turned into one. ``length`` is its least and its greatest one."""

    def __init__(self, *length: int, about: str = "", **options: Any) -> None:
        super().__init__(**_described(options, about, validate.Length(*length) if length else None))

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        if not isinstance(value, str):
            raise ma.ValidationError("must be a string")
        if _SURROGATE.search(value):
            raise ma.ValidationError("must be proper Unicode, without half surrogates")
        return value


class PresentPassword(StrictString):
    """The password of the caller, which the endpoint checks before its view is called (``api.access.passwords``)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(1, MAX_PASSWORD_LENGTH, required=True, **options)


class EnumField(StrictString):
    """A string that is a member of ``enum``, which it is read as."""

    def __init__(self, enum: type[StrEnum], **options: Any) -> None:
        super().__init__(validate=validate.OneOf(list(enum)), **options)
        self._enum = enum

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> str:
        text = super()._deserialize(value)
        return self._enum(text) if text in list(self._enum) else text  # the validator refuses other strings


class StrictInteger(fields.Integer):
    """A whole number within ``bounds``: 5 and 5.0, as JSON Schema's "integer" has it, but neither "5" nor true."""

    def __init__(self, *bounds: int, about: str = "", **options: Any) -> None:
        super().__init__(**_described(options, about, validate.Range(*bounds) if bounds else None))

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            raise ma.ValidationError("must be a whole number")
        return int(value)


class StrictFloat(fields.Float):
    """A number, and nothing that could be turned into one."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ma.ValidationError("must be a number")
        try:
            return float(value)
        except OverflowError:
            raise ma.ValidationError("is too large a number") from None


class StrictBoolean(fields.Boolean):
    """True or false, and nothing that means as much."""

    def __init__(self, about: str = "", **options: Any) -> None:
        super().__init__(**_described(options, about))

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> bool:
        if not isinstance(value, bool):
            raise ma.ValidationError("must be true or false")
        return value


_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_instant(text: str) -> int | None:
    """Return the instant of ``text`` (RFC 3339, section 5.6) in milliseconds since 1970 UTC, or None."""
    if not _INSTANT.fullmatch(text):
        return None
    leap = text[17:19] == "60"
    seconds = text[:17] + "59" + text[19:] if leap else text
    try:
        moment = datetime.fromisoformat(seconds.upper())
        return (moment - _EPOCH) // timedelta(milliseconds=1) + (1000 if leap else 0)
    except (ValueError, OverflowError):
        return None


class InstantField(fields.Field):  # type: ignore[type-arg]
    """An instant as RFC 3339 writes it, read as milliseconds since 1970 UTC."""

    def __init__(self, about: str = "", **options: Any) -> None:
        super().__init__(**_described(options, about))

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        instant = read_instant(value) if isinstance(value, str) else None
        if instant is None:
            raise ma.ValidationError("must be an instant like 2026-12-24T00:00:00Z")
        return instant


class TreeField(fields.List):  # type: ignore[type-arg]
    """A list of objects, each of which may have such a list again as ``next``.

    Read by hand, node by node, so that no depth of a body exhausts the stack; deeper than ``max_depth`` is refused.
    """

    def __init__(self, inner: fields.Nested, *, max_depth: int = 0, **options: Any) -> None:
        super().__init__(inner, **options)
        self._max_depth = max_depth

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> list[Any]:  # noqa: ARG002
        node = type(self.inner.schema)(exclude=("next",))  # type: ignore[attr-defined]
        return _load_branches(node, value, self._max_depth)


def _load_branches(node: ma.Schema, value: Any, max_depth: int) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise ma.ValidationError("must be a list")
    if value and not max_depth:
        raise ma.ValidationError("goes too deep")
    loaded, errors = [], {}
    for number, branch in enumerate(value):
        try:
            loaded.append(_load_branch(node, branch, max_depth - 1))
        except ma.ValidationError as error:
            errors[number] = error.messages
    if errors:
        raise ma.ValidationError(errors)
    return loaded


def _load_branch(node: ma.Schema, value: Any, max_depth: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ma.ValidationError("must be an object")
    loaded: dict[str, Any] = node.load({name: part for name, part in value.items() if name != "next"})
    if "next" in value:
        try:
            loaded["next"] = _load_branches(node, value["next"], max_depth)
        except ma.ValidationError as error:
            raise ma.ValidationError({"next": error.messages}) from error
    return loaded


class KindField(fields.Field):  # type: ignore[type-arg]
    """An object whose ``kind`` says by which of ``schemas`` it is read."""

    def __init__(self, schemas: Mapping[str, StrictSchema], **options: Any) -> None:
        super().__init__(**options)
        self.schemas = schemas

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ma.ValidationError("must be an object")
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in self.schemas:
            raise ma.ValidationError({"kind": [f"must be one of {', '.join(self.schemas)}"]})
        loaded: dict[str, Any] = self.schemas[kind].load(value)
        return loaded


class QueryInteger(StrictInteger):
    """A whole number written in decimal digits in a query string."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        if not isinstance(value, str) or not re.fullmatch("-?[0-9]{1,15}", value):
            raise ma.ValidationError("must be a whole number")
        return int(value)


class QueryBoolean(StrictBoolean):
    """The word true or false in a query string."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> bool:
        if value not in ("true", "false"):
            raise ma.ValidationError("must be true or false")
        return bool(value == "true")


def page_limit(default: int, maximum: int) -> QueryInteger:
    """Return the field of how many items a page has at most."""
    return QueryInteger(load_default=default, validate=validate.Range(1, maximum, error=f"must be 1 to {maximum}"))


def prose(max_characters: int, **options: Any) -> StrictString:
    """Return the field of a text that must not be blank."""
    return StrictString(
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
            for field, texts in flattened(inner, name).items():
                flat.setdefault(field, []).extend(texts)
        return flat
    return {prefix or "body": [str(message) for message in (messages if isinstance(messages, list) else [messages])]}


class Paging(StrictSchema):
    """Which part of a long list: a cursor from an earlier answer and the length of a page."""

    cursor = StrictString(validate=validate.Length(min=1, max=500))
    limit = page_limit(50, 200)
