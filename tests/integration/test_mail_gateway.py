"""The gateway over real connections: who may be written to, what is stored before it is accepted, what is refused."""

import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.mail.gateway import MAX_CONNECTIONS_PER_PEER, MAX_REFUSALS, Gateway
from api.mail.reception import MAX_MAIL_BYTES
from deploy.cli import main
from deploy.local.ports import Ports
from deploy.local.programs import programs
from events.notify.mail.tokens import MatchToken, PlayerToken, TokenKind, bounce_address, write_token
from events.runtime.connections import StoreClient
from events.runtime.errors import StoreUnavailableError
from tests.support.mail_gateway import DOMAIN, bring, open_gateway, reply_to
from tests.support.mailbox import make_authority
from tests.support.server import RealServer
from tests.support.stepped_installation import SteppedInstallation

MAIL = (
    b"From: alice@home.example\r\nMessage-ID: <1@home.example>\r\nSubject: Re: =?utf-8?q?z=C3=BCge?=\r\n\r\na3-b4\r\n"
)


@pytest.fixture
def site(server: RealServer) -> SteppedInstallation:
    return SteppedInstallation(server.url)


@pytest.fixture
def gateway(site: SteppedInstallation) -> Iterator[Gateway]:
    with open_gateway(site.parts) as opened:
        yield opened


def turn_address(site: SteppedInstallation, match_id: str, player: str = "palice", seat: int = 0) -> str:
    tag = site.store.head(match_id).tag
    token = MatchToken(kind=TokenKind.REPLY, match_id=match_id, seat=seat, tag=tag)
    return reply_to(site.parts, player, token)


def test_a_reply_is_stored_before_it_is_accepted(site: SteppedInstallation, gateway: Gateway) -> None:
    address = turn_address(site, site.start("palice", "pbob"))
    assert bring(gateway, MAIL, address.upper()) == (250, "2.0.0 Accepted")
    taken = site.parts.inbox.take()
    assert taken is not None
    assert taken.content == MAIL
    mail = taken.mail
    assert (mail.player, mail.sender, mail.subject, mail.return_path) == (
        "palice",
        "alice@home.example",
        "Re: züge",
        "alice@home.example",
    )
    assert mail.recipient == address.partition("@")[0]


def test_a_mail_that_comes_twice_is_accepted_twice_and_stored_once(site: SteppedInstallation, gateway: Gateway) -> None:
    address = reply_to(site.parts, "palice")
    assert [bring(gateway, mail, address)[0] for mail in (MAIL, b"X-Way: another\r\n" + MAIL)] == [250, 250]
    assert site.parts.inbox.take() is not None
    assert site.parts.inbox.take() is None


def test_another_mail_under_the_same_message_id_is_on_record(site: SteppedInstallation, gateway: Gateway) -> None:
    address = reply_to(site.parts, "palice")
    assert [bring(gateway, mail, address)[0] for mail in (MAIL, MAIL + b"draw\r\n", MAIL + b"draw\r\n")] == [250] * 3
    assert sorted(mail.repeats for mail in site.parts.inbox.recent("palice", 5)) == [False, True]


def test_addresses_that_nobody_has_are_refused_before_the_content(site: SteppedInstallation, gateway: Gateway) -> None:
    match_id = site.start("palice", "pbob")
    good = turn_address(site, match_id)
    flipped = good.replace(good[9], "a" if good[9] != "a" else "b", 1)
    of_nobody = PlayerToken(kind=TokenKind.ACCOUNT, player="pnobody")
    seen = {
        address: bring(gateway, MAIL, address)[0:2]
        for address in (
            *(f"alice@{DOMAIN}", f"r-@{DOMAIN}", f"r-xyz@{DOMAIN}", good[:20] + good[24:]),
            *(flipped, good.replace("r-", "b-"), "eve@elsewhere.example", f"postmaster@{DOMAIN}.example"),
            reply_to(site.parts, "palice", of_nobody),
        )
    }
    refused = {address: f"{code} {reply[:5]}" for address, (code, reply) in seen.items()}
    assert set(refused.values()) == {"550 5.1.1", "550 5.7.1"}
    assert refused[f"alice@{DOMAIN}"] == refused[f"r-xyz@{DOMAIN}"] == "550 5.1.1"
    assert refused["eve@elsewhere.example"] == refused[reply_to(site.parts, "palice", of_nobody)] == "550 5.7.1"
    assert not site.parts.inbox.work.next_due()


