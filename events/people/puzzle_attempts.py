"""The attempts of people at puzzles, and the ratings that follow: of people as solvers, and of puzzles."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from domain.puzzles.attempts import PuzzleAttempt, SolverRating, rated_attempt, tried
from domain.rating import DEFAULT, Rating
from events.runtime.connections import StoreClient, StorePipeline
from events.runtime.keys import PeopleKeys
from events.runtime.transactions import transact
from events.store.converter import pack, unpack


class RecordedAttempt(NamedTuple):
    """An attempt with the ratings of the person before and after it, and that of the puzzle after it."""

    attempt: PuzzleAttempt
    before: SolverRating
    after: SolverRating
    puzzle: SolverRating


class PuzzleAttempts:
    """The attempts of an installation. A person's are one hash, with their ratings as a solver by game."""

    def __init__(self, client: StoreClient, prefix: str, now: Callable[[], int]) -> None:
        self._client = client
        self._keys = PeopleKeys(prefix)
        self._now = now

    def look(self, person: str, game: str, puzzle: str, rated: bool) -> PuzzleAttempt:
        """Note that ``person`` sees a puzzle, and whether the attempt may be ``rated``; return the first such note."""
        key, field = self._keys.puzzle_attempts(person), f"{game}/{puzzle}"
        seen = PuzzleAttempt(self._now(), rated)
        if self._client.hsetnx(key, field, pack(seen)):
            return seen
        return self.attempt(person, game, puzzle) or seen

    def record(self, person: str, game: str, puzzle: str, solved: bool, prior: Rating) -> RecordedAttempt:
        """Store an attempt, and rate the first one. One without a look before it is not rated.

        Crash-safe: attempt and ratings are written together.
        """
        own, rating = self._keys.puzzle_attempts(person), self._keys.puzzle_rating(f"{game}/{puzzle}")

        def change(pipeline: StorePipeline) -> RecordedAttempt:
            attempted, stored = pipeline.hmget(own, [f"{game}/{puzzle}", game])
            of_puzzle, now = pipeline.get(rating), self._now()
            before = unpack(SolverRating, stored) if stored else SolverRating(DEFAULT)
            standing = unpack(SolverRating, of_puzzle) if of_puzzle else SolverRating(prior)
            former = unpack(PuzzleAttempt, attempted) if attempted else PuzzleAttempt(now, rated=False)
            attempt, after = tried(former, solved, now), before
            if former.solved is None and attempt.rated:
                after, standing = rated_attempt(before, standing, solved)
            pipeline.multi()
            pipeline.hset(own, f"{game}/{puzzle}", pack(attempt))
            if after != before:
                pipeline.hset(own, game, pack(after))
                pipeline.set(rating, pack(standing))
            return RecordedAttempt(attempt, before, after, standing)

        return transact(self._client, [own, rating], change)

    def take_over(self, person: str, game: str, attempts: Mapping[str, PuzzleAttempt]) -> None:
        """Store attempts that were made elsewhere, none of them rated, unless the person has seen the puzzle here."""
        with self._client.pipeline(transaction=False) as pipeline:
            for puzzle, attempt in attempts.items():
                field = f"{game}/{puzzle}"
                pipeline.hsetnx(self._keys.puzzle_attempts(person), field, pack(attempt._replace(rated=False)))
            pipeline.execute()

    def attempt(self, person: str, game: str, puzzle: str) -> PuzzleAttempt | None:
        """Return the attempt of ``person`` at a puzzle, None before the first look."""
        stored = self._client.hget(self._keys.puzzle_attempts(person), f"{game}/{puzzle}")
        return unpack(PuzzleAttempt, stored) if stored else None

    def of(self, person: str, game: str) -> dict[str, PuzzleAttempt]:
        """Return the attempts of ``person`` at the puzzles of a game, by puzzle."""
        return {
            name.partition("/")[2]: unpack(PuzzleAttempt, stored)
            for name, stored in self._read(person).items()
            if name.startswith(f"{game}/")
        }

    def rating_of(self, person: str, game: str) -> SolverRating | None:
        """Return the rating of ``person`` as a solver of a game, None before the first rated attempt."""
        stored = self._client.hget(self._keys.puzzle_attempts(person), game)
        return unpack(SolverRating, stored) if stored else None

    def ratings(self, game: str, priors: Mapping[str, Rating]) -> dict[str, SolverRating]:
        """Return the ratings of puzzles of a game: those in ``priors``, which says how each begins."""
        with self._client.pipeline(transaction=False) as pipeline:
            for puzzle in priors:
                pipeline.get(self._keys.puzzle_rating(f"{game}/{puzzle}"))
            stored: Sequence[bytes | None] = pipeline.execute()
        return {
            puzzle: unpack(SolverRating, packed) if packed else SolverRating(prior)
            for (puzzle, prior), packed in zip(priors.items(), stored, strict=True)
        }

    def exported(self, person: str) -> dict[str, PuzzleAttempt | SolverRating]:
        """Return all that is stored of ``person``: attempts by game and puzzle, ratings by game."""
        return {
            name: unpack(PuzzleAttempt, stored) if "/" in name else unpack(SolverRating, stored)
            for name, stored in sorted(self._read(person).items())
        }

    def erase(self, person: str) -> None:
        """Delete the attempts and ratings of ``person``; the ratings of puzzles stay as they are."""
        self._client.delete(self._keys.puzzle_attempts(person))

    def _read(self, person: str) -> dict[str, bytes]:
        stored: dict[bytes, bytes] = self._client.hgetall(self._keys.puzzle_attempts(person))
        return {name.decode(): packed for name, packed in stored.items()}
