"""The gateway: takes mail from other servers by SMTP, or from the operator's own by LMTP, and answers no mail itself.

It refuses mail, if it can, while the other server is connected, so that this one tells the sender, and stores the rest
before it says that the mail is accepted. It relays nothing, knows no users and offers no AUTH.
"""

import asyncio
import logging
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import structlog
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from api.access.limits import networks
from api.mail.reception import ACCEPTED, MAX_MAIL_BYTES, UNAVAILABLE, Postmaster, Reception
from events.notify.mail.recipients import Recipient
from events.runtime import beats

MAX_CONNECTIONS = 100
MAX_CONNECTIONS_PER_PEER = 10
"""Of one network, unless it is this machine, or the gateway speaks LMTP."""

MAX_RECIPIENTS = 100
MAX_REFUSALS = 10
"""Recipients that are refused before the connection is closed."""

TIMEOUT_S = 180.0
"""For the next command, and for the whole of a mail."""

STOP_S = 5.0
"""How long mails that are just coming in are waited for at the end."""

COMMAND_LIMITS = {"MAIL": 200, "RCPT": 400, "DATA": 200, "EHLO": 10, "HELO": 10, "LHLO": 10, "*": 100}
BUSY = b"421 4.3.2 Too many connections: try again later\r\n"
CLOSING = "421 4.7.0 Too many wrong addresses: this connection is closed"
ONE_EACH = "452 4.5.3 One recipient at a time"
NULL_PATH = "<>"

_WORDED = {
    "552 Error: Too much mail data": f"552 5.3.4 A mail has at most {MAX_MAIL_BYTES} bytes",
    "552 Error: message size exceeds fixed maximum message size": (
        f"552 5.3.4 A mail has at most {MAX_MAIL_BYTES} bytes"
    ),
    "553 5.1.3 Error: malformed address": "553 5.1.3 This address cannot be read: write it as <name@example.org>",
    "500 Line too long (see RFC5321 4.5.3.1.6)": "550 5.6.0 A line of a mail has at most 998 bytes (RFC 5321)",
}
"""Replies of aiosmtpd that have no enhanced status code."""

log = structlog.get_logger("gateway")


@dataclass(frozen=True, slots=True)
class Listening:
    """Where and how a gateway listens. ``tls`` offers STARTTLS; the port 0 stands for a free one."""

    host: str
    port: int
    lmtp: bool = False
    tls: ssl.SSLContext | None = None


class Gateway:
    """Takes mail until it is stopped, all of it in one event loop; calls that wait for the store run in threads."""

    def __init__(self, reception: Reception, domain: str, listening: Listening) -> None:
        """Describe a gateway for the addresses at ``domain``; nothing listens yet."""
        self.reception = reception
        self.domain = domain
        self.listening = listening
        self.port = 0
        self.connections: dict[Connection, str] = {}
        self.storing = 0
        # It would log the commands, with addresses and tokens.
        logging.getLogger("mail.log").setLevel(logging.CRITICAL)

    async def run(self, stop: asyncio.Event, started: "asyncio.Event | None" = None) -> None:
        """Listen until ``stop`` is set, then end within about STOP_S; ``port`` is known when ``started`` is set.

        Crash-safe: a mail whose acceptance was not sent any more is brought again, and is known then.
        """
        loop = asyncio.get_running_loop()
        server = await loop.create_server(self._accept, self.listening.host, self.listening.port)
        self.port = int(server.sockets[0].getsockname()[1])
        log.info("listens", host=self.listening.host, port=self.port, lmtp=self.listening.lmtp)
        if started is not None:
            started.set()
        while not stop.is_set():
            beats.beat("gateway")
            try:
                await asyncio.wait_for(stop.wait(), beats.INTERVAL_S)
            except TimeoutError:
                continue
        server.close()
        end = loop.time() + STOP_S
        while self.storing and loop.time() < end:
            await asyncio.sleep(0.02)
        for connection in list(self.connections):
            connection.abort()
        await asyncio.sleep(0)  # in which the sockets are closed
        log.info("stops")

    def make_room_for(self, network: str) -> bool:
        """Tell whether one more connection of ``network`` may be open; where all are taken, one that is idle is closed.

        That is the oldest of those that have named no valid recipient: silent clients keep nobody out.
        """
        by_peer = not self.listening.lmtp and not _is_own(network)
        if by_peer and list(self.connections.values()).count(network) >= MAX_CONNECTIONS_PER_PEER:
            return False
        if len(self.connections) < MAX_CONNECTIONS:
            return True
        idle = next((connection for connection in self.connections if not connection.has_recipient), None)
        if idle is not None:
            idle.turn_away()
        return idle is not None

    def _accept(self) -> SMTP:
        kind = LmtpConnection if self.listening.lmtp else Connection
        return kind(self)


