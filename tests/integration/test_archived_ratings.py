"""Archived rating periods: every number is the same, bit for bit, as in a store that archives nothing."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from events.archive.errors import ArchiveUnavailableError, DamagedArchiveError
from events.archive.storage import Storage
from events.readmodels import (
    RatedMatch,
    ReadModels,
    dump,
    period_archive,
    period_files,
    rated_matches,
    ratings,
    recalculation,
    standings,
)
from events.readmodels.archived_periods import ArchivedPeriods
from events.readmodels.period_archive import PeriodArchive
from events.readmodels.period_files import KIND, PeriodFiles
from events.readmodels.ratings import Ratings
from events.readmodels.summary import DAY_MS, RatedResult
from events.runtime.connections import StoreClient
from events.runtime.keys import RatingKeys, ReadModelKeys

KEYS = ReadModelKeys("rk:", 4)
PLAYERS = ("alice", "bob", "carol", "opponent-1")
POOLS = ("bashni-2", "tower-game-2", "four-towers-4")
SEATS = {pool: int(pool[-1]) for pool in POOLS}
FIRST_DAY, DAYS = 20_000, 12


def explained(shown: ReadModels, player: str, pool: str) -> list[RatedMatch]:
    """Return how a rating came about, from all pages; where pages end does not depend on what is archived."""
    page = shown.rated_matches(player, pool, None, 4).page
    found = list(page.items)
    while page.next is not None:
        page = shown.rated_matches(player, pool, page.next, 4).page
        found += page.items
    return found


class KilledError(BaseException):
    """Stands for the end of the process."""


class Rated:
    """Results, and ratings that follow them: some of their days are archived."""

    def __init__(self, client: StoreClient, directory: Path) -> None:
        self.client, self.directory = client, directory
        self.truth: dict[str, RatedResult | None] = {}
        self.chance = Random(5)
        self.due = FIRST_DAY + DAYS
        self.open()

    def open(self) -> None:
        """Read and write as a process does that has just been started."""
        self.periods = ArchivedPeriods(self.client, PeriodFiles(Storage(self.directory.as_uri())))
        self.archive = PeriodArchive(self.client, self.periods, lambda: self.due)
        self.ratings = Ratings(self.client, KEYS, self.truth.get, self.archive)
        self.shown = ReadModels(self.client, "rk:", 4, lambda: (FIRST_DAY + 99) * DAY_MS, None, self.periods)

    def finish(self, day: int | None = None) -> None:
        """Let a match end, on ``day`` (counted from the first) or at random, and be rated."""
        self.ratings.rate(self.play(day))

    def play(self, day: int | None = None) -> str:
        """Let a match end; return it."""
        pool = self.chance.choice(POOLS)
        day = self.chance.randrange(DAYS) if day is None else day
        match_id, at = f"m{len(self.truth)}", DAY_MS * (FIRST_DAY + day) + self.chance.randrange(9)
        won = self.chance.choice((0.0, 0.5, 1.0))
        scores = (won, 1 - won, 0.25, 0.75)[: SEATS[pool]]
        players = tuple(self.chance.sample(PLAYERS, SEATS[pool]))
        self.truth[match_id] = RatedResult(match_id, pool, at, players, scores)
        return match_id

    def annul(self) -> None:
        """Let a result not count any more."""
        match_id = self.chance.choice([match_id for match_id, result in self.truth.items() if result is not None])
        self.truth[match_id] = None
        self.ratings.rate(match_id)

    def correct(self) -> None:
        """Let a match have another result."""
        match_id, result = self.chance.choice([(name, each) for name, each in self.truth.items() if each is not None])
        self.truth[match_id] = result._replace(scores=result.scores[::-1], at=result.at + self.chance.choice((0, 1)))
        self.ratings.rate(match_id)

    def in_order(self) -> list[RatedResult]:
        """Return all results in the order of their ends."""
        return sorted((result for result in self.truth.values() if result is not None), key=lambda each: each.at)

    def seen(self) -> Any:
        """Return everything that can be read."""
        histories = {(player, pool): self.shown.rating_history(player, pool) for player in PLAYERS for pool in POOLS}
        return (
            histories,
            [explained(self.shown, PLAYERS[0], pool) for pool in POOLS],
            [self.shown.leaderboard(pool).items for pool in self.shown.pools()],
            [self.shown.rating_change(match_id) for match_id in list(self.truth)[::3]],
            self.ratings.included(list(self.truth)),
            dump(self.client, KEYS, self.periods),
        )

    def expected(self) -> Any:
        """Return the same of ratings that have never been archived."""
        fresh = ReadModelKeys("fresh:", 4)
        self.client.delete("fresh:", *self.client.scan_iter("fresh:*"))
        unarchived = Ratings(self.client, fresh, self.truth.get)
        unarchived.put(self.truth)
        unarchived.settle()
        shown = ReadModels(self.client, "fresh:", 4, lambda: (FIRST_DAY + 99) * DAY_MS)
        histories = {(player, pool): shown.rating_history(player, pool) for player in PLAYERS for pool in POOLS}
        return (
            histories,
            [explained(shown, PLAYERS[0], pool) for pool in POOLS],
            [shown.leaderboard(pool).items for pool in shown.pools()],
            [shown.rating_change(match_id) for match_id in list(self.truth)[::3]],
            unarchived.included(list(self.truth)),
            {name.replace("fresh:", "rk:"): content for name, content in dump(self.client, fresh).items()},
        )

    def live_days(self) -> list[str]:
        """Return the keys of the days that are live."""
        return [name.decode() for name in self.client.scan_iter("rk:{ratings}:*:day:*")]


@pytest.fixture
def rated(redis: StoreClient, tmp_path: Path) -> Rated:
    """Return 40 results in the ratings, nothing of which is archived."""
    rated = Rated(redis, tmp_path)
    for _ in range(40):
        rated.play()
    rated.ratings.put(rated.truth)
    rated.ratings.settle()
    return rated


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything that is bounded need several steps here."""
    for module in (standings, recalculation, rated_matches):
        monkeypatch.setattr(module, "MAX_ENTRIES_PER_PART", 2)
    for limit, size in (("MAX_RESULTS_PER_STEP", 20), ("MAX_UNSETTLED_PER_STEP", 5), ("MAX_LATE_RESULTS", 2)):
        monkeypatch.setattr(ratings, limit, size)
    monkeypatch.setattr(ratings, "MAX_MATCHES_PER_FILE", 8)
    for limit, size in (("MAX_MATCHES_PER_FILE", 16), ("MATCHES_PER_STEP", 5), ("RESULTS_PER_SCAN", 7)):
        monkeypatch.setattr(period_archive, limit, size)
    monkeypatch.setattr(period_archive, "PLAYERS_PER_READ", 3)
    monkeypatch.setattr(period_files, "ENTRIES_PER_BLOCK", 4)


