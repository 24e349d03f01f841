"""Mails, composed from the stores at the moment of sending."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from events.matches.matches import Loaded
from events.notify.addresses import AddressStore, InvalidAddressError, parse_address
from events.notify.ledger import Ledger
from events.notify.letters import LetterKind
from events.notify.mail import notice_text
from events.notify.mail.messages import (
    Addressee,
    Content,
    Outgoing,
    Site,
    answer_mail,
    board_picture,
    bounce_sender,
    letter_mail,
    notice_mail,
)
from events.notify.mail.tokens import MatchToken, PlayerToken, TokenKind, reply_address, write_token
from events.notify.mail_links import CONFIRMATION_MS, PASSWORD_RESET_MS, LinkPurpose, reset_subject, write_link
from events.notify.notice import Notice, NoticeKind
from events.notify.outbox import Dispatch, Letter, Purpose
from events.notify.preferences import PreferencesStore
from events.people.availability import AvailabilityStore
from events.people.blocks import blocked_by
from events.people.person import Person
from events.store.contract import VersionTag
from workers.notices.match_reader import MatchReader
from workers.notices.reach import ChatReader

ID_DIGITS = 24
MAX_MESSAGES = 20


class Unsendable(NamedTuple):
    """Why there is nothing to be sent, as a sentence."""

    reason: str


class MailComposer(NamedTuple):
    """Composes the mails of the installation at ``site``."""

    site: Site
    matches: MatchReader
    messages: ChatReader
    ledger: Ledger
    addresses: AddressStore
    preferences: PreferencesStore
    availability: AvailabilityStore

    def compose(self, dispatch: Dispatch, now: int) -> Outgoing | Unsendable:
        """Return the mail of ``dispatch`` with its envelope, the same when repeated, or why there is none."""
        if dispatch.letter is not None:
            return self._letter(dispatch, dispatch.letter, now)
        to = self._addressee(dispatch.player)
        if to is None:
            why = self.addresses.read(dispatch.player).why_not
            return Unsendable(f"Not sent by mail, because {why or 'your account is gone'}.")
        notices = self.ledger.find_all(dispatch.player, dispatch.notices)
        if not notices:
            return Unsendable("Its entry was erased from the ledger.")
        loaded = {notice.match: self.matches.load(notice.match) for notice in notices}
        views = [self._view(notice, to, loaded[notice.match], now) for notice in notices]
        of_match = loaded[notices[0].match]
        if len(loaded) > 1:
            return self._about_account(dispatch, to, notice_text.digest_content(self.site, to, views), now)
        if of_match is None or views[0].view is None:
            return self._about_account(dispatch, to, notice_text.notice_content(self.site, to, views, None), now)
        content = notice_text.notice_content(self.site, to, views, board_picture(of_match.state, views[0].view.seat))
        token = _reply_token(of_match, views[0].view.seat)
        return notice_mail(self.site, to, content, id=_mail_id(dispatch), token=token, now=now)

    def _about_account(self, dispatch: Dispatch, to: Addressee, content: Content, now: int) -> Outgoing:
        token = PlayerToken(kind=TokenKind.ACCOUNT, player=to.player)
        return notice_mail(self.site, to, content, id=_mail_id(dispatch), token=token, now=now)

    def _view(self, notice: Notice, to: Addressee, loaded: Loaded | None, now: int) -> notice_text.NoticeView:
        seat = None if loaded is None else loaded.state.seat_of(to.player)
        if loaded is None or seat is None:
            return notice_text.NoticeView(notice, None)
        persons, creator = self.matches.persons(loaded.state), loaded.state.creator
        view = self.matches.view(loaded, seat, to.zone, now, persons)
        inviter = persons.get(creator) if creator not in blocked_by(self.matches.blocks, to.player) else None
        written = write_token(_reply_token(loaded, seat), to.secret)
        return notice_text.NoticeView(
            notice,
            view,
            inviter="" if inviter is None else inviter.name,
            reply_to=reply_address(written, self.site.domain),
            messages=self._chat(notice, {id: person.name for id, person in persons.items()}),
        )

    def _chat(self, notice: Notice, names: Mapping[str, str]) -> list[str]:
        if notice.kind != NoticeKind.CHAT or not self.preferences.read(notice.player).chat_text:
            return []
        after = int(notice.fact.rpartition(":")[2]) - 1
        messages = self.messages.messages_for(notice.player, notice.match or "", after, MAX_MESSAGES)
        return [f"{names.get(message.author, 'a player who has left')}: {message.text}" for message in messages]

    def _letter(self, dispatch: Dispatch, letter: Letter, now: int) -> Outgoing | Unsendable:
        match letter.kind:
            case LetterKind.CONFIRMATION:
                return self._confirmation(dispatch, letter, now)
            case LetterKind.ADDRESS_CHANGED:
                return self._address_changed(dispatch, letter, now)
            case LetterKind.PASSWORD_RESET:
                return self._password_reset(dispatch, letter, now)
        to = self._addressee(dispatch.player, letter.to)
        if to is None or self.addresses.read(dispatch.player).address != letter.to:
            return Unsendable("The account or its mail address is not there any more.")
        loaded = self.matches.load(letter.match)
        content = Content(
            subject=letter.subject, paragraphs=letter.text.rstrip("\n").split("\n\n"), receipt=letter.receipt
        )
        if not letter.automatic:
            return self._plain_letter(dispatch, to, content, now)
        return answer_mail(
            self.site,
            to,
            content,
            id=_mail_id(dispatch),
            token=_answer_token(letter, loaded, dispatch.player),
            in_reply_to=letter.in_reply_to,
            now=now,
        )

    def _confirmation(self, dispatch: Dispatch, letter: Letter, now: int) -> Outgoing | Unsendable:
        to = self._addressee(dispatch.player, letter.to)
        if to is None or self.addresses.read(dispatch.player).wanted != letter.to:
            return Unsendable("The address is confirmed already, or another one was asked for meanwhile.")
        expires = dispatch.first_at + CONFIRMATION_MS
        if now >= expires:
            return Unsendable("The mail could not be sent within a day: ask for it once more.")
        link = write_link(LinkPurpose.CONFIRMATION, to.player, letter.to, expires, to.secret)
        content = notice_text.confirmation_content(self.site, to.name, link, to.zone, dispatch.first_at)
        return self._plain_letter(dispatch, to, content, now)

    def _address_changed(self, dispatch: Dispatch, letter: Letter, now: int) -> Outgoing | Unsendable:
        to = self._addressee(dispatch.player, letter.to)
        if to is None or self.addresses.read(dispatch.player).address == letter.to:
            return Unsendable("The address was not changed.")
        return self._plain_letter(dispatch, to, notice_text.address_changed_content(self.site, to.name), now)

    def _password_reset(self, dispatch: Dispatch, letter: Letter, now: int) -> Outgoing | Unsendable:
        """Return one mail with a link for each account that was asked for; to nobody unless one has an address."""
        expires = dispatch.first_at + PASSWORD_RESET_MS
        if now >= expires:
            return Unsendable("The mail could not be sent within an hour, in which its link would be valid.")
        people = self.matches.people
        reached = [
            to
            for person in self._meant_by(letter.to)
            if person.kind != "guest" and (to := self._addressee(person.id, "")) is not None
        ]
        if not reached:
            return Unsendable("No account with a confirmed mail address was meant.")
        accounts = [
            (
                to.name,
                write_link(
                    LinkPurpose.PASSWORD_RESET,
                    to.player,
                    reset_subject(people.password_mark(to.player), to.address),
                    expires,
                    to.secret,
                ),
            )
            for to in reached
        ]
        content = notice_text.password_reset_content(self.site, accounts, dispatch.first_at)
        return self._plain_letter(dispatch, reached[0], content, now)

    def _plain_letter(self, dispatch: Dispatch, to: Addressee, content: Content, now: int) -> Outgoing:
        sender = bounce_sender(self.site, to)
        return letter_mail(self.site, to.address, content, id=_mail_id(dispatch), sender=sender, now=now)

    def _addressee(self, player: str, address: str | None = None) -> Addressee | None:
        """Return whom mail to ``player`` is for, None when it must not be sent; a letter has its own ``address``."""
        stored = self.addresses.read(player)
        if address is None and not stored.reachable:
            return None
        target, person = address or stored.address, self.matches.people.person(player)
        if person is None or target is None:
            return None
        return Addressee(
            player=player,
            name=person.name,
            address=target,
            zone=self.availability.read([player])[player].zone,
            secret=self.addresses.secret(player),
        )

    def _meant_by(self, asked: str) -> list[Person]:
        people = self.matches.people
        if "@" not in asked:
            return [person for person in (people.find(asked),) if person is not None]
        try:
            address = parse_address(asked)
        except InvalidAddressError:
            return []
        return list(people.persons(self.addresses.holders(address)).values())


def _reply_token(loaded: Loaded, seat: int) -> MatchToken:
    return MatchToken(kind=TokenKind.REPLY, match_id=loaded.state.match_id, seat=seat, tag=loaded.head.tag)


def _answer_token(letter: Letter, loaded: Loaded | None, player: str) -> MatchToken | PlayerToken:
    if loaded is None or letter.seat is None:
        return PlayerToken(kind=TokenKind.ACCOUNT, player=player)
    kind = TokenKind.CONFIRM_RESIGNATION if letter.kind == LetterKind.CONFIRM_RESIGNATION else TokenKind.REPLY
    tag = (VersionTag.parse(letter.tag) if letter.tag else None) or loaded.head.tag
    return MatchToken(kind=kind, match_id=loaded.state.match_id, seat=letter.seat, tag=tag)


def _mail_id(dispatch: Dispatch) -> str:
    """Return the name of the mail in its Message-ID: the same for each attempt, another one for each request."""
    if dispatch.purpose == Purpose.NOTICE:
        return dispatch.notices[0] + (f"-{dispatch.first_at}" if dispatch.requested else "")
    name = f"{dispatch.player} {dispatch.id} {dispatch.first_at}"
    return hashlib.sha256(name.encode()).hexdigest()[:ID_DIGITS]
