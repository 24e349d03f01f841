"""Notices: their settings and ledger as pages, and the words for them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flask import abort, render_template, request

from api.access.auth import refuse_token
from api.access.matches import listed_for
from api.operations.notice_targets import targets_of, ways_for
from api.pages.layout import blueprint, signed_in_reader
from api.representations.matches import MatchSummary, represent_summaries
from api.services import services
from domain.match.terms import HOUR, duration
from events.notify.endpoints import MAX_ATTEMPTS_LOGGED, MAX_ENDPOINTS_PER_PERSON, PayloadForm
from events.notify.inbox import MAX_MAILS_SHOWN, Verdict
from events.notify.ledger import KEPT_MS, MAX_NOTICES
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeKind, Timing, WhoMayInvite, WhoMayWrite
from events.notify.preferences import DEFAULT_QUIET_HOURS
from events.notify.webhooks.signing import public_key_of
from events.notify.wording import page_of
from events.people.person import Person


class KindWords(NamedTuple):
    """The title of a kind of notice, and its occasion."""

    title: str
    when: str


KINDS: Mapping[NoticeKind, KindWords] = {
    NoticeKind.TURN: KindWords("Your turn", "The others have moved, and now you are to move."),
    NoticeKind.DEADLINE: KindWords("Deadline near", "Your time runs out soon, and you still have something to decide."),
    NoticeKind.OFFER: KindWords("Offers", "A draw, a takeback or a rematch is proposed to you."),
    NoticeKind.INVITATION: KindWords("Invitations", "You are invited to a match."),
    NoticeKind.STARTED: KindWords("Start", "A match of yours has begun."),
    NoticeKind.ENDED: KindWords("End", "A match of yours is over."),
    NoticeKind.CHAT: KindWords("Chat", "There is a message in a match of yours."),
    NoticeKind.CASE: KindWords("Disputes", "There is a dispute in a match of yours."),
    NoticeKind.RULING: KindWords("Rulings", "An arbiter has ruled in a match of yours."),
    NoticeKind.CONTEST: KindWords("Seeks, tournaments", "A seek or tournament of yours has come to something."),
}
"""All kinds in the order in which the pages list them."""

CHANNELS: Mapping[NoticeChannel, str] = {
    NoticeChannel.MAIL: "Mail",
    NoticeChannel.PUSH: "Push",
    NoticeChannel.WEBHOOK: "Webhook",
}

TIMINGS: Mapping[Timing, str] = {Timing.AT_ONCE: "At once", Timing.DIGEST: "Digest", Timing.NEVER: "Never"}

STATES: Mapping[DeliveryState, str] = {
    DeliveryState.WAITING: "waiting",
    DeliveryState.SENT: "sent",
    DeliveryState.NOT_SENT: "not sent",
    DeliveryState.FAILED: "failed",
}

WRITERS: Mapping[WhoMayWrite, str] = {
    WhoMayWrite.TOKEN_AND_FROM: "The code, and your address as its sender",
    WhoMayWrite.TOKEN_FROM_AND_DMARC: "Both, and the word of your mail server (DMARC)",
}

VERDICTS: Mapping[Verdict, str] = {
    Verdict.WAITING: "not read yet",
    Verdict.READ: "read",
    Verdict.AUTOMATIC: "automatic",
    Verdict.LOOP: "our own",
    Verdict.BOUNCE: "not delivered",
    Verdict.NOT_ALLOWED: "not allowed",
    Verdict.UNSUBSCRIBED: "stopped notices",
    Verdict.REPEATED: "same Message-ID again",
    Verdict.FAILED: "failed",
}

INVITERS: Mapping[WhoMayInvite, str] = {
    WhoMayInvite.ANYONE: "Anyone",
    WhoMayInvite.NO_GUESTS: "Anyone but guests",
    WhoMayInvite.ACQUAINTED: "Those I have finished a match with",
    WhoMayInvite.NOBODY: "Nobody",
}

PAYLOADS: Mapping[PayloadForm, str] = {
    PayloadForm.FULL: "With position and legal moves",
    PayloadForm.THIN: "Only what has happened",
}


def hour_words(hour: int) -> str:
    """Return an hour of the day (0 to 23) as a clock shows it: 08:00."""
    return f"{hour:02d}:00"


REMINDERS_H = (0, 3, 6, 12, 24, 48, 72, 168)
MIN_MATCHES_FOR_DIGEST = 10
"""From this number of active matches on, a digest of turns is suggested."""

ATTEMPTS_SHOWN = 20
"""Of a webhook, on its page: each with all that was sent. The API has the others."""

CHOICES = {NoticeChannel.MAIL: tuple(Timing), NoticeChannel.PUSH: (Timing.AT_ONCE, Timing.NEVER)}
"""When notices can be sent through each channel."""


@blueprint.get("/settings/notices")
def notice_settings() -> str:
    """Return the settings of notices of the signed-in person."""
    person = signed_in_reader()
    refuse_token()  # the page shows the mail address
    preferences, settings = services().preferences.read(person.id), services().settings
    matches = len(services().readmodels.active(person.id))
    reminders_h = sorted({*REMINDERS_H, preferences.remind_before_h})
    ways = ways_for(person.kind)
    is_many = matches >= MIN_MATCHES_FOR_DIGEST and preferences.mail[NoticeKind.TURN] == Timing.AT_ONCE
    return render_template(
        "notice_settings.html",
        preferences=preferences,
        timings={NoticeChannel.MAIL: preferences.mail, NoticeChannel.PUSH: preferences.push},
        quiet=preferences.quiet or DEFAULT_QUIET_HOURS,
        reminders={hours: f"{duration(hours * HOUR)} before" if hours else "Never" for hours in reminders_h},
        choices=CHOICES,
        matches_for_digest=matches if is_many else 0,
        kinds=KINDS,
        channels=CHANNELS,
        timing_words=TIMINGS,
        hour_words=hour_words,
        zone=services().availability.read([person.id])[person.id].zone,
        targets=targets_of(person.id),
        offered={NoticeChannel.MAIL: ways.mail, NoticeChannel.PUSH: ways.push},
        push_is_offered=ways.push,
        push_subscriptions=services().subscriptions.of(person.id),
        feed_address=services().feed_addresses.of(person.id),
        mail_is_sent=settings.mail is not None,
        mail=services().addresses.read(person.id),
        writers=WRITERS,
        inviters=INVITERS,
        received=services().inbox.recent(person.id, MAX_MAILS_SHOWN),
        verdicts=VERDICTS,
        webhooks=services().endpoints.of(person.id),
        max_webhooks=MAX_ENDPOINTS_PER_PERSON,
        payloads=PAYLOADS,
    )


@blueprint.get("/settings/webhooks/<webhook_id>")
def webhook_page(webhook_id: str) -> str:
    """Return the page of a webhook of the signed-in person, with its deliveries."""
    person = signed_in_reader()
    webhook = services().endpoints.find(person.id, webhook_id)
    if webhook is None:
        abort(404, "You have no such webhook.")
    return render_template(
        "webhook.html",
        webhook=webhook,
        public_key=public_key_of(webhook.keys[0]),
        attempts=services().endpoints.attempts(person.id, webhook_id, ATTEMPTS_SHOWN),
        shown=ATTEMPTS_SHOWN,
        logged=MAX_ATTEMPTS_LOGGED,
        kinds=KINDS,
        payloads=PAYLOADS,
    )


NOTICES_PER_PAGE = 30


@blueprint.get("/notices")
def notices() -> str:
    """Return the notices of the person, of one match if the query names one, the latest first."""
    person = signed_in_reader()
    match, cursor = request.args.get("match"), request.args.get("cursor")
    try:
        page = services().ledger.page(person.id, cursor, NOTICES_PER_PAGE, match)
    except ValueError:
        abort(404)
    return render_template(
        "notices.html",
        page=page,
        matches=_matches_of(page.notices, person),
        match=match,
        is_first_page=not cursor,
        targets=targets_of(person.id),
        kinds=KINDS,
        channels=CHANNELS,
        states=STATES,
        max_notices=MAX_NOTICES,
        kept=duration(KEPT_MS),
        page_of=page_of,
    )


def _matches_of(listed: Sequence[Notice], person: Person) -> Mapping[str, MatchSummary]:
    """Return the matches of the ``listed`` notices that ``person`` may see, by their ids, as lists have them."""
    ids = sorted({notice.match for notice in listed if notice.match is not None})
    shown = listed_for(person, ids)
    summaries = [
        projected.summary for projected in services().readmodels.projected(sorted(shown)) if projected is not None
    ]
    return {match.id: match for match in represent_summaries(summaries)}
