"""The conditional moves of seats, as the text that is kept beside a stream: private, and no part of any event."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from domain.match.enums import LineAction
from domain.match.lines import ConditionalMoves, Line, Lines
from domain.match.player_signatures import PlayerPublicKey
from events.store.contract import StoredConditionalMoves
from events.store.converter import write_value


def packed(orders: ConditionalMoves) -> str | None:
    """Return ``orders`` as text, None when nothing is laid down."""
    if orders == ConditionalMoves():
        return None
    lines = orders.lines
    content = {
        "forced": orders.forced,
        "lines": lines
        and {
            "ply": lines.ply,
            "position": lines.position,
            "first": lines_shown(lines.first),
            "taken_back": lines.taken_back,
            "key": lines.key and write_value(lines.key),
            "version": lines.version,
        },
    }
    return json.dumps(content, separators=(",", ":"))


def unpacked(kept: StoredConditionalMoves) -> dict[int, ConditionalMoves]:
    """Return the conditional moves, by seat."""
    return {seat: _orders(text) for seat, text in kept.texts.items()}


def lines_shown(lines: tuple[Line, ...]) -> list[dict[str, Any]]:
    """Return lines as JSON values: objects of ``move``, ``then``, ``next`` and, where there is one, ``signature``."""
    shown = []
    for line in lines:
        signature = {} if line.signature is None else {"signature": line.signature}
        shown.append({"move": line.move, "then": line.then, "next": lines_shown(line.next), **signature})
    return shown


def tree_shown(lines: tuple[Line, ...]) -> list[dict[str, Any]]:
    """Return the moves of lines alone as JSON values: objects of ``move`` and ``next``."""
    return [{"move": line.move, "next": tree_shown(line.next)} for line in lines]


def lines_read(content: list[Mapping[str, Any]]) -> tuple[Line, ...]:
    """Return the lines that ``lines_shown`` showed; ``then`` and ``next`` may be left out."""
    return tuple(
        Line(
            move=each["move"],
            then=_action(each.get("then")),
            next=lines_read(each.get("next", [])),
            signature=each.get("signature"),
        )
        for each in content
    )


def _action(then: str | None) -> LineAction | None:
    return None if then is None else LineAction(then)


@lru_cache(maxsize=2000)
def _orders(text: str) -> ConditionalMoves:
    """Return what ``packed`` made ``text`` of; a match is loaded many times between two changes of its orders."""
    content = json.loads(text)
    lines = content["lines"]
    if lines:
        key = lines["key"] and PlayerPublicKey(**lines["key"])
        lines = Lines(**{**lines, "first": lines_read(lines["first"]), "key": key})
    return ConditionalMoves(lines=lines, forced=content["forced"])
