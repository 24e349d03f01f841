"""The inbox: mail is stored once, read once at a time, refusals are counted, and it can be erased."""

from dataclasses import replace

from events.notices.inbox import (
    DAY_MS,
    MEMORY_DAYS,
    REFUSALS_S,
    Inbox,
    ReceivedMail,
    Verdict,
    mail_digest,
    text_digest,
)
from events.runtime.connections import StoreClient
from events.runtime.keys import shard_of
from events.runtime.notice_keys import NoticeKeys

NOW = 1_700_000_000_000
SHARDS = 4


def inbox(redis: StoreClient, now: int = NOW) -> Inbox:
    return Inbox(redis, "test:", SHARDS, lambda: now)


def mail(name: str = "1", player: str = "palice", at: int = NOW) -> ReceivedMail:
    return ReceivedMail(
        digest=mail_digest(f"<{name}@home.example>", "r-x", b""),
        player=player,
        recipient="r-x",
        return_path="alice@home.example",
        sender="alice@home.example",
        subject="Re: Your turn",
        size=5,
        at=at,
    )


def test_a_mail_that_comes_twice_is_read_once(redis: StoreClient) -> None:
    box = inbox(redis)
    assert box.add(mail(), b"a3-b4")
    assert box.add(mail(), b"a3-b4")
    taken = box.take()
    assert taken is not None
    assert taken[:3] == (mail(), b"a3-b4", 1)
    assert box.take() is None
    box.finish(taken, Verdict.READ, "1 move was played.", answered=True)
    assert box.add(mail(), b"a3-b4")
    assert not box.work.next_due()
    (known,) = box.recent("palice", 10)
    assert (known.verdict, known.reason, known.answered, known.recipient) == (
        Verdict.READ,
        "1 move was played.",
        True,
        "",
    )


def test_mails_are_forgotten_after_a_month(redis: StoreClient) -> None:
    box = inbox(redis)
    box.add(mail(), b"")
    box.add(mail("2", at=NOW + MEMORY_DAYS * DAY_MS), b"")
    assert len(box.recent("palice", 10)) == 2
    box.add(mail("3", at=NOW + MEMORY_DAYS * DAY_MS + 1), b"")
    assert [each.at for each in box.recent("palice", 10)] == [
        NOW + MEMORY_DAYS * DAY_MS + 1,
        NOW + MEMORY_DAYS * DAY_MS,
    ]


def test_the_mail_of_an_erased_person_is_gone_while_it_is_read(redis: StoreClient) -> None:
    box = inbox(redis)
    box.add(mail("1"), b"")
    box.add(mail("2"), b"")
    taken = box.take()
    box.erase("palice")
    assert taken is not None
    box.finish(taken, Verdict.READ, "", answered=True)
    assert box.take() is None
    assert box.recent("palice", 10) == []
    assert list(redis.scan_iter()) == []


def test_refusals_are_counted_for_each_match_and_once_for_each_mail(redis: StoreClient) -> None:
    box = inbox(redis)
    mails = [mail(name) for name in "123"]
    assert [box.count_refusal(each, "m1") for each in (*mails, *mails)] == [1, 2, 3, 1, 2, 3]
    assert box.count_refusal(mail("4"), "m2") == 1
    assert 0 < redis.ttl(NoticeKeys("test:", shard_of("palice", SHARDS)).refusals("palice", "m1")) <= REFUSALS_S


def test_a_mail_with_a_known_message_id_and_another_text_is_stored_as_a_repetition(redis: StoreClient) -> None:
    box = inbox(redis)
    first, other = (replace(mail("1"), text=text_digest(text)) for text in (b"X: 1\r\n\r\na", b"X: 1\r\n\r\nb"))
    assert text_digest(b"X: 2\r\n\r\na") == first.text, "it came another way"
    for _ in range(2):
        assert box.add(first, b"a")
        assert box.add(other, b"b")
    assert sorted((stored.text == first.text, stored.repeats) for stored in box.recent("palice", 9)) == [
        (False, True),
        (True, False),
    ]


def test_a_mail_without_a_message_id_is_known_by_its_content() -> None:
    assert mail_digest("", "r-x", b"a") == mail_digest("", "R-X", b"a") != mail_digest("", "r-x", b"b")
    assert mail_digest("<1@x>", "r-x", b"a") == mail_digest("<1@x>", "r-x", b"b") != mail_digest("<1@x>", "r-y", b"a")


def test_the_postmaster_gets_mail_that_can_be_deleted(redis: StoreClient) -> None:
    box = inbox(redis)
    box.keep_for_postmaster("a@x.example", b"one", NOW)
    box.keep_for_postmaster("b@x.example", b"two" * 50_000, NOW)
    second, first = box.postmaster_mails()
    assert (first.sender, first.content, len(second.content)) == ("a@x.example", b"one", 64_000)
    assert box.delete_postmaster_mail(first.id)
    assert [each.id for each in box.postmaster_mails()] == [second.id]
