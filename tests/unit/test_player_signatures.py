"""Moves and acts that players have signed: what a bundle proves of them, and that nothing else passes for it."""

import base64
import json
from typing import Any

import pytest

from domain.match import commands as c
from domain.match.enums import LineAction
from domain.match.events import MoveSubmitted
from domain.match.lines import ConditionalMoves, Line, Lines, arranged
from domain.match.player_signatures import MAX_EVENTS_AFTER_SIGNING
from domain.match.refusals import CommandError
from events.proof.player_signatures import MOVE, SignedStatement
from events.proof.verification import FaultyBundleError, place_in_words, verify
from events.store.converter import write_value
from tests.support import player_key_vectors
from tests.support.bundles import after_two_plies, bundle_of, disputed, keys
from tests.support.forging import adding, by, forged, saying, without
from tests.support.matches import PlayedMatch, started
from tests.support.player_keys import SIGNER
from tests.support.tables import table
from tests.support.verifying import fault, steps


def test_a_signed_move_is_proved_by_the_key_in_its_event() -> None:
    found = steps(bundle_of(player_key_vectors.moved()))
    said = f"signed by players: move of alice (version 6) by key {SIGNER.id}. That a key is its player's"
    assert found["player keys"].finding.startswith(said)
    assert found["player keys"].proved
    assert list(found)[-2:] == ["player keys", "checkpoint"]


@pytest.mark.parametrize("place", range(0, 512, 73))
def test_a_signed_move_with_one_bit_of_its_signature_changed_is_refused(place: int) -> None:
    event = player_key_vectors.moved().events[5]
    assert isinstance(event, MoveSubmitted)
    signed: Any = write_value(event.signed)
    changed = {**signed, "signature": f"{int(signed['signature'], 16) ^ 1 << place:0128x}"}
    packed = forged(player_key_vectors.moved(), saying(6, signed=changed))
    for rules in (True, False):
        assert fault(packed, rules=rules).place == "version 6, data.signed.signature"


def test_offer_agreement_resignation_and_appeal_are_signed_in_the_same_way() -> None:
    match = after_two_plies()
    match.do(c.OfferDraw(player="alice", signed=SIGNER.sign_act(match, "draw-offered", 0)))
    match.do(c.AcceptDraw(player="bob", signed=SIGNER.sign_act(match, "draw-accepted", 1)))
    words = steps(bundle_of(match))["player keys"].finding
    assert "draw offer of alice (version 6)" in words
    assert "agreement to a draw of bob (version 7)" in words
    case = disputed()
    case.do(c.Appeal(player="bob", statement="0" * 64, signed=SIGNER.sign_act(case, "ruling-appealed", 1)))
    assert "appeal of bob" in steps(bundle_of(case))["player keys"].finding
    assert "resignation of bob" in steps(bundle_of(player_key_vectors.resigned()))["player keys"].finding


def test_an_offer_where_a_draw_is_on_offer_is_agreement_without_the_signature_under_an_offer() -> None:
    match = after_two_plies()
    match.do(c.OfferDraw(player="alice"))
    match.do(c.OfferDraw(player="bob", signed=SIGNER.sign_act(match, "draw-offered", 1)))
    assert "player keys" not in steps(bundle_of(match))


def test_one_signature_covers_all_moves_of_a_turn_and_stands_in_the_last() -> None:
    match = started()
    match.move("alice", "c3-d4")
    signed = SIGNER.sign_act(match, MOVE, 1, ["b6-a5"])
    match.do(c.SubmitMoves(player="bob", moves=("b6-a5",), signed=signed))
    assert f"move of bob (version 5) by key {SIGNER.id}" in steps(bundle_of(match))["player keys"].finding


def test_a_signed_move_is_refused_in_another_form_than_the_one_that_is_recorded() -> None:
    match = after_two_plies()
    signed = SIGNER.sign_act(match, MOVE, 0, ["E3-F4"])
    for command in (
        c.SubmitMove(player="alice", move="E3-F4", signed=signed),
        c.SubmitMoves(player="alice", moves=("E3-F4",), signed=signed),
    ):
        with pytest.raises(CommandError, match="a signed move is written in its canonical form, e3-f4") as refused:
            match.do(command)
        assert refused.value.code == "malformed-move"


def test_an_answer_laid_down_is_signed_alone_and_recorded_when_its_line_is_played() -> None:
    match = after_two_plies()
    played = SIGNER.sign_act(match, MOVE, 1, ["e3-f4", "f6-e5"])
    other = SIGNER.sign_act(match, MOVE, 1, ["g3-f4", "f6-g5"])
    leaving = SIGNER.sign_act(match, "player-resigned", 1, ["e3-f4", "f6-e5", "d4xf6"])
    lines = (
        Line(
            move="e3-f4",
            next=(
                Line(
                    move="f6-e5",
                    next=(Line(move="d4xf6", then=LineAction.RESIGN, signature=leaving.signature),),
                    signature=played.signature,
                ),
            ),
        ),
        Line(move="g3-f4", next=(Line(move="f6-g5", signature=other.signature),)),
    )
    plain = arranged(match.state, "bob", lines, match.now)
    signed = Lines(ply=plain.ply, position=plain.position, first=plain.first, key=played.key, version=played.version)
    match.orders = {1: ConditionalMoves(lines=signed)}
    match.move("alice", "e3-f4")
    match.move("alice", "d4xf6")
    packed = forged(match, by(10, "alice"))  # the end follows from her move
    words = steps(packed)["player keys"].finding
    assert "move of bob (version 7)" in words
    assert "resignation of bob (version 9)" in words
    assert other.signature.encode() not in packed
    assert b"g3-f4" not in packed


