"""Vector files: test cases of the rules as JSON, checked against a game.

A file is a list of cases. Every case has a ``name`` and keys that state requirements, mostly of its ``position``;
``note`` is a comment, ``history`` and ``setup`` complete other keys. An unknown key, or one that the game does not
support, is a failure: nothing is skipped silently.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

import msgspec
from msgspec import Meta, Struct

from domain.errors import MalformedNotation, RulesError
from domain.game import AnyGame, Outcome

SUFFIX = ".public.json"
SCORE_TOLERANCE = 5e-5
"""Vector files give scores with four decimals."""

Case = Mapping[str, Any]


class VectorFileError(ValueError):
    """A file that is not a vector file; the message gives the place and the reason."""


class Failure(NamedTuple):
    """An expectation that does not hold: the case, the key, the expected and the actual result."""

    case: str
    key: str
    expected: str
    actual: str


class VectorReport(NamedTuple):
    """The result of a file: how many cases passed and failed, and every failure."""

    passed: int
    failed: int
    failures: tuple[Failure, ...]


class _MissingMethodError(Exception):
    """The game does not have the method of this name."""


def game_of_file(path: Path) -> str:
    """Return the game id in the name of a vector file; raises VectorFileError when it has none."""
    if not path.name.endswith(SUFFIX) or path.name == SUFFIX:
        raise VectorFileError(f"{path}: the name is not <game>{SUFFIX}: name the game with --game")
    return path.name.removesuffix(SUFFIX)


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a vector file; raises VectorFileError for a file that cannot be read or is malformed."""
    try:
        cases = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_without_duplicates)
    except OSError as error:
        raise VectorFileError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise VectorFileError(f"{path}: {error}") from error
    if not isinstance(cases, list) or not cases:
        raise VectorFileError(f"{path}: expected a list of cases")
    for number, case in enumerate(cases, 1):
        place = f"{path}: case {number}"
        if not isinstance(case, dict) or not isinstance(case.get("name"), str):
            raise VectorFileError(f"{place}: expected an object with a name")
        _validate(f"{place} ({case['name']})", case)
    return cases


def check_cases(game: AnyGame, cases: Iterable[Case], on_case: Callable[[Case], None] = lambda _: None) -> VectorReport:
    """Check ``cases`` against ``game``; ``on_case`` is called after each of them."""
    passed = failed = 0
    failures: list[Failure] = []
    for case in cases:
        faults = list(check_case(game, case))
        failures += faults
        passed += not faults
        failed += bool(faults)
        on_case(case)
    return VectorReport(passed, failed, tuple(failures))


def check_case(game: AnyGame, case: Case) -> Iterator[Failure]:
    """Yield the failures of one case."""
    name = case["name"]
    if case.get("malformed") is True:
        yield from _check_malformed(game, name, [case["position"]])
        return
    position = None
    if "position" in case:
        try:
            position = game.parse_position(case["position"])
        except Exception as error:
            yield Failure(name, "position", case["position"], _format_error(error))
            return
    for key in case:
        if key in _AUXILIARY_KEYS:
            continue
        check = _CHECKS.get(key)
        if check is None:
            yield Failure(name, key, "a known key", f"unknown key {key!r}")
            continue
        try:
            yield from (Failure(name, key, *difference) for difference in check(game, position, case))
        except _MissingMethodError as missing:
            yield Failure(name, key, f"a game with {missing}", f"{game.id} has none")
        except Exception as error:
            yield Failure(name, key, json.dumps(case[key], ensure_ascii=False), _format_error(error))


def perft(game: AnyGame, position: Any, depth: int) -> int:
    """Return the number of sequences of exactly ``depth`` legal moves; an ended game contributes nothing."""
    if depth == 0:
        return 1
    moves = game.legal_moves(position)
    if depth == 1:
        return sum(1 for _ in moves)
    return sum(perft(game, game.play(position, move), depth - 1) for move in moves)


