"""Reading the mail that has arrived: one mail after the other is claimed, admitted, carried out, answered once.

Crash-safe: every effect has a name that follows from the mail's digest: each command a request key, the answer a
dispatch id; the verdict on the mail is recorded last.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from events.notify.addresses import AddressStore, stopped
from events.notify.inbox import MAX_REFUSALS, Inbox, ReceivedMail, Taken, Verdict
from events.notify.letters import LetterKind, letter_dispatch
from events.notify.mail.admission import AdmissionRules, admit, header, read_headers
from events.notify.mail.body import read_body
from events.notify.mail.bounces import record_bounce
from events.notify.mail.language import MARKER, NO_MOVES, Reading, read_commands
from events.notify.mail.match_words import moves_of
from events.notify.mail.notice_text import wrap
from events.notify.mail.recipients import NoSuchAddressError, Recipient, Recipients, WorthlessAddressError
from events.notify.mail.tokens import MatchToken, Token, TokenKind, read_token
from events.notify.mail.transcript import Effect, MailReport, write_answer
from events.notify.outbox import Letter, Outbox
from events.people.availability import AvailabilityStore
from events.people.person import Person
from events.runtime import beats
from events.runtime.errors import StoreUnavailableError
from events.runtime.settings import MailSettings
from workers.notices.match_reader import MatchReader

MAX_ATTEMPTS = 5
"""So often a mail is read at which the reader itself fails; then its writer is told."""

MAX_PER_HINT = 50
ANSWER = "answer"
"""The kind of letters that answer a mail; begins the ids of their dispatches."""

LAST_REFUSAL = wrap(
    "This is the last answer of this kind within an hour: until then, further mail like this is not answered. The "
    "settings of notices list your last mails and what became of them."
)

_MESSAGE_ID = re.compile(r"<[^<>\s]{1,250}>")

log = structlog.get_logger("notices")


@dataclass(frozen=True, slots=True, kw_only=True)
class MailOutcome:
    """The outcome of a mail: the verdict with its reason, and the answer (subject and text), None for none.

    Of answers that ``only_refuses`` a few are sent in an hour; in answer to one that ``asks_to_confirm`` a resignation
    is done. ``about`` is match, seat and the version tag shown; ``receipt`` is attached.
    """

    verdict: Verdict
    reason: str
    answer: tuple[str, str] | None = None
    only_refuses: bool = False
    asks_to_confirm: bool = False
    about: MatchToken | None = None
    receipt: str = ""


class MailReader:
    """Reads the incoming mail of an installation; ``execute`` carries out the commands (None: about no match)."""

    def __init__(
        self,
        settings: MailSettings,
        inbox: Inbox,
        outbox: Outbox,
        addresses: AddressStore,
        availability: AvailabilityStore,
        matches: MatchReader,
        execute: Callable[[Reading, MatchToken | None, Person, str], MailReport],
        now: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._inbox = inbox
        self._outbox = outbox
        self._addresses = addresses
        self._availability = availability
        self._matches = matches
        self._execute = execute
        self._now = now
        self._recipients = Recipients(matches.matches, addresses)

    def read_due(self) -> int:
        """Read up to MAX_PER_HINT mails that are due; return how many."""
        count = 0
        while count < MAX_PER_HINT and (taken := self._inbox.take()) is not None:
            beats.beat()
            self.read(taken)
            count += 1
        return count

    def read(self, taken: Taken) -> None:
        """Read a mail that was taken, answer it and record its outcome."""
        mail = taken.mail
        try:
            outcome = self._outcome(taken)
        except StoreUnavailableError:
            raise
        except Exception:
            # A damaged match too: its mail must not keep others from being read, and its writer is told in the end.
            log.exception("a mail cannot be read", mail=mail.digest, attempt=taken.attempt)
            if taken.attempt < MAX_ATTEMPTS:
                return
            outcome = _failed()
        answered, reason = self._answer(mail, taken.content, outcome), outcome.reason
        if outcome.only_refuses and not answered:
            reason += f" It was not answered: {MAX_REFUSALS} answers of this kind were sent within the hour."
        self._inbox.finish(taken, outcome.verdict, reason, answered=answered)
        log.info("mail read", mail=mail.digest, player=mail.player, verdict=outcome.verdict, answered=answered)

    def _outcome(self, taken: Taken) -> MailOutcome:
        mail, content = taken.mail, taken.content
        try:
            recipient = self._recipients.find(mail.recipient, mail.at)
        except (NoSuchAddressError, WorthlessAddressError):
            return MailOutcome(verdict=Verdict.NOT_ALLOWED, reason="Its address has become invalid before it was read.")
        if recipient.token.kind is TokenKind.BOUNCE:
            return self._take_bounce(mail, content)
        stored = self._addresses.read(mail.player)
        rules = AdmissionRules(
            address=stored.address,
            who_may_write=stored.who_may_write,
            domain=self._settings.domain,
            authserv_id=self._settings.authserv_id,
        )
        admission = admit(content, mail.return_path, rules)
        if recipient.token.kind is TokenKind.UNSUBSCRIBE and admission.verdict is not Verdict.LOOP:
            # Mail programs write it by themselves. The token is enough, as it is for the link beside it.
            self._addresses.change(mail.player, lambda before: stopped(before, self._now()))
            return MailOutcome(verdict=Verdict.UNSUBSCRIBED, reason="It turned notices by mail off.")
        if admission.verdict is Verdict.NOT_ALLOWED and stored.address is not None:
            answer = _not_allowed(mail, admission.reason)
            return MailOutcome(verdict=admission.verdict, reason=admission.reason, answer=answer, only_refuses=True)
        if admission.verdict is not None:
            return MailOutcome(verdict=admission.verdict, reason=admission.reason)
        if mail.repeats:
            return _repeated(recipient.token)
        person = self._matches.people.person(mail.player)
        if person is None:
            return MailOutcome(verdict=Verdict.NOT_ALLOWED, reason="The account has been erased.")
        return self._carry_out(mail, content, recipient, person)

    def _carry_out(self, mail: ReceivedMail, content: bytes, recipient: Recipient, person: Person) -> MailOutcome:
        token, body = recipient.token, read_body(content)
        about, view = None, None
        if isinstance(token, MatchToken):
            moves = moves_of(self._matches.matches.load(token.match_id).state)
            report = self._execute(read_commands(body.lines, moves), token, person, mail.digest)
            loaded = self._matches.matches.load(token.match_id)
            # Of the match that is shown: an answer to a board that has changed since is refused.
            about = replace(token, tag=loaded.head.tag)
            view = self._matches.view(
                loaded, token.seat, self._availability.read([person.id])[person.id].zone, self._now()
            )
        else:
            report = self._execute(read_commands(body.lines, NO_MOVES), None, person, mail.digest)
        if body.fault and not report.results:
            report = replace(report, remark=f"{_sentence(body.fault)} Nothing was done.")
        answer = write_answer(report, view)
        return MailOutcome(
            verdict=Verdict.READ,
            reason=_sentence(answer[0]),
            answer=answer,
            only_refuses=_is_empty(report),
            asks_to_confirm=report.asks_to_confirm,
            about=about,
            receipt=report.receipt,
        )

    def _answer(self, mail: ReceivedMail, content: bytes, outcome: MailOutcome) -> bool:
        address = self._addresses.read(mail.player).address
        if outcome.answer is None or address is None:
            return False
        (subject, text), about = outcome.answer, outcome.about
        if outcome.only_refuses:
            token = read_token(mail.recipient[2:])
            match_id = token.match_id if isinstance(token, MatchToken) else ""
            number = self._inbox.count_refusal(mail, match_id)
            if number > MAX_REFUSALS:
                return False
            if number == MAX_REFUSALS:
                first, _, rest = text.partition("\n\n")
                text = f"{first}\n\n{LAST_REFUSAL}\n\n{rest}"
        message_id = header(read_headers(content), "Message-ID")
        letter = Letter(
            to=address,
            subject=subject,
            text=text,
            match=None if about is None else about.match_id,
            seat=None if about is None else about.seat,
            tag=None if about is None else str(about.tag),
            in_reply_to=message_id if _MESSAGE_ID.fullmatch(message_id) else None,
            automatic=True,
            kind=LetterKind.CONFIRM_RESIGNATION if outcome.asks_to_confirm else ANSWER,
            receipt=outcome.receipt,
        )
        self._outbox.add(letter_dispatch(f"{ANSWER}:{mail.digest}", mail.player, letter, self._now()))
        return True

    def _take_bounce(self, mail: ReceivedMail, content: bytes) -> MailOutcome:
        counted = record_bounce(self._addresses, mail.player, content, self._now())
        return MailOutcome(verdict=Verdict.BOUNCE, reason=counted)


def _is_empty(report: MailReport) -> bool:
    """Tell whether nothing in the mail was a command: two programs could send each other such answers without end."""
    return all(result.effect is Effect.UNKNOWN for result in report.results)


def _not_allowed(mail: ReceivedMail, reason: str) -> tuple[str, str]:
    sender = mail.sender or "an address that cannot be read"
    text = (
        f"Rookery has received a mail from {sender} to an address that only you know.\n\n{reason} Nothing was done.\n\n"
        "If it was yours, send it from the confirmed address of your account, or change that address in your settings. "
        "If it was not, somebody may have read one of your mails: make all addresses in old mail worthless there.\n"
    )
    return "A mail in your name was not accepted", text


def _repeated(token: Token) -> MailOutcome:
    reason = "A mail with the same Message-ID and another text came before it: only that one was read."
    text = f"{MARKER}\n\n{wrap(f'{reason} Send what you wrote in a new answer.')}\n"
    about = token if isinstance(token, MatchToken) else None
    answer = ("Your mail was not read", text)
    return MailOutcome(verdict=Verdict.REPEATED, reason=reason, answer=answer, only_refuses=True, about=about)


def _failed() -> MailOutcome:
    text = (
        "Your mail could not be read because of a fault of this server. Some of its commands may have been carried "
        "out: look at the match on its page, and do there what is left to do.\n"
    )
    return MailOutcome(
        verdict=Verdict.FAILED,
        reason="It could not be read because of a fault of this server.",
        answer=("Your mail could not be read", text),
    )


def _sentence(subject: str) -> str:
    return f"{subject[:1].upper()}{subject[1:]}{'' if subject.endswith('.') else '.'}"
