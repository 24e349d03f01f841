"""The part of picture.css that one picture needs, with every variable replaced: viewers other than browsers know none.

Understood are rules with lists of class selectors, the media query for dark colours, and variables that are defined on
``:root``, ``.board`` or a colour of pieces (``.piece-red``). Anything else in the sheet is about pages and left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_BLOCK = re.compile(r"(@[^{}]+)\{((?:[^{}]+\{[^{}]*\})*)\s*\}|([^{}@]+\{[^{}]*\})")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_VARIABLE = re.compile(r"var\((--[\w-]+)(?:\s*,\s*([^()]*))?\)")
_CLASS = re.compile(r"\.([\w-]+)")
_COLOUR = re.compile(r"\.(piece-\w+)")
_PAINTING = re.compile(r"fill|stroke|font|text-anchor|paint-order|opacity")

_DARK = "@media (prefers-color-scheme: dark)"

Declarations = Mapping[str, str]


class _Rule(NamedTuple):
    selectors: tuple[str, ...]
    declarations: Declarations
    dark: bool


class _Variables(NamedTuple):
    """Values by name, those for the whole picture and those of each colour of pieces."""

    common: dict[str, str]
    of_pieces: dict[str, dict[str, str]]

    def on(self, piece: str) -> dict[str, str]:
        return self.common | self.of_pieces.get(piece, {})


class _Sheet(NamedTuple):
    rules: tuple[_Rule, ...]
    light: _Variables
    dark: _Variables


@lru_cache(maxsize=64)
def style_of(classes: frozenset[str], on_pieces: frozenset[str], dark: bool = True) -> str:
    """Return the rules for a picture that uses ``classes``, of which elements with ``piece`` have ``on_pieces``.

    Without ``dark`` the colours are those for light surroundings, whatever the reader prefers.
    """
    sheet = _read()
    pieces = sorted(classes & sheet.light.of_pieces.keys())
    written = []
    for rule in sheet.rules:
        selectors = [each for each in rule.selectors if ":" not in each and classes.issuperset(_CLASS.findall(each))]
        if not selectors or (rule.dark and not dark):
            continue
        if any(_depends_on_piece(value, sheet) for value in rule.declarations.values()):
            variants = [
                ([_within(piece, each, on_pieces) for each in selectors], sheet.light.on(piece), sheet.dark.on(piece))
                for piece in pieces
            ]
        else:
            variants = [(selectors, sheet.light.common, sheet.dark.common)]
        for names, *schemes in variants:
            light, darkened = (_resolved(rule.declarations, variables) for variables in schemes)
            if not rule.dark:
                written.append(_written(names, light))
            changed = {name: value for name, value in darkened.items() if rule.dark or light.get(name) != value}
            if dark and changed:
                written.append(f"{_DARK}{{{_written(names, changed)}}}")
    return "".join(written)


@lru_cache(maxsize=1)
def _read() -> _Sheet:
    css = _COMMENT.sub("", Path(__file__).with_name("picture.css").read_text())
    rules = list(_rules(css))
    light, dark = _Variables({}, {}), _Variables({}, {})
    for rule in rules:
        defined = {name: value for name, value in rule.declarations.items() if name.startswith("--")}
        for variables in (dark,) if rule.dark else (light, dark):
            for selector in rule.selectors if defined else ():
                if selector in (":root", ".board"):
                    variables.common.update(defined)
                elif colour := _COLOUR.fullmatch(selector):
                    variables.of_pieces.setdefault(colour[1], {}).update(defined)
    painting = (
        rule._replace(declarations={name: value for name, value in rule.declarations.items() if _PAINTING.match(name)})
        for rule in rules
    )
    return _Sheet(tuple(rule for rule in painting if rule.declarations), light, dark)


def _rules(css: str) -> Iterator[_Rule]:
    for condition, inner, single in _BLOCK.findall(css):
        if condition and condition.strip() != _DARK:
            continue
        for selectors, body in _RULE.findall(inner or single):
            pairs = (declaration.split(":", 1) for declaration in body.split(";") if ":" in declaration)
            declarations = {name.strip(): value.strip() for name, value in pairs}
            yield _Rule(tuple(each.strip() for each in selectors.split(",")), declarations, bool(condition))


def _depends_on_piece(value: str, sheet: _Sheet) -> bool:
    names = {name for variables in sheet.light.of_pieces.values() for name in variables}
    names |= {name for variables in sheet.dark.of_pieces.values() for name in variables}
    return any(name in names for name in re.findall(r"--[\w-]+", value))


def _within(piece: str, selector: str, on_pieces: frozenset[str]) -> str:
    """Return ``selector`` as it matches in a piece of one colour: its first part may name the piece itself."""
    first = selector.split(" ")[0]
    return f".{piece}{'' if on_pieces & set(_CLASS.findall(first)) else ' '}{selector}"


def _resolved(declarations: Declarations, variables: Mapping[str, str]) -> dict[str, str]:
    return {name: _value(value, variables) for name, value in declarations.items()}


def _value(value: str, variables: Mapping[str, str]) -> str:
    """Return ``value`` with its variables replaced from the innermost on; raises KeyError for one without a value."""
    while found := _VARIABLE.search(value):
        name, fallback = found.groups()
        known = variables[name] if fallback is None else variables.get(name, fallback)
        value = value[: found.start()] + known + value[found.end() :]
    return value


def _written(selectors: Sequence[str], declarations: Declarations) -> str:
    return f"{','.join(selectors)}{{{';'.join(f'{name}:{value}' for name, value in declarations.items())}}}"