_Differences = Iterator[tuple[str, str]]


def _check_perft(game: AnyGame, position: Any, case: Case) -> _Differences:
    for depth, expected in case["perft"].items():
        actual = perft(game, position, int(depth))
        if actual != expected:
            yield f"{expected} at depth {depth}", str(actual)


def _check_apply(game: AnyGame, position: Any, case: Case) -> _Differences:
    for move, expected in case["apply"].items():
        yield from _compare_position(game, position, move, expected)


def _check_legal(game: AnyGame, position: Any, case: Case) -> _Differences:
    for text in case["legal"]:
        try:
            move = game.parse_move(position, text)
        except RulesError as error:
            yield f"{text} is legal", _format_error(error)
        else:
            if not game.is_legal(position, move):
                yield f"{text} is legal", "is_legal returns False"


def _check_illegal(game: AnyGame, position: Any, case: Case) -> _Differences:
    for text in case["illegal"]:
        try:
            move = game.parse_move(position, text)
        except RulesError:
            continue
        yield f"{text} is refused", f"accepted as {game.format_move(position, move)}"


def _check_outcome(game: AnyGame, position: Any, case: Case) -> _Differences:
    history = [game.parse_position(text) for text in case.get("history", ())]
    actual = game.outcome(position, history)
    expected = case["outcome"]
    if not _same_outcome(expected, actual):
        shown = None if actual is None else {"scores": list(actual.scores), "reason": actual.reason}
        yield json.dumps(expected), json.dumps(shown)


def _check_in_check(game: AnyGame, position: Any, case: Case) -> _Differences:
    actual = _method(game, "in_check")(position)
    if actual is not case["in_check"]:
        yield str(case["in_check"]), str(actual)


def _check_listed(key: str) -> "_Check":
    def check(game: AnyGame, position: Any, case: Case) -> _Differences:
        listed = _method(game, key)(position)
        actual = [move if isinstance(move, str) else game.format_move(position, move) for move in listed]
        if isinstance(case[key], list):
            yield from _compare_lists(case[key], actual)
        elif len(actual) != case[key]:
            yield str(case[key]), str(len(actual))

    return check


def _check_san(game: AnyGame, position: Any, case: Case) -> _Differences:
    for move, expected in case["san"].items():
        actual = _method(game, "san")(position, game.parse_move(position, move))
        if actual != expected:
            yield f"{move} is written {expected}", str(actual)


def _check_parse_san(game: AnyGame, position: Any, case: Case) -> _Differences:
    for text, expected in case["parse_san"].items():
        move = _method(game, "parse_san")(position, text, case.get("setup"))
        actual = game.format_move(position, move)
        if actual != expected:
            yield f"{text} means {expected}", actual


def _check_parse_refused(game: AnyGame, position: Any, case: Case) -> _Differences:
    for text in case["parse_refused"]:
        try:
            move = _method(game, "parse_san")(position, text, case.get("setup"))
        except RulesError:
            continue
        yield f"{text} is refused", f"accepted as {game.format_move(position, move)}"


def _check_malformed(game: AnyGame, name: str, texts: Iterable[str]) -> Iterator[Failure]:
    for text in texts:
        try:
            position = game.parse_position(text)
        except MalformedNotation:
            continue
        except Exception as error:
            yield Failure(name, "malformed", f"{text!r} is refused as malformed", _format_error(error))
        else:
            yield Failure(name, "malformed", f"{text!r} is refused", f"read as {game.format_position(position)}")


_Check = Callable[[AnyGame, Any, Case], _Differences]

