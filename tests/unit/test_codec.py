"""Domain events as stored events, and back: strictly."""

import json
import re
from dataclasses import astuple, replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from domain.match.enums import Channel, Ground, Limit, OccasionKind, PauseReason, RulingKind
from domain.match.event_types import TYPES
from domain.match.events import (
    CaseReopened,
    ClockPaused,
    ClockResumed,
    ClocksAdjusted,
    DisputeRaised,
    DrawAccepted,
    DrawDeclined,
    Event,
    FlagFell,
    MatchAborted,
    MatchCreated,
    MatchFinished,
    MatchStarted,
    MovesTakenBack,
    MoveSubmitted,
    PlayerJoined,
    RulesetChanged,
    RulesetProposed,
    RulingAppealed,
    RulingMade,
    SeedDrawn,
    StatementFiled,
    TakebackRequested,
    TimeCorrected,
    TimeGiven,
)
from domain.match.state import Occasion, Seat
from domain.match.terms import STANDARD
from events.store.codec import (
    UPCASTERS,
    MalformedEventError,
    UnknownEventError,
    content_shown,
    draft_of,
    event_of,
    present_schema,
    upcast,
)
from events.store.contract import GENESIS
from events.store.envelope import Envelope, seal
from tests.support.tables import table

T0 = 1_700_000_000_000

CREATED = MatchCreated(
    at=T0, creator="alice", game="bashni", ruleset=1, setup="start",
    seats=(Seat.taken("alice"), Seat.open(), Seat.invited("bob"), Seat.opponent(3)), rated=True, private=False,
    seed="7", terms=STANDARD,
)  # fmt: skip


def stored(event: Event) -> Envelope:
    """Return ``event`` as it comes back from a store."""
    (sealed,) = seal([draft_of(event, "alice")], "m", 0, GENESIS)
    return sealed.envelope._replace(data=json.loads(json.dumps(sealed.envelope.data)))


def envelope(type_name: str, data: Any, schema: int = 1, at: Any = T0) -> Envelope:
    return Envelope("0" * 64, "m", 4, type_name, schema, at, "alice", data)


def plain(name: str, **content: object) -> Event:
    made: Any = TYPES[name]
    event: Event = made(at=T0, **content)
    return event


MOVE = {"seat": 0, "ply": 1, "move": "c3-d4"}

EVENTS: list[Event] = [
    CREATED,
    PlayerJoined(at=T0, seat=1, player="bob"),
    MatchStarted(at=T0),
    MoveSubmitted(at=T0, seat=0, ply=1, move="c3-d4"),
    MoveSubmitted(at=T0, seat=0, ply=1, move="c3-d4", level=3, seed=0, engine="e1"),
    MoveSubmitted(at=T0, seat=0, ply=1, move="c3-d4", level=3, seed=0, engine="e1", nodes=600),
    MatchFinished(at=T0, scores=(1.0, 0.0), reason="no-moves"),
    MatchFinished(at=T0, scores=(0.25, 0.75), reason="material"),
    *(plain(name, seat=1) for name in ("draw-offered", "draw-accepted", "draw-declined", "player-resigned")),
    MatchAborted(at=T0, player="alice"),
    replace(CREATED, rematch_of="m0"),
    *(replace(CREATED, occasion=Occasion(kind=kind, id="t1", pairing="r2-b3")) for kind in OccasionKind),
    MoveSubmitted(at=T0, seat=0, ply=1, move="c3-d4", channel=Channel.CONDITIONAL),
    ClockPaused(at=T0, reason=PauseReason.VACATION, since=T0 - 5, seat=0, until=T0 + 5, automatic=True),
    ClockPaused(at=T0, reason=PauseReason.DISPUTE, since=T0),
    ClockResumed(at=T0, reason=PauseReason.DISPUTE),
    TimeCorrected(at=T0),
    TimeGiven(at=T0, seat=0, to=1, time=60_000),
    FlagFell(at=T0, seat=0, deadline=T0 - 1, limit=Limit.TIME),
    FlagFell(at=T0, seat=0, deadline=T0 - 1, limit=Limit.TIME, claimed_by=1),
    *(plain(name, seat=1) for name in ("flag-forgiven", "takeback-accepted", "takeback-declined")),
    MovesTakenBack(at=T0, ply=1),
    TakebackRequested(at=T0, seat=1, ply=6),
    DisputeRaised(at=T0, dispute=1, ply=4, ground=Ground.CLOCK, statement="0" * 64, freezes=True, seat=1),
    DisputeRaised(at=T0, dispute=1, ply=4, ground=Ground.CONDUCT, statement="0" * 64, freezes=False, arbiter="ann"),
    StatementFiled(at=T0, dispute=1, seat=0, statement="f" * 64),
    RulingAppealed(at=T0, dispute=1, seat=0, statement="f" * 64, freezes=True),
    CaseReopened(at=T0, dispute=1, arbiter="otto", operator=True, statement="f" * 64, freezes=True),
    SeedDrawn(at=T0, seed="8"),
    DrawAccepted(at=T0, seat=1, engine="2"),
    DrawDeclined(at=T0, seat=1, engine="2"),
    *(plain(name, dispute=1, arbiter="ann") for name in ("match-frozen", "match-unfrozen")),
    RulingMade(
        at=T0, dispute=1, arbiter="ann", ruling=RulingKind.LET_STAND, reason="e" * 64, rule="f" * 64, appeal=False
    ),
    ClocksAdjusted(at=T0, remaining=(60_000, 120_000)),
    *(plain(name) for name in ("match-annulled", "match-restored")),
    RulesetProposed(at=T0, arbiter="ann", ruleset=2, reason="e" * 64),
    *(plain(name, seat=1) for name in ("ruleset-accepted", "ruleset-declined")),
    RulesetChanged(at=T0, ruleset=1),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    decoded = event_of(stored(event))
    assert decoded == event
    assert list(map(type, astuple(decoded))) == list(map(type, astuple(event)))


def test_every_type_of_event_is_tried_here() -> None:
    assert {type(event) for event in EVENTS} == set(TYPES.values())


def test_the_instant_stands_in_the_envelope_and_what_is_none_is_left_out() -> None:
    draft = draft_of(MoveSubmitted(at=T0, seat=0, ply=1, move="c3-d4"), "alice")
    assert draft == ("move-submitted", 1, T0, "alice", MOVE)


def test_an_occasion_is_a_small_object_and_without_one_there_is_no_member() -> None:
    occasion = Occasion(kind=OccasionKind.TOURNAMENT, id="t1", pairing="4")
    content = draft_of(replace(CREATED, occasion=occasion), "alice").data
    assert content == {**CREATION, "occasion": {"kind": "tournament", "id": "t1", "pairing": "4"}}
    assert "occasion" not in CREATION


NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=40)


