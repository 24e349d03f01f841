"""Matches by mail alone while gateway, relay, workers and server are killed: no mail is lost, none has two effects.

Every player waits for the mail that says that it is their turn, and answers it with a legal move, over SMTP, until the
gateway accepts it. The mailbox that gets the outgoing mail is never killed: what it has acknowledged counts.
"""

import os
import random
import smtplib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from threading import Event
from typing import NamedTuple, TypeVar

from deploy.local.installation import LocalInstallation
from domain.games import find_ruleset
from domain.match.commands import JoinMatch
from domain.match.enums import Channel, Status
from domain.match.events import MoveSubmitted
from domain.match.state import MatchState, Seat
from events.installation import Installation
from events.mail.tokens import MatchToken, TokenError, read_token
from events.notices.addresses import MailAddress
from events.people.person import Person
from events.runtime.errors import StoreError
from events.runtime.wall_clock import now_ms
from events.store.codec import event_of
from events.store.contract import Request, VersionTag
from tests.support.mailbox import Mailbox, open_mailbox
from tests.support.matches import creation

DOMAIN = "play.example"
VICTIMS = ("gateway", "notices", "relay", "server")
POLL_S = 0.05
MAX_WAIT_S = 400.0
"""For a mail that must come: longer than the lease of a dispatch and the delays between hints."""

T = TypeVar("T")

UNANSWERED = (OSError, smtplib.SMTPException)


class Sent(NamedTuple):
    """A mail with a move that the gateway has accepted."""

    match_id: str
    version: int
    message_id: str


class MailReport(NamedTuple):
    """The result of a run; ``faults`` must be empty."""

    kills: dict[str, int]
    sent: int
    answers: int
    notices: int
    repeated: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        """Return the counts, one per line."""
        kills = ", ".join(f"{name} {count}" for name, count in sorted(self.kills.items()))
        return "\n".join(
            (
                f"kills                        {sum(self.kills.values())} ({kills})",
                f"mails accepted with a move   {self.sent}",
                f"answers                      {self.answers}",
                f"notices of a turn            {self.notices}",
                f"same mail delivered again    {self.repeated} (one Message-ID: no two mails)",
                f"lost or doubled              {len(self.faults)}",
            )
        )


class Turn(NamedTuple):
    """Whose turn it is, at which board."""

    player: str
    tag: VersionTag
    state: MatchState


class Couple:
    """Two people who play one match by mail, each answer after the mail that says that it is their turn."""

    def __init__(self, parts: Installation, mailbox: Mailbox, port: int, number: int, seed: int) -> None:
        self.sent: list[Sent] = []
        self.missing: list[str] = []
        self.match_id = f"mail{number}"
        self._parts, self._mailbox, self._port = parts, mailbox, port
        self._chance = random.Random(f"{seed}/{number}")
        self._mails = 0
        players = [f"p{name}{number}" for name in ("anna", "boris")]
        for player in players:
            parts.people._keep(Person(player, player[1:], "person", now_ms()), "")
            address = MailAddress(address=address_of(player), confirmed_at=now_ms())
            parts.addresses.change(player, lambda _, address=address: address)  # type: ignore[misc]
            parts.preferences.change(player, lambda stored: replace(stored, quiet=None))
        create = creation(
            Seat.taken(players[0]),
            Seat.invited(players[1]),
            match_id=self.match_id,
            creator=players[0],
            game="towers",
            setup="two-player",
        )
        parts.match_service.execute(self.match_id, create, players[0], Request("create", ""))
        parts.match_service.execute(self.match_id, JoinMatch(player=players[1]), players[1], Request("join", ""))

    def play(self, stop: Event) -> None:
        """Play until ``stop`` is set or the match is over."""
        while not stop.is_set():
            turn = self._turn()
            if turn is None:
                return
            address = self._reply_address(turn)
            if address is None:
                self.missing.append(f"{self.match_id}: no mail about the turn at {turn.tag}")
                return
            self._send(turn, address)
            if not _waits(lambda turn=turn: self._turn_after(turn)):  # type: ignore[misc]
                self.missing.append(f"{self.match_id}: the move to {turn.tag} was not played")
                return

    def _turn(self) -> Turn | None:
        state, tag = _insisting(lambda: self._look())
        if state.status != Status.PLAYING:
            return None
        game = find_ruleset(state.game, state.ruleset)
        player = state.seats[game.to_move(state.play.position)].player
        assert player is not None
        return Turn(player, tag, state)

    def _look(self) -> tuple[MatchState, VersionTag]:
        loaded = self._parts.matches.load(self.match_id)
        return loaded.state, loaded.head.tag

    def _turn_after(self, turn: Turn) -> bool:
        return _insisting(lambda: self._look())[1] != turn.tag

    def _reply_address(self, turn: Turn) -> str | None:
        """Wait for the mail about ``turn``; return the address to answer to."""

        def look() -> str | None:
            for message in self._mailbox.messages_to(address_of(turn.player)):
                address = reply_to(message)
                if address and tag_in(address) == turn.tag and message["Auto-Submitted"] == "auto-generated":
                    return address
            return None

        return _waits(look)

    def _send(self, turn: Turn, address: str) -> None:
        game = find_ruleset(turn.state.game, turn.state.ruleset)
        legal = sorted(
            game.format_move(turn.state.play.position, each) for each in game.legal_moves(turn.state.play.position)
        )
        self._mails += 1
        message = EmailMessage()
        message["From"] = address_of(turn.player)
        message["Message-ID"] = f"<{self.match_id}.{self._mails}@home.example>"
        message.set_content(self._chance.choice(legal))
        end = time.monotonic() + MAX_WAIT_S
        while time.monotonic() < end:
            try:
                with smtplib.SMTP("127.0.0.1", self._port, timeout=20) as client:
                    client.send_message(message, message["From"], [address])
            except UNANSWERED:
                time.sleep(POLL_S * 4)
                continue
            self.sent.append(Sent(self.match_id, turn.tag.version, message["Message-ID"]))
            return
        self.missing.append(f"{self.match_id}: the gateway has not accepted {message['Message-ID']}")


