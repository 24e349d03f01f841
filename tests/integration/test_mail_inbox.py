"""The inbox: mail is stored once, read once at a time, answered by one refusal an hour, and can be erased."""

from dataclasses import replace

from events.notices.inbox import (
    DAY_MS,
    MAX_WAITING,
    MEMORY_DAYS,
    Inbox,
    ReceivedMail,
    Verdict,
    mail_digest,
)
from events.runtime.connections import StoreClient

NOW = 1_700_000_000_000
LEASE_MS = 60_000


def inbox(redis: StoreClient) -> Inbox:
    return Inbox(redis, "test:", 4)


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
    taken = box.take(NOW, LEASE_MS)
    assert taken is not None
    assert taken == (mail(), b"a3-b4", 1)
    assert box.take(NOW, LEASE_MS) is None
    box.finish(taken.mail, Verdict.READ, "1 move was played.", answered=True)
    assert box.add(mail(), b"a3-b4")
    assert box.next_due() is None
    (known,) = box.recent("palice", 10)
    assert (known.verdict, known.reason, known.answered, known.recipient) == (
        Verdict.READ,
        "1 move was played.",
        True,
        "",
    )


def test_the_mail_of_a_killed_reader_is_read_again_when_its_lease_ends(redis: StoreClient) -> None:
    box = inbox(redis)
    box.add(mail(), b"")
    box.take(NOW, LEASE_MS)
    assert box.next_due() == NOW + LEASE_MS
    assert (box.count_due(NOW), box.count_due(NOW + LEASE_MS)) == (0, 1)
    assert box.take(NOW + LEASE_MS - 1, LEASE_MS) is None
    again = box.take(NOW + LEASE_MS, LEASE_MS)
    assert again is not None
    assert again.attempt == 2


def test_the_mail_that_waits_longest_is_read_first(redis: StoreClient) -> None:
    box = inbox(redis)
    mails = [mail(str(number), f"p{number}", NOW + number) for number in (3, 1, 2)]
    for each in mails:
        box.add(each, b"")
    taken = [box.take(NOW + 9, LEASE_MS) for _ in mails]
    assert [each.mail.at - NOW for each in taken if each] == [1, 2, 3]


def test_of_one_person_only_so_much_mail_may_wait(redis: StoreClient) -> None:
    box = inbox(redis)
    added = [box.add(mail(str(number)), b"") for number in range(MAX_WAITING + 1)]
    assert added == [True] * MAX_WAITING + [False]
    assert box.add(mail("other", "pbob"), b"")


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
    taken = box.take(NOW, LEASE_MS)
    box.erase("palice")
    assert taken is not None
    box.finish(taken.mail, Verdict.READ, "", answered=True)
    assert box.take(NOW, LEASE_MS) is None
    assert box.recent("palice", 10) == []
    assert list(redis.scan_iter()) == []


def test_one_refusal_an_hour_answers_an_address(redis: StoreClient) -> None:
    box = inbox(redis)
    assert box.may_refuse(mail("1"))
    assert box.may_refuse(mail("1"))
    assert not box.may_refuse(mail("2"))
    assert box.may_refuse(replace(mail("3"), recipient="r-other"))


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
