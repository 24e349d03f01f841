"""The feeds and the calendar: what they contain, who can read them, and how little a repeat costs."""

from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

import pytest
from flask import Flask
from icalendar import Calendar
from werkzeug.test import TestResponse

from api.representations.feeds import Deadline, Entry, Feed, atom_id, write_calendar, write_feed
from api.services import Services
from events.notify.notice import Notice, NoticeKind, notice_id
from tests.support.callers import ME, Caller, invited, opponent, started

ATOM = {"a": "http://www.w3.org/2005/Atom"}


def address_of(caller: Caller) -> str:
    """Return the secret part of the address of feeds that the caller makes."""
    return str(caller.post("/me/feed-address").json["deadlines"].split("/")[4])


def fetch(caller: Caller, path: str, **headers: str) -> TestResponse:
    return caller.client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})


def entries(response: TestResponse) -> list[tuple[str, str]]:
    """Return title and category of each entry of a feed that has what RFC 4287 demands."""
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    root = ElementTree.fromstring(response.data)  # noqa: S314 - our own
    assert root.tag == "{http://www.w3.org/2005/Atom}feed"
    ids = [one(root, "id")]
    assert one(root, "author/a:name")
    assert datetime.fromisoformat(one(root, "updated")).tzinfo == UTC
    links = {link.attrib["rel"]: link.attrib["href"] for link in root.findall("a:link", ATOM)}
    assert links["self"] == f"http://localhost{response.request.path}"
    found: list[tuple[str, str]] = []
    for entry in root.findall("a:entry", ATOM):
        ids.append(one(entry, "id"))
        assert datetime.fromisoformat(one(entry, "updated")).tzinfo == UTC
        (link,) = entry.findall("a:link", ATOM)
        assert link.attrib["href"].startswith("http://localhost/")
        (category,) = entry.findall("a:category", ATOM)
        found.append((one(entry, "title"), category.attrib["term"]))
    assert len(set(ids)) == len(ids)
    assert all(id.startswith("urn:uuid:") for id in ids)
    return found


def one(element: ElementTree.Element, name: str) -> str:
    (found,) = element.findall(f"a:{name}", ATOM)
    assert found.text
    return found.text


def events_of(response: TestResponse) -> list[Any]:
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"] == "text/calendar; charset=utf-8"
    calendar = Calendar.from_ical(response.data)
    assert (calendar["version"], calendar["method"]) == ("2.0", "PUBLISH")
    assert not calendar.errors
    return list(calendar.walk("VEVENT"))


def tell(services: Services, player: str, match: str, kind: NoticeKind, at: int, deadline: int | None = None) -> None:
    """Put a notice into the ledger of ``player``."""
    fact = f"{kind}:{match}:{at}"
    notice = Notice(
        id=notice_id(fact, player), player=player, kind=kind, match=match, version=1, fact=fact,
        summary="It is your turn in a match of Bashni.", reason="", at=at, decided_at=at, deadline=deadline,
    )  # fmt: skip
    assert services.ledger.decide(notice)


