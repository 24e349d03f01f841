"""The settings of notices: what is told when, and through which mail address, browsers and webhooks."""

from flask import abort, render_template
from werkzeug.wrappers import Response

from api.access.auth import current_person, refuse_token
from api.operations.notice_targets import targets_of
from api.pages.layout import blueprint, sign_in_first
from api.pages.notice_wording import CHANNELS, INVITERS, KINDS, PAYLOADS, TIMINGS, VERDICTS, WRITERS, hour_words
from api.pages.subscriptions import push_section
from api.services import services
from domain.match.terms import HOUR, duration
from events.notices.endpoints import MAX_ATTEMPTS_LOGGED, MAX_ENDPOINTS_PER_PERSON
from events.notices.inbox import MAX_MAILS_SHOWN
from events.notices.notice import NoticeChannel, NoticeKind, Timing
from events.notices.preferences import DEFAULT_QUIET_HOURS
from events.webhooks.signing import public_key_of

REMINDERS_H = (0, 3, 6, 12, 24, 48, 72, 168)
MIN_MATCHES_FOR_DIGEST = 10
"""From this number of active matches on, a digest of turns is suggested."""

ATTEMPTS_SHOWN = 20
"""Of a webhook, on its page: each with all that was sent. The API has the others."""

CHOICES = {
    NoticeChannel.MAIL: tuple(Timing),
    NoticeChannel.PUSH: (Timing.AT_ONCE, Timing.NEVER),
}
"""When notices can be sent through each channel."""


@blueprint.get("/settings/notices")
def notice_settings() -> str | Response:
    """Return the settings of notices of the signed-in person."""
    person = current_person()
    if person is None:
        return sign_in_first()
    refuse_token()  # the page shows the mail address
    preferences = services().preferences.read(person.id)
    matches = len(services().readmodels.active(person.id))
    is_many = matches >= MIN_MATCHES_FOR_DIGEST and preferences.mail[NoticeKind.TURN] == Timing.AT_ONCE
    return render_template(
        "notice_settings.html",
        preferences=preferences,
        timings={NoticeChannel.MAIL: preferences.mail, NoticeChannel.PUSH: preferences.push},
        quiet=preferences.quiet or DEFAULT_QUIET_HOURS,
        reminders={hours: _reminder(hours) for hours in sorted({*REMINDERS_H, preferences.remind_before_h})},
        choices=CHOICES,
        matches_for_digest=matches if is_many else 0,
        kinds=KINDS,
        channels=CHANNELS,
        timing_words=TIMINGS,
        hour_words=hour_words,
        zone=services().availability.read([person.id])[person.id].zone,
        targets=targets_of(person.id),
        push=push_section(person.id),
        feed_address=services().feed_addresses.of(person.id),
        mail_is_sent=services().settings.mail is not None,
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
def webhook_page(webhook_id: str) -> str | Response:
    """Return the page of a webhook of the signed-in person, with its deliveries."""
    person = current_person()
    if person is None:
        return sign_in_first()
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


def _reminder(hours: int) -> str:
    return f"{duration(hours * HOUR)} before" if hours else "Never"
