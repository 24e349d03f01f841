"""The ledger of notices to the caller, sent or not, its settings, and the match in view."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from flask import Blueprint
from marshmallow import fields, validate
from msgspec import Meta, convert

from api.access.auth import require_person
from api.access.limits import spend
from api.addresses import PREFIX
from api.endpoints import endpoint
from api.http.answers import Answer, Instant, Next, one_of
from api.http.problems import Problem
from api.http.schemas import EnumField, Paging, StrictBoolean, StrictInteger, StrictSchema, StrictString, page_limit
from api.operations.lists import invalid_cursor
from api.operations.notice_targets import targets_of
from api.services import services
from events.notify.ledger import MAX_NOTICES
from events.notify.notice import DeliveryState, Notice as StoredNotice, NoticeChannel, NoticeKind, Timing, WhoMayInvite
from events.notify.preferences import MAX_REMIND_BEFORE_H, Preferences

blueprint = Blueprint("notices", __name__, url_prefix=PREFIX)

MAX_ID_CHARACTERS = 60
HOURS = validate.Range(0, 23, error="must be an hour of the day, 0 to 23")


class NoticeDelivery(Answer):
    channel: Annotated[str, one_of(NoticeChannel)]
    target: Annotated[str, Meta(description="The id of a webhook or a push subscription, empty for mail")]
    state: Annotated[str, one_of(DeliveryState)]
    reason: Annotated[str, Meta(description="Why it was sent, why not, or what was answered, as a sentence")]
    due: Annotated[Instant | None, Meta(description="When it is tried next")]
    attempts: int
    at: Annotated[Instant, Meta(description="When this changed last")]


class Notice(Answer):
    id: str
    kind: Annotated[str, one_of(NoticeKind)]
    match: str | None
    version: Annotated[int, Meta(description="Of the match, with what the notice is about")]
    summary: str
    reason: Annotated[str, Meta(description="What was decided about it, as a sentence")]
    at: Annotated[Instant, Meta(description="When it happened")]
    decided_at: Instant
    deliveries: Sequence[NoticeDelivery]


class NoticePage(Answer):
    items: Annotated[Sequence[Notice], Meta(description="The latest first")]
    next: Next
    dropped: Annotated[int, Meta(description=f"Older ones that gave way to newer ones: {MAX_NOTICES} are kept")]


class NoticesQuery(Paging):
    limit = page_limit(50, 100)
    match = StrictString(1, MAX_ID_CHARACTERS)


class ErasedNotices(Answer):
    erased: Annotated[int, Meta(description="How many; those that wait to be sent stay")]


class DeliveryRequest(StrictSchema):
    channel = EnumField(NoticeChannel, required=True)
    target = StrictString(
        validate=validate.Length(max=MAX_ID_CHARACTERS),
        load_default="",
        about="The id of a webhook or a push subscription, empty for mail",
    )


class MailTimings(Answer):
    __annotations__ = {kind.value: Annotated[str, one_of(Timing)] for kind in NoticeKind}


class PushTimings(MailTimings):
    """When push messages are sent: at once or never."""


class QuietHours(Answer):
    since: Annotated[int, Meta(description="The first hour in which nothing is sent")]
    until: Annotated[int, Meta(description="The first hour in which something is sent again")]


class NoticeSettings(Answer):
    mail: MailTimings
    push: PushTimings
    digest_hour: int
    quiet: QuietHours | None
    remind_before_h: int
    chat_text: Annotated[bool, Meta(description="Whether mails about chats have the messages")]
    who_may_invite: Annotated[str, one_of(WhoMayInvite, "acquainted: have finished a match with you")]


class QuietHoursRequest(StrictSchema):
    since = StrictInteger(required=True, validate=HOURS)
    until = StrictInteger(required=True, validate=HOURS)


def _timings(name: str, *allowed: Timing) -> fields.Nested:
    """Return the field of when each kind is told of; a kind that is left out stays as it is."""
    kinds: dict[str, fields.Field[Any]] = {
        kind.value: StrictString(validate=validate.OneOf([timing.value for timing in allowed])) for kind in NoticeKind
    }
    return fields.Nested(StrictSchema.from_dict(kinds, name=name), required=True)


class NoticeSettingsRequest(StrictSchema):
    mail = _timings("MailTimingsRequest", *Timing)
    push = _timings("PushTimingsRequest", Timing.AT_ONCE, Timing.NEVER)
    digest_hour = StrictInteger(required=True, validate=HOURS, about="In your time zone, as are the quiet hours")
    quiet = fields.Nested(QuietHoursRequest, required=True, allow_none=True)
    remind_before_h = StrictInteger(
        0, MAX_REMIND_BEFORE_H, required=True, about="Hours before a deadline; 0 for no reminder"
    )
    chat_text = StrictBoolean(about="Stays as it is when left out, as does who_may_invite")
    who_may_invite = EnumField(WhoMayInvite)


class PresenceRequest(StrictSchema):
    match = StrictString(1, MAX_ID_CHARACTERS, required=True)
    visible = StrictBoolean(required=True)


@blueprint.get("/me/notices")
@endpoint(answer=NoticePage, query=NoticesQuery, signed_in=True)
def list_notices(query: Mapping[str, Any]) -> NoticePage:
    """List the caller's notices

    With the state of each delivery, and the reason where nothing was sent; of one match if asked for.
    """
    player = require_person().id
    try:
        page = services().ledger.page(player, query.get("cursor"), query["limit"], query.get("match"))
    except ValueError as error:
        raise invalid_cursor() from error
    return NoticePage(items=list(map(Notice.of, page.notices)), next=page.cursor, dropped=page.dropped)


@blueprint.delete("/me/notices")
@endpoint(answer=ErasedNotices, signed_in=True)
def erase_notices() -> ErasedNotices:
    """Erase the caller's notices

    Those that wait to be sent stay. Nothing is sent a second time because of it.
    """
    return ErasedNotices(erased=services().ledger.clear(require_person().id))


@blueprint.get("/me/notices/<notice_id>")
@endpoint(answer=Notice, signed_in=True, problems=[404])
def show_notice(notice_id: str) -> Notice:
    """Show a notice

    With the state of each of its deliveries.
    """
    return Notice.of(_find(notice_id))


@blueprint.post("/me/notices/<notice_id>/deliveries")
@endpoint(202, answer=Notice, body=DeliveryRequest, signed_in=True, problems=[404, 409])
def resend_notice(sent: Mapping[str, Any], notice_id: str) -> Notice:
    """Have a notice sent once more, or at once where it waits; it keeps its id

    What no longer holds by then is not sent, with the reason in the notice.
    """
    player, channel, target = require_person().id, sent["channel"], sent["target"]
    _find(notice_id)
    notice_target = targets_of(player).get((channel, target))
    if notice_target is None or not notice_target.works:
        missing = (
            "you have removed it, or never had it"
            if notice_target is None
            else f"{notice_target.words} is paused or switched off"
        )
        raise Problem("no-such-target", f"Nothing was sent, because {missing}: see the settings of notices.")
    spend("sends", player)
    if not services().ledger.send_again(player, notice_id, channel, target, services().now()):
        raise _no_such_notice()
    return Notice.of(_find(notice_id))


@blueprint.get("/me/notice-settings")
@endpoint(answer=NoticeSettings, signed_in=True)
def show_notice_settings() -> NoticeSettings:
    """Show the settings of notices

    When the caller hears of what by mail and push message. Webhooks have settings of their own.
    """
    return _represent_settings(services().preferences.read(require_person().id))


@blueprint.put("/me/notice-settings")
@endpoint(answer=NoticeSettings, body=NoticeSettingsRequest, signed_in=True)
def set_notice_settings(sent: Mapping[str, Any]) -> NoticeSettings:
    """Change the settings of notices

    A kind that is left out stays as it is.
    """
    quiet = sent["quiet"]
    if quiet is not None and quiet["since"] == quiet["until"]:
        detail = "Quiet hours that end when they begin would be none or all: choose two different hours, or no quiet."
        raise Problem("invalid-quiet-hours", detail, {"quiet": ["must begin and end at different hours"]})

    def change(preferences: Preferences) -> Preferences:
        return replace(
            preferences,
            mail={**preferences.mail, **_read_timings(sent["mail"])},
            push={**preferences.push, **_read_timings(sent["push"])},
            digest_hour=sent["digest_hour"],
            quiet=None if quiet is None else (quiet["since"], quiet["until"]),
            remind_before_h=sent["remind_before_h"],
            chat_text=sent.get("chat_text", preferences.chat_text),
            who_may_invite=sent.get("who_may_invite", preferences.who_may_invite),
        )

    return _represent_settings(services().preferences.change(require_person().id, change))


@blueprint.put("/me/presence")
@endpoint(204, body=PresenceRequest, signed_in=True)
def report_presence(sent: Mapping[str, Any]) -> None:
    """Say that you have a match open in a visible page, or no longer

    For two and a half minutes, or until you say otherwise, nothing that happens in it is sent to you by mail or push.
    """
    services().presence.record(require_person().id, sent["match"], sent["visible"], services().now())


def _find(notice_id: str) -> StoredNotice:
    notice = services().ledger.find(require_person().id, notice_id)
    if notice is None:
        raise _no_such_notice()
    return notice


def _no_such_notice() -> Problem:
    return Problem("no-such-notice", "You have no notice with this id; it may be too old, or erased.")


def _read_timings(sent: Mapping[str, str]) -> dict[NoticeKind, Timing]:
    return {NoticeKind(kind): Timing(timing) for kind, timing in sent.items()}


def _represent_settings(preferences: Preferences) -> NoticeSettings:
    quiet = preferences.quiet
    return NoticeSettings.of(
        preferences,
        mail=convert({kind.value: timing.value for kind, timing in preferences.mail.items()}, MailTimings),
        push=convert({kind.value: timing.value for kind, timing in preferences.push.items()}, PushTimings),
        quiet=None if quiet is None else QuietHours(since=quiet[0], until=quiet[1]),
    )
