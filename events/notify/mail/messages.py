"""The mails that Rookery sends, as messages: headers, text, HTML with the board as a picture. Pure.

A repeated attempt makes the same mail, byte for byte, under the same Message-ID.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, EmailPolicy
from html import escape
from typing import Any

from domain.match.guards import rules_of
from domain.match.state import MatchState
from events.notify.addresses import plain
from events.notify.mail.tokens import MatchToken, PlayerToken, TokenKind, bounce_address, reply_address, write_token
from events.pictures.board import trace_between
from events.pictures.standalone import draw_document, render_png

SENDER_NAME = "Rookery"
POSTMASTER = "postmaster"
RECEIPT_FILE = "receipt.txt"
PNG_WIDTH = 480
"""In pixels; mail programs show a picture in the size that it has."""

MAX_SUBJECT_CHARACTERS = 120

_WHOLE_HEADERS = frozenset(
    {"from", "to", "reply-to", "list-unsubscribe", "list-unsubscribe-post", "message-id", "references", "in-reply-to"}
)
"""Headers that are never folded, since long ones that are broken over two lines have invalidated DKIM signatures."""

_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,300}>")
_LINK = re.compile(r"https?://[^\s<>\"]+[^\s<>\".,;:)]")


class _MailPolicy(EmailPolicy):
    def fold(self, name: str, value: Any) -> str:
        if name.lower() in _WHOLE_HEADERS:
            return f"{name}: {value}\r\n"
        # RFC 5322, 2.2.3 lets a header begin with a fold; some programs then show an empty subject.
        return str(super().fold(name, value)).replace(":\r\n ", ": ", 1)

    def fold_binary(self, name: str, value: Any) -> bytes:
        return self.fold(name, value).encode("utf-8" if self.utf8 else "ascii", "surrogateescape")


MAIL_POLICY = _MailPolicy(linesep="\r\n", raise_on_defect=False, cte_type="7bit", header_factory=SMTP.header_factory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The installation as its mail names it: the ``domain`` of its addresses, and where its pages are."""

    domain: str
    page_url: str

    def link(self, path: str) -> str:
        """Return the address of the page at ``path``."""
        return f"{self.page_url.rstrip('/')}{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressee:
    """The person to whom a mail goes, with ``address``, time ``zone``, and the ``secret`` of the tokens in it."""

    player: str
    name: str
    address: str
    zone: str
    secret: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A PNG and its content in words."""

    png: bytes
    alt: str
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Paragraphs of lines, ``picture`` below the first ``after`` of them; ``receipt`` is attached if there is one."""

    subject: str
    paragraphs: Sequence[str]
    picture: Picture | None = None
    after: int = 0
    receipt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A mail with its envelope: the sender ("" for the null return path) and the one recipient."""

    message: EmailMessage
    sender: str
    recipient: str

    def as_bytes(self) -> bytes:
        """Return the mail as it goes over the wire."""
        return self.message.as_bytes(policy=_policy_for(self.recipient))


def notice_mail(
    site: Site, to: Addressee, content: Content, *, id: str, token: MatchToken | PlayerToken, now: int
) -> Outgoing:
    """Return a mail about a notice or a digest with this ``id``; answers to it carry ``token``."""
    written = write_token(token, to.secret)
    reply = reply_address(written, site.domain)
    message = _message(site, to.address, content, reply, now, id)
    message["Reply-To"] = Address(SENDER_NAME, addr_spec=reply)
    message["Message-ID"] = f"<r-{written}.{id}@{site.domain}>"
    if isinstance(token, MatchToken):
        _add_thread(message, site, to.player, token.match_id)
    message["Auto-Submitted"] = "auto-generated"
    _add_list_headers(message, site, to)
    return Outgoing(message=message, sender=bounce_sender(site, to), recipient=to.address)


def letter_mail(site: Site, address: str, content: Content, *, id: str, sender: str, now: int) -> Outgoing:
    """Return a letter to ``address`` that belongs to no match, from the postmaster; bounces go to ``sender``."""
    message = _message(site, address, content, f"{POSTMASTER}@{site.domain}", now, id)
    message["Message-ID"] = f"<{id}@{site.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    return Outgoing(message=message, sender=sender, recipient=address)


def answer_mail(
    site: Site,
    to: Addressee,
    content: Content,
    *,
    id: str,
    token: MatchToken | PlayerToken,
    in_reply_to: str | None,
    now: int,
) -> Outgoing:
    """Return the automatic answer to a mail: without a return path, so that nobody answers it by a machine."""
    written = write_token(token, to.secret)
    reply = reply_address(written, site.domain)
    message = _message(site, to.address, content, reply, now, id)
    message["Reply-To"] = Address(SENDER_NAME, addr_spec=reply)
    message["Message-ID"] = f"<r-{written}.{id}@{site.domain}>"
    answered = _MESSAGE_ID.fullmatch((in_reply_to or "").strip())
    root = thread_root(site, to.player, token.match_id) if isinstance(token, MatchToken) else None
    if answered:
        message["In-Reply-To"] = answered[0]
    if references := " ".join(message_id for message_id in (root, answered and answered[0]) if message_id):
        message["References"] = references
    message["Auto-Submitted"] = "auto-replied"
    return Outgoing(message=message, sender="", recipient=to.address)


def thread_root(site: Site, player: str, match_id: str) -> str:
    """Return the Message-ID to which all mails to ``player`` about a match refer, so that they form one thread."""
    return f"<match.{match_id}.{player}@{site.domain}>"


def bounce_sender(site: Site, to: Addressee) -> str:
    """Return the envelope sender of mail to a player: where servers say that it was not delivered."""
    return bounce_address(write_token(PlayerToken(kind=TokenKind.BOUNCE, player=to.player), to.secret), site.domain)


def board_picture(state: MatchState, seat: int | None) -> Picture | None:
    """Return the board as ``seat`` sees it, with the last move marked; None where the rules cannot follow the match."""
    if state.play.position is None or state.play.broken is not None:
        return None
    game = rules_of(state)
    setup = game.setups[state.setup]
    traces = []
    if state.play.moves:
        before = state.play.position_after(len(state.play.moves) - 1)
        traces = [trace_between(game.to_move(before), game.scene(before), game.scene(state.play.position))]
    drawing = draw_document(
        game.scene(state.play.position),
        setup.colours,
        game.title,
        quarters=0 if seat is None else setup.turns[seat],
        traces=traces,
        dark=False,
    )
    sizes = re.search(r'width="(\d+)" height="(\d+)"', drawing.svg)
    width, height = (int(sizes[1]), int(sizes[2])) if sizes else (1, 1)
    shown = round(PNG_WIDTH * height / width)
    return Picture(
        png=render_png(drawing, PNG_WIDTH, shown),
        alt=f"The board of {game.title} after {len(state.play.moves)} moves; the text of this mail has it in letters",
        width=PNG_WIDTH,
        height=shown,
    )


def _message(site: Site, address: str, content: Content, author: str, now: int, id: str) -> EmailMessage:
    content = replace(content, paragraphs=[_printable(paragraph) for paragraph in content.paragraphs])
    message = EmailMessage(policy=_policy_for(address))
    message["From"] = Address(SENDER_NAME, addr_spec=author)
    local, _, domain = address.rpartition("@")
    message["To"] = Address(username=local, domain=domain)
    message["Subject"] = plain(content.subject)[:MAX_SUBJECT_CHARACTERS]
    message["Date"] = datetime.fromtimestamp(now // 1000, UTC)
    message["X-Auto-Response-Suppress"] = "All"
    text = "\n\n".join(content.paragraphs) + "\n"
    _set_text(message, text, "plain")
    if content.picture is not None:
        image = f"board.{id}@{site.domain}"
        message.make_alternative()
        part = EmailMessage(policy=_policy_for(address))
        _set_text(part, _html(content, content.picture, image), "html")
        del part["MIME-Version"]
        message.attach(part)
        part.add_related(
            content.picture.png, "image", "png", cid=f"<{image}>", disposition="inline", filename="board.png"
        )
    if content.receipt:
        message.add_attachment(content.receipt, subtype="plain", cte="7bit", filename=RECEIPT_FILE)
    for number, multipart in enumerate(part for part in message.walk() if part.is_multipart()):
        multipart.set_boundary(f"rookery-{number}-{hashlib.sha256(id.encode()).hexdigest()[:24]}")
    return message


def _printable(text: str) -> str:
    return "".join(
        character if character.isprintable() or character in "\n\N{NO-BREAK SPACE}" else " " for character in text
    )


def _set_text(message: EmailMessage, text: str, subtype: str) -> None:
    is_simple = text.isascii() and max(map(len, text.splitlines()), default=0) <= 900
    message.set_content(text, subtype=subtype, cte="7bit" if is_simple else "quoted-printable")


def _html(content: Content, picture: Picture, image: str) -> str:
    """Return the paragraphs as HTML; text behind bars keeps its columns. Everything is escaped."""
    blocks = []
    for paragraph in content.paragraphs:
        if paragraph.startswith("|"):
            lines = [line.removeprefix("|").removeprefix(" ") for line in paragraph.split("\n")]
            text = "\n".join(lines)
            blocks.append(f'<pre style="font-size:13px;overflow-x:auto">{_linked(text)}</pre>')
        else:
            blocks.append(f"<p>{_linked(paragraph)}</p>")
    size = f'width="{picture.width}" height="{picture.height}" style="max-width:100%;height:auto"'
    shown = f'<p><img src="cid:{escape(image)}" alt="{escape(picture.alt)}" {size}></p>'
    blocks.insert(content.after, shown)
    return _HTML_HEAD + "\n".join(blocks) + "\n</body></html>\n"


_HTML_HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>'
    '<body style="font-family:sans-serif;font-size:16px;line-height:1.45;max-width:40em;overflow-wrap:anywhere">\n'
)


def _linked(text: str) -> str:
    parts, last = [], 0
    for link in _LINK.finditer(text):
        address = escape(link[0])
        parts += [escape(text[last : link.start()]), f'<a href="{address}">{address}</a>']
        last = link.end()
    return "".join([*parts, escape(text[last:])])


def _add_thread(message: EmailMessage, site: Site, player: str, match_id: str) -> None:
    root = thread_root(site, player, match_id)
    message["In-Reply-To"] = root
    message["References"] = root


def _add_list_headers(message: EmailMessage, site: Site, to: Addressee) -> None:
    message["List-Id"] = f"Notices of Rookery <notices.{site.domain}>"
    by_mail = f"mailto:{reply_address(_stop_token(to), site.domain)}?subject=stop%20mail"
    message["List-Unsubscribe"] = f"<{stop_link(site, to)}>, <{by_mail}>"
    if site.page_url.startswith("https://"):  # RFC 8058, 3.1 allows it for nothing else
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"


def stop_link(site: Site, to: Addressee) -> str:
    """Return the address that stops mail to the addressee: POST does, GET leads to a page with a button."""
    return site.link(f"/api/v1/mail-refusals/{_stop_token(to)}")


def stop_page(site: Site, to: Addressee) -> str:
    """Return the address of the page with that button."""
    return site.link(f"/mail/stop/{_stop_token(to)}")


def _stop_token(to: Addressee) -> str:
    return write_token(PlayerToken(kind=TokenKind.UNSUBSCRIBE, player=to.player), to.secret)


def _policy_for(address: str) -> EmailPolicy:
    return MAIL_POLICY if address.isascii() else MAIL_POLICY.clone(utf8=True)
