"""Where passwords are asked for: every attempt is counted before the password is checked, here and nowhere else."""

from collections.abc import Mapping
from typing import Any

import marshmallow as ma
from flask import request

from api.access.auth import DEVICE_COOKIE, require_person
from api.access.limits import spend_by_address
from api.http.problems import Problem
from api.http.schemas import PresentPassword
from api.services import services
from events.people.person import Person


def sign_in(name: str, password: str) -> Person | None:
    """Return the person with this name and password, or None. Raises too-many-requests and TooManySignInsError."""
    people, delays = services().people, services().sign_in_delays
    spend_by_address("sign_ins")
    spend_by_address("sign_in", name.lower())
    is_own_device = people.knows_device(name, request.cookies.get(DEVICE_COOKIE, ""))
    if not is_own_device:
        delays.begin(name)
    person = people.sign_in(name, password, first=is_own_device)
    if person is not None:
        delays.succeed(name)
    return person


def require_passwords(schema: ma.Schema, sent: Mapping[str, Any]) -> None:
    """Raise a problem unless each ``PresentPassword`` that was ``sent`` is that of the caller.

    The attempts are delayed as those to sign in, but counted by the id of the account: attempts to sign in as
    the caller do not keep the caller from choosing another password.
    """
    for name, field in schema.fields.items():
        if isinstance(field, PresentPassword):
            _require_password(require_person(), sent[name], name)


def _require_password(person: Person, password: str, field: str) -> None:
    if person.kind == "guest":
        raise Problem("sign-up-required", "Sign up first: a guest has no password.")
    delays = services().sign_in_delays
    spend_by_address("sign_in", person.name.lower())
    delays.begin(person.id)
    if services().people.sign_in(person.name, password, first=True) != person:
        raise Problem("invalid-fields", "That is not your password.", {field: ["is not your password"]})
    delays.succeed(person.id)