class TestTheFeedOfAMatch:
    def test_everybody_can_follow_a_public_match(self, anna: Caller, boris: Caller, stranger: Caller) -> None:
        match = started(anna, boris)
        anna.move(match, "c3-d4")
        boris.post(f"/matches/{match}/draw-offers")
        anna.post(f"/matches/{match}/draw-refusal")
        anna.post(f"/matches/{match}/resignation")
        response = fetch(stranger, f"/matches/{match}/feed.atom")
        assert entries(response) == [
            ("Black has won by resignation.", "match-finished"),
            ("anna resigned.", "player-resigned"),
            ("anna declined the draw.", "draw-declined"),
            ("boris offered a draw.", "draw-offered"),
            ("anna played c3-d4.", "move-submitted"),
            ("The match has begun.", "match-started"),
            ("boris joined as Black.", "player-joined"),
            ("anna created the match.", "match-created"),
        ]
        assert "Set-Cookie" not in response.headers
        assert response.headers["Cache-Control"] == "public, max-age=60"

    def test_a_private_one_is_for_its_players(self, anna: Caller, boris: Caller, stranger: Caller, app: Flask) -> None:
        match = started(anna, boris, private=True)
        clara = Caller(app).sign_up("clara")
        # Signed in or not: a cookie opens no feed.
        for caller in (stranger, anna):
            refused = fetch(caller, f"/matches/{match}/feed.atom", Accept="application/json")
            assert (refused.status_code, refused.json["code"]) == (404, "no-such-match")
        assert len(entries(fetch(stranger, f"/feeds/{address_of(boris)}/matches/{match}.atom"))) == 3
        refused = fetch(anna, f"/feeds/{address_of(clara)}/matches/{match}.atom", Accept="application/json")
        assert (refused.status_code, refused.json["code"]) == (404, "no-such-match")

    def test_it_has_the_end_of_a_long_match(self, anna: Caller, boris: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("api.pages.feeds.MAX_EVENTS", 3)
        match = started(anna, boris)
        for who in (anna, boris) * 2:
            who.move(match)
        found = entries(fetch(anna, f"/matches/{match}/feed.atom"))
        assert [title.split(" ")[0] for title, _ in found] == ["boris", "anna", "boris"]

    def test_who_has_the_last_state_gets_no_other(self, anna: Caller, boris: Caller) -> None:
        match = started(anna, boris)
        path = f"/matches/{match}/feed.atom"
        tag = fetch(anna, path).headers["ETag"]
        again = fetch(anna, path, If_None_Match=tag)
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
        anna.move(match)
        assert fetch(anna, path, If_None_Match=tag).status_code == 200

    def test_a_match_that_does_not_exist_has_none(self, stranger: Caller) -> None:
        assert fetch(stranger, "/matches/mnone/feed.atom").status_code == 404


class TestTheFeedOfAPlayer:
    def test_it_has_what_the_player_is_told_of(self, anna: Caller, boris: Caller, services: Services) -> None:
        match = started(anna, boris, private=True)
        services.projector.project([match])
        now = services.now()
        tell(services, boris.id, match, NoticeKind.STARTED, now - 5000)
        tell(services, boris.id, match, NoticeKind.TURN, now - 1000, deadline=1_800_000_000_000)
        tell(services, anna.id, match, NoticeKind.ENDED, now)
        response = fetch(anna, f"/feeds/{address_of(boris)}/matches.atom")
        assert entries(response) == [
            ("Your turn: Bashni against anna", "turn"),
            ("Started: Bashni against anna", "started"),
        ]
        assert "You have until Fri 15 January 2027, 08:00 UTC." in response.text
        assert response.headers["Cache-Control"] == "private, max-age=300"

    def test_of_a_player_who_was_told_nothing_it_is_empty_and_whole(self, boris: Caller) -> None:
        assert entries(fetch(boris, f"/feeds/{address_of(boris)}/matches.atom")) == []

    def test_blocked_people_are_not_named(self, anna: Caller, boris: Caller, services: Services) -> None:
        match = started(anna, boris)
        services.projector.project([match])
        tell(services, boris.id, match, NoticeKind.TURN, services.now())
        boris.put("/me/blocks/anna", {})
        assert entries(fetch(anna, f"/feeds/{address_of(boris)}/matches.atom")) == [("Your turn: Bashni", "turn")]


class TestTheCalendar:
    def test_it_has_deadlines_of_what_the_player_owes(self, anna: Caller, boris: Caller, services: Services) -> None:
        own = started(anna, boris)
        anna.move(own)
        waiting = started(boris, anna)
        boris.move(waiting)
        invitation = anna.create(ME, invited("boris"))
        machine = boris.create(ME, opponent(1))
        for match in (own, waiting, invitation, machine):
            services.projector.project([match])
        queue = {each["match"]["id"]: each["match"] for each in boris.get("/me/queue").json["items"]}
        found = {event["url"].rpartition("/")[2]: event for event in events_of(fetch(anna, self.path(boris)))}
        assert set(found) == {own, invitation, machine}
        titles = {match: str(event["summary"]) for match, event in found.items()}
        assert titles == {
            own: "Your move: Bashni against anna",
            invitation: "Answer the invitation: Bashni against anna",
            machine: "Your move: Bashni against Computer, level 1",
        }
        for match, event in found.items():
            deadline = datetime.fromisoformat(queue[match]["deadline"])
            assert event["dtstart"].dt == deadline.replace(microsecond=0)
            assert event["sequence"] == queue[match]["version"]
            (alarm,) = event.walk("VALARM")
            assert alarm["trigger"].dt.total_seconds() == -24 * 3600

    def test_a_match_keeps_its_entry_when_its_deadline_changes(self, boris: Caller, services: Services) -> None:
        match = boris.create(ME, opponent(1))
        services.projector.project([match])
        path = self.path(boris)
        (before,) = events_of(fetch(boris, path))
        boris.put(
            "/me/calendar", {"time_zone": "UTC", "free_days": [0, 2], "auto_vacation": True, "plays_forced": False}
        )
        (after,) = events_of(fetch(boris, path))
        assert after["uid"] == before["uid"]
        (listed,) = boris.get("/me/queue").json["items"]
        assert after["dtstart"].dt == datetime.fromisoformat(listed["match"]["deadline"]).replace(microsecond=0)
        assert after["dtstart"].dt > before["dtstart"].dt, "free days are foreseen"

    def test_without_reminders_are_no_alarms_and_without_matches_none(self, boris: Caller, services: Services) -> None:
        path = self.path(boris)
        assert events_of(fetch(boris, path)) == []
        services.projector.project([boris.create(ME, opponent(1))])
        services.preferences.change(boris.id, lambda own: type(own)(remind_before_h=0))
        (event,) = events_of(fetch(boris, path))
        assert list(event.walk("VALARM")) == []

    def test_who_has_the_last_state_gets_no_other(self, boris: Caller, services: Services) -> None:
        services.projector.project([boris.create(ME, opponent(1))])
        path = self.path(boris)
        tag = fetch(boris, path).headers["ETag"]
        assert fetch(boris, path, If_None_Match=tag).status_code == 304

    def path(self, caller: Caller) -> str:
        return f"/feeds/{address_of(caller)}/deadlines.ics"


@pytest.mark.parametrize("file", ["deadlines.ics", "matches.atom", "matches/m1.atom"])
def test_an_address_that_was_revoked_or_replaced_leads_nowhere(anna: Caller, stranger: Caller, file: str) -> None:
    first, second = address_of(anna), address_of(anna)
    anna.delete("/me/feed-address")
    for secret in (first, second, "nobody-" + "a" * 32, anna.id, "-", "ä"):
        refused = fetch(stranger, f"/feeds/{secret}/{file}", Accept="application/json")
        assert (refused.status_code, refused.json["code"]) == (404, "not-found"), secret


def test_a_secret_address_is_in_no_log(anna: Caller, services: Services, capsys: pytest.CaptureFixture[str]) -> None:
    secret = address_of(anna)
    services.ledger = None
    assert fetch(anna, f"/feeds/{secret}/matches.atom", Accept="application/json").status_code == 500
    logged = capsys.readouterr()
    assert "/feeds/.../matches.atom" in logged.out + logged.err
    assert secret not in (logged.out + logged.err).replace("Traceback", "")


def test_what_xml_cannot_have_is_replaced_and_the_rest_escaped() -> None:
    entry = Entry(id=atom_id("a", "b"), title="<b>&\x00\ud800]]>", updated=0, link="http://x.example/?a&b")
    written = write_feed(
        Feed(id=atom_id("a"), title="t", subtitle="s", updated=0, link="l", self_link="s", entries=[entry])
    )
    (found,) = ElementTree.fromstring(written).findall("a:entry", ATOM)  # noqa: S314 - our own
    assert one(found, "title") == "<b>&\ufffd\ufffd]]>"
    assert entry.id == atom_id("a", "b") != atom_id("a", "c")


def test_texts_in_the_calendar_are_escaped() -> None:
    title = "Your move; a, b\\\r\nEND:VEVENT"
    deadline = Deadline(
        subject="m", version=1, at=0, changed_at=0, title=title, description="d" * 200, url="https://x/m"
    )
    written = write_calendar([deadline], 3)
    (event,) = Calendar.from_ical(written).walk("VEVENT")
    assert str(event["summary"]) == title.replace("\r\n", "\n")
    assert max(map(len, written.split(b"\r\n"))) <= 75
