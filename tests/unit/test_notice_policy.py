"""Whether, when and how a player is told: each rule with its reason, and what holds whatever the circumstances."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from events.notify.facts import Fact
from events.notify.ledger import dispatches_of
from events.notify.notice import DeliveryState, NoticeChannel, NoticeDelivery, NoticeKind, Timing
from events.notify.outbox import Purpose
from events.notify.policy import (
    HOUR_MS,
    LOOK_AGAIN_MS,
    MAX_AGE_MS,
    NEEDS_ANSWER,
    NO_CHANNEL,
    SEEN,
    Circumstances,
    NoticeDecision,
    Reach,
    decide,
    hold_of,
    next_digest,
    quiet_until,
    reminder_at,
)
from events.notify.preferences import Preferences, default_mail, default_push
from events.people.availability import zone_of
from tests.support.tables import named_cases

BERLIN = zone_of("Europe/Berlin")
MAIL, PUSH, WEBHOOK = NoticeChannel
ALL_KINDS = frozenset(NoticeKind)
EVERYWHERE = Reach(mail=True, push=("phone",), webhooks={"bot": ALL_KINDS})
BY_MAIL = Reach(mail=True, webhooks={})


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


NOON = at("2026-06-15 12:00")


def fact(kind: NoticeKind = NoticeKind.TURN, **facts: Any) -> Fact:
    given = {"name": f"{kind}:m:7", "version": 7, "at": NOON, "deadline": NOON + 72 * HOUR_MS, **facts}
    return Fact(kind=kind, match="m", players=("alice",), summary="It is your turn.", **given)


def known(reach: Reach = BY_MAIL, **facts: Any) -> Circumstances:
    return Circumstances(**{"now": NOON, "zone": BERLIN, "preferences": Preferences(), "reach": reach, **facts})


def preferences(timing: Timing = Timing.AT_ONCE, **others: Any) -> Preferences:
    return Preferences(mail=dict.fromkeys(NoticeKind, timing), push=dict.fromkeys(NoticeKind, timing), **others)


def only(decision: NoticeDecision | None) -> NoticeDelivery:
    assert decision is not None
    (delivery,) = decision.notice.deliveries
    return delivery


def test_who_wants_to_be_told_at_once_is_told_at_once() -> None:
    delivery = only(decide(fact(), "alice", known()))
    assert (delivery.channel, delivery.state, delivery.due) == (MAIL, DeliveryState.WAITING, NOON)
    assert delivery.reason == "You want to be told of your turns at once."


def test_each_channel_has_one_delivery_per_target() -> None:
    reach = replace(EVERYWHERE, push=("phone", "laptop"))
    decision = decide(fact(), "alice", known(reach))
    assert [(each.channel, each.target) for each in decision.notice.deliveries] == [
        (MAIL, ""),
        (PUSH, "phone"),
        (PUSH, "laptop"),
        (WEBHOOK, "bot"),
    ]


def test_who_cannot_be_reached_reads_why() -> None:
    decision = decide(fact(), "alice", known(Reach(webhooks={})))
    assert (decision.notice.deliveries, decision.notice.reason) == ((), NO_CHANNEL)
    paused = Reach(no_mail="Not sent by mail, because mail to you is paused.", webhooks={})
    assert only(decide(fact(), "alice", known(paused))).reason == paused.no_mail
    other = Reach(webhooks={"bot": frozenset({NoticeKind.ENDED})})
    decision = decide(fact(), "alice", known(other))
    assert decision.notice.reason == "Not sent, because no webhook of yours is told of your turns."


def test_who_wants_never_to_be_told_is_not_told() -> None:
    decision = decide(fact(), "alice", known(EVERYWHERE, preferences=preferences(Timing.NEVER)))
    mail, push, webhook = decision.notice.deliveries
    assert (mail.state, mail.reason) == (
        DeliveryState.NOT_SENT,
        "Not sent, because you do not want to be told of your turns by mail.",
    )
    assert push.state == DeliveryState.NOT_SENT
    assert webhook.state == DeliveryState.WAITING, "an endpoint has a choice of its own"
    assert decision.notice.reason == webhook.reason


def test_a_digest_comes_at_the_hour_of_the_player() -> None:
    decision = decide(fact(), "alice", known(preferences=preferences(Timing.DIGEST, digest_hour=7)))
    assert decision.digest
    assert only(decision).due == at("2026-06-16 05:00"), "7 o'clock in Berlin"
    (dispatch,) = dispatches_of(decision.notice, digest=True)
    assert (dispatch.purpose, dispatch.due) == (Purpose.DIGEST, at("2026-06-16 05:00"))


@pytest.mark.parametrize(("hours", "at_once"), [(23, False), (22, True), (10, True)])
def test_what_cannot_wait_for_the_digest_is_sent_at_once(hours: int, at_once: bool) -> None:
    # It is 14 o'clock in Berlin: 17 hours until the digest at 7, and six more are to be left then.
    urgent = fact(deadline=NOON + hours * HOUR_MS)
    decision = decide(urgent, "alice", known(preferences=preferences(Timing.DIGEST, digest_hour=7)))
    assert decision.digest is not at_once
    if at_once:
        assert only(decision).due == NOON
        assert only(decision).reason.startswith("Sent at once, because the deadline comes before")


def test_quiet_hours_hold_what_can_wait() -> None:
    quiet = preferences(quiet=(13, 16))
    delivery = only(decide(fact(), "alice", known(preferences=quiet)))
    assert (delivery.due, delivery.reason) == (
        at("2026-06-15 14:00"),
        "These are your quiet hours; sent when they end.",
    )
    urgent = only(decide(fact(deadline=NOON + 3 * HOUR_MS - 1), "alice", known(preferences=quiet)))
    assert (urgent.due, urgent.reason) == (
        NOON,
        "Sent in your quiet hours, because the deadline comes before or soon after their end.",
    )
    webhook = only(decide(fact(), "alice", known(Reach(webhooks={"bot": ALL_KINDS}), preferences=quiet)))
    assert webhook.due == NOON


@pytest.mark.parametrize("kind", NoticeKind)
def test_who_has_the_match_open_is_told_later_or_has_seen_it(kind: NoticeKind) -> None:
    delivery = only(decide(fact(kind), "alice", known(watching=True)))
    if kind in NEEDS_ANSWER:
        assert (delivery.state, delivery.due) == (DeliveryState.WAITING, NOON + LOOK_AGAIN_MS)
        assert hold_of(kind, None, known()) is None, "then sent, if the match is not open any more"
    else:
        assert (delivery.state, delivery.reason) == (DeliveryState.NOT_SENT, SEEN)


def test_turns_wait_for_the_end_of_a_vacation_and_nothing_else_does() -> None:
    away = known(vacation_until=NOON + 48 * HOUR_MS)
    delivery = only(decide(fact(), "alice", away))
    assert delivery.reason == "You are on vacation; sent when it ends."
    assert delivery.due == NOON + 12 * HOUR_MS, "a vacation may be ended early"
    ending = known(vacation_until=NOON + HOUR_MS)
    assert only(decide(fact(), "alice", ending)).due == NOON + HOUR_MS
    assert only(decide(fact(deadline=NOON + 47 * HOUR_MS), "alice", away)).due == NOON
    assert only(decide(fact(NoticeKind.RULING), "alice", away)).due == NOON


@pytest.mark.parametrize("kind", NoticeKind)
def test_of_what_is_old_when_it_is_first_seen_nobody_is_told(kind: NoticeKind) -> None:
    decision = decide(fact(kind, at=NOON - MAX_AGE_MS - 1), "alice", known(EVERYWHERE))
    if kind in (NoticeKind.TURN, NoticeKind.OFFER, NoticeKind.INVITATION):
        assert decision.notice.deliveries == ()
        assert decision.notice.reason == "Not sent, because it was more than a day old when it was first seen."
    else:
        assert decision is None
    after_outage = decide(fact(kind, at=NOON - MAX_AGE_MS - 1), "alice", known(EVERYWHERE, outage_ms=1))
    assert len(after_outage.notice.deliveries) == 3, "what happened while nobody could be told is not old"


@pytest.mark.parametrize(
    ("hours", "before_h", "left_h"),
    [(72, 24, 24), (48, 24, 24), (24, 24, 4.8), (5, 24, 1), (240, 24, 24), (10, 3, 3), (72, 0, None), (1, 24, None)],
)
def test_a_reminder_leaves_time_to_act(hours: int, before_h: int, left_h: float | None) -> None:
    deadline = NOON + hours * HOUR_MS
    reminder = reminder_at(NOON, deadline, before_h)
    assert reminder == (None if left_h is None else deadline - left_h * HOUR_MS)


@pytest.mark.parametrize(("quiet", "now", "end"), named_cases(__file__, "quiet hours are local and may cross midnight"))
def test_quiet_hours_are_local_and_may_cross_midnight(quiet: tuple[int, int] | None, now: str, end: str | None) -> None:
    assert quiet_until(quiet, BERLIN, at(now)) == (None if end is None else at(end))


@given(now=st.integers(0, 4_000_000_000), hour=st.integers(0, 23), zone=st.sampled_from(["UTC", "Asia/Kathmandu"]))
def test_the_next_digest_is_within_a_day_at_the_hour(now: int, hour: int, zone: str) -> None:
    clock = zone_of(zone)
    digest = next_digest(Preferences(digest_hour=hour), clock, now * 1000)
    assert 0 < digest - now * 1000 <= 24 * HOUR_MS
    assert datetime.fromtimestamp(digest // 1000, clock).hour == hour


timings = st.fixed_dictionaries({kind: st.sampled_from(Timing) for kind in NoticeKind})
reaches = st.builds(
    Reach, mail=st.booleans(), no_mail=st.none() | st.just("Not sent by mail, because mail to you is paused."),
    push=st.sets(st.sampled_from(["phone", "laptop"])).map(tuple),
    webhooks=st.dictionaries(st.sampled_from(["one", "two"]), st.frozensets(st.sampled_from(NoticeKind))),
)  # fmt: skip
hours = st.integers(0, 23)
people = st.builds(
    Circumstances,
    now=st.integers(NOON, NOON + 2 * MAX_AGE_MS),
    zone=st.sampled_from([BERLIN, zone_of("Pacific/Auckland")]),
    preferences=st.builds(
        Preferences, mail=timings, push=timings, digest_hour=hours, quiet=st.none() | st.tuples(hours, hours)
    ),
    reach=reaches,
    watching=st.booleans(),
    vacation_until=st.none() | st.integers(NOON, NOON + 30 * MAX_AGE_MS),
)
facts = st.builds(
    fact, kind=st.sampled_from(NoticeKind), deadline=st.none() | st.integers(NOON + HOUR_MS, NOON + 20 * MAX_AGE_MS)
)


@given(told=facts, person=people)
def test_every_decision_is_explained_and_nothing_waits_beyond_its_deadline(told: Fact, person: Circumstances) -> None:
    decision = decide(told, "alice", person)
    if decision is None:
        assert person.now - told.at > MAX_AGE_MS
        return
    deliveries = decision.notice.deliveries
    assert all(
        reason.endswith(".") and reason[0].isupper()
        for reason in [decision.notice.reason, *(d.reason for d in deliveries)]
    )
    assert len({(each.channel, each.target) for each in deliveries}) == len(deliveries)
    for each in deliveries:
        assert (each.state == DeliveryState.WAITING) == (each.due is not None)
        if each.due is not None:
            assert each.due >= person.now
            assert each.due == person.now or told.deadline is None or each.due < told.deadline or person.watching
            if each.channel == WEBHOOK:
                assert each.due == person.now
    wanted = {MAIL: person.preferences.mail, PUSH: person.preferences.push}
    for each in deliveries:
        if each.channel in wanted and wanted[each.channel][told.kind] == Timing.NEVER:
            assert each.state == DeliveryState.NOT_SENT
    assert len(dispatches_of(decision.notice, digest=decision.digest)) == len(deliveries)


@given(told=facts, person=people)
def test_the_same_fact_is_the_same_notice_in_whatever_circumstances(told: Fact, person: Circumstances) -> None:
    decisions = [decide(told, "alice", each) for each in (person, replace(person, now=NOON), known(EVERYWHERE))]
    assert len({each.notice.id for each in decisions if each is not None}) == 1


def test_players_who_have_set_nothing_are_told_of_their_turns_at_once_by_mail_and_push() -> None:
    assert default_mail()[NoticeKind.TURN] == default_push()[NoticeKind.TURN] == Timing.AT_ONCE
    assert default_mail()[NoticeKind.CHAT] == Timing.DIGEST