class Connection(SMTP):
    """A connection of a server that brings mail."""

    def __init__(self, gateway: Gateway) -> None:
        """Wait for the connection itself."""
        super().__init__(
            _Handler(gateway),
            data_size_limit=MAX_MAIL_BYTES,
            enable_SMTPUTF8=True,
            hostname=gateway.domain,
            ident="Rookery",
            tls_context=gateway.listening.tls,
            timeout=TIMEOUT_S,
            auth_exclude_mechanism=("LOGIN", "PLAIN"),
            command_call_limit=COMMAND_LIMITS,
            loop=asyncio.get_running_loop(),
        )
        self._gateway = gateway
        self._turned_away = False
        self.refusals = 0
        self.has_recipient = False

    @property
    def network(self) -> str:
        """The network that the other server is in: an IPv4 address, or 64 bits of IPv6."""
        return self._gateway.connections.get(self, "unknown")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, unless there are too many."""
        if self not in self._gateway.connections:
            network = networks(str((transport.get_extra_info("peername") or ["unknown"])[0]))[0]
            if not self._gateway.make_room_for(network):
                self._turned_away = True
                if isinstance(transport, asyncio.WriteTransport):
                    transport.write(BUSY)
                transport.close()
                return
            self._gateway.connections[self] = network
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the connection."""
        self._gateway.connections.pop(self, None)
        if not self._turned_away:
            super().connection_lost(error)

    def eof_received(self) -> bool | None:
        """End the connection with the other side."""
        return False if self._turned_away else super().eof_received()

    def data_received(self, data: bytes) -> None:
        """Take bytes, unless the connection is being closed."""
        if not self._turned_away:
            super().data_received(data)

    async def push(self, status: Any) -> None:
        """Send a reply."""
        await super().push(_WORDED.get(status, status))

    def turn_away(self) -> None:
        """Close the connection to make room for another."""
        self._gateway.connections.pop(self, None)
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.write(BUSY)
            self.transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        for transport in (self.transport, self._original_transport):
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()


class LmtpConnection(Connection, LMTP):
    """The same by LMTP (RFC 2033).

    aiosmtpd gives one reply to the whole mail where LMTP wants one for each recipient, so there is one recipient only.
    """


class _Handler:
    """The hooks that aiosmtpd calls at each command; the names are its own."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._reception = gateway.reception
        self._recipients: dict[str, Recipient | Postmaster] = {}

    async def handle_EHLO(  # noqa: N802
        self, _server: Connection, session: Session, _: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        self._recipients.clear()
        # Over TLS aiosmtpd offers AUTH, without any mechanism.
        return [line for line in responses if not line.startswith("250-AUTH")]

    async def handle_MAIL(  # noqa: N802
        self, _server: Connection, _: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self._recipients.clear()
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 2.1.0 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: Connection, _: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        lmtp = self._gateway.listening.lmtp
        if len(envelope.rcpt_tos) >= (1 if lmtp else MAX_RECIPIENTS):
            return ONE_EACH if lmtp else "452 4.5.3 Too many recipients"
        if address in self._recipients:
            return "250 2.1.5 OK"  # counted already
        # Behind LMTP, and on this machine, stands the operator's own server, which brings everybody's mail.
        network = server.network
        peer = None if lmtp or _is_own(network) else network
        reply, recipient = await asyncio.to_thread(self._reception.judge, address, _path(envelope), peer)
        if recipient is None:
            server.refusals += 1
            if peer is not None and server.refusals >= MAX_REFUSALS:
                await server.push(CLOSING)
                server.abort()
            return reply
        server.has_recipient = True
        envelope.rcpt_tos.append(address)
        self._recipients[address] = recipient
        return reply

    async def handle_DATA(self, _server: Connection, _: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.original_content or b""
        self._gateway.storing += 1
        try:
            for address in envelope.rcpt_tos:
                recipient = self._recipients[address]
                reply = await asyncio.to_thread(self._reception.accept, recipient, _path(envelope), content)
                if reply != ACCEPTED:
                    # Those who have it already are known when the mail is brought again.
                    return reply
            return ACCEPTED
        finally:
            self._gateway.storing -= 1
            self._recipients.clear()

    async def handle_VRFY(self, *_: Any) -> str:  # noqa: N802
        return "502 5.5.1 VRFY is not offered"

    async def handle_exception(self, error: Exception) -> str:
        log.error("a command failed", error=type(error).__name__)
        return UNAVAILABLE


def _path(envelope: Envelope) -> str:
    path = "" if envelope.mail_from in (None, NULL_PATH) else str(envelope.mail_from)
    # aiosmtpd reads bytes that are no UTF-8 as halves of characters.
    return path.encode(errors="replace").decode()


def _is_own(network: str) -> bool:
    try:
        return ip_address(network.partition("/")[0]).is_loopback
    except ValueError:
        return False