@given(st.sampled_from(OccasionKind), NAMES, NAMES)
def test_every_occasion_comes_back_as_it_was(kind: OccasionKind, id: str, pairing: str) -> None:
    event = replace(CREATED, occasion=Occasion(kind=kind, id=id, pairing=pairing))
    assert event_of(stored(event)) == event


@given(st.text().filter(lambda text: re.fullmatch("[a-z0-9-]{1,40}", text) is None))
def test_no_occasion_has_another_name(text: str) -> None:
    for names in ({"id": text, "pairing": "1"}, {"id": "t1", "pairing": text}):
        with pytest.raises(ValueError, match="of an occasion is 1 to 40 of a-z, 0-9 and -, not "):
            Occasion(kind=OccasionKind.SEEK, **names)


def test_seats_are_small_objects() -> None:
    assert draft_of(CREATED, "alice").data["seats"] == [
        {"player": "alice", "joined": True},
        {"joined": False},
        {"player": "bob", "joined": False},
        {"player": "opponent-3", "joined": True, "level": 3},
    ]


def test_whole_scores_are_stored_as_integers_and_read_as_floats() -> None:
    found = stored(MatchFinished(at=T0, scores=(1.0, 0.5), reason="x"))
    assert json.dumps(found.data["scores"]) == "[1, 0.5]"
    decoded = event_of(found)
    assert isinstance(decoded, MatchFinished)
    assert [type(score) for score in decoded.scores] == [float, float]


CREATION = dict(draft_of(CREATED, "alice").data)
TERMS = dict(draft_of(CREATED, "alice").data["terms"])
DISPUTE = {"dispute": 1, "ply": 4, "statement": "0" * 64, "freezes": True, "seat": 1}
OCCASION = {"kind": "seek", "id": "s1", "pairing": "1"}
RULED = {"dispute": 1, "arbiter": "ann", "reason": "e" * 64, "rule": "f" * 64, "appeal": False}