_CHECKS: dict[str, _Check] = {
    "moves": lambda game, position, case: _compare_lists(
        case["moves"], [game.format_move(position, move) for move in game.legal_moves(position)]
    ),
    "perft": _check_perft,
    "move": lambda game, position, case: _compare_position(game, position, case["move"], case["result_position"]),
    "apply": _check_apply,
    "legal": _check_legal,
    "illegal": _check_illegal,
    "outcome": _check_outcome,
    "malformed": lambda game, _, case: (
        (failure.expected, failure.actual) for failure in _check_malformed(game, case["name"], case["malformed"])
    ),
    "in_check": _check_in_check,
    "multi_moves": _check_listed("multi_moves"),
    "rearrangements": _check_listed("rearrangements"),
    "san": _check_san,
    "parse_san": _check_parse_san,
    "parse_refused": _check_parse_refused,
}

_AUXILIARY_KEYS = frozenset(("name", "note", "position", "result_position", "history", "setup"))
"""Keys that state no expectation."""


def _compare_position(game: AnyGame, position: Any, text: str, expected: str) -> _Differences:
    actual = game.format_position(game.play(position, game.parse_move(position, text)))
    if actual != expected:
        yield f"{expected} after {text}", actual


def _compare_lists(expected: list[str], actual: list[str]) -> _Differences:
    if actual == expected:
        return
    missing = [text for text in expected if text not in actual]
    surplus = [text for text in actual if text not in expected]
    if missing or surplus:
        yield f"also {missing}" if missing else "nothing more", f"also {surplus}" if surplus else "nothing more"
    else:
        yield f"in this order: {expected}", f"{actual}"


def _same_outcome(expected: Any, actual: Outcome | None) -> bool:
    if expected is None or actual is None:
        return expected is actual
    scores = expected["scores"]
    return (
        expected["reason"] == actual.reason
        and len(scores) == len(actual.scores)
        and all(abs(first - second) <= SCORE_TOLERANCE for first, second in zip(scores, actual.scores, strict=True))
    )


def _method(game: AnyGame, name: str) -> Callable[..., Any]:
    method = getattr(game, name, None)
    if method is None:
        raise _MissingMethodError(name)
    return method  # type: ignore[no-any-return]


def _format_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    duplicate = next((key for key in keys if keys.count(key) > 1), None)
    if duplicate is not None:
        raise ValueError(f"duplicate key {duplicate!r}")
    return dict(pairs)


_Count = Annotated[int, Meta(ge=0)]
_Depth = Annotated[str, Meta(pattern="^[0-9]+$")]


class _OutcomeShape(Struct, forbid_unknown_fields=True):
    scores: list[float]
    reason: str


class _CaseShape(TypedDict, total=False):
    """The type of each known key; unknown ones are reported when the case is checked."""

    position: str
    note: str
    setup: str
    move: str
    result_position: str
    moves: list[str]
    legal: list[str]
    illegal: list[str]
    history: list[str]
    parse_refused: list[str]
    apply: dict[str, str]
    san: dict[str, str]
    parse_san: dict[str, str]
    perft: dict[_Depth, _Count]
    outcome: _OutcomeShape | None
    in_check: bool
    malformed: bool | list[str]
    multi_moves: _Count | list[str]
    rearrangements: _Count | list[str]


def _validate(place: str, case: Case) -> None:
    try:
        msgspec.convert(case, _CaseShape)
    except msgspec.ValidationError as error:
        raise VectorFileError(f"{place}: {error}") from error
    if case.get("malformed") is False:
        raise VectorFileError(f"{place}: malformed must be true or a list")
    if ("move" in case) != ("result_position" in case):
        raise VectorFileError(f"{place}: move and result_position require each other")
    if "history" in case and "outcome" not in case:
        raise VectorFileError(f"{place}: history requires outcome")
    if "position" not in case and (
        case.get("malformed") is True or any(key in _CHECKS for key in case.keys() - {"malformed"})
    ):
        raise VectorFileError(f"{place}: it has no position")
    if case.get("malformed") is True and any(key in _CHECKS for key in case.keys() - {"malformed"}):
        raise VectorFileError(f"{place}: a malformed position allows no other expectation")
    if not any(key not in _AUXILIARY_KEYS for key in case):
        raise VectorFileError(f"{place}: it states no expectation")
