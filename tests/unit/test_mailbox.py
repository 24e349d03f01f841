"""The mail server of the tests takes real mail, and fails as it is told to."""

import smtplib
import ssl
from pathlib import Path

import pytest

from tests.support.mailbox import CLOSE, HANG, make_authority, open_mailbox

MAIL = b"Subject: Hello\r\n\r\nA line.\r\n"


def test_it_keeps_what_it_is_sent() -> None:
    with open_mailbox() as mailbox, smtplib.SMTP("127.0.0.1", mailbox.port, timeout=5) as client:
        client.sendmail("b-1@rookery.test", ["anna@players.test"], MAIL)
        assert mailbox.received[0].sender == "b-1@rookery.test"
        assert [message["Subject"] for message in mailbox.messages_to("anna@players.test")] == ["Hello"]


def test_it_refuses_ends_and_hangs_when_told_to() -> None:
    with open_mailbox() as mailbox:
        mailbox.answer("RCPT", "550 5.1.1 no such person")
        mailbox.answer("DATA", CLOSE)
        mailbox.answer("MAIL", "250 OK", "250 OK", HANG)
        with smtplib.SMTP("127.0.0.1", mailbox.port, timeout=5) as client:
            with pytest.raises(smtplib.SMTPRecipientsRefused):
                client.sendmail("", ["anna@players.test"], MAIL)
            with pytest.raises(smtplib.SMTPServerDisconnected):
                client.sendmail("", ["anna@players.test"], MAIL)
        assert len(mailbox.received) == 1
        with smtplib.SMTP("127.0.0.1", mailbox.port, timeout=5) as client:
            client.ehlo()
            client.sock.settimeout(0.02)
            with pytest.raises(smtplib.SMTPServerDisconnected, match="timed out"):
                client.mail("")


@pytest.mark.filterwarnings("ignore:Session.login_data")
def test_it_speaks_tls_and_asks_for_a_password(tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    trusting = ssl.create_default_context(cafile=str(authority.certificate))
    with (
        open_mailbox(tls=authority.server, login=("rookery", "secret")) as mailbox,
        smtplib.SMTP("localhost", mailbox.port, timeout=5) as client,
    ):
        client.starttls(context=trusting)
        client.login("rookery", "secret")
        client.sendmail("", ["anna@players.test"], MAIL)
        assert len(mailbox.received) == 1
    with (
        open_mailbox(tls=authority.server, tls_from_start=True) as mailbox,
        smtplib.SMTP_SSL("localhost", mailbox.port, timeout=5, context=trusting) as client,
    ):
        client.sendmail("", ["anna@players.test"], MAIL)
        assert len(mailbox.received) == 1
