"""A mail server in the test process: it takes mail over real connections, keeps it, and fails as it is told to.

``Mailbox`` takes whatever it is sent, unless it was told to answer something else. ``make_authority`` makes a
certificate authority and a server certificate for 127.0.0.1 and localhost.
"""

import asyncio
import ipaddress
import ssl
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

CLOSE = "close the connection"
"""What a mailbox is told to do instead of an answer: end the connection without one."""

HANG = "never answer"
"""The same: leave the connection open and silent."""


class Received(NamedTuple):
    """A mail as it came in: the envelope, and the raw content."""

    sender: str
    recipients: list[str]
    content: bytes

    @property
    def message(self) -> EmailMessage:
        return message_from_bytes(self.content, EmailMessage, policy=policy.default)


class Mailbox:
    """A mail server on a free port of this machine, stopped by ``close``.

    ``received`` has every mail whose content came in completely, whatever was answered then. ``tls`` offers STARTTLS
    with this context, or with ``tls_from_start`` speaks TLS at once; ``login`` is the user and password that it
    demands over STARTTLS.
    """

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        tls_from_start: bool = False,
        login: tuple[str, str] | None = None,
        utf8: bool = True,
    ) -> None:
        self.received: list[Received] = []
        self.commands: list[str] = []
        self._answers: dict[str, deque[str]] = defaultdict(deque)
        self._login = login
        self._connections: list[SMTP] = []
        self._loop = asyncio.new_event_loop()

        def accept() -> SMTP:
            connection = SMTP(
                _Handler(self), hostname="mailbox.test", enable_SMTPUTF8=utf8,
                tls_context=None if tls_from_start else tls, require_starttls=tls is not None and not tls_from_start,
                auth_required=login is not None, authenticator=self._authenticate, loop=self._loop,
            )  # fmt: skip
            self._connections.append(connection)
            return connection

        listening = self._loop.create_server(accept, "127.0.0.1", 0, ssl=tls if tls_from_start else None)
        self._thread = Thread(target=self._loop.run_forever, name="mailbox", daemon=True)
        self._thread.start()
        # In the thread: that of the caller may have a running loop, as one that drives a browser has.
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.port = int(self._server.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        """What ROOKERY_SMTP_URL is for this server without encryption."""
        return f"smtp+plain://127.0.0.1:{self.port}"

    def answer(self, command: str, *answers: str) -> None:
        """Let the next uses of ``command`` (EHLO, MAIL, RCPT, DATA: the whole content) be answered so, in this order.

        An answer is a line such as "451 4.3.0 later", CLOSE or HANG.
        """
        self._answers[command].extend(answers)

    def messages_to(self, address: str) -> list[EmailMessage]:
        """Return the mails to ``address``, parsed, oldest first."""
        return [mail.message for mail in self.received if address in mail.recipients]

    def close(self) -> None:
        """Stop taking mail and end all connections."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for connection in self._connections:
            for transport in (connection.transport, connection._original_transport):
                if isinstance(transport, asyncio.WriteTransport):
                    transport.abort()
        await asyncio.sleep(0)  # in which the sockets are closed

    async def next_answer(self, command: str, server: SMTP, otherwise: str) -> str:
        """Return what ``command`` is answered, after closing the connection or never where that was asked for."""
        self.commands.append(command)
        told = self._answers[command].popleft() if self._answers[command] else otherwise
        if told == CLOSE:
            assert isinstance(server.transport, asyncio.WriteTransport)
            server.transport.abort()
            return otherwise
        if told == HANG:
            await asyncio.Event().wait()
        return told

    def _authenticate(self, _: SMTP, __: Session, ___: Envelope, ____: str, login: Any) -> AuthResult:
        assert isinstance(login, LoginPassword)
        given = (login.login.decode(), login.password.decode())
        return AuthResult(success=given == self._login)


class _Handler:
    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    async def handle_EHLO(  # noqa: N802 - the name that aiosmtpd calls
        self, server: SMTP, session: Session, _: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        told = await self._mailbox.next_answer("EHLO", server, "")
        return [told] if told else responses

    async def handle_MAIL(  # noqa: N802
        self, server: SMTP, _: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        told = await self._mailbox.next_answer("MAIL", server, "250 2.1.0 OK")
        if told.startswith("2"):
            envelope.mail_from = address
            envelope.mail_options.extend(options)
        return told

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, _: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        told = await self._mailbox.next_answer("RCPT", server, "250 2.1.5 OK")
        if told.startswith("2"):
            envelope.rcpt_tos.append(address)
            envelope.rcpt_options.extend(options)
        return told

    async def handle_DATA(self, server: SMTP, _: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content or b""
        assert isinstance(content, bytes)
        sender = (envelope.mail_from or "").removeprefix("<").removesuffix(">")  # aiosmtpd says <> for the null sender
        self._mailbox.received.append(Received(sender, list(envelope.rcpt_tos), content))
        return await self._mailbox.next_answer("DATA", server, "250 2.0.0 accepted")


@contextmanager
def open_mailbox(**options: Any) -> Iterator[Mailbox]:
    mailbox = Mailbox(**options)
    try:
        yield mailbox
    finally:
        mailbox.close()


class Authority(NamedTuple):
    """A certificate authority as a file that clients trust, and the context of a server with its certificate."""

    certificate: Path
    server: ssl.SSLContext


def make_authority(directory: Path) -> Authority:
    """Return a new certificate authority and a server certificate of it, for 127.0.0.1 and localhost."""
    now = datetime.now(UTC)
    authority_key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of the tests")])
    own = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    files = {}
    for role, subject, key in (
        ("authority", name, authority_key),
        ("server", x509.Name([]), ec.generate_private_key(ec.SECP256R1())),
    ):
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=role == "authority", path_length=None), critical=True)
        )
        if role == "server":
            builder = builder.add_extension(x509.SubjectAlternativeName(own), critical=True)
        certificate = builder.sign(authority_key, hashes.SHA256())
        files[role] = directory / f"{role}.pem"
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        public = certificate.public_bytes(serialization.Encoding.PEM)
        files[role].write_bytes(public if role == "authority" else public + secret)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files["server"])
    return Authority(files["authority"], context)
