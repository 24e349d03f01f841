"""A class or module is known by its name, and each room of the events has a map of its modules.

No other in the product has the name, beside the games, which are of one shape.
"""

import re
from collections import Counter
from pathlib import Path

from domain.games import GAMES

ROOT = Path(__file__).parents[2]
PRODUCT = ("api", "deploy", "domain", "events", "workers")
CLASS = re.compile(r"^class ([A-Z]\w*)(?:\((\w+))?", re.M)
ANSWERS = ("api/representations/", "api/resources/")
GAME_PACKAGES = tuple(f"domain/{name.replace('-', '_')}/" for name in GAMES)


def modules() -> list[str]:
    paths = (path.relative_to(ROOT).as_posix() for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))
    return [path for path in paths if not path.startswith(GAME_PACKAGES) and not path.endswith("__init__.py")]


def repeated(names: list[str]) -> list[str]:
    return [name for name, number in Counter(names).items() if number > 1]


def test_no_two_classes_have_one_name_but_answers_and_what_they_show() -> None:
    found = (
        match
        for path in modules()
        if not path.startswith(ANSWERS)
        for match in CLASS.finditer((ROOT / path).read_text())
    )
    assert (
        repeated([name for name, base in map(re.Match.groups, found) if base not in ("Answer", "StrictSchema")]) == []
    )


def test_modules_of_one_name_are_told_apart_by_their_package() -> None:
    assert repeated(["/".join(path.split("/")[-2:]) for path in modules()]) == []


def test_each_room_has_a_map_of_its_modules() -> None:
    for room in {path.split("/")[1] for path in modules() if path.startswith("events/") and path.count("/") > 1}:
        text = (ROOT / "events" / room / "__init__.py").read_text()
        names = {path.split("/")[2].removesuffix(".py") for path in modules() if path.startswith(f"events/{room}/")}
        assert {name for name in names if f"``{name}``" not in text} == set(), room
