"""A small simulated year: every check passes, equal seeds give equal events, and the audit finds faults."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from domain.match import events as e
from domain.match.enums import Ground, PauseReason, RulingKind
from domain.match.lines import Line, Lines
from domain.match.terms import DAY, HOUR, Terms
from domain.match.vacation import Vacation
from events.matches.readmodels import rated_result, summarise
from events.notify.notice import Notice, NoticeChannel, NoticeKind
from events.store.codec import draft_of, event_of
from events.store.contract import Request
from events.store.envelope import Draft, Envelope
from tests.simulation.audit import Audited, audit
from tests.simulation.elsewhere import Accepted
from tests.simulation.notices import CHAT_MARK, SentNotice, ToldOf
from tests.simulation.notices_audit import audit_notices
from tests.simulation.people import Absence, Person, year_start
from tests.simulation.players import LinesSet
from tests.simulation.ratings import LiveRatings
from tests.simulation.server import SimulatedServer, in_memory
from tests.simulation.year import Downtime, FreeDaysChange, Year, simulate
from tests.support.memory_store import MemoryStore
from tests.support.tables import table
from tests.support.zones import local

MATCHES = 30
SEED = 5


@pytest.fixture(scope="module")
def year() -> Year:
    return simulate(in_memory(), SEED, MATCHES)


@pytest.fixture(scope="module")
def audited(year: Year) -> Audited:
    return audit(year)


def test_nothing_in_it_is_wrong(year: Year, audited: Audited) -> None:
    assert audited.failures == []
    assert year.faults == []
    assert sum(audited.endings.values()) == len(year.matches) == MATCHES + year.counts["rematches"]
    assert {game for game, _ in audited.endings} == {"bashni", "towers", "tower-game", "fourplay", "four-towers"}


def test_all_that_is_to_be_tried_happens_in_it(year: Year, audited: Audited) -> None:
    happened = {
        "ClockPaused weekend late", "DisputeRaised", "MatchAnnulled", "RulingAppealed", "ClockPaused outage late",
        "ClockPaused vacation automatic", "DrawOffered", "FlagFell time", "MoveSubmitted conditional", "PlayerResigned",
        "TakebackRequested",
    }  # fmt: skip
    assert happened <= set(audited.seen)
    assert year.counts["changes of daylight saving"] > 0
    looked_at = {
        "every flag fell at its expected instant", "no one was flagged on a free day", "no one was flagged on vacation",
        "no one was flagged during an outage", "a conditional move was played as it was set",
        "no unplayed conditional move leaked", "bundles verify", "a freeze cost no time",
        "undone results left no trace in the ratings",
    }  # fmt: skip
    assert looked_at <= set(audited.checks)


def test_the_same_seed_gives_the_same_events(audited: Audited) -> None:
    assert audit(simulate(in_memory(), SEED, MATCHES)).digest == audited.digest


def flags(year: Year) -> list[tuple[str, int, e.FlagFell]]:
    """Return all flags of people that were no first moves, with match and version."""
    found = []
    for match in year.matches:
        for envelope in year.server.store.read(match):
            event = event_of(envelope)
            if isinstance(event, e.FlagFell) and event.limit == "time":
                found.append((match, envelope.version, event))
    return found


def only(year: Year, match_id: str, change: Callable[[Envelope], Envelope] = lambda envelope: envelope) -> Year:
    """Return a year of one match, some of its events written otherwise, in a chain that holds."""
    return of_drafts(year, match_id, [change(envelope).draft for envelope in year.server.store.read(match_id)])


def of_drafts(year: Year, match_id: str, drafts: list[Draft]) -> Year:
    store = MemoryStore(shards=4)
    store.append(match_id, store.head(match_id), drafts, Request("all", ""))
    server, ratings = SimulatedServer(in_memory()._replace(store=store), 0, lambda _: None), LiveRatings()
    ratings.update(server.state(match_id))
    return year._replace(server=server, matches=[match_id], ratings=ratings)


DONE_BY_NOBODY = {"every actor was authorised", "bundles verify"}
"""What is broken, beside all else, wherever a test puts events into a match."""


def rules_broken(year: Year) -> set[str]:
    return {failures.split(":")[0] for failures in audit(year).failures}


def terms_of(year: Year, match_id: str) -> Terms:
    terms = year.server.state(match_id).terms
    assert terms is not None
    return terms


def changing(version: int, **content: object) -> Callable[[Envelope], Envelope]:
    def change(envelope: Envelope) -> Envelope:
        return envelope._replace(data={**envelope.data, **content}) if envelope.version == version else envelope

    return change


def test_a_flag_a_millisecond_off_is_found(year: Year) -> None:
    match, version, event = flags(year)[0]
    availability = year.flagged[match, event.seat, event.deadline]
    wrong = only(year, match, changing(version, deadline=event.deadline + 1))
    wrong = wrong._replace(flagged={**year.flagged, (match, event.seat, event.deadline + 1): availability})
    assert "every flag fell at its expected instant" in rules_broken(wrong)


def test_a_flag_that_fell_in_a_pause_is_found(year: Year) -> None:
    match, version, event = flags(year)[0]
    envelopes = year.server.store.read(match)
    pause = draft_of(
        e.ClockPaused(
            at=event.at, reason=PauseReason.ARBITER, since=event.deadline - HOUR, seat=event.seat,
            until=event.deadline + 1,
        ),
        "clock",
    )  # fmt: skip
    drafts = [each.draft for each in envelopes]
    broken = rules_broken(of_drafts(year, match, [*drafts[: version - 1], pause, *drafts[version - 1 :]]))
    rules = {"every flag fell at its expected instant", "no flag fell while the clock was paused"}
    assert broken - DONE_BY_NOBODY == rules


def dispute(at: int, freezes: bool = True) -> Draft:
    return draft_of(
        e.DisputeRaised(at=at, dispute=1, ply=0, ground=Ground.CLOCK, statement="0" * 64, freezes=freezes, seat=0),
        "p000",
    )


def test_a_flag_in_a_frozen_match_is_found(year: Year) -> None:
    match, version, _ = next(found for found in flags(year) if not year.server.state(found[0]).cases.disputes)
    drafts = [each.draft for each in year.server.store.read(match)]
    frozen = [*drafts[: version - 1], dispute(drafts[version - 2].at), *drafts[version - 1 :]]
    assert "no flag fell in a frozen match" in rules_broken(of_drafts(year, match, frozen))


def test_a_freeze_that_costs_time_is_found(year: Year, monkeypatch: pytest.MonkeyPatch) -> None:
    match, drafts = next(
        (match, drafts)
        for match, version, _ in flags(year)
        if not year.server.state(match).cases.disputes
        and (drafts := [envelope.draft for envelope in year.server.store.read(match)][: version - 1])[-1].type
        == "move-submitted"
    )
    ruled = draft_of(
        e.RulingMade(
            at=drafts[-1].at + 7 * DAY, dispute=1, arbiter="ann", ruling=RulingKind.LET_STAND, reason="So it is.",
            rule="1", appeal=False,
        ),
        "ann",
    )  # fmt: skip
    wrong = of_drafts(year, match, [*drafts, dispute(drafts[-1].at), ruled])
    assert "a freeze cost no time" not in rules_broken(wrong)
    monkeypatch.setattr("domain.match.clock.pause", lambda clock, _: clock)
    assert "a freeze cost no time" in rules_broken(wrong)


def test_a_result_that_stays_in_the_ratings_is_found(year: Year) -> None:
    match = next(match for match in year.matches if rated_result(summarise(year.server.state(match))) is not None)
    kept = only(year, match)
    assert rules_broken(kept) == set()
    drafts = [each.draft for each in year.server.store.read(match)]
    annulled = of_drafts(year, match, [*drafts, draft_of(e.MatchAnnulled(at=drafts[-1].at), "ann")])
    assert rules_broken(annulled) - DONE_BY_NOBODY == set()
    broken = rules_broken(annulled._replace(ratings=kept.ratings))
    assert broken - DONE_BY_NOBODY == {"undone results left no trace in the ratings"}


def test_what_was_said_in_a_case_and_stands_in_an_event_is_found(year: Year) -> None:
    match_id = year.matches[0]
    drafts = [each.draft for each in year.server.store.read(match_id)]
    said = f"p000 says in {match_id} that it was not so"
    open_words = dispute(drafts[-1].at, freezes=False)
    leaking = open_words._replace(data={**open_words.data, "statement": said})
    found = rules_broken(of_drafts(year, match_id, [*drafts, leaking])._replace(case_texts=[said]))
    assert found - DONE_BY_NOBODY == {"no text of a case is in an event"}


def test_an_act_of_somebody_else_is_found(year: Year) -> None:
    match = next(match for match in year.matches if year.server.state(match).play.moves)
    acted = next(each for each in year.server.store.read(match) if each.type == "move-submitted")

    def stolen(envelope: Envelope) -> Envelope:
        return envelope._replace(actor="eve") if envelope.version == acted.version else envelope

    assert "every actor was authorised" in rules_broken(only(year, match, stolen))


def test_a_flag_in_an_outage_is_found(year: Year) -> None:
    match, _, event = flags(year)[0]
    assert rules_broken(only(year, match)) == set()
    away = [Downtime(event.deadline - HOUR, event.deadline + HOUR, True)]
    assert rules_broken(only(year, match)._replace(away=away)) == {"no one was flagged during an outage"}


def test_a_flag_on_a_vacation_is_found(year: Year) -> None:
    match, event = next((match, event) for match, _, event in flags(year) if terms_of(year, match).vacations)
    key = (match, event.seat, event.deadline)
    on_vacation = year.flagged[key]._replace(book=(Vacation(event.deadline - HOUR, event.deadline + HOUR),))
    wrong = only(year, match)._replace(flagged={**year.flagged, key: on_vacation})
    assert rules_broken(wrong) == {"no one was flagged on vacation"}


def test_a_flag_on_a_free_day_is_found(year: Year) -> None:
    match = next(match for match, _, _ in flags(year) if terms_of(year, match).weekends)
    every_day = [FreeDaysChange(0, person.id, tuple(range(7))) for person in year.people]
    assert rules_broken(only(year, match)._replace(free_days=every_day)) == {"no one was flagged on a free day"}


def test_a_line_that_nobody_has_laid_down_is_found(year: Year) -> None:
    assert rules_broken(year._replace(lines_set=[])) == {"a conditional move was played as it was set"}


@pytest.mark.parametrize("kind", ["clock-paused", "move-submitted"])
def test_a_line_that_leaks_is_found(year: Year, kind: str) -> None:
    match, version = next(
        (match, envelope.version)
        for match in year.matches
        for envelope in year.server.store.read(match)
        if envelope.type == kind
    )
    secret = LinesSet(match, 0, 1, Lines(ply=0, position="", first=(Line(move="secret"),)))

    def betray(envelope: Envelope) -> Envelope:
        return envelope._replace(actor="secret") if envelope.version == version else envelope

    assert rules_broken(only(year, match)._replace(lines_set=[secret, *year.lines_set])) == set()
    broken = rules_broken(only(year, match, betray)._replace(lines_set=[secret, *year.lines_set])) - DONE_BY_NOBODY
    assert broken
    assert all("leaked" in rule for rule in broken)


def test_a_match_that_does_not_end_is_found(year: Year) -> None:
    match = next(match for match in year.matches if year.server.store.read(match)[-1].type == "match-finished")
    going_on = only(
        year,
        match,
        lambda each: each._replace(type="match-started", schema=1, data={}) if each.type == "match-finished" else each,
    )
    assert "every match ended" in rules_broken(going_on)


def test_what_the_server_complains_of_is_told(year: Year) -> None:
    assert audit(year._replace(faults=["refused"])).failures == ["the server logged no warnings: failed in refused"]


def test_people_are_up_in_their_waking_hours_and_not_when_they_are_away() -> None:
    begin = year_start(2025)
    absence = Absence(begin + DAY, begin + 3 * DAY, None)
    person = Person("p", "America/New_York", 8, 20, HOUR, (), True, True, 30, (absence,))
    for hours in range(24 * 5):
        up = person.next_active(begin + hours * HOUR)
        assert up >= begin + hours * HOUR
        assert 8 <= local("America/New_York", up).hour < 20
        assert not absence.since <= up < absence.until


MAIL = b"Message-ID: <1@rookery.example>\r\nSubject: Your turn\r\nTo: a@people.example\r\n\r\nIt is your turn.\r\n"
SENT = SentNotice("n1", NoticeChannel.MAIL, "")


def notice(reason: str = "You want to be told at once.") -> Notice:
    return Notice(
        id="n1", player="p000", kind=NoticeKind.TURN, match="m000", version=3, fact="turn:m000:1:0:0",
        summary="It is your turn.", reason=reason, at=1, decided_at=1,
    )  # fmt: skip


def failures(**changed: Any) -> list[str]:
    told = ToldOf(
        decided={"n1": notice()}, accepted=[Accepted(NoticeChannel.MAIL, "<1@rookery.example>", MAIL)],
        sent=Counter({SENT: 1}), needless=(), missing=(), unreminded=(), disturbing=(), decided_again=(),
        unexplained=(), counts=Counter({"turns that people must be told of": 1}),
    )._replace(**changed)  # fmt: skip
    failed = []

    def check(rule: str, holds: bool, place: str) -> None:
        if not holds:
            failed.append(rule)

    audit_notices(told, ["the text of a case"], check)
    return failed


def test_a_year_in_which_all_is_well_has_no_failures() -> None:
    assert failures() == []


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        *table(__file__, "what is wrong is found"),
        ({"decided": {"n1": notice(reason="")}}, "every notice says what was decided and why"),
        ({"sent": Counter({SENT: 2})}, "nobody was told of anything twice"),
        ({"counts": Counter()}, "every turn is in the ledger"),
        ({"accepted": [Accepted(NoticeChannel.MAIL, "<1>", MAIL)] * 2}, "no mail and no webhook was accepted twice"),
        (
            {"accepted": [Accepted(NoticeChannel.PUSH, "x", f'{{"body": "{CHAT_MARK} 7"}}'.encode())]},
            "nothing private was sent",
        ),
        ({"accepted": [Accepted(NoticeChannel.MAIL, "x", MAIL + b"the text of a case")]}, "nothing private was sent"),
    ],
)
def test_what_is_wrong_is_found(changed: dict[str, Any], rule: str) -> None:
    assert failures(**changed) == [rule]
