"""The conditional moves of seats, as the text that is kept beside a stream: private, and no part of any event."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from domain.match.enums import LineAction
from domain.match.lines import ConditionalMoves, Line
from events.store.contract import StoredConditionalMoves
from events.store.converter import pack, unpack


def packed(orders: ConditionalMoves) -> str | None:
    """Return ``orders`` as text, None when nothing is laid down."""
    return None if orders == ConditionalMoves() else pack(orders).decode()


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
            move=line["move"],
            then=LineAction(line["then"]) if line.get("then") else None,
            next=lines_read(line.get("next", [])),
            signature=line.get("signature"),
        )
        for line in content
    )


@lru_cache(maxsize=2000)
def _orders(text: str) -> ConditionalMoves:
    """Return the moves that were packed as ``text``; a match is loaded many times between two changes of its orders."""
    return unpack(ConditionalMoves, text)