def test_foreign_expired_and_worthless_tokens_are_not_valid(site: SteppedInstallation, gateway: Gateway) -> None:
    match_id = site.start("palice", "pbob")
    good = turn_address(site, match_id)
    for wrong in (turn_address(site, match_id, "pbob", seat=0), turn_address(site, match_id, "palice", seat=7)):
        assert bring(gateway, MAIL, wrong) == (
            550,
            "5.7.1 This address is not valid: it has expired, or was not made for a match of yours",
        )
    site.parts.addresses.make_old_mail_worthless("palice")
    assert bring(gateway, MAIL, good)[1].startswith("5.7.1")
    fresh = turn_address(site, match_id)
    site.play(match_id)
    assert bring(gateway, MAIL, fresh)[0] == 250
    site.now += 31 * 86_400_000
    assert bring(gateway, MAIL, fresh)[1].startswith("5.7.1")


def test_mail_of_erased_players_is_refused(site: SteppedInstallation, gateway: Gateway) -> None:
    address = turn_address(site, site.start("palice", "pbob"))
    site.parts.addresses.erase("palice")
    assert bring(gateway, MAIL, address)[0] == 550


def test_a_bounce_has_no_return_path_and_is_taken(site: SteppedInstallation, gateway: Gateway) -> None:
    token = write_token(PlayerToken(kind=TokenKind.BOUNCE, player="palice"), site.parts.addresses.secret("palice"))
    assert bring(gateway, MAIL, bounce_address(token, DOMAIN), "<>")[0] == 250
    taken = site.parts.inbox.take()
    assert taken is not None
    assert taken.mail.return_path == ""


def test_the_operator_can_be_written_to(site: SteppedInstallation, gateway: Gateway) -> None:
    addresses = ("postmaster", f"Postmaster@{DOMAIN}", f"abuse@{DOMAIN}")
    assert [bring(gateway, MAIL, to)[0] for to in addresses] == [250] * 3
    assert [mail.sender for mail in site.parts.inbox.postmaster_mails()] == ["alice@home.example"] * 3


def test_mail_to_the_operator_is_limited_by_sender_when_it_is_delivered(site: SteppedInstallation) -> None:
    address = f"abuse@{DOMAIN}"
    with open_gateway(site.parts, limits={"mail-postmaster": "2/hour"}) as gateway:
        with smtplib.SMTP("127.0.0.1", gateway.port) as client:
            client.ehlo()
            for _ in range(5):
                client.mail("eve@x.example")
                assert client.rcpt(address)[0] == 250
                client.rset()
        assert [bring(gateway, MAIL, address, "eve@x.example")[0] for _ in range(3)] == [250, 250, 450]
        assert bring(gateway, MAIL, address)[0] == 250


def test_an_address_that_cannot_be_read_is_refused_with_the_form_that_is_wanted(gateway: Gateway) -> None:
    with smtplib.SMTP("127.0.0.1", gateway.port) as client:
        client.ehlo()
        for wrong in ("MAIL FROM:<a@b@c.example>", "RCPT TO:<@play.example>", "RCPT TO:<r-x@play.example.>"):
            client.mail("alice@home.example")
            code, reply = client.docmd(*wrong.split(" ", 1))
            assert (code, reply) == (553, b"5.1.3 This address cannot be read: write it as <name@example.org>"), wrong
            client.rset()