def archive_all(rated: Rated) -> None:
    """Archive every day that is due."""
    while rated.ratings.archive_periods(1):
        pass


def test_nothing_that_can_be_read_changes_when_days_are_archived(rated: Rated) -> None:
    before = rated.seen()
    assert before == rated.expected()
    archive_all(rated)
    assert rated.live_days() == []
    assert rated.client.exists("rk:{ratings}:matches") == 0
    assert len(rated.periods.days(RatingKeys("rk:", 0)).files) > 1
    assert rated.seen() == before


def test_whatever_is_rated_annulled_corrected_archived_and_rebuilt_leads_to_the_same_ratings(rated: Rated) -> None:
    acts: list[tuple[Callable[[], object], int]] = [
        (rated.finish, 3),
        (lambda: rated.finish(day=DAYS), 3),
        (rated.annul, 2),
        (rated.correct, 2),
        (lambda: rated.ratings.archive_periods(1), 6),
        (rated.open, 1),
        (lambda: rated.ratings.replace(rated.in_order()), 1),
    ]
    chosen = rated.chance.choices([act for act, _ in acts], [weight for _, weight in acts], k=30)
    for number, act in enumerate(chosen):
        act()
        if number % 10 == 9:
            assert rated.seen() == rated.expected(), number
    archive_all(rated)
    assert rated.seen() == rated.expected()


def test_a_day_that_is_not_due_stays_live(rated: Rated) -> None:
    rated.due = FIRST_DAY + 3
    archive_all(rated)
    assert rated.periods.days(RatingKeys("rk:", 0)).until == FIRST_DAY + 3
    assert min(int(name.rpartition(":")[2]) for name in rated.live_days()) == FIRST_DAY + 4
    assert rated.ratings.archive_periods(1) == 0
    assert rated.seen() == rated.expected()


def test_an_annulment_brings_back_the_days_from_its_own_on_and_no_earlier_ones(rated: Rated) -> None:
    archive_all(rated)
    late = next(name for name, each in rated.truth.items() if each is not None and each.day == FIRST_DAY + 8)
    rated.truth[late] = None
    rated.ratings.rate(late)
    assert rated.periods.days(RatingKeys("rk:", 0)).until == FIRST_DAY + 7
    assert rated.seen() == rated.expected()


