"""After every ruling the ratings are those of the results that stand, as if there never were others."""

from random import Random

import pytest

from domain.match.commands import Appeal, OpenCase, Rule
from events.readmodels import RatedResult, rated_result, summarise
from events.readmodels.summary import DAY_MS
from events.statements import digest_of
from tests.support.matches import NOON
from tests.support.server import RealServer
from tests.support.workshop import Workshop, drain
from workers.rebuild import rebuild

WORDS = digest_of("So it was.")


@pytest.fixture
def shop(server: RealServer) -> Workshop:
    """Return an installation that is driven step by step."""
    return Workshop(server.url)


class Court:
    """Rules on matches of an installation, and lets its relay and its workers do what follows from that."""

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop
        self.lines = (shop.projections(), shop.ratings_line())

    def follow(self) -> None:
        """Let read models and ratings follow."""
        drain(*self.lines)
        for match in self.shop.rated:
            self.shop.ratings.rate(self.shop.matches, match)
        self.shop.rated.clear()

    def rule(self, match: str, ruling: str, arbiter: str = "ann", **facts: object) -> None:
        """Rule on ``match`` in the case there is, or in a new one."""
        if self.shop.state(match).open_case is None:
            self.shop.do(match, OpenCase("ann", 1, "conduct", WORDS), "ann")
        self.shop.do(match, Rule(arbiter, ruling, "So it is.", "1", **facts), arbiter)  # type: ignore[arg-type]
        self.follow()

    def ratings(self) -> dict[str, object]:
        """Return all that is stored of ratings."""
        return {name: kept for name, kept in self.shop.dump().items() if name.startswith(self.shop.keys.ratings)}

    def ratings_of(self, results: list[RatedResult]) -> dict[str, object]:
        """Return what would be stored if there were these results alone and always had been, and store it."""
        self.shop.ratings.replace(lambda: results)
        return self.ratings()


def test_after_every_ruling_the_ratings_are_those_of_the_results_that_stand(shop: Workshop) -> None:
    chance, court = Random(3), Court(shop)
    matches = []
    for number in range(14):
        winner, loser = chance.sample(("alice", "bob", "carol", "dora"), 2)
        at = NOON + (number // 4) * DAY_MS + chance.randrange(DAY_MS)
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
    shop.do(early, Appeal(shop.state(early).creator, WORDS))
    court.rule(early, "restore", "ben")
    assert court.ratings() == before

    court.rule(middle, "decide", scores=(0.0, 1.0))
    assert court.ratings() == court.ratings_of(standing()) != before
    shop.do(middle, Appeal(shop.state(middle).creator, WORDS))
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
