"""The facts that people are told of: to whom, by which name, and when they are no longer so."""

from dataclasses import replace

import pytest

from domain.match import commands as c
from domain.match.commands import Command
from domain.match.enums import Ground, RulingKind
from domain.match.state import Seat, opponent_id
from domain.match.terms import DAY, STANDARD
from events.notify.facts import Fact, Happened, facts_of, reminder_of, turn_of, why_outdated
from events.notify.notice import NoticeKind
from events.notify.wording import WORDINGS, about, enumerated, headline
from tests.support.matches import FOUR, SHORT_GAME, PlayedMatch, creation

TERMS = STANDARD._replace(takebacks=True)
DIGEST = "0" * 64


class Watched:
    """A match whose events are known with who acted."""

    def __init__(self, *seats: Seat, create: c.CreateMatch | None = None) -> None:
        self.match = PlayedMatch(create or creation(*(seats or (Seat.taken("alice"), Seat.open())), terms=TERMS))
        self.happened = [Happened(1, "alice", self.match.events[0])]
        self._note("alice")

    def _note(self, actor: str) -> None:
        for event in self.match.events[len(self.happened) :]:
            self.happened.append(Happened(len(self.happened) + 1, actor, event))

    def do(self, actor: str, command: Command, at: int | None = None) -> list[Fact]:
        """Carry ``command`` out; return the facts of what it has brought about."""
        before = len(self.happened)
        self.match.do(command, at)
        self._note(actor)
        return self.facts(before + 1)

    def move(self, player: str, move: str) -> list[Fact]:
        return self.do(player, c.SubmitMove(player=player, move=move))

    def facts(self, since: int = 1) -> list[Fact]:
        return facts_of(self.match.state, self.happened, since)


def told(facts: list[Fact]) -> dict[str, tuple[str, ...]]:
    return {about(fact.name): fact.players for fact in facts}


@pytest.fixture
def watched() -> Watched:
    """Return a match of alice and bob in which alice has moved."""
    watched = Watched()
    watched.do("bob", c.JoinMatch(player="bob"))
    watched.move("alice", "c3-d4")
    return watched


def outdated(watched: Watched, fact: Fact) -> str | None:
    return why_outdated(fact.name, fact.players[0], watched.match.state)


def test_an_invitation_and_a_rematch_reach_who_is_invited() -> None:
    seats = (Seat.taken("alice"), Seat.invited("bob"))
    watched = Watched(*seats)
    (fact,) = watched.facts()
    assert (about(fact.name), fact.kind, fact.players) == ("invitation", NoticeKind.INVITATION, ("bob",))
    assert outdated(watched, fact) is None
    again = Watched(create=replace(creation(*seats, terms=TERMS), rematch_of="before"))
    assert told(again.facts()) == {"rematch": ("bob",)}
    watched.do("bob", c.JoinMatch(player="bob"))
    assert outdated(watched, fact) == "You have accepted meanwhile."
    again.do("alice", c.AbortMatch(player="alice"))
    assert outdated(again, again.facts()[0]) if again.facts() else True
    assert why_outdated("rematch:m:1", "bob", again.match.state) == "The invitation is over."


def test_a_start_is_a_turn_for_who_moves_first_and_a_start_for_the_others() -> None:
    watched = Watched()
    facts = watched.do("bob", c.JoinMatch(player="bob"))
    assert told(facts) == {"turn": ("alice",)}, "bob has joined and knows"
    assert facts[0].summary == "A match of Bashni has started, and it is your turn."
    seats = (Seat.taken("alice"), *(Seat.open() for _ in FOUR[1:]))
    four = Watched(create=creation(*seats, game="towers", setup="four-player", terms=TERMS))
    for player in FOUR[1:3]:
        assert four.do(player, c.JoinMatch(player=player)) == []
    assert told(four.do("bob", c.JoinMatch(player="bob"))) == {"started": FOUR[1:3], "turn": ("alice",)}


def test_a_move_makes_it_the_turn_of_the_next_with_the_deadline_of_the_clock(watched: Watched) -> None:
    (turn,) = watched.facts(4)
    assert (turn.kind, turn.players, turn.at) == (NoticeKind.TURN, ("bob",), watched.match.now)
    assert turn.deadline is not None
    assert turn.deadline > turn.at + DAY
    assert outdated(watched, turn) is None
    watched.move("bob", "b6-a5")
    assert outdated(watched, turn) == "You have moved meanwhile."
    watched.do("alice", c.Resign(player="alice"))
    assert outdated(watched, turn) == "The match is over."


