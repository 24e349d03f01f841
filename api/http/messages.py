"""What is said of a field that is not right: the rest of a sentence that begins with its name, without a full stop."""

from typing import Any

from marshmallow import fields, validate

MAX_NUMBER = 10**15 - 1
"""The largest number that is read from a query: JSON and JavaScript carry it exactly."""

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
    """Return ``errors`` as sentences, and how many ``more`` fields are not right."""
    said = [f"The field {field} {message}." for field, messages in errors.items() for message in messages]
    if more:
        said.append(f"{more} more fields are not right." if more > 1 else "One more field is not right.")
    return " ".join(said)


def _requirement(validator: validate.Validator, listed: bool) -> str | None:
    match validator:
        case validate.Length():
            return f"must have {_between(validator.min, validator.max)} {'entries' if listed else 'characters'}"
        case validate.Range():
            return f"must be {_between(validator.min, validator.max)}"
        case validate.OneOf():
            return f"must be one of {', '.join(map(str, validator.choices))}"
    return None


def _between(least: Any, most: Any) -> str:
    if least in (None, 0) and most not in (None, MAX_NUMBER):
        return f"at most {most}"
    return f"at least {least or 0}" if most in (None, MAX_NUMBER) else f"{least} to {most}"
