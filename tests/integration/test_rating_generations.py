"""Ratings are made again beside the present ones, whatever is written meanwhile and wherever the rebuild ends."""

from collections.abc import Callable, Iterator, Mapping
from random import Random

import pytest

from domain.rating import Result, rate
from events.matches.readmodels import ReadModels, dump, ratings, recalculation, standings
from events.matches.readmodels.generations import Generations, RebuildOvertakenError
from events.matches.readmodels.ratings import Ratings
from events.matches.readmodels.summary import DAY_MS, RatedResult
from events.runtime.connections import StoreClient, connect
from events.runtime.keys import ReadModelKeys
from tests.support.server import RealServer

KEYS = ReadModelKeys("rk:", 4)
PLAYERS = ("alice", "bob", "carol", "opponent-1")
POOLS = ("bashni-2", "tower-game-2")


class Killed(BaseException):
    """Ends a rebuild where it is."""


class Truth(dict[str, RatedResult]):
    """The results that matches have, whatever is in the ratings."""

    def __init__(self, client: StoreClient) -> None:
        super().__init__()
        self.client = client
        self.chance = Random(1)
        self.ratings = Ratings(client, KEYS, self.get)

    def finish(self, day: int | None = None) -> str:
        """Let a match end, on ``day`` or at random; return it."""
        first, second = self.chance.sample(PLAYERS, 2)
        score = self.chance.choice((0.0, 0.5, 1.0))
        at = DAY_MS * (self.chance.randrange(8) if day is None else day) + len(self)
        match_id = f"m{len(self)}"
        self[match_id] = RatedResult(match_id, self.chance.choice(POOLS), at, (first, second), (score, 1 - score))
        return match_id

    def annul(self) -> str:
        """Let a result not count any more; return its match."""
        match_id = self.chance.choice([match_id for match_id, result in self.items() if result is not None])
        self[match_id] = None
        return match_id

    def in_order(self) -> list[RatedResult]:
        return sorted((result for result in self.values() if result is not None), key=lambda each: each.at)

    def expected(self, server: RealServer) -> Mapping[str, object]:
        """Return what is stored if there have never been other results."""
        keys = ReadModelKeys("fresh:", 4)
        Ratings(self.client, keys, self.get).put(dict(self))
        Ratings(self.client, keys, self.get).settle()
        return {name.replace("fresh:", "rk:"): content for name, content in dump(self.client, keys).items()}


