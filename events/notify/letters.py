"""Letters that the server writes by itself. Their text is computed when they are sent: no secret is stored."""

from enum import StrEnum

from events.notify.addresses import InvalidAddressError, address_digest, parse_address
from events.notify.notice import NoticeChannel
from events.notify.outbox import Dispatch, Letter, Purpose

CHANGE_MS = 10_000


class LetterKind(StrEnum):
    """The letters that are more than a stored text."""

    CONFIRMATION = "confirmation"

    PASSWORD_RESET = "password-reset"  # noqa: S105 - the name of the kind
    """Offers those who were named, by name or mail address, a new password; they need not exist."""

    ADDRESS_CHANGED = "address-changed"

    CONFIRM_RESIGNATION = "confirm-resignation"
    """An answer with a stored text; to write "resign" in answer to it resigns."""


def confirmation(player: str, address: str, now: int) -> Dispatch:
    """Return the request to ``player`` to confirm ``address``."""
    letter = Letter(to=address, subject="", text="", kind=LetterKind.CONFIRMATION)
    return letter_dispatch(f"confirm:{now}", player, letter, now)


def address_changed(player: str, former: str, now: int) -> Dispatch:
    """Return the word to the ``former`` address of ``player`` that it is no longer theirs."""
    letter = Letter(to=former, subject="", text="", kind=LetterKind.ADDRESS_CHANGED)
    # Due a little later: it is added before the change, and not sent when that does not happen.
    due = now + CHANGE_MS
    return letter_dispatch(f"changed:{due}", player, letter, due)


def password_reset(asked: str, now: int) -> Dispatch:
    """Return the letter to those named by ``asked`` (a name or address); nobody's, so an unknown name looks alike."""
    letter = Letter(to=asked, subject="", text="", kind=LetterKind.PASSWORD_RESET)
    return letter_dispatch(f"reset:{now}", asker(asked), letter, now)


def asker(asked: str) -> str:
    """Return whose outbox has the letters to ``asked``: a digest, one for all spellings of an address (RFC 5890)."""
    try:
        digest = address_digest(parse_address(asked))
    except InvalidAddressError:  # a name
        digest = address_digest(asked)
    return f"reset-{digest[:24]}"


def letter_dispatch(id: str, player: str, letter: Letter, due: int) -> Dispatch:
    """Return ``letter`` to ``player`` as the outbox has it, to be sent at ``due``."""
    return Dispatch(
        id=id, player=player, channel=NoticeChannel.MAIL, purpose=Purpose.LETTER, letter=letter, due=due, first_at=due
    )
