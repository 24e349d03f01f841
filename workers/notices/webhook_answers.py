"""The answers of receivers of webhooks: moves and agreements, done at once in the matches of the webhooks."""

import hashlib
from typing import NamedTuple

from domain.match.commands import Command, JoinMatch
from domain.match.refusals import CommandError
from domain.match.state import MatchState
from events.matches.bot_admission import BeyondCapacityError, BotAdmission
from events.matches.match_service import MatchService
from events.matches.matches import UnknownMatchError
from events.notify.addresses import AddressStore
from events.notify.endpoints import Endpoint
from events.notify.facts import turn_of
from events.notify.letters import letter_dispatch
from events.notify.notice import DeliveryState, Notice, NoticeChannel, Timing
from events.notify.outbox import Dispatch, Letter, Outbox, Purpose
from events.notify.policy import NEEDS_ANSWER
from events.notify.preferences import PreferencesStore
from events.notify.webhooks.answers import AnswerError, BotAnswer, command_for, read_answer
from events.notify.webhooks.payload import WebhookStanding
from events.people.accounts import People
from events.people.blocks import Blocks
from events.people.person import Person
from events.runtime.egress import EgressResponse
from events.runtime.wall_clock import rfc3339
from events.store.contract import Request, RequestMismatchError, StaleVersionError
from workers.notices.decide import Decider

STATUS_WITH_ANSWER = 200
"""Of 201, 202 and 204 the body is not read: a receiver that acts by the API says one of these."""


class _RefusedError(Exception):
    pass


class BotAnswers(NamedTuple):
    """Carries out the answers of receivers."""

    people: People
    blocks: Blocks
    bot_admission: BotAdmission
    match_service: MatchService
    decider: Decider

    def carry_out(self, notice: Notice, standing: WebhookStanding, answer: EgressResponse) -> str:
        """Carry out the answer to the webhook about ``notice``; return that as a sentence, empty for nothing."""
        if answer.status != STATUS_WITH_ANSWER:
            return ""
        if not answer.is_complete:
            return " Its answer is too long to be read."
        try:
            wanted = read_answer(notice.kind, answer.body)
            if wanted is None:
                return ""
            self._execute(notice, standing, wanted)
        except (AnswerError, CommandError, BeyondCapacityError, _RefusedError) as refusal:
            return f" What it answered was not done: {str(refusal).rstrip('.')}."
        except StaleVersionError:
            return " What it answered was not done: the match has moved on since the webhook was sent."
        except RequestMismatchError:
            return " What it answered was not done: it has answered this webhook before, and otherwise."
        except UnknownMatchError:
            return " What it answered was not done: the match is not there any more."
        return f" Its answer was carried out: {_words(wanted)}."

    def _execute(self, notice: Notice, standing: WebhookStanding, wanted: BotAnswer) -> None:
        player = self.people.person(notice.player)
        if player is None:
            raise _RefusedError("there is no such account any more")
        suspension = self.people.suspension(player)
        if suspension is not None:
            until = "" if suspension.until is None else f" until {rfc3339(suspension.until)}"
            raise _RefusedError(f"the account is suspended{until}: {suspension.reason}")
        if wanted.version != standing.tag.version:
            raise _RefusedError(f"it is about version {wanted.version}, the webhook was about {standing.tag.version}")
        command = command_for(wanted, standing.state, player.id, notice.fact)
        if isinstance(command, JoinMatch):
            self._join(notice, standing, wanted, command, player)
        else:
            self._append(notice, standing, wanted, command)

    def _join(
        self, notice: Notice, standing: WebhookStanding, wanted: BotAnswer, command: JoinMatch, player: Person
    ) -> None:
        state = standing.state
        others = [seat.player for seat in state.seats if seat.player is not None and seat.level is None]
        if self.blocks.blocking([*others, state.creator], command.player):
            raise _RefusedError("a player of this match has blocked you")
        with self.bot_admission.joining_place(state, player):
            joined = self._append(notice, standing, wanted, command)
        turn = turn_of(joined)
        if turn is not None and command.player in turn.players:
            # A person who starts a match knows of the first turn; a receiver that has only said yes does not. After a
            # kill before this the reminder is the next webhook.
            self.decider.tell(turn)

    def _append(self, notice: Notice, standing: WebhookStanding, wanted: BotAnswer, command: Command) -> MatchState:
        # Crash-safe: the request key follows from the webhook. When a worker is killed after this, and the receiver is
        # asked again and answers the same, nothing more happens.
        fingerprint = hashlib.sha256(repr(wanted).encode()).hexdigest()

        executed = self.match_service.execute(
            standing.state.match_id,
            command,
            notice.player,
            Request(f"webhook:{notice.id}", fingerprint),
            standing.tag,
            may_see=lambda state: state.has_part(notice.player),
        )
        return executed.state


def _words(wanted: BotAnswer) -> str:
    moves = ", ".join(wanted.moves)
    return " ".join((wanted.verb, moves if len(moves) <= 100 else f"{moves[:97]}...")).strip()


TOLD = (DeliveryState.SENT, DeliveryState.WAITING)


class Fallback(NamedTuple):
    """Sends people by mail, where this server ``sends_mail``, the notices that their webhooks did not take."""

    preferences: PreferencesStore
    outbox: Outbox
    addresses: AddressStore
    page_url: str
    sends_mail: bool

    def tell_by_mail(self, notice: Notice | None, now: int) -> str:
        """Have ``notice`` sent by mail once, if it needs an answer whatever is set; return that as a sentence."""
        if notice is None or any(
            delivery.channel == NoticeChannel.MAIL and delivery.state in TOLD for delivery in notice.deliveries
        ):
            return ""
        is_unwanted = self.preferences.read(notice.player).mail[notice.kind] == Timing.NEVER
        needs_answer = notice.kind in NEEDS_ANSWER
        if is_unwanted and not needs_answer:
            return ""
        if self._address(notice.player) is None:
            return " It cannot be sent by mail instead."
        # Crash-safe: the id is that of the notice by mail. Added before, sent or not, it is not added again.
        added = self.outbox.add(
            Dispatch(
                id=f"{notice.id}:{NoticeChannel.MAIL}:",
                player=notice.player,
                channel=NoticeChannel.MAIL,
                purpose=Purpose.NOTICE,
                notices=(notice.id,),
                due=now,
                first_at=now,
                requested=is_unwanted,
            )
        )
        return " It is sent by mail instead." if added else " It was handed over to be sent by mail before."

    def tell_of_disabled(self, player: str, endpoint: Endpoint, now: int) -> None:
        """Write once to ``player`` that ``endpoint`` was switched off, and why."""
        address = self._address(player)
        if address is None:
            return
        page_url = self.page_url.rstrip("/")
        text = (
            f"Your webhook {endpoint.url} was switched off. {endpoint.disabled}\n\n"
            "No more webhooks are sent there until you switch it on again:\n"
            f"{page_url}/settings/webhooks/{endpoint.id}\n"
        )
        letter = Letter(to=address, subject="Your webhook was switched off", text=text)
        id = f"webhook-off:{endpoint.id}:{endpoint.failing_since}"
        self.outbox.add(letter_dispatch(id, player, letter, now))

    def _address(self, player: str) -> str | None:
        mail_address = self.addresses.read(player)
        return mail_address.address if mail_address.reachable and self.sends_mail else None
