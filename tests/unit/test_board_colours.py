"""Contrast of squares and pieces in every board theme and both schemes, for three kinds of colour-blindness as well.

Every pair has 3:1 (WCAG 2.2, success criterion 1.4.11) by the formula of WCAG's relative luminance. Colour-blindness is
simulated by the matrices of Machado, Oliveira and Fernandes (2009) for severity 1.0, which apply to linear RGB.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from pathlib import Path

import pytest

from domain.games import GAMES
from domain.scene import COLOURS
from events.pictures import board, figures

MIN_CONTRAST = 3.0
THEMES = ("", "slate", "leaf")
SCHEMES = ("light", "dark")
Matrix = tuple[tuple[float, float, float], ...]
VISIONS: Mapping[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip
OWNERS = (*COLOURS, "nobody")
SHEET = re.sub(r"/\*.*?\*/", "", Path(board.__file__).with_name("picture.css").read_text(), flags=re.DOTALL)
SHADES = [*product(THEMES, SCHEMES, VISIONS)]


def declared(selector: str, scheme: str) -> dict[str, str]:
    """Return the colours that the rules of ``selector`` declare, as they are in ``scheme``."""
    chosen = re.compile(r"light-dark\((#\w+), (#\w+)\)")
    bodies = re.findall(rf"(?:^|\n){re.escape(selector)} \{{([^}}]*)\}}", SHEET)
    body = chosen.sub(lambda pair: pair[1 + SCHEMES.index(scheme)], " ".join(bodies))
    return dict(re.findall(r"([\w-]+): (#\w+)", body))


def variables(theme: str, scheme: str) -> dict[str, str]:
    return declared(":root", scheme) | (declared(f':root[data-board="{theme}"]', scheme) if theme else {})


def linear(colour: str) -> list[float]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def over(colour: str, ground: str, opacity: float) -> str:
    """Return the visible colour of ``colour`` at this opacity on ``ground``."""
    pairs = [(int(colour[place : place + 2], 16), int(ground[place : place + 2], 16)) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(one * opacity + other * (1 - opacity)):02x}" for one, other in pairs)


def luminance(colour: str, vision: str) -> float:
    rgb = linear(colour)
    seen = (sum(weight * part for weight, part in zip(row, rgb, strict=True)) for row in VISIONS[vision])
    return sum(weight * min(max(part, 0), 1) for weight, part in zip((0.2126, 0.7152, 0.0722), seen, strict=True))


def contrast(one: str, other: str, vision: str) -> float:
    dark, light = sorted((luminance(one, vision), luminance(other, vision)))
    return (light + 0.05) / (dark + 0.05)


def squares(theme: str, scheme: str) -> dict[str, str]:
    """Return the colours of all squares of all games; those of quadrants are partly transparent where they are dark."""
    values = variables(theme, scheme)
    kinds = ("", "-light", "-dark", "-plain", "-castle", "-red", "-blue", "-yellow", "-green")
    plain = {kind: values[f"--square{kind}"] for kind in kinds}
    tinted = {f"dark {kind}": over(plain[kind], values["--paper"], 0.78) for kind in kinds[-4:]}
    return plain | tinted | {"dark neutral": over(plain["-plain"], values["--paper"], 0.78)}


def pieces(scheme: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each colour of pieces with its face and edge, and that of frozen ones."""
    for owner in OWNERS:
        yield owner, declared(f".piece-{owner}", scheme)
    frozen = declared(".frozen .body", scheme)
    yield "frozen", {"--face": frozen["fill"], "--edge": frozen["stroke"]}


@pytest.mark.parametrize(("theme", "scheme", "vision"), SHADES)
def test_a_piece_stands_out_from_every_square_by_its_face_or_its_edge(theme: str, scheme: str, vision: str) -> None:
    weak = [
        (owner, kind)
        for (owner, piece), (kind, square) in product(pieces(scheme), squares(theme, scheme).items())
        if max(contrast(piece[part], square, vision) for part in ("--face", "--edge")) < MIN_CONTRAST
    ]
    assert weak == []


@pytest.mark.parametrize(("theme", "scheme", "vision"), SHADES)
def test_marks_of_moves_stand_out_from_every_square(theme: str, scheme: str, vision: str) -> None:
    mark = variables(theme, scheme)["--mark"]
    assert [
        kind for kind, square in squares(theme, scheme).items() if contrast(mark, square, vision) < MIN_CONTRAST
    ] == []


SIDES = sorted({
    frozenset(pair)
    for game in GAMES.values()
    for setup in game.setups.values()
    for pair in combinations(setup.colours, 2)
}, key=sorted)  # fmt: skip


@pytest.mark.parametrize(("scheme", "vision"), [*product(SCHEMES, VISIONS)])
def test_sides_differ_by_their_faces_or_by_patterns_that_stand_out(scheme: str, vision: str) -> None:
    """No four hues differ by 3:1 each: between black and white there is room for three steps of it only."""
    colours = {owner: declared(f".piece-{owner}", scheme) for owner in OWNERS}
    for one, other in map(sorted, SIDES):
        if contrast(colours[one]["--face"], colours[other]["--face"], vision) >= MIN_CONTRAST:
            continue
        for patterns, ground in ((board._TICKS, "--rim"), (figures._ORNAMENTS, "--face")):
            assert patterns.get(one) != patterns.get(other)
            for owner in {one, other} & patterns.keys():
                assert contrast(colours[owner]["--sign"], colours[owner][ground], vision) >= MIN_CONTRAST


@pytest.mark.parametrize(("scheme", "vision"), [*product(SCHEMES, VISIONS)])
def test_letters_stand_out_from_the_faces_that_they_are_on(scheme: str, vision: str) -> None:
    """Letters are large and bold, for which WCAG asks for 3:1 as well (success criterion 1.4.3)."""
    for owner in OWNERS:
        piece = declared(f".piece-{owner}", scheme)
        assert contrast(piece["--sign"], piece["--face"], vision) >= MIN_CONTRAST


def test_two_sides_that_are_black_and_white_differ_by_their_faces_alone() -> None:
    for scheme, vision in product(SCHEMES, VISIONS):
        white, black = (declared(f".piece-{owner}", scheme)["--face"] for owner in ("white", "black"))
        assert contrast(white, black, vision) >= MIN_CONTRAST


def test_the_contrast_of_black_and_white_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff", "normal") == pytest.approx(21)
    assert contrast("#777777", "#ffffff", "normal") == pytest.approx(4.478, abs=0.001)