def killing(method: Callable[..., Any], survived: int, is_done: bool) -> Callable[..., Any]:
    """Return ``method`` so that a call after ``survived`` ones is the last, with or without its effect."""
    calls = iter(range(1000))

    def call(*arguments: Any, **options: Any) -> Any:
        if next(calls) < survived:
            return method(*arguments, **options)
        if is_done:
            method(*arguments, **options)
        raise KilledError

    return call


def test_a_kill_at_any_step_of_archiving_or_bringing_back_changes_no_number(
    rated: Rated, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, killed = dump(rated.client, KEYS), 0
    steps: list[tuple[Any, str]] = [
        (rated.periods.files.storage, "write"),
        (rated.archive, "_reserve"),
        (rated.archive, "_drop"),
        (rated.archive, "_bring_back"),
    ]
    for owner, name in steps:
        for is_done in (False, True):
            for survived in range(2):
                with monkeypatch.context() as patch:
                    patch.setattr(owner, name, killing(getattr(owner, name), survived, is_done))
                    try:
                        archive_all(rated)
                        rated.archive.restore(RatingKeys("rk:", 0), FIRST_DAY + 2)
                    except KilledError:
                        killed += 1
                assert dump(rated.client, KEYS, rated.periods) == expected, (name, is_done, survived)
    assert killed > 11


def during(archive: PeriodArchive, act: Callable[[], object]) -> Callable[..., bool]:
    """Return ``_drop`` of ``archive`` so that ``act`` happens before its second call."""
    drop, calls = archive._drop, iter(range(1000))

    def call(*arguments: Any) -> bool:
        if next(calls) == 1:
            act()
        return drop(*arguments)

    return call


@pytest.mark.parametrize("act", ["annul an early match", "rate a late match", "archive", "bring back"])
def test_a_change_while_days_are_being_archived_leaves_them_live(
    rated: Rated, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    other = Rated(rated.client, rated.directory)
    other.truth = rated.truth
    other.open()
    acts: Mapping[str, Callable[[], object]] = {
        "annul an early match": lambda: other.annul(),
        "rate a late match": lambda: other.finish(day=0),
        "archive": lambda: archive_all(other),
        "bring back": lambda: other.archive.restore(RatingKeys("rk:", 0), FIRST_DAY),
    }
    monkeypatch.setattr(rated.archive, "_drop", during(rated.archive, acts[act]))
    rated.ratings.archive_periods(1)
    assert rated.seen() == rated.expected()
    archive_all(rated)
    assert rated.seen() == rated.expected()


def test_days_with_unsettled_ratings_are_not_archived(rated: Rated, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ratings, "MAX_ENTRIES_PER_STEP", 0)
        rated.truth["early"] = RatedResult("early", POOLS[0], FIRST_DAY * DAY_MS, PLAYERS[:2], (1.0, 0.0))
        rated.ratings.put({"early": rated.truth["early"]})
    assert rated.ratings.is_unsettled()
    archive_all_once = rated.ratings.archive_periods(1)
    assert rated.periods.days(RatingKeys("rk:", 0)).until <= FIRST_DAY
    rated.ratings.settle()
    archive_all(rated)
    assert archive_all_once < 40
    assert rated.seen() == rated.expected()


def damage(path: Path) -> Iterator[None]:
    """Change a byte here and there in a file; at the end it is as before."""
    intact = path.read_bytes()
    for place in range(0, len(intact), max(1, len(intact) // 12)):
        path.write_bytes(intact[:place] + bytes([intact[place] ^ 0x10]) + intact[place + 1 :])
        yield
    path.unlink()
    yield
    path.write_bytes(intact)


def test_a_damaged_or_missing_file_is_never_read_as_a_rating_and_a_rebuild_does_without(rated: Rated) -> None:
    archive_all(rated)
    before, changed = rated.expected(), 0
    path = min((rated.directory / KIND).iterdir())
    for _ in damage(path):
        rated.open()
        try:
            assert rated.seen() == before
        except (ArchiveUnavailableError, DamagedArchiveError):
            changed += 1
    assert changed > 8
    path.unlink()
    rated.open()
    rated.ratings.replace(rated.in_order())
    assert rated.seen() == rated.expected()


def test_files_that_a_generation_refers_to_are_named(rated: Rated) -> None:
    archive_all(rated)
    named = rated.ratings.period_files()
    assert named == set(rated.periods.files.storage.names(KIND))
    rated.ratings.replace(rated.in_order())
    assert rated.ratings.period_files() < named | set(rated.periods.files.storage.names(KIND))
