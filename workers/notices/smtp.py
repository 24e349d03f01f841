"""One mail over one connection to the mail server of the installation."""

import smtplib
import ssl
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from events.notify.addresses import plain
from events.notify.mail.messages import Outgoing

STEP_TIMEOUT_S = 12
CONTENT_TIMEOUT_S = 50
"""For each answer of the server; for sending the content and the answers before and after, since it may be examined."""

MAX_CONVERSATION_S = 11 * STEP_TIMEOUT_S + 3 * CONTENT_TIMEOUT_S
"""Less than ``deliver.MAX_DELIVERY_S``: no second worker sends the same mail meanwhile."""


class Stage(StrEnum):
    """How far a conversation came."""

    CONNECTION = "connection"
    SENDER = "sender"
    RECIPIENT = "recipient"
    CONTENT = "content"


class Reply(NamedTuple):
    """The last answer of the server, at which ``stage``; ``code`` is 0 when there was none. ``text`` is on one line."""

    stage: Stage
    code: int
    text: str


class SmtpServer:
    """The server at ``url``, to which this one is ``own_name``; ``timeout_s`` is for each answer but the last."""

    def __init__(
        self, url: str, own_name: str, *, timeout_s: float = STEP_TIMEOUT_S, context: ssl.SSLContext | None = None
    ) -> None:
        self._url: SplitResult = urlsplit(url)
        self._own_name = own_name
        self._timeout_s = timeout_s
        self._given_context = context

    def deliver(self, mail: Outgoing, before_content: Callable[[], None]) -> Reply:
        """Hand ``mail`` over and return the last answer; ``before_content`` is called before the content is sent."""
        conversation = _Conversation()
        try:
            connection = self._connect()
        except smtplib.SMTPNotSupportedError:
            return Reply(Stage.CONNECTION, 0, "the server does not offer encryption (STARTTLS), so nothing was sent")
        except smtplib.SMTPResponseException as error:
            return _reply(Stage.CONNECTION, error.smtp_code, error.smtp_error)
        except (smtplib.SMTPException, OSError) as error:
            return Reply(Stage.CONNECTION, 0, plain(str(error)))
        try:
            return self._talk(connection, mail, before_content, conversation)
        except (smtplib.SMTPException, OSError) as error:
            return Reply(conversation.stage, 0, plain(str(error)))
        finally:
            _part(connection)

    def _connect(self) -> smtplib.SMTP:
        host, scheme = self._url.hostname or "", self._url.scheme
        connection: smtplib.SMTP
        if scheme == "smtps":
            port = self._url.port or smtplib.SMTP_SSL_PORT
            connection = smtplib.SMTP_SSL(host, port, self._own_name, timeout=self._timeout_s, context=self._context)
        else:
            port = self._url.port or smtplib.SMTP_PORT
            connection = smtplib.SMTP(host, port, self._own_name, timeout=self._timeout_s)
        try:
            connection.ehlo_or_helo_if_needed()
            if scheme == "smtp":
                connection.starttls(context=self._context)
                connection.ehlo()
            if self._url.username:
                connection.login(unquote(self._url.username), unquote(self._url.password or ""))
        except (smtplib.SMTPException, OSError):
            connection.close()
            raise
        return connection

    @cached_property
    def _context(self) -> ssl.SSLContext:
        # Reading the certificates of the system takes longer than all else.
        return self._given_context or ssl.create_default_context()

    def _talk(
        self, connection: smtplib.SMTP, mail: Outgoing, before_content: Callable[[], None], at: "_Conversation"
    ) -> Reply:
        content = mail.as_bytes()
        options = [f"size={len(content)}"] if connection.has_extn("size") else []
        if not mail.recipient.isascii():
            if not connection.has_extn("smtputf8"):
                said = "550 5.6.7 the mail server of this installation cannot write to addresses with such letters"
                return Reply(Stage.RECIPIENT, 550, said)
            options += ["SMTPUTF8", "BODY=8BITMIME"]
        at.stage = Stage.SENDER
        text: bytes | str
        code, text = connection.mail(mail.sender, options)
        if code == 250:
            at.stage = Stage.RECIPIENT
            code, text = connection.rcpt(mail.recipient)
            if code in (250, 251):
                at.stage = Stage.CONTENT
                before_content()
                if connection.sock is not None:
                    connection.sock.settimeout(max(self._timeout_s, CONTENT_TIMEOUT_S))
                try:
                    code, text = connection.data(content)
                except smtplib.SMTPDataError as error:
                    code, text = error.smtp_code, error.smtp_error
        return _reply(at.stage, code, text)


class _Conversation:
    def __init__(self) -> None:
        self.stage = Stage.CONNECTION


def _part(connection: smtplib.SMTP) -> None:
    """Say goodbye without waiting for an answer."""
    with suppress(smtplib.SMTPException, OSError):
        connection.putcmd("quit")
    connection.close()


def _reply(stage: Stage, code: int, text: bytes | str) -> Reply:
    said = text.decode(errors="replace") if isinstance(text, bytes) else text
    return Reply(stage, max(0, code), plain(f"{code} {said}"))
