"""Asking a person to confirm a mail address."""

from api.access.limits import spend, spend_by_address
from api.http.problems import Problem
from api.services import services
from events.notify import addresses
from events.notify.letters import confirmation
from events.people.person import Person


def parse_mail_address(text: str, field: str = "address") -> str:
    """Return the address that ``text`` names, in its stored form.

    Raises the problems mail-not-sent and, with the reason at ``field``, invalid-fields.
    """
    mail = services().settings.mail
    if mail is None:
        raise Problem("mail-not-sent", "This server sends no mail.")
    try:
        return addresses.parse_address(text, mail.domain)
    except addresses.InvalidAddressError as error:
        raise Problem("invalid-fields", f"Give another address: {error}.", {field: [str(error)]}) from error


def want_address(person: Person, address: str) -> addresses.MailAddress:
    """Send a link to ``address``, which becomes that of ``person`` when it is followed; return the stored address.

    Raises the problem too-many-requests.
    """
    now = services().now()
    if services().addresses.read(person.id).address != address:
        spend_confirmation(person, address)
    stored = services().addresses.change(person.id, lambda before: addresses.wants(before, address, now))
    # Crash-safe: a kill before the mail is in the outbox leaves an address that waits; its owner asks for the mail.
    send_link(person, stored, now)
    return stored


def spend_confirmation(person: Person, address: str) -> None:
    """Count a mail that asks ``person`` to confirm ``address``; raises the problem too-many-requests."""
    spend("confirmations", person.id)
    spend("confirmations", addresses.address_digest(address))
    spend_by_address("confirmations_by_network")


def send_link(person: Person, stored: addresses.MailAddress, now: int) -> None:
    """Add the mail that asks to confirm the wanted address to the outbox, if there is one."""
    if stored.wanted is not None:
        services().outbox.add(confirmation(person.id, stored.wanted, now))