@pytest.fixture
def truth(redis: StoreClient) -> Truth:
    truth = Truth(redis)
    for _ in range(40):
        truth.ratings.rate(truth.finish())
    return truth


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything that is bounded need several steps here."""
    for module in (standings, recalculation):
        monkeypatch.setattr(module, "MAX_ENTRIES_PER_PART", 3)
    for limit, size in (("MAX_RESULTS_PER_STEP", 4), ("MAX_UNSETTLED_PER_STEP", 5), ("MAX_LATE_RESULTS", 2)):
        monkeypatch.setattr(ratings, limit, size)


def before_every_write(client: StoreClient, truth: Truth, act: Callable[[], object]) -> Ratings:
    """Return ratings that let ``act`` happen whenever they have read everything and are about to write."""

    class Disturbed(Ratings):
        busy = False

        def _write(self, *written: object) -> None:
            super()._write(*written)  # type: ignore[arg-type]
            if not self.busy:
                self.busy = True
                act()
                self.busy = False

    return Disturbed(client, KEYS, truth.get)


def test_a_rebuild_overcomes_a_writer_that_is_faster(truth: Truth, server: RealServer, redis: StoreClient) -> None:
    other = Ratings(connect(server.url), KEYS, truth.get)
    acts = 0

    def write() -> None:
        nonlocal acts
        acts += 1
        # On an early day all that comes later depends on it; every fourth time a result is taken out.
        other.rate(truth.finish(day=acts % 8) if acts % 4 else truth.annul())

    before_every_write(redis, truth, write).replace(truth.in_order())
    assert acts > 12
    assert Generations.parse(redis.get(KEYS.rating_generation)) == Generations(1)
    truth.ratings.settle()
    assert dump(redis, KEYS) == truth.expected(server)


def test_a_rebuild_killed_at_any_step_can_be_resumed(truth: Truth, server: RealServer, redis: StoreClient) -> None:
    truth["lost"] = truth["m3"]._replace(match="lost")  # only a rebuild finds it
    results, steps = truth.in_order(), 0

    def resumed(generation: int) -> Iterator[int]:
        nonlocal steps
        while True:
            left = steps

            def count() -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    raise Killed

            disturbed = before_every_write(redis, truth, count)
            try:
                disturbed.fill(generation, results)
                disturbed.switch(generation)
            except Killed:
                steps += 1
                truth.ratings.rate(truth.finish())
                yield steps
                continue
            return

    killed = list(resumed(truth.ratings.begin_generation()))
    assert len(killed) > 5
    assert dump(redis, KEYS) == truth.expected(server)


def test_reads_are_right_at_every_step_of_a_rebuild(truth: Truth, server: RealServer, redis: StoreClient) -> None:
    shown = ReadModels(redis, "rk:", 4, lambda: 9 * DAY_MS)

    def everything() -> object:
        histories = {(player, pool): shown.rating_history(player, pool) for player in PLAYERS for pool in POOLS}
        boards = [shown.leaderboard(pool).items for pool in shown.pools()]
        changes = [shown.rating_change(match_id) for match_id in truth]
        return histories, boards, changes, shown.ratings("alice"), truth.ratings.included(list(truth))

    before, seen = everything(), []
    histories = [shown.rating_history(player, pool) for player in PLAYERS for pool in POOLS]
    assert sum(map(len, histories)) == 2 * len(truth)
    for history in histories:
        assert [each.before for each in history[1:]] == [each.after for each in history[:-1]]
    before_every_write(redis, truth, lambda: seen.append(everything())).replace(truth.in_order())
    assert len(seen) > 5
    assert all(each == before for each in [*seen, everything()])
    assert not [name for name in redis.scan_iter() if not name.startswith((b"rk:{ratings}:1:", b"rk:{ratings}:gen"))]


def test_the_change_by_a_match_is_found_in_whichever_part_of_a_day_it_is(truth: Truth, redis: StoreClient) -> None:
    for number in range(40):
        match_id = truth.finish(day=3)
        # Some end at the same instant, more of them than a part has.
        truth[match_id] = truth[match_id]._replace(at=3 * DAY_MS + number // 15)
        truth.ratings.put({match_id: truth[match_id]})
    shown = ReadModels(redis, "rk:", 4)
    expected: dict[str, dict[str, tuple[float, float]]] = {match_id: {} for match_id in truth}
    for player in PLAYERS:
        for pool in POOLS:
            for change in shown.rating_history(player, pool):
                expected[change.match][player] = (change.before, change.after)
    assert int(max(redis.hmget(KEYS.rating_keys(0).day(POOLS[0], 3), [f"{player} parts" for player in PLAYERS]))) > 3
    assert {match_id: shown.rating_change(match_id) for match_id in truth} == expected
    assert all(len(changes) == 2 for changes in expected.values())


def test_results_gathered_before_a_change_do_not_count(truth: Truth, server: RealServer, redis: StoreClient) -> None:
    gathered = truth.in_order()
    generation = truth.ratings.begin_generation()
    truth.ratings.rate(truth.annul())
    changed = next(iter(truth))
    truth[changed] = truth[changed]._replace(scores=(0.25, 0.75))
    truth.ratings.rate(changed)
    truth.ratings.fill(generation, gathered)
    truth.ratings.switch(generation)
    assert dump(redis, KEYS) == truth.expected(server)


def test_a_rated_match_that_is_not_listed_yet_stays(truth: Truth, server: RealServer, redis: StoreClient) -> None:
    truth.ratings.replace(truth.in_order()[:-5])
    assert dump(redis, KEYS) == truth.expected(server)


def test_ratings_of_missing_matches_end_with_a_rebuild(truth: Truth, server: RealServer, redis: StoreClient) -> None:
    truth.ratings.put({"phantom": truth["m0"]._replace(match="phantom")})
    truth.ratings.replace(truth.in_order())
    assert dump(redis, KEYS) == truth.expected(server)


def test_a_rebuild_that_another_one_has_overtaken_ends_and_harms_nothing(truth: Truth, redis: StoreClient) -> None:
    before = dump(redis, KEYS)
    overtaken = truth.ratings.begin_generation()
    truth.ratings.fill(overtaken, truth.in_order()[:9])
    truth.ratings.replace(truth.in_order())
    with pytest.raises(RebuildOvertakenError):
        truth.ratings.fill(overtaken, truth.in_order())
    late = truth.ratings.begin_generation()
    truth.ratings.begin_generation()
    with pytest.raises(RebuildOvertakenError):
        truth.ratings.switch(late)
    assert dump(redis, KEYS) == before


def test_a_recalculation_that_is_killed_is_taken_up_by_the_next_result(
    truth: Truth, server: RealServer, redis: StoreClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ratings, "MAX_ENTRIES_PER_STEP", 0)
        truth["early"] = truth["m0"]._replace(match="early", at=1)
        assert truth.ratings.put({"early": truth["early"]})
    assert truth.ratings.is_unsettled()
    assert dump(redis, KEYS) != truth.expected(server)
    truth.ratings.rate(truth.finish())
    assert not truth.ratings.is_unsettled()
    redis.delete(*redis.scan_iter("fresh:*"))
    assert dump(redis, KEYS) == truth.expected(server)


def test_a_rating_is_explained_match_by_match_page_by_page(truth: Truth, redis: StoreClient) -> None:
    for number in range(30):
        match_id = truth.finish(day=3)
        truth[match_id] = truth[match_id]._replace(at=3 * DAY_MS + number // 7)
        truth.ratings.put({match_id: truth[match_id]})
    truth.ratings.settle()
    shown = ReadModels(redis, "rk:", 4, lambda: 9 * DAY_MS)
    for player in PLAYERS:
        for pool in POOLS:
            found, cursor = [], None
            while True:
                page = shown.rated_matches(player, pool, cursor, 4)
                found += page.items
                assert len(page.items) < 4 + 3
                cursor = page.next
                if cursor is None:
                    break
            history = shown.rating_history(player, pool)
            assert [(each.match, each.before.rating, each.after.rating) for each in reversed(found)] == [
                (change.match, change.before, change.after) for change in history
            ]
            met: dict[int, list[Result]] = {}
            for each in reversed(found):
                met.setdefault(each.day, []).extend(
                    Result(compared.start, compared.score, each.weight) for compared in each.results
                )
                assert rate(each.start, met[each.day]) == each.after
    with pytest.raises(ValueError, match="invalid cursor"):
        shown.rated_matches(PLAYERS[0], POOLS[0], "tomorrow")


def test_a_leaderboard_has_the_players_whose_ratings_are_certain_today(truth: Truth, redis: StoreClient) -> None:
    for number in range(60):
        match_id = f"often{number}"
        score = float(number % 3 == 0)
        at = DAY_MS * (8 + number // 3) + number
        truth[match_id] = RatedResult(match_id, POOLS[0], at, ("alice", "bob"), (score, 1 - score))
        truth.ratings.put({match_id: truth[match_id]})
    truth.ratings.settle()

    def board(day: int, limit: int = 50) -> list[str]:
        shown = ReadModels(redis, "rk:", 4, lambda: day * DAY_MS)
        players, cursor = [], None
        while True:
            page = shown.leaderboard(POOLS[0], cursor, limit)
            players += [each.player for each in page.items]
            assert not any(each.provisional for each in page.items)
            cursor = page.next
            if cursor is None:
                return players

    assert board(28) == board(28, 1) == ["bob", "alice"]
    assert board(600) == [], "they have not played for long"
    assert set(POOLS) == set(ReadModels(redis, "rk:", 4).pools())
    for match_id in list(truth):
        if match_id.startswith("often"):
            del truth[match_id]
            truth.ratings.rate(match_id)
    assert board(28) == []
