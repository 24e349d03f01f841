"""Pictures of the pieces of a game, shown beside their names."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from api.pages.rules.figure import Figure, rules_of
from domain.game import AnyGame
from domain.scene import Piece
from events.pictures.board import face_id, faces
from events.pictures.symbols import Symbols

VIEW = "-.48 -.46 .96 .92"
"""The extent of a piece, in squares, around the middle of its upper face."""

_PICTURE = Markup('<svg class="board piece-picture" viewBox="{}" aria-hidden="true"><use href="#{}"/></svg>')

_FROZEN = "frozen "


def piece_pictures(game: AnyGame, figures: Sequence[Figure], name: str, symbols: Symbols) -> Markup:
    """Return small pictures of a piece in the colours of all seats; a single one of a piece that belongs to no seat.

    A ``name`` that begins with "frozen" shows the piece as it is without an owner. Raises KeyError for a name that
    occurs neither in the game's setups nor in ``figures``.
    """
    frozen, kind = name.startswith(_FROZEN), name.casefold().removeprefix(_FROZEN)
    known = _pieces(game, tuple(figures))
    any_seat = known[kind]
    colours = max((setup.colours for setup in game.setups.values()), key=len)
    pieces = [any_seat] if any_seat.seat < 0 else [_of_seat(known, kind, seat) for seat in range(len(colours))]
    drawings = Markup().join(_picture(piece._replace(frozen=frozen), colours, symbols) for piece in pieces)
    return Markup('<span class="pieces">{}</span>').format(drawings)


def _of_seat(known: dict[str, Piece], kind: str, seat: int) -> Piece:
    return known.get(f"{seat} {kind}") or known[kind]._replace(seat=seat)


def _picture(piece: Piece, colours: Sequence[str], symbols: Symbols) -> Markup:
    symbols.define(faces([piece], colours))
    return _PICTURE.format(VIEW, face_id(piece, colours))


@lru_cache(maxsize=16)
def _pieces(game: AnyGame, figures: tuple[Figure, ...]) -> dict[str, Piece]:
    """Return a piece of each kind by its name, and one of each seat by number and name."""
    known: dict[str, Piece] = {}
    for position in _positions(game, figures):
        for piece in (piece for pieces in game.scene(position).columns.values() for piece in pieces):
            title = piece.title.casefold().removeprefix(_FROZEN)
            name = title.split(" ", 1)[1] if piece.seat >= 0 else title
            known.setdefault(name, piece)
            known.setdefault(f"{piece.seat} {name}", piece)
    return known


def _positions(game: AnyGame, figures: Iterable[Figure]) -> Iterable[Any]:
    yield from (game.initial(setup) for setup in game.setups)
    for figure in figures:
        yield rules_of(game, figure).parse_position(figure.position)
