"""Messages about invalid fields: the rest of a sentence that begins with the name of the field, without a full stop."""

from typing import Any

from marshmallow import fields, validate

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