def test_an_answer_laid_down_long_ago_is_played_without_its_signature() -> None:
    match = after_two_plies()
    signed = SIGNER.sign_act(match, MOVE, 1, ["e3-f4", "f6-e5"])
    lines = Lines(ply=2, position="", first=(), key=signed.key, version=signed.version)
    line = Line(move="f6-e5", signature=signed.signature)
    assert lines.signed(line, signed.version + MAX_EVENTS_AFTER_SIGNING) == signed
    assert lines.signed(line, signed.version + MAX_EVENTS_AFTER_SIGNING + 1) is None


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (Line(move="e3-f4", signature="0" * 128), "lines.0.signature"),
        (Line(move="E3-F4", next=(Line(move="f6-e5", signature="0" * 128),)), "lines.0.move"),
        (Line(move="*", next=(Line(move="f6-e5", signature="0" * 128),)), "lines.0"),
    ],
    ids=["a move of the other side", "a move in another form", "an answer to any move"],
)
def test_a_signature_in_a_line_is_refused_where_nothing_could_be_proved_by_it(line: Line, place: str) -> None:
    match = after_two_plies()
    with pytest.raises(CommandError) as refused:
        arranged(match.state, "bob", (line,), match.now)
    assert refused.value.field == place


@pytest.mark.parametrize("name", player_key_vectors.FAULTS)
def test_a_signature_that_is_not_the_keys_is_refused_with_its_place(name: str) -> None:
    packed, place = player_key_vectors.signed_otherwise(name), player_key_vectors.FAULTS[name][1]
    for rules in (True, False):
        found = fault(packed, rules=rules)
        assert isinstance(found, FaultyBundleError)
        assert (found.step, found.place) == ("player keys", f"version 6, data.signed{place}")


def test_a_signature_cannot_be_moved_to_another_act_seat_match_or_time() -> None:
    match = after_two_plies()
    for act, seat in (("draw-offered", 1), ("player-resigned", 0)):
        other = after_two_plies()
        other.do(c.Resign(player="bob", signed=SIGNER.sign_act(match, act, seat)))
        assert fault(bundle_of(other)).place == "version 6, data.signed.signature"
    match.do(c.OfferDraw(player="bob", signed=SIGNER.sign_act(match, "draw-offered", 1)))
    event = match.events[-1]
    match.do(c.DeclineDraw(player="alice"))
    match.move("alice", "d4-c5")
    again = forged(match, without(8), adding(8, event, "bob"))
    assert fault(again, rules=False).place == "version 8, data.signed.version"


@pytest.mark.parametrize(("content", "place"), table(__file__, "a malformed signature is refused with its place"))
def test_a_malformed_signature_is_refused_with_its_place_without_any_rules(content: Any, place: str) -> None:
    packed = forged(player_key_vectors.resigned(), saying(player_key_vectors.RESIGNED, signed=content))
    assert fault(packed, rules=False).place == f"version 6, data.signed{place}"
    assert fault(packed).place.startswith("version 6")


def test_the_statement_names_the_move_the_match_and_its_head() -> None:
    statement = {
        "act": MOVE, "digest": "ab" * 32, "match": "m", "moves": ["c3-d4"], "seat": 1, "version": 5
    }  # fmt: skip
    text = json.dumps(statement, sort_keys=True, separators=(",", ":"))
    assert SignedStatement(MOVE, "ab" * 32, "m", ("c3-d4",), 1, 5).message == b"rookery act 1\n" + text.encode()


def test_the_authority_of_a_signed_answer_is_checked_like_that_of_any_other() -> None:
    match: PlayedMatch = player_key_vectors.laid_down()
    assert "authority" in steps(bundle_of(match))
    assert fault(forged(match, saying(7, move="f6-g5"))).place.startswith("version 7")


def test_the_published_vectors_are_those_that_the_program_writes_and_hold_here() -> None:
    files = {path.name: json.loads(path.read_text()) for path in player_key_vectors.DIRECTORY.iterdir()}
    assert files == {f"{player_key_vectors.slug(each['name'])}.json": each for each in player_key_vectors.vectors()}
    for each in files.values():
        given, proved, found = each["given"], [], None
        expected = each["expect"]["fault"] and (
            player_key_vectors.STEP,
            place_in_words(each["expect"]["fault"]["place"]),
        )
        try:
            for step in verify(base64.b64decode(given["bundle"]), keys(), rules=False):
                proved += [step.name] * step.proved
        except FaultyBundleError as fault:
            found = fault.step, fault.place
        assert (proved, found) == (each["expect"]["proved"], expected), each["name"]