def test_the_name_of_a_turn_does_not_depend_on_what_else_happens_in_it(watched: Watched) -> None:
    (turn,) = watched.facts(4)
    watched.do("alice", c.OfferDraw(player="alice"))
    watched.do("bob", c.DeclineDraw(player="bob"))
    watched.do("alice", c.GiveTime(player="alice", seat=1, time=DAY))
    after = turn_of(watched.match.state, watched.happened)
    assert (after.name, after.at) == (turn.name, turn.at)
    assert turn_of(watched.match.state).name == turn.name, "and not on which events are at hand"


def test_a_ply_that_is_played_again_is_another_turn(watched: Watched) -> None:
    (first,) = watched.facts(4)
    watched.do("alice", c.RequestTakeback(player="alice"))
    facts = watched.do("bob", c.AcceptTakeback(player="bob"))
    assert told(facts) == {"turn": ("alice",)}
    assert outdated(watched, first) == "Moves were taken back meanwhile."
    (second,) = watched.move("alice", "c3-d4")
    assert second.players == first.players
    assert second.name != first.name


def test_nobody_is_told_of_a_turn_of_an_opponent_or_in_a_match_with_oneself() -> None:
    seats = (Seat.taken("alice"), Seat.opponent(1))
    watched = Watched(create=creation(*seats, rated=False))
    assert watched.facts() == [], "alice has started it"
    assert watched.move("alice", "c3-d4") == []
    answer = watched.do(opponent_id(1), c.SubmitMove(player=opponent_id(1), move="b6-a5", level=1, seed=1, engine="e"))
    assert told(answer) == {"turn": ("alice",)}


def test_offers_and_requests_reach_who_has_to_answer(watched: Watched) -> None:
    draw, _turn = watched.do("alice", c.OfferDraw(player="alice"))
    assert (about(draw.name), draw.kind, draw.players) == ("draw", NoticeKind.OFFER, ("bob",))
    assert outdated(watched, draw) is None
    watched.do("bob", c.DeclineDraw(player="bob"))
    assert outdated(watched, draw) == "It was answered or withdrawn meanwhile."
    back, _turn = watched.do("alice", c.RequestTakeback(player="alice"))
    assert (about(back.name), back.players) == ("takeback", ("bob",))
    assert told(watched.facts(4)) == {"takeback": ("bob",), "turn": ("bob",)}, "the draw is off the table"
    proposal = watched.do("arbiter-1", c.ProposeRuleset(arbiter="arbiter-1", ruleset=2, reason=DIGEST))
    assert told(proposal) == {"ruleset": ("alice", "bob"), "turn": ("bob",)}
    watched.do("alice", c.AcceptRuleset(player="alice"))
    fact = next(fact for fact in watched.facts(4) if about(fact.name) == "ruleset")
    assert why_outdated(fact.name, "alice", watched.match.state) == "You have answered meanwhile."
    assert why_outdated(fact.name, "bob", watched.match.state) is None


def test_of_two_offers_only_the_one_on_the_table_is_told(watched: Watched) -> None:
    watched.do("alice", c.OfferDraw(player="alice"))
    watched.move("bob", "b6-a5")
    watched.move("alice", "b2-c3")
    (draw, _turn) = watched.do("alice", c.OfferDraw(player="alice"))
    assert [fact for fact in watched.facts(1) if about(fact.name) == "draw"] == [draw]


def test_the_end_reaches_all_but_who_has_brought_it_about(watched: Watched) -> None:
    (ended,) = watched.do("alice", c.Resign(player="alice"))
    assert (ended.kind, ended.players) == (NoticeKind.ENDED, ("bob",))
    assert outdated(watched, ended) is None
    called_off = Watched()
    called_off.do("bob", c.JoinMatch(player="bob"))
    assert told(called_off.do("bob", c.AbortMatch(player="bob"))) == {"aborted": ("alice",)}


def test_a_flag_tells_both_and_an_end_that_was_forgiven_is_none(watched: Watched) -> None:
    watched.move("bob", "b6-a5")
    deadline = turn_of(watched.match.state).deadline
    (ended,) = watched.do("clock", c.CallTime(), at=deadline)
    assert ended.players == ("alice", "bob")
    facts = watched.do("bob", c.ForgiveFlag(player="bob"))
    assert told(facts) == {"turn": ("alice",)}
    assert outdated(watched, ended) == "The match goes on again."


