"""Make screenshots small: flat pictures need few colours, and a palette instead of three bytes for each point."""

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = 256

Colour = tuple[int, int, int]


def shrunk(picture: bytes) -> bytes:
    """Return an 8-bit RGB picture with a palette of its most frequent colours; rarer ones become the nearest of them.

    Raises ValueError for a PNG of another kind.
    """
    chunks = list(_chunks(picture))
    width, height, depth, kind, *_, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    if (depth, kind, interlaced) != (8, 2, 0):
        raise ValueError("not an 8-bit RGB picture without interlacing")
    points = _points(chunks, width, 3)
    frequent = Counter(point for row in points for point in row)
    palette = [colour for colour, _ in frequent.most_common(COLOURS)]
    places = {colour: _nearest(colour, palette) for colour in frequent}
    indexed = b"".join(b"\0" + bytes(places[point] for point in row) for row in points)
    return SIGNATURE + b"".join(
        (
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(channel for colour in palette for channel in colour)),
            _chunk(b"IDAT", zlib.compress(indexed, 9)),
            _chunk(b"IEND", b""),
        )
    )


def size_of(picture: bytes) -> tuple[int, int]:
    """Return width and height in pixels; raises ValueError for what is no PNG."""
    if not picture.startswith(SIGNATURE):
        raise ValueError("not a PNG")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def colours_in(picture: bytes) -> Counter[Colour]:
    """Return how many points of an 8-bit RGB or RGBA picture have which colour, as if nothing were transparent."""
    chunks = list(_chunks(picture))
    width, _, _, kind, *_ = struct.unpack(">IIBBBBB", chunks[0][1])
    return Counter(point for row in _points(chunks, width, {2: 3, 6: 4}[kind]) for point in row)


def _points(chunks: list[tuple[bytes, bytes]], width: int, channels: int) -> list[list[Colour]]:
    raw = zlib.decompress(b"".join(content for name, content in chunks if name == b"IDAT"))
    return [
        list(zip(row[0::channels], row[1::channels], row[2::channels], strict=True))
        for row in _rows(raw, width, channels)
    ]


def _nearest(colour: Colour, palette: list[Colour]) -> int:
    red, green, blue = colour
    return min(
        range(len(palette)),
        key=lambda place: (
            (palette[place][0] - red) ** 2 + (palette[place][1] - green) ** 2 + (palette[place][2] - blue) ** 2
        ),
    )


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(SIGNATURE)
    while place < len(picture):
        (length,) = struct.unpack(">I", picture[place : place + 4])
        yield picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        place += length + 12


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _rows(raw: bytes, width: int, channels: int) -> Iterable[bytearray]:
    """Yield the rows of a picture of ``channels`` bytes a point with their filters undone (PNG, section 9)."""
    above = bytearray(channels * width)
    for start in range(0, len(raw), channels * width + 1):
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + channels * width])
        for place in range(len(row)):
            left = row[place - channels] if place >= channels else 0
            corner = above[place - channels] if place >= channels else 0
            row[place] = (row[place] + _predicted(kind, left, above[place], corner)) & 255
        yield row
        above = row


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        guess = left + up - corner
        to_left, to_up, to_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
        return left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
    return (0, left, up, (left + up) // 2)[kind]
