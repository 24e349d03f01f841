"""Sends mail: composes it, hands it to the mail server, and judges the answer."""

import hashlib
import re
from typing import NamedTuple

import structlog

from events.notify.addresses import HARD_SCORE, SOFT_SCORE, AddressStore, with_bounce, with_problem
from events.notify.letters import LetterKind
from events.notify.mail.bounces import is_hard
from events.notify.mail.messages import Outgoing
from events.notify.notice import DeliveryState
from events.notify.outbox import Dispatch, Outbox
from workers.notices.mail_composer import MailComposer, Unsendable
from workers.notices.senders import SendOutcome
from workers.notices.smtp import Reply, SmtpServer, Stage

_BEGUN = "begun "
"""Before the Message-ID of an attempt of which nobody knows how it ended."""

_ACCEPTED = "accepted "
"""Before the words with which the server has accepted the mail."""

_ADDRESS = re.compile(r"[^\s<>]+@[^\s<>]+")
"""Addresses, some of them with tokens, which servers repeat in their answers and logs must not have."""

log = structlog.get_logger("mail")


class MailSender(NamedTuple):
    """Sends mail."""

    composer: MailComposer
    addresses: AddressStore
    outbox: Outbox
    server: SmtpServer

    def send(self, dispatch: Dispatch, now: int) -> SendOutcome:
        """Send ``dispatch`` and return its outcome; raises StoreError.

        Crash-safe: recorded before the content is sent and right after it was accepted. A kill in between has it sent
        once more under the same Message-ID, and the ledger says so.
        """
        if dispatch.progress.startswith(_ACCEPTED):
            return SendOutcome(DeliveryState.SENT, _accepted(dispatch.progress.removeprefix(_ACCEPTED), again=False))
        mail = self.composer.compose(dispatch, now)
        if isinstance(mail, Unsendable):
            outcome = SendOutcome(DeliveryState.NOT_SENT, mail.reason)
            self._tell_of_confirmation(dispatch, outcome)
            return outcome
        if earlier := dispatch.progress.removeprefix(_BEGUN):
            mail.message.replace_header("Message-ID", earlier)
        reply = self.server.deliver(
            mail, lambda: self.outbox.record_progress(dispatch, _BEGUN + str(mail.message["Message-ID"]))
        )
        outcome = self._outcome(dispatch, mail, reply, bool(earlier), now)
        self._tell_of_confirmation(dispatch, outcome)
        return outcome

    def _outcome(self, dispatch: Dispatch, mail: Outgoing, reply: Reply, again: bool, now: int) -> SendOutcome:
        if reply.stage == Stage.CONTENT and 200 <= reply.code < 300:
            self.outbox.record_progress(dispatch, _ACCEPTED + reply.text)
            return SendOutcome(DeliveryState.SENT, _accepted(reply.text, again))
        if reply.stage == Stage.CONTENT and reply.code and not again:
            self.outbox.record_progress(dispatch, "")
        return self._judge(dispatch, mail, reply, now)

    def _tell_of_confirmation(self, dispatch: Dispatch, outcome: SendOutcome) -> None:
        """Let the person see the outcome of the mail that asks to confirm an address: no ledger has it."""
        letter = dispatch.letter
        if letter is not None and letter.kind == LetterKind.CONFIRMATION:
            problem = None if outcome.state == DeliveryState.SENT else outcome.reason
            self.addresses.change(dispatch.player, lambda stored: with_problem(stored, letter.to, problem))

    def _judge(self, dispatch: Dispatch, mail: Outgoing, reply: Reply, now: int) -> SendOutcome:
        """Return the outcome of the answer of a server that has not accepted a mail."""
        permanent = 500 <= reply.code < 600
        if permanent and reply.stage in (Stage.RECIPIENT, Stage.CONTENT):
            self._count_bounce(dispatch, mail, reply, now)
            return SendOutcome(DeliveryState.FAILED, f"The mail server refused the mail: {reply.text}")
        if permanent or (reply.stage == Stage.CONNECTION and not reply.code):
            # It would refuse every mail, or is not there: for the operator, who can mend it, to know.
            log.error("the mail server takes no mail", stage=reply.stage, answer=_ADDRESS.sub("<...>", reply.text))
            return SendOutcome(
                DeliveryState.WAITING, f"The mail server of this installation takes no mail now: {reply.text}"
            )
        return SendOutcome(DeliveryState.WAITING, f"The mail server has not accepted the mail yet: {reply.text}")

    def _count_bounce(self, dispatch: Dispatch, mail: Outgoing, reply: Reply, now: int) -> None:
        """Count a refusal for the confirmed address of the player; one of any other address counts for nobody."""
        hard = reply.stage == Stage.RECIPIENT and (is_hard(reply.text) or reply.text.startswith("550 "))
        score = HARD_SCORE if hard else SOFT_SCORE
        bounce = hashlib.sha256(f"{dispatch.id} {dispatch.first_at}".encode()).hexdigest()[:16]
        stored = self.addresses.read(dispatch.player)
        if stored.address == mail.recipient:
            self.addresses.change(dispatch.player, lambda before: with_bounce(before, bounce, score, reply.text, now))


def _accepted(answer: str, again: bool) -> str:
    sentence = f"The mail server has accepted it: {answer}"
    if not again:
        return sentence
    return (
        f"{sentence} An earlier attempt broke off without an answer, so that it may arrive twice; both copies have the "
        "same Message-ID."
    )
