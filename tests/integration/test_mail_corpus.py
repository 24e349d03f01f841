"""The corpus: mails of the shapes that real mail programs send, each with its one right outcome.

``tests/mail/outcomes.txt`` has a line for each file there: what became of the mail, or of each of its lines. The mails
answer a mail to alice, who is to move in a match that has just begun, of the game that begins the name of the file.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from domain.games import GAMES
from events.notify.addresses import MailAddress
from events.notify.mail.admission import AdmissionRules, admit
from events.notify.mail.body import MAX_READ_BYTES, read_body
from events.notify.mail.execution import STALE, execute_commands
from events.notify.mail.language import read_commands
from events.notify.mail.match_words import moves_of
from events.notify.mail.recipients import NoSuchAddressError, Recipients, WorthlessAddressError
from events.notify.mail.tokens import MatchToken, TokenKind, read_token, write_token
from events.notify.mail.transcript import MailReport, write_answer
from events.notify.notice import WhoMayWrite
from events.people.person import Person
from events.store.contract import VersionTag
from tests.support.quoting import lines_that_act
from tests.support.stepped_installation import SteppedInstallation
from workers.composition import make_match_reader

CORPUS = Path(__file__).parents[1] / "mail"
OUTCOMES = {
    name.strip(): outcome.strip()
    for name, _, outcome in (line.partition(" | ") for line in (CORPUS / "outcomes.txt").read_text().splitlines())
}
DOMAIN = "mail.rookery.test"
ALICE = "alice@home.example"
SECRETS = {"alice": b"the secret of alice.", "bob": b"the secret of bob...", "nobody": b"the secret of a forger"}


@pytest.fixture(scope="module")
def names() -> set[str]:
    return {path.stem for path in CORPUS.glob("*.eml")}


def content_of(name: str) -> bytes:
    return (CORPUS / f"{name}.eml").read_bytes().replace(b"\n", b"\r\n")


class Post:
    """The matches that the mails of the corpus are about, and what becomes of a mail."""

    def __init__(self, shop: SteppedInstallation) -> None:
        self.shop, self.parts = shop, shop.parts
        self._has_address("alice", ALICE)
        self._has_address("bob", "bob@home.example")

    def _has_address(self, player: str, address: str) -> None:
        stored = MailAddress(address=address, secret=SECRETS[player].hex())
        self.parts.addresses.change(player, lambda _: stored)

    def start(self, name: str) -> str:
        """Start the match that the mail ``name`` is about."""
        game = next((each for each in sorted(GAMES, reverse=True) if name.startswith(f"{each}-")), "bashni")
        setup = "draft" if "draft" in name else next(iter(GAMES[game].setups))
        seats = len(GAMES[game].setups[setup].seat_names)
        return self.shop.start(*("alice", "bob", "rita", "blue")[:seats], game=game, setup=setup)

    def address(self, content: bytes, match: str) -> tuple[str, bytes]:
        """Return the local part that the mail is written to, and the mail with it in place of the word for it."""
        head = self.shop.matches.load(match).head
        token = MatchToken(kind=TokenKind.REPLY, match_id=match, seat=0, tag=head.tag)
        own = write_token(token, SECRETS["alice"])
        texts = {
            "TOKEN": own, "CAPITALS": own.upper(), "SHORT": own[:-2], "FORGED": write_token(token, SECRETS["nobody"]),
            "OTHER": write_token(replace(token, seat=1), SECRETS["bob"]),
            "STALE": write_token(replace(token, tag=VersionTag(1, head.tag.digest)), SECRETS["alice"]),
        }  # fmt: skip
        for word, text in texts.items():
            if f"-{word}@".encode() in content:
                return f"r-{text}", content.replace(f"-{word}@".encode(), f"-{text}@".encode())
        raise AssertionError("the mail is written to nobody")

    def outcome(self, name: str, content: bytes) -> str:
        """Return what becomes of the mail ``name``, in the words of the table."""
        match = self.start(name)
        version = self.shop.state(match).version
        local_part, content = self.address(content, match)
        found = self._outcome(match, local_part, content)
        changed = self.shop.state(match).version != version
        assert changed == any(word in found for word in (": played", "draw: done")), name
        return found

    def _outcome(self, match: str, local_part: str, content: bytes) -> str:
        try:
            recipient = Recipients(self.parts.matches, self.parts.addresses).find(local_part, self.shop.now)
        except NoSuchAddressError:
            return "no such address"
        except WorthlessAddressError:
            return "worthless address"
        rules = AdmissionRules(
            address=self.parts.addresses.read(recipient.player).address,
            who_may_write=WhoMayWrite.TOKEN_AND_FROM,
            domain=DOMAIN,
            authserv_id=None,
        )
        admission = admit(content, ALICE, rules)
        if admission.verdict is not None:
            return admission.verdict
        body = read_body(content)
        if body.fault:
            return "unreadable"
        moves = moves_of(self.shop.state(match))
        token = read_token(recipient.local_part[2:])
        assert isinstance(token, MatchToken)
        person = Person(recipient.player, recipient.player, "person", 0)
        mail = f"digest of {match}"
        report = execute_commands(self.parts, read_commands(body.lines, moves), token, person, mail)
        shown = self.parts.matches.load(match)
        view = make_match_reader(self.parts).view(shown, token.seat, "UTC", self.parts.now())
        _, text = write_answer(report, view)
        assert lines_that_act(text, moves) == []
        assert "victim" not in text, "what a header has injected"
        return in_table(report)


def in_table(report: MailReport) -> str:
    if not report.results:
        return "gave up" if report.gave_up else "no command"
    shown = [f"{each.line}: {each.effect}{' as stale' if each.words == STALE else ''}" for each in report.results]
    return "; ".join([*shown, "gave up"] if report.gave_up else shown)


def test_every_mail_of_the_corpus_has_its_one_right_outcome(shop: SteppedInstallation, names: set[str]) -> None:
    assert names == set(OUTCOMES)
    assert len(names) >= 60
    post = Post(shop)
    found = {name: post.outcome(name, content_of(name)) for name in sorted(names)}
    wrong = [f"{name}: {outcome!r}, not {OUTCOMES[name]!r}" for name, outcome in found.items()]
    assert [line for line, name in zip(wrong, found, strict=True) if found[name] != OUTCOMES[name]] == []


def test_a_long_mail_is_read_at_its_top(shop: SteppedInstallation) -> None:
    content = content_of("no-mime-headers") + b"resign\r\n" * (MAX_READ_BYTES // 8)
    assert Post(shop).outcome("long", content).startswith("a3-b4: played; resign: shown")
