"""What the letters say that the server writes by itself: confirmations, new passwords, word of a change. Pure."""

from collections.abc import Sequence

from events.mail.match_words import instant_words
from events.mail.messages import Content, Site
from events.mail.notice_text import wrap
from events.notices.mail_links import CONFIRMATION_MS, PASSWORD_RESET_MS

MAX_ACCOUNTS = 20
"""Accounts with one mail address that a letter offers new passwords for."""


def confirmation_content(site: Site, name: str, link: str, zone: str, now: int) -> Content:
    """Return the request to confirm an address for the account ``name`` by following ``link``."""
    until = instant_words(now + CONFIRMATION_MS, zone)
    return Content(
        subject="Confirm your mail address",
        paragraphs=[
            wrap(f'The account "{name}" at {site.page_url} asks to get its notices at this mail address.'),
            wrap(f"If it is yours, open this page and press the button: {site.link(f'/mail/confirm/{link}')}"),
            wrap(f"The link is valid until {until}. If you know nothing of this, do nothing: nothing else is sent."),
        ],
    )


def address_changed_content(site: Site, name: str) -> Content:
    """Return the word to a former address that the account ``name`` has another one."""
    return Content(
        subject="Your mail address was changed",
        paragraphs=[
            wrap(f'The account "{name}" at {site.page_url} has another mail address now; this one gets no more mail.'),
            wrap("If it was not you who changed it, sign in, change your password, and ask the operator for help."),
        ],
    )


def password_reset_content(site: Site, accounts: Sequence[tuple[str, str]], now: int) -> Content:
    """Return the offer of new passwords for ``accounts``, each a name and a link."""
    shown = accounts[:MAX_ACCOUNTS]
    parts = [wrap(f"Somebody, probably you, has asked for a new password at {site.page_url}.")]
    for name, link in shown:
        parts.append(wrap(f'To choose one for the account "{name}": {site.link(f"/password-reset/{link}")}'))
    if len(accounts) > len(shown):
        parts.append(wrap(f"{len(accounts) - len(shown)} more accounts have this address: ask by their names."))
    until = instant_words(now + PASSWORD_RESET_MS, "UTC")
    parts.append(
        wrap(
            f"Each link can be used once, until {until}. If you know nothing of this, do nothing: your password stays "
            "as it is."
        )
    )
    return Content(subject="A new password", paragraphs=parts)