def test_who_loses_on_time_while_others_play_on_is_told() -> None:
    seats = (Seat.taken("alice"), *(Seat.open() for _ in FOUR[1:]))
    four = Watched(create=creation(*seats, game="fourplay", setup="standard", terms=TERMS))
    for player in FOUR[1:]:
        four.do(player, c.JoinMatch(player=player))
    for player in ("alice", *FOUR[1:]):
        four.move(player, four.match.legal_moves()[0])
    facts = four.do("clock", c.CallTime(), at=turn_of(four.match.state).deadline)
    assert told(facts) == {"flag": ("alice",), "turn": (FOUR[1],)}


def test_a_case_stops_the_turn_and_reaches_the_players_and_so_does_the_ruling(watched: Watched) -> None:
    (turn,) = watched.facts(4)
    raised = c.RaiseDispute(player="alice", ply=0, ground=Ground.CLOCK, statement=DIGEST)
    assert told(watched.do("alice", raised)) == {"case": ("bob",)}
    assert outdated(watched, turn) == "The match stands still until an arbiter has ruled."
    ruling = c.Rule(arbiter="arbiter-1", ruling=RulingKind.LET_STAND, reason=DIGEST, rule=DIGEST)
    facts = watched.do("arbiter-1", ruling)
    assert told(facts) == {"ruling": ("alice", "bob"), "turn": ("bob",)}
    assert facts[-1].name == turn.name, "it is the same turn, which nobody was told of if it began in between"
    assert facts[-1].at == watched.match.now
    assert told(watched.do("bob", c.Appeal(player="bob", statement=DIGEST))) == {"appeal": ("alice",)}


def test_a_match_that_is_decided_or_annulled_by_an_arbiter_is_told_as_a_ruling_alone(watched: Watched) -> None:
    watched.do("alice", c.RaiseDispute(player="alice", ply=0, ground=Ground.CLOCK, statement=DIGEST))
    decided = c.Rule(arbiter="arbiter-1", ruling=RulingKind.DECIDE, scores=(1.0, 0.0), reason=DIGEST, rule=DIGEST)
    assert told(watched.do("arbiter-1", decided)) == {"ruling": ("alice", "bob")}


def test_a_reminder_has_the_name_of_its_turn_and_comes_only_before_a_decision(watched: Watched) -> None:
    (turn,) = watched.facts(4)
    reminder = reminder_of(watched.match.state, turn.deadline - 1)
    assert reminder.name == turn.name.replace("turn:", "deadline:")
    assert (reminder.players, reminder.deadline) == (("bob",), turn.deadline)
    assert outdated(watched, reminder) is None
    assert reminder_of(watched.match.state, turn.deadline) is None
    watched.do("alice", c.RaiseDispute(player="alice", ply=0, ground=Ground.CLOCK, statement=DIGEST))
    assert reminder_of(watched.match.state, turn.at) is None


def test_facts_of_a_whole_game_go_to_nobody_who_has_acted_and_never_twice() -> None:
    watched = Watched()
    watched.do("bob", c.JoinMatch(player="bob"))
    names: list[tuple[str, str]] = []
    for number, move in enumerate(SHORT_GAME.split()):
        mover = ("alice", "bob")[number % 2]
        for fact in watched.move(mover, move):
            assert mover not in fact.players
            names += [(fact.name, player) for player in fact.players]
    assert len(names) == len(set(names)) == len(SHORT_GAME.split())
    assert about(names[-1][0]) == "ended"


def test_the_facts_are_the_same_in_whatever_portions_events_are_delivered() -> None:
    watched = Watched()
    watched.do("bob", c.JoinMatch(player="bob"))
    for number, move in enumerate(SHORT_GAME.split()[:6]):
        watched.move(("alice", "bob")[number % 2], move)
    watched.do("alice", c.OfferDraw(player="alice"))
    state, events = watched.match.state, watched.happened
    whole = {fact.name for fact in facts_of(state, events, 1)}
    portions = [{fact.name for fact in facts_of(state, events[since - 1 :], since)} for since in range(1, len(events))]
    assert set().union(*portions) == whole


def test_every_sentence_names_the_game_and_is_one() -> None:
    for what, (summary, _) in WORDINGS.items():
        assert what.startswith(("seek-", "tournament-")) or "{game}" in summary, "a seek may be for several games"
        assert summary.endswith(".")
        assert headline(f"{what}:m:1", "Towers", ("Ann", "Ben")).endswith("Towers against Ann and Ben")
    assert enumerated(["Ann", "Ben", "Cem"]) == "Ann, Ben and Cem"
    assert enumerated([]) == ""
