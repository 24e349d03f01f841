"""A gateway in the test process, to which tests bring mail over real connections."""

import asyncio
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from unittest.mock import patch

from api.mail.gateway import Gateway, Listening
from api.mail.reception import MAIL_LIMITS, Reception
from events.installation import Installation
from events.notify.mail.tokens import PlayerToken, Token, TokenKind, reply_address, write_token

DOMAIN = "play.example"


@contextmanager
def open_gateway(
    parts: Installation, *, lmtp: bool = False, tls: ssl.SSLContext | None = None, limits: dict[str, str] | None = None
) -> Iterator[Gateway]:
    """Run a gateway for the addresses at DOMAIN for the length of a block."""
    with patch.dict(MAIL_LIMITS, limits or {}):
        reception = Reception(parts, DOMAIN)
    gateway = Gateway(reception, DOMAIN, Listening("127.0.0.1", 0, lmtp, tls))
    is_up, loops, stops = Event(), [], []

    async def run() -> None:
        loops.append(asyncio.get_running_loop())
        stops.append(asyncio.Event())
        started = asyncio.Event()
        running = asyncio.create_task(gateway.run(stops[0], started))
        await started.wait()
        is_up.set()
        await running

    thread = Thread(target=asyncio.run, args=[run()], name="gateway", daemon=True)
    thread.start()
    assert is_up.wait(30)
    try:
        yield gateway
    finally:
        loops[0].call_soon_threadsafe(stops[0].set)
        thread.join()


def bring(
    gateway: Gateway, content: str | bytes, recipient: str, return_path: str = "alice@home.example"
) -> tuple[int, str]:
    """Bring a mail by SMTP or LMTP; return the last reply: to the recipient if it is refused, else to the content."""
    kind = smtplib.LMTP if gateway.listening.lmtp else smtplib.SMTP
    with kind("127.0.0.1", gateway.port, timeout=30) as client:
        client.ehlo_or_helo_if_needed()
        client.mail(return_path)
        code, reply = client.rcpt(recipient)
        if code == 250:
            code, reply = client.data(content)
    return code, reply.decode()


def reply_to(parts: Installation, player: str, token: Token | None = None) -> str:
    """Return an address for ``player``: for commands about no match, unless another ``token`` is given."""
    token = token or PlayerToken(kind=TokenKind.ACCOUNT, player=player)
    return reply_address(write_token(token, parts.addresses.secret(player)), DOMAIN)
