"""What follows from rulings: ratings of the results that stand, opponents asked again, deadlines that are right."""

from random import Random

import pytest

from domain.match.commands import Appeal, Command, OpenCase, ReopenCase, Rule, SubmitMove
from domain.match.due import deadline_of
from domain.match.enums import Ground, RulingKind, Status
from events.matches.matches import Executed
from events.matches.readmodels import RatedResult, rated_result, summarise
from events.matches.readmodels.summary import DAY_MS
from events.people.statements import Statement
from events.proof.audit import audit
from events.store.contract import Request, VersionTag
from tests.support.cases import REASON, RULE
from tests.support.fleet import rebuild
from tests.support.matches import T0
from tests.support.stepped_installation import SteppedInstallation, drain
from workers.composition import make_opponents

WORDS = Statement("", "So it was.").digest


class Court:
    """Rules on matches of an installation, and lets its relay and its workers do what follows from that."""

    def __init__(self, shop: SteppedInstallation) -> None:
        self.shop = shop
        self.lines = (shop.projections(), shop.rating_requests())

    def follow(self) -> None:
        drain(*self.lines)
        for match in self.shop.rated:
            self.shop.ratings.rate(match)
        self.shop.rated.clear()

    def rule(self, match_id: str, ruling: str, arbiter: str = "ann", **facts: object) -> None:
        """Rule on ``match`` in the case there is, or in a new one."""
        state = self.shop.state(match_id)
        if state.cases.open is None and any(dispute.settled is not None for dispute in state.cases.disputes):
            self.shop.do(match_id, ReopenCase(person=arbiter, dispute=1, statement=WORDS), arbiter)
        elif state.cases.open is None:
            self.shop.do(match_id, OpenCase(arbiter="olga", ply=1, ground=Ground.CONDUCT, statement=WORDS), "ann")
        self.shop.do(match_id, Rule(arbiter=arbiter, ruling=ruling, reason=REASON, rule=RULE, **facts), arbiter)  # type: ignore[arg-type]
        self.follow()

    def ratings(self) -> dict[str, object]:
        return {name: kept for name, kept in self.shop.dump().items() if name.startswith(self.shop.keys.ratings)}

    def ratings_of(self, results: list[RatedResult]) -> dict[str, object]:
        """Return what would be stored if there were these results alone and always had been, and store it."""
        self.shop.ratings.replace(results)
        return self.ratings()


def test_after_every_ruling_the_ratings_are_those_of_the_results_that_stand(shop: SteppedInstallation) -> None:
    chance, court = Random(3), Court(shop)
    matches = []
    for number in range(14):
        winner, loser = chance.sample(("alice", "bob", "carol", "dora"), 2)
        at = T0 + (number // 4) * DAY_MS + chance.randrange(DAY_MS)
        matches.append(shop.win(winner, loser, max(shop.now, at)))
    court.follow()

    def standing() -> list[RatedResult]:
        found = [rated_result(summarise(shop.state(match))) for match in matches]
        return [result for result in found if result is not None]

    everything, before = standing(), court.ratings()
    assert len(everything) == 14
    early, middle, late = matches[1], matches[6], matches[13]

    court.rule(early, "annul")
    annulled = court.ratings()
    assert annulled == court.ratings_of([result for result in everything if result.match != early])
    assert annulled != before
    shop.do(early, Appeal(player=shop.state(early).creator, statement=WORDS))
    court.rule(early, "restore", "ben")
    assert court.ratings() == before

    court.rule(middle, "decide", scores=(0.0, 1.0))
    assert court.ratings() == court.ratings_of(standing()) != before
    shop.do(middle, Appeal(player=shop.state(middle).creator, statement=WORDS))
    court.rule(middle, "annul", "ben")
    assert court.ratings() == court.ratings_of([result for result in everything if result.match != middle])

    court.rule(late, "take-back", ply=1)
    assert court.ratings() == court.ratings_of([result for result in everything if result.match not in (middle, late)])
    shop.play(late)
    court.follow()
    grown = shop.dump()
    assert late in {result.match for result in standing()}
    rebuild(shop.settings)
    assert shop.dump() == grown


def test_an_opponent_is_asked_again_after_a_takeback_and_not_while_frozen(shop: SteppedInstallation) -> None:
    court, opponents = Court(shop), shop.opponents()
    match = shop.start("alice", "opponent-1")
    shop.play(match, 1)
    make_opponents(shop.parts).answer(match)
    shop.play(match, 1)
    drain(opponents)
    shop.answers.clear()
    shop.do(match, OpenCase(arbiter="olga", ply=3, ground=Ground.CLOCK, statement=WORDS), "ann")
    drain(opponents)
    assert make_opponents(shop.parts).answer(match) is None
    assert shop.answers == []
    court.rule(match, "take-back", ply=1)
    drain(opponents)
    assert shop.answers == [match]
    answered = make_opponents(shop.parts).answer(match)
    assert answered is not None
    assert not answered.repeated
    assert [event.type for event in answered.events] == ["move-submitted"]
    assert shop.state(match).play.plies == 2


def test_moves_computed_before_are_not_played(shop: SteppedInstallation, monkeypatch: pytest.MonkeyPatch) -> None:
    match = shop.start("alice", "opponent-1")
    shop.do(match, SubmitMove(player="alice", move="c3-d4"), "alice")
    service = shop.parts.match_service
    execute = service.execute

    def overtaken(
        of: str, command: Command, actor: str, request: Request, version: VersionTag | None = None
    ) -> Executed:
        monkeypatch.setattr(service, "execute", execute)
        shop.do(match, OpenCase(arbiter="olga", ply=1, ground=Ground.CLOCK, statement=WORDS), "ann")
        shop.do(match, Rule(arbiter="ann", ruling=RulingKind.TAKE_BACK, reason=REASON, rule=RULE, ply=0), "ann")
        shop.do(match, SubmitMove(player="alice", move="g3-h4"), "alice")
        return execute(of, command, actor, request, version)

    monkeypatch.setattr(service, "execute", overtaken)
    make_opponents(shop.parts).answer(match)
    last = list(audit(match, shop.store.read(match)))[-1].answer
    assert last is not None
    assert last.before.play.moves == ("g3-h4",)
    assert last.recompute() is None


def test_the_deadline_that_is_kept_is_that_of_the_match_after_every_ruling(shop: SteppedInstallation) -> None:
    court = Court(shop)
    match = shop.win("alice", "bob")

    def kept() -> int | None:
        return dict(shop.store.due(2**52, 10)).get(match)

    assert kept() is None
    court.rule(match, "take-back", ply=1)
    assert kept() == deadline_of(shop.state(match)) is not None
    shop.do(match, Appeal(player="bob", statement=WORDS), "bob")
    assert kept() is None
    court.rule(match, "annul", "ben")
    assert kept() is None
    court.rule(match, "restore", "ben")
    assert kept() == deadline_of(shop.state(match)) is not None
    shop.now += 90 * DAY_MS
    shop.timekeeper.settle(match, shop.now)
    assert shop.state(match).result.reason == "flag"
    court.rule(match, "take-back", "ben", ply=1)
    shop.timekeeper.settle(match, shop.now)
    assert shop.state(match).status == Status.PLAYING
    assert kept() == deadline_of(shop.state(match)) is not None