def test_silent_connections_of_many_addresses_do_not_close_the_gateway(
    site: SteppedInstallation, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.mail.gateway.MAX_CONNECTIONS", 5)
    with smtplib.SMTP("127.0.0.1", gateway.port) as busy, ExitStack() as opened:
        busy.ehlo()
        busy.mail("alice@home.example")
        assert busy.rcpt(reply_to(site.parts, "palice"))[0] == 250
        silent = [
            opened.enter_context(socket.create_connection(("127.0.0.1", gateway.port), timeout=30)) for _ in range(4)
        ]
        replies = [connection.makefile("rb") for connection in silent]
        assert [lines.readline()[:3] for lines in replies] == [b"220"] * 4
        assert bring(gateway, MAIL, reply_to(site.parts, "pbob"))[0] == 250
        assert replies[0].read().startswith(b"421 4.3.2"), "the oldest silent one made room"
        assert busy.data(MAIL)[0] == 250


def test_an_unreadable_return_path_is_stored_legibly(site: SteppedInstallation, gateway: Gateway) -> None:
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=30) as connection:
        replies = connection.makefile("rb")
        recipient = f"RCPT TO:<{reply_to(site.parts, 'palice')}>\r\n".encode()
        connection.sendall(b"HELO x\r\nMAIL FROM:<\xff@x.example>\r\n" + recipient * 40 + b"DATA\r\n")
        answers = [replies.readline()[:3] for _ in range(44)]
        assert answers == [b"220", *[b"250"] * 42, b"354"], "named again, a recipient counts once"
        connection.sendall(MAIL + b".\r\n")
        assert replies.readline()[:3] == b"250"
    assert [mail.return_path for mail in site.parts.inbox.recent("palice", 5)] == ["?@x.example"]


def test_too_many_mails_to_one_address_come_again_later(site: SteppedInstallation) -> None:
    address, other = reply_to(site.parts, "palice"), reply_to(site.parts, "pbob")
    with open_gateway(site.parts, limits={"mail-token": "2/hour", "mail-sender": "3/hour"}) as gateway:
        assert [bring(gateway, MAIL, address)[0] for _ in range(3)] == [250, 250, 450]
        assert bring(gateway, MAIL, other)[0] == 250
        assert bring(gateway, MAIL, other) == (450, "4.7.1 Too many mails: try again in an hour")
        assert bring(gateway, MAIL, reply_to(site.parts, "pcarol"), "<>")[0] == 250


