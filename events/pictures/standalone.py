"""Self-contained pictures of positions: SVG with its own colours, and PNG."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from markupsafe import escape

from domain.scene import Scene
from events.pictures.board import Trace, draw

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MEDIA = re.compile(r"@[^{}]+\{(?:[^{}]+\{[^{}]*\})*\s*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMMA = re.compile(r",(?![^()]*\))")
_ANY_OF = re.compile(r":is\(([^()]*)\)")
_VARIABLE = re.compile(r"var\((--[\w-]+)(?:\s*,\s*([^()]*))?\)")
_VARIABLE_NAME = re.compile(r"--[\w-]+")
_CLASS = re.compile(r"\.([\w-]+)")
_BY_SCHEME = re.compile(r"light-dark\(([^(),]+), ([^(),]+)\)")
_PAINTING = re.compile(r"display|fill|stroke|font|text-anchor|paint-order|opacity")
_DARK = "@media (prefers-color-scheme: dark)"

Values = Mapping[str, str]


class _Rule(NamedTuple):
    selectors: tuple[str, ...]
    declarations: Values


class _Sheet(NamedTuple):
    """The rules, and the values of variables: for the whole picture, and inside of elements of a class."""

    rules: tuple[_Rule, ...]

    common: dict[str, str]
    inside: dict[str, dict[str, str]]

    def variables_in(self, scope: str) -> dict[str, str]:
        return self.common | self.inside.get(scope, {})


@lru_cache(maxsize=256)
def style_for(elements: frozenset[frozenset[str]], dark: bool = True) -> str:
    """Return the rules for a picture whose ``elements`` have these classes, in light colours unless ``dark``.

    A variable of a class becomes a rule for each such class, which is more specific: so all other rules become so too.
    """
    sheet = _read()
    classes = frozenset[str]().union(*elements)
    beside = {
        scope: frozenset[str]().union(*(element for element in elements if scope in element)) for scope in classes
    }
    written = []
    for rule in sheet.rules:
        selectors = [
            selector
            for selector in rule.selectors
            if ":" not in selector and classes.issuperset(_CLASS.findall(selector))
        ]
        if not selectors:
            continue
        variants = [([_more_specific(selector) for selector in selectors], rule.declarations, "")]
        for scope in sorted(classes & sheet.inside.keys()):
            scoped = _mentioning(sheet.inside[scope], rule.declarations)
            variants.append(
                ([_scope_selector(selector, scope, beside[scope]) for selector in selectors], scoped, scope)
            )
        for names, declarations, scope in variants:
            both = _resolve(declarations, sheet.variables_in(scope))
            light = {name: _BY_SCHEME.sub(r"\1", value) for name, value in both.items()}
            darkened = {name: _BY_SCHEME.sub(r"\2", value) for name, value in both.items()}
            written.append(_format(names, light))
            changed = {name: value for name, value in darkened.items() if light[name] != value}
            if dark and changed:
                written.append(f"{_DARK}{{{_format(names, changed)}}}")
    return "".join(written)


@lru_cache(maxsize=1)
def _read() -> _Sheet:
    css = Path(__file__).with_name("picture.css").read_text()
    rules = list(_rules(_MEDIA.sub("", _COMMENT.sub("", css))))
    common: dict[str, str] = {}
    inside: dict[str, dict[str, str]] = {}
    for rule in rules:
        defined = {name: value for name, value in rule.declarations.items() if name.startswith("--")}
        for selector in rule.selectors if defined else ():
            if selector in (":root", ".board"):
                common.update(defined)
            elif scope := _CLASS.fullmatch(selector):
                inside.setdefault(scope[1], {}).update(defined)
    painting = (
        rule._replace(declarations={name: value for name, value in rule.declarations.items() if _PAINTING.match(name)})
        for rule in rules
    )
    return _Sheet(tuple(rule for rule in painting if rule.declarations), common, inside)


def _rules(css: str) -> Iterator[_Rule]:
    for selectors, body in _RULE.findall(css):
        pairs = (declaration.split(":", 1) for declaration in body.split(";") if ":" in declaration)
        declarations = {name.strip(): value.strip() for name, value in pairs}
        plain_selectors = (plain for selector in _COMMA.split(selectors) for plain in _without_is(selector.strip()))
        yield _Rule(tuple(plain_selectors), declarations)


def _without_is(selector: str) -> Iterator[str]:
    """Yield the selectors that together match the elements of ``selector``, without ``:is``."""
    alternatives = _ANY_OF.search(selector)
    if alternatives is None:
        yield selector
        return
    for one in alternatives[1].split(","):
        yield from _without_is(selector[: alternatives.start()] + one.strip() + selector[alternatives.end() :])


def _mentioning(variables: Values, declarations: Values) -> Values:
    return {
        name: value
        for name, value in declarations.items()
        if not variables.keys().isdisjoint(_VARIABLE_NAME.findall(value))
    }


def _more_specific(selector: str) -> str:
    """Return a selector of the same elements with the specificity of one more class: its first is repeated."""
    return _CLASS.sub(r"\g<0>\g<0>", selector, count=1)


def _scope_selector(selector: str, scope: str, beside: frozenset[str]) -> str:
    """Return ``selector`` inside of ``scope``; its first part may name the elements themselves that have that class."""
    first = selector.split(" ")[0]
    return f".{scope}{'' if beside & set(_CLASS.findall(first)) else ' '}{selector}"


def _resolve(declarations: Values, variables: Values) -> dict[str, str]:
    resolved = {name: _value(value, variables) for name, value in declarations.items()}
    return {name: value for name, value in resolved.items() if value is not None}


def _value(value: str, variables: Values) -> str | None:
    """Return ``value`` with its variables replaced, from the innermost on."""
    while variable := _VARIABLE.search(value):
        fallback: str | None = variable[2]
        meaning = variables.get(variable[1], fallback)
        if meaning is None:
            return None
        value = value[: variable.start()] + meaning + value[variable.end() :]
    return value


def _format(selectors: list[str], declarations: Values) -> str:
    if not declarations:
        return ""
    return f"{','.join(selectors)}{{{';'.join(f'{name}:{value}' for name, value in declarations.items())}}}"


PNG_WIDTH = 600
PNG_HEIGHT = 315
"""In pixels: the minimum for large previews of links; a larger picture takes too long."""

SVG_SIDE = 720
"""The default of the longer side of an SVG picture, in pixels."""

MARGIN = 0.25
"""Around a board with labels, in squares."""

MAX_CACHED_PNGS = 128
_VIEW = re.compile(r'viewBox="(\S+) (\S+) (\S+) (\S+)"')
_CLASSES = re.compile(r'class="([^"]*)"')
_BOTH_SCHEMES = ":root{color-scheme:light dark}"
"""Lets a browser that shows only the picture surround it with the background of its scheme."""

_FONT = str(Path(__file__).with_name("labels.ttf"))


class Drawing(NamedTuple):
    """An SVG document and the style sheet within it, which a content security policy may have to allow."""

    svg: str
    style: str


def draw_document(
    scene: Scene,
    colours: Sequence[str],
    title: str,
    *,
    quarters: int = 0,
    traces: Sequence[Trace] = (),
    labels: bool = True,
    dark: bool = True,
    ratio: float | None = None,
) -> Drawing:
    """Return ``scene`` as an SVG document that refers to nothing outside itself; see ``draw``.

    With ``dark`` the colours follow the reader's preference. ``ratio`` is width to height (None: that of the board).
    """
    shown = scene if labels else scene._replace(labels=())
    drawing = draw(shown, colours, quarters=quarters, traces=traces, picture="Board")
    head, inside = drawing.split(">", 1)
    left, top, width, height = _frame(
        [float(number) for number in _VIEW.findall(head)[0]], MARGIN if labels else 0, ratio
    )
    scale = SVG_SIDE / max(width, height)
    classes = {*_CLASSES.findall(drawing), "ground"}
    style = style_for(frozenset(frozenset(names.split()) for names in classes), dark)
    if dark:
        style = f"{_BOTH_SCHEMES}{style}"
    frame = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
    return Drawing(
        f'<svg class="board" xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} {top:g} {width:g} {height:g}" '
        f'width="{width * scale:.0f}" height="{height * scale:.0f}" role="img"><title>{escape(title)}</title>'
        f'<style>{style}</style><rect class="ground" {frame}/>{inside}',
        style,
    )


def render_png(drawing: Drawing, width: int = PNG_WIDTH, height: int = PNG_HEIGHT) -> bytes:
    """Return ``drawing``, whose ratio must be that of the size in pixels, as a PNG."""
    return _render(drawing.svg, width, height)


@lru_cache(maxsize=MAX_CACHED_PNGS)
def _render(svg: str, width: int, height: int) -> bytes:
    import resvg_py  # noqa: PLC0415 - most processes never draw a PNG and need not hold the library in memory

    # Only our own font, so that pictures are the same on every machine, without a search for fonts.
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            width=width,
            height=height,
            skip_system_fonts=True,
            font_files=[_FONT],
            sans_serif_family="Rookery Sans",
        )
    )


def _frame(view: Sequence[float], margin: float, ratio: float | None) -> tuple[float, float, float, float]:
    left, top, width, height = view
    framed_width, framed_height = width + 2 * margin, height + 2 * margin
    if ratio is not None:
        framed_width = max(framed_width, framed_height * ratio)
        framed_height = max(framed_height, framed_width / ratio)
    return left - (framed_width - width) / 2, top - (framed_height - height) / 2, framed_width, framed_height
