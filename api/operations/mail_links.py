"""Links in mail, which need no sign-in: whom each of them is for, and whether it is still good."""

from typing import NamedTuple

from api.http.problems import Problem
from api.services import services
from events.notify.addresses import MailAddress
from events.notify.mail.tokens import PlayerToken, TokenError, TokenKind, read_token, verify_token
from events.notify.mail_links import LinkError, LinkPurpose, read_link, reset_subject, verify_link
from events.people.person import Person


class ConfirmableAddress(NamedTuple):
    """An address that waits to be confirmed by ``person``, of whom ``stored`` is known."""

    person: Person
    address: str
    stored: MailAddress


class ResettableAccount(NamedTuple):
    """An account whose password may be chosen while ``mark`` is that of the present one."""

    person: Person
    mark: str


def confirmable_address(token: str) -> ConfirmableAddress:
    """Return the address that the link with ``token`` confirms; raises the problem invalid-link."""
    try:
        link = read_link(token)
        stored = services().addresses.read(link.player)
        address = stored.wanted or ""
        verify_link(link, LinkPurpose.CONFIRMATION, address, stored.require_secret(), services().now())
    except LinkError as error:
        raise invalid_link(str(error)) from error
    person = services().people.person(link.player)
    if person is None:
        raise invalid_link("The account of this link is gone.")
    return ConfirmableAddress(person, address, stored)


def resettable_account(token: str) -> ResettableAccount:
    """Return the account that gets another password by the link with ``token``; raises the problem invalid-link."""
    try:
        link = read_link(token)
        mark = services().people.password_mark(link.player)
        stored = services().addresses.read(link.player)
        subject = reset_subject(mark, stored.address)
        verify_link(link, LinkPurpose.PASSWORD_RESET, subject, stored.require_secret(), services().now())
    except LinkError as error:
        raise invalid_link(str(error)) from error
    person = services().people.person(link.player)
    if person is None:
        raise invalid_link("The account of this link is gone.")
    return ResettableAccount(person, mark)


def refusing_player(token: str) -> str:
    """Return the player whose mail has ``token`` in its link to stop mail; raises the problem invalid-link."""
    try:
        claimed = read_token(token)
        if isinstance(claimed, PlayerToken) and claimed.kind is TokenKind.UNSUBSCRIBE:
            verify_token(token, services().addresses.read(claimed.player).require_secret())
            return claimed.player
    except (TokenError, LinkError) as error:
        raise invalid_link("This link is not complete, or not valid any more.") from error
    raise invalid_link("This link is not one that stops mail.")


def invalid_link(reason: str) -> Problem:
    """Return the problem of a link that is not good for the given reason, a sentence."""
    return Problem("invalid-link", reason, {"token": [reason]})