def run_mail(
    var: Path, couples: int, kills: int, seconds: float, seed: int, print_line: Callable[[str], None]
) -> MailReport:
    """Let ``couples`` play by mail and kill ``kills`` times within about ``seconds``; then check every mail."""
    with open_mailbox() as mailbox, _mail_set(mailbox), LocalInstallation(var, opponents=1, embedded=True) as running:
        parts = Installation(running.settings)
        people = [Couple(parts, mailbox, running.ports.mail, number, seed) for number in range(couples)]
        stop, killed, chance = Event(), Counter[str](), random.Random(seed)
        with ThreadPoolExecutor(couples) as pool:
            playing = [pool.submit(couple.play, stop) for couple in people]
            for number in range(kills):
                time.sleep(seconds / kills * chance.uniform(0.5, 1.5))
                victim = VICTIMS[number % len(VICTIMS)]
                killed[victim] += running.supervisor.kill(victim)
                print_line(f"killed {victim}; {sum(len(couple.sent) for couple in people)} mails accepted")
            print_line("all kills are done; what has been accepted must be answered")
            stop.set()
            for future in playing:
                future.result()
        sent = [mail for couple in people for mail in couple.sent]
        _waits(lambda: len(answers(mailbox)) >= len(sent))
        faults = [missing for couple in people for missing in couple.missing]
        return _check(parts, mailbox, sent, faults, dict(killed))


def _check(
    parts: Installation, mailbox: Mailbox, sent: list[Sent], faults: list[str], killed: dict[str, int]
) -> MailReport:
    answered = answers(mailbox)
    for mail in sent:
        found = answered.get(mail.message_id, set())
        if len(found) != 1:
            faults.append(f"{mail.message_id} has {len(found)} answers")
    for unknown in set(answered) - {mail.message_id for mail in sent}:
        faults.append(f"{unknown} was answered and never accepted")
    played = Counter(mail.match_id for mail in sent)
    for match_id, count in played.items():
        events = [event_of(event) for event in parts.store.read(match_id)]
        moves = sum(isinstance(event, MoveSubmitted) and event.channel == Channel.MAIL for event in events)
        if moves != count:
            faults.append(f"{match_id} has {moves} moves by mail, of {count} that were accepted")
    turns = notices(mailbox)
    faults += [f"{len(ids)} mails tell of the turn at {tag}" for tag, ids in turns.items() if len(ids) != 1]
    ids = [str(mail.message["Message-ID"]) for mail in mailbox.received]
    return MailReport(
        kills=killed,
        sent=len(sent),
        answers=sum(map(len, answered.values())),
        notices=sum(map(len, turns.values())),
        repeated=len(ids) - len(set(ids)),
        faults=tuple(faults),
    )


def answers(mailbox: Mailbox) -> dict[str, set[str]]:
    """Return the Message-IDs of the answers that the mailbox has got, by the Message-ID that they answer."""
    found: dict[str, set[str]] = {}
    for mail in list(mailbox.received):
        if mail.message["Auto-Submitted"] == "auto-replied":
            found.setdefault(str(mail.message["In-Reply-To"]), set()).add(str(mail.message["Message-ID"]))
    return found


def notices(mailbox: Mailbox) -> dict[str, set[str]]:
    """Return the Message-IDs of the mails about a turn, by match and version."""
    found: dict[str, set[str]] = {}
    for mail in list(mailbox.received):
        address = reply_to(mail.message)
        if address and mail.message["Auto-Submitted"] == "auto-generated":
            found.setdefault(address, set()).add(str(mail.message["Message-ID"]))
    return found


def address_of(player: str) -> str:
    """Return the mail address of ``player``."""
    return f"{player[1:]}@home.example"


def reply_to(message: EmailMessage) -> str | None:
    """Return the address that answers to ``message`` go to, None when it names none."""
    header = message["Reply-To"]
    return None if header is None else str(header.addresses[0].addr_spec)


def tag_in(address: str) -> VersionTag | None:
    """Return the version tag in the token of ``address``, None when it has none."""
    try:
        token = read_token(address.partition("@")[0][2:])
    except TokenError:
        return None
    return token.tag if isinstance(token, MatchToken) else None


@contextmanager
def _mail_set(mailbox: Mailbox) -> Iterator[None]:
    """Name ``mailbox`` in the environment as the server that takes outgoing mail."""
    wanted = {"ROOKERY_SMTP_URL": mailbox.url, "ROOKERY_MAIL_DOMAIN": DOMAIN}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _insisting(look: Callable[[], T]) -> T:
    """Return what ``look`` returns, however long the store is away."""
    end = time.monotonic() + MAX_WAIT_S
    while True:
        try:
            return look()
        except StoreError:
            if time.monotonic() > end:
                raise
            time.sleep(POLL_S)


def _waits(look: Callable[[], T]) -> T | None:
    """Return what ``look`` returns once it is true, None when that takes longer than MAX_WAIT_S."""
    end = time.monotonic() + MAX_WAIT_S
    while time.monotonic() < end:
        if seen := look():
            return seen
        time.sleep(POLL_S)
    return None
