"""Explorations of finished matches that their authors have published."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from api.services import services
from domain.match.state import MatchState
from events.people.person import Person


class Publication(NamedTuple):
    """A tree of moves as it was when ``author`` published it with a ``comment``; ``at`` in ms since 1970 UTC.

    It grows from ``position``, that after ``ply`` plies. Its nodes have ``move`` and ``next``.
    """

    author: str
    at: int
    comment: str
    ply: int
    position: str
    tree: Sequence[dict[str, Any]]

    @property
    def moves(self) -> int:
        """The number of moves of the tree."""
        return _count(self.tree)


def publish(person: Person, match_id: str, comment: str, max_bytes: int) -> bool:
    """Publish the saved exploration of a match as it is; return False when there is none."""
    notebooks = services().notebooks
    saved = notebooks.exploration(person.id, match_id)
    if saved:
        text = json.dumps({"at": services().now(), "comment": comment, **json.loads(saved)}, ensure_ascii=False)
        notebooks.publish(person.id, match_id, text, max_bytes)
    return bool(saved)


def publications_for(person: Person | None, state: MatchState) -> list[Publication]:
    """Return the publications about a match that ``person`` may read: none while it is played.

    Those of people whom ``person`` blocks or mutes are left out, as in chats.
    """
    texts = services().notebooks.publications(state.match_id) if state.ended else {}
    silenced = services().blocks.of(person.id) if person and texts else {}
    shown = [Publication(author, **json.loads(text)) for author, text in texts.items() if author not in silenced]
    return sorted(shown, key=lambda publication: publication.at)


def _count(tree: Sequence[dict[str, Any]]) -> int:
    return len(tree) + sum(_count(node["next"]) for node in tree)