def test_mail_waits_for_the_store(site: SteppedInstallation, gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    address = reply_to(site.parts, "palice")

    def fail(*_: object) -> None:
        raise StoreUnavailableError("down")

    with monkeypatch.context() as broken:
        broken.setattr(site.parts.inbox, "add", fail)
        assert bring(gateway, MAIL, address) == (451, "4.3.0 The mail cannot be stored now: try again later")
    with monkeypatch.context() as broken:
        broken.setattr(type(site.parts.addresses), "read", fail)
        assert bring(gateway, MAIL, address)[0] == 451
    assert bring(gateway, MAIL, address)[0] == 250


def test_a_person_with_too_much_mail_to_be_read_gets_more_later(site: SteppedInstallation, gateway: Gateway) -> None:
    address = reply_to(site.parts, "palice")
    with smtplib.SMTP("127.0.0.1", gateway.port) as client:
        replies = []
        for number in range(21):
            client.ehlo_or_helo_if_needed()
            client.mail("alice@home.example")
            client.rcpt(address)
            replies.append(client.data(MAIL.replace(b"<1@", b"<%d@" % number))[0])
    assert replies == [250] * 20 + [452]


def test_the_size_of_a_mail_is_limited(site: SteppedInstallation, gateway: Gateway) -> None:
    address = reply_to(site.parts, "palice")
    with smtplib.SMTP("127.0.0.1", gateway.port) as client:
        client.ehlo()
        assert client.esmtp_features["size"] == str(MAX_MAIL_BYTES)
        assert client.docmd("MAIL", f"FROM:<a@b.example> SIZE={MAX_MAIL_BYTES + 1}")[0] == 552
        client.mail("alice@home.example")
        client.rcpt(address)
        code, reply = client.data(MAIL + (b"x" * 76 + b"\r\n") * (MAX_MAIL_BYTES // 78))
        assert (code, reply[:5]) == (552, b"5.3.4")
        client.mail("alice@home.example")
        client.rcpt(address)
        assert client.data(MAIL + b"x" * 1200)[0] == 550
        client.mail("alice@home.example")
        client.rcpt(address)
        assert client.data(b"X-Line: a\r\n" * 8000 + MAIL)[0] == 552
    assert not site.parts.inbox.work.next_due()


def test_no_second_mail_is_smuggled_behind_an_unusual_end(site: SteppedInstallation, gateway: Gateway) -> None:
    address = reply_to(site.parts, "palice")
    smuggled = f"MAIL FROM:<eve@x.example>\r\nRCPT TO:<{address}>\r\nDATA\r\nFrom: eve@x.example\r\n\r\nresign\r\n"
    for end in (b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r.\r\n", b"\r\n.\r"):
        with smtplib.SMTP("127.0.0.1", gateway.port) as client:
            client.ehlo()
            client.mail("alice@home.example")
            client.rcpt(address)
            client.putcmd("DATA")
            client.getreply()
            client.send(MAIL.rstrip() + end + smuggled.encode() + b".\r\n")
            assert client.getreply()[0] == 550
            assert client.noop()[0] == 250
    assert not site.parts.inbox.work.next_due()


def test_other_input_than_commands_stores_nothing_and_harms_nobody(site: SteppedInstallation, gateway: Gateway) -> None:
    address = turn_address(site, site.start("palice", "pbob")).encode()
    begin = b"EHLO x\r\nMAIL FROM:<alice@home.example>\r\n"
    to = b"RCPT TO:<" + address + b">\r\n"
    last_lines = []
    for junk in (
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\r\n",
        begin.replace(b"alice", b"a" * 100_000),
        begin + b"RCPT TO:<r-x@play.example>\r\n" * 1000,
        begin + to.replace(b"r-a", b"r-a\0") + b"RCPT TO:<r-\xff\xfe@play.example>\r\n",
        begin + to.replace(b"r-a", b"r- a") + b"RCPT TO:<r-" + address[:20] + b">\r\n",
        begin + to + b"RSET\r\nDATA\r\n",
        begin + to + b"EHLO y\r\nDATA\r\n",
        begin + to + b"BDAT 5 LAST\r\nhello\r\n",
        begin + to + b"DATA\r\n" + MAIL,
    ):
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=30) as connection, suppress(OSError):
            connection.sendall(junk)
            connection.shutdown(socket.SHUT_WR)
            last_lines.append(connection.makefile("rb").read().splitlines()[-1])
    assert not site.parts.inbox.work.next_due()
    assert not [line for line in last_lines if line.startswith(b"451")]
    assert bring(gateway, MAIL, address.decode())[0] == 250


def test_nothing_is_relayed_verified_or_authenticated(gateway: Gateway) -> None:
    with smtplib.SMTP("127.0.0.1", gateway.port) as client:
        client.ehlo()
        assert "auth" not in client.esmtp_features
        assert client.vrfy("alice")[0] == 502
        assert client.docmd("EXPN", "alice")[0] == 502
        assert client.docmd("AUTH", "PLAIN AGEAYg==")[0] >= 500
        client.mail("alice@home.example")
        assert client.rcpt("eve@elsewhere.example")[0] == 550
        assert client.docmd("RCPT", f"TO:<@{DOMAIN}:eve@elsewhere.example>")[0] == 550
        assert client.docmd("DATA")[0] == 503


def test_lmtp_takes_one_recipient_at_a_time(site: SteppedInstallation) -> None:
    first, second = reply_to(site.parts, "palice"), reply_to(site.parts, "pbob")
    with open_gateway(site.parts, lmtp=True) as gateway:
        with smtplib.LMTP("127.0.0.1", gateway.port) as client:
            client.ehlo_or_helo_if_needed()
            client.mail("alice@home.example")
            assert client.rcpt(first)[0] == 250
            assert client.rcpt(second) == (452, b"4.5.3 One recipient at a time")
            assert client.data(MAIL)[0] == 250
        assert bring(gateway, MAIL, second)[0] == 250
    assert {mail.player for player in ("palice", "pbob") for mail in site.parts.inbox.recent(player, 5)} == {
        "palice",
        "pbob",
    }


def test_by_smtp_a_mail_may_have_several_recipients(site: SteppedInstallation, gateway: Gateway) -> None:
    addresses = [reply_to(site.parts, player) for player in ("palice", "pbob")]
    with smtplib.SMTP("127.0.0.1", gateway.port) as client:
        refused = client.sendmail("alice@home.example", [*addresses, f"x@{DOMAIN}"], MAIL)
    assert list(refused) == [f"x@{DOMAIN}"]
    assert [len(site.parts.inbox.recent(player, 5)) for player in ("palice", "pbob")] == [1, 1]


def test_starttls_is_offered_where_there_is_a_certificate(site: SteppedInstallation, tmp_path: Path) -> None:
    authority = make_authority(tmp_path)
    address = reply_to(site.parts, "palice")
    with open_gateway(site.parts, tls=authority.server) as gateway, smtplib.SMTP("127.0.0.1", gateway.port) as client:
        client._host = "127.0.0.1"  # type: ignore[attr-defined]
        client.starttls(context=ssl.create_default_context(cafile=str(authority.certificate)))
        client.ehlo()
        assert "auth" not in client.esmtp_features
        assert client.sendmail("alice@home.example", [address], MAIL) == {}


def test_guesses_are_turned_away(site: SteppedInstallation, gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.mail.gateway._is_own", lambda _: False)
    with smtplib.SMTP("127.0.0.1", gateway.port) as client:
        client.ehlo()
        client.mail("eve@x.example")
        replies = [client.rcpt(f"r-{number}@{DOMAIN}")[0] for number in range(MAX_REFUSALS)]
        assert replies == [550] * (MAX_REFUSALS - 1) + [421]
        with pytest.raises(smtplib.SMTPServerDisconnected):
            client.noop()


def test_one_network_may_open_only_some_connections(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.mail.gateway._is_own", lambda _: False)
    opened = []
    try:
        for _ in range(MAX_CONNECTIONS_PER_PEER + 1):
            opened.append(socket.create_connection(("127.0.0.1", gateway.port), timeout=30))
            greeting = opened[-1].recv(100)
        assert greeting.startswith(b"421 4.3.2")
        assert opened[0].send(b"NOOP\r\n")
    finally:
        for connection in opened:
            connection.close()


def test_the_gateway_logs_neither_addresses_nor_tokens(
    redis: StoreClient, site: SteppedInstallation, gateway: Gateway, capfd: pytest.CaptureFixture[str]
) -> None:
    address = reply_to(site.parts, "palice")
    bring(gateway, MAIL, address)
    bring(gateway, MAIL, f"nobody@{DOMAIN}")
    said = "".join(capfd.readouterr())
    assert "accepted" in said
    assert not any(each in said for each in (address.partition("@")[0], "alice@home.example", "nobody"))


def test_the_gateway_is_one_of_the_programs_where_mail_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    started = {
        mail: [program.name for program in programs(Path("var"), Ports(), "127.0.0.1", 1, mail)]
        for mail in (True, False)
    }
    assert started[True] == [*started[False], "gateway"]
    monkeypatch.delenv("ROOKERY_SMTP_URL", raising=False)
    refused = CliRunner().invoke(main, ["gateway"])
    assert refused.exit_code == 1
    assert "ROOKERY_SMTP_URL and ROOKERY_MAIL_DOMAIN" in refused.output


def test_unfinished_mail_is_not_stored(site: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.mail.gateway.TIMEOUT_S", 0.2)
    address = reply_to(site.parts, "palice")
    with open_gateway(site.parts) as gateway, smtplib.SMTP("127.0.0.1", gateway.port, timeout=30) as client:
        client.ehlo()
        client.mail("alice@home.example")
        client.rcpt(address)
        client.docmd("DATA")
        client.send(MAIL)
        with pytest.raises(smtplib.SMTPServerDisconnected):
            client.getreply()
    assert not site.parts.inbox.work.next_due()