@pytest.mark.parametrize(
    ("type_name", "content", "reason"),
    [
        *table(__file__, "content of another shape is refused with place and reason"),
        ("match-created", CREATION | {"occasion": {}}, r"\.occasion: the field 'kind' is missing"),
        (
            "match-created",
            CREATION | {"occasion": OCCASION | {"kind": "league"}},
            r"\.occasion\.kind: one of seek, tournament was expected, not str 'league'",
        ),
        (
            "match-created",
            CREATION | {"occasion": OCCASION | {"round": 1}},
            r"\.occasion: the field 'round' is unknown",
        ),
        *(
            (
                "match-created",
                CREATION | {"occasion": OCCASION | {name: value}},
                rf"\.occasion: the {name} of an occasion is 1 to 40 of a-z, 0-9 and -, not '",
            )
            for name in ("id", "pairing")
            for value in ("", "T1", "1/2", "é", "1\n", "1" * 41)
        ),
        ("dispute-raised", DISPUTE | {"ground": "weather"}, r"\.ground: one of .*, conduct.* not str 'weather'"),
        ("ruling-made", RULED | {"ruling": "shout"}, r"\.ruling: one of let-stand, .* was expected, not str 'shout'"),
        ("match-created", CREATION | {"terms": TERMS | {"control": "none"}}, r"\.terms\.control: one of days-"),
        ("match-created", CREATION | {"terms": TERMS | {"flag": "never"}}, r"\.terms\.flag: one of automatic, c"),
    ],
)
def test_content_of_another_shape_is_refused_with_place_and_reason(type_name: str, content: Any, reason: str) -> None:
    with pytest.raises(MalformedEventError, match=f"version 4 of m, {type_name}.*{reason}"):
        event_of(envelope(type_name, content, present_schema(type_name)))


@pytest.mark.parametrize(("seat", "reason"), table(__file__, "a seat of another shape is refused with its number"))
def test_a_seat_of_another_shape_is_refused_with_its_number(seat: Any, reason: str) -> None:
    content = dict(draft_of(CREATED, "alice").data) | {"seats": [{"joined": False}, seat]}
    with pytest.raises(MalformedEventError, match=r"\.seats\[1\].*" + reason):
        event_of(envelope("match-created", content, present_schema("match-created")))


def test_an_instant_that_is_no_whole_number_is_refused() -> None:
    with pytest.raises(MalformedEventError, match="a whole number"):
        event_of(envelope("match-started", {}, at="5"))


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(UnknownEventError, match="version 4 of m, match-paused: there is no such type"):
        event_of(envelope("match-paused", {}))


def test_a_schema_of_a_later_version_is_refused() -> None:
    with pytest.raises(UnknownEventError, match="it has schema 2, and 1 is the latest known here"):
        event_of(envelope("match-started", {}, schema=2))


@pytest.mark.parametrize("schema", [0, -1])
def test_a_schema_that_never_was_is_refused(schema: int) -> None:
    with pytest.raises(MalformedEventError, match="never in use"):
        event_of(envelope("match-started", {}, schema=schema))


def upcast_player_joined_v1_v2(content: Any) -> Any:
    return {"chair": content["chair"], "player": content["name"]}


def upcast_player_joined_v2_v3(content: Any) -> Any:
    return {"seat": content["chair"] - 1, "player": content["player"]}


LATER = {("player-joined", 1): upcast_player_joined_v1_v2, ("player-joined", 2): upcast_player_joined_v2_v3}


@pytest.mark.parametrize(
    ("schema", "content"),
    [(1, {"chair": 2, "name": "bob"}), (2, {"chair": 2, "player": "bob"}), (3, {"seat": 1, "player": "bob"})],
)
def test_an_event_of_any_older_schema_is_upcast_step_by_step(
    schema: int, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.store.codec.UPCASTERS", LATER)
    assert event_of(envelope("player-joined", content, schema)) == PlayerJoined(at=T0, seat=1, player="bob")


def test_upcasting_touches_only_its_own_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("events.store.codec.UPCASTERS", LATER)
    assert present_schema("player-joined") == 3
    assert present_schema("match-started") == 1
    assert upcast("match-started", 1, {"a": 1}) == {"a": 1}
    with pytest.raises(UnknownEventError):
        event_of(envelope("player-joined", {}, 4))


def test_every_registered_upcaster_is_named_after_its_step() -> None:
    for (type_name, schema), upcaster in (LATER | dict(UPCASTERS)).items():
        expected = f"upcast_{type_name.replace('-', '_')}_v{schema}_v{schema + 1}"
        assert getattr(upcaster, "__name__", None) == expected
        assert type_name in TYPES


def test_what_cannot_be_understood_is_shown_as_it_stands() -> None:
    unknown = Envelope("0" * 64, "m", 2, "from-the-future", 7, T0, "ann", {"reason": "It was."})
    assert content_shown(unknown) == {"reason": "It was."}
    later = unknown._replace(type="ruling-made", schema=99)
    assert content_shown(later) == {"reason": "It was."}
    assert content_shown(later._replace(schema=0, data={"reason": 5})) == {"reason": 5}
