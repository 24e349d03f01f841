"""Drawings of pieces that stand alone on their squares: upright figures on a plinth, all our own.

Each is drawn about the middle of its square, from -0.42 to 0.3, without colours: the style sheet fills ``body`` with
that of the seat. The ornament of the plinth tells similar colours apart.
"""

from markupsafe import escape

_TILE = "M-.34 -.4H.34V.3H-.34Z"
_PLINTH = "M-.26 .3V.22L-.2 .2L-.17 .14H.17L.2 .2L.26 .22V.3Z"

_ORNAMENTS = {
    "red": "M-.22 .26H.22",
    "blue": "M-.18 .23V.29M-.09 .23V.29M0 .23V.29M.09 .23V.29M.18 .23V.29",
    "yellow": "M-.19 .26H-.14M-.08 .26H-.03M.03 .26H.08M.14 .26H.19",
    "green": "M-.2 .29L-.16 .23M-.1 .29L-.06 .23M0 .29L.04 .23M.1 .29L.14 .23M.2 .29L.23 .24",
}


def _ball(x: float, y: float, radius: float) -> str:
    arc = f"a{radius:.3g} {radius:.3g} 0 1 0"
    return f"M{x - radius:.3g} {y:.3g}{arc} {2 * radius:.3g} 0{arc} {-2 * radius:.3g} 0Z"


_BODIES = {
    "monarch": (
        "M-.16 .14L-.23 -.1C-.22 -.2 -.08 -.2 0 -.12C.08 -.2 .22 -.2 .23 -.1L.16 .14Z"
        "M-.035 -.16V-.25H-.11V-.31H-.035V-.4H.035V-.31H.11V-.25H.035V-.16Z"
    ),
    "queen": (
        "M-.16 .14L-.27 -.2L-.14 -.05L-.1 -.3L0 -.08L.1 -.3L.14 -.05L.27 -.2L.16 .14Z"
        + _ball(-0.27, -0.23, 0.04)
        + _ball(-0.1, -0.34, 0.04)
        + _ball(0.1, -0.34, 0.04)
        + _ball(0.27, -0.23, 0.04)
    ),
    "rook": "M-.15 .14L-.13 -.12H-.21V-.36H-.11V-.27H-.05V-.36H.05V-.27H.11V-.36H.21V-.12H.13L.15 .14Z",
    "bishop": "M-.15 .14L-.09 .04C-.26 -.08 -.13 -.28 0 -.36C.13 -.28 .26 -.08 .09 .04L.15 .14Z"
    + _ball(0, -0.38, 0.035),
    "knight": (
        "M-.17 .14C-.17 .02 -.04 -.02 -.05 -.1L-.13 -.03L-.24 -.02L-.27 -.09L-.12 -.26L-.12 -.39L-.02 -.31"
        "C.17 -.3 .24 -.1 .18 .14Z"
    ),
    "pawn": "M-.15 .14C-.14 .07 -.08 .04 -.07 0H-.12V-.05H.12V0H.07C.08 .04 .14 .07 .15 .14Z" + _ball(0, -0.14, 0.11),
    "merchant": (
        "M-.07 -.17C-.3 -.06 -.29 .14 -.16 .14H.16C.29 .14 .3 -.06 .07 -.17"
        "L.14 -.33L.05 -.28L0 -.35L-.05 -.28L-.14 -.33Z"
    ),
    "captain": "M-.13 .14V-.4H-.07L.25 -.27L-.07 -.12V.06L-.03 .14Z",
    "jester": (
        "M-.17 .14V-.02C-.2 -.12 -.26 -.12 -.32 -.06C-.37 -.28 -.2 -.38 0 -.29C.2 -.38 .37 -.28 .32 -.06"
        "C.26 -.12 .2 -.12 .17 -.02V.14Z" + _ball(-0.32, -0.02, 0.045) + _ball(0.32, -0.02, 0.045)
    ),
    "fool": "M-.19 .14L-.02 -.38H.02L.19 .14Z" + _ball(0, -0.39, 0.04),
    "archer": (
        "M-.06 -.38C.22 -.28 .22 .04 -.06 .14L-.08 .09C.12 0 .12 -.24 -.08 -.33Z"
        "M-.3 -.145H.16V-.2L.3 -.12L.16 -.04V-.095H-.3Z"
    ),
    "little-dog": (
        "M-.2 -.3L-.1 -.23H.1L.2 -.3C.27 -.18 .26 -.08 .2 -.02L.13 -.06L.1 .06L.05 .14H-.05L-.1 .06L-.13 -.06L-.2 -.02"
        "C-.26 -.08 -.27 -.18 -.2 -.3Z"
    ),
    "mutator": "M0 -.38L.22 -.25V.01L0 .14L-.22 .01V-.25Z",
    "giraffe": (
        "M-.2 .14V.03C-.14 -.04 -.05 -.04 -.03 -.08L-.01 -.32L-.05 -.4L.03 -.36L.07 -.41L.09 -.35"
        "L.23 -.29L.22 -.22L.1 -.22L.1 .02L.17 .14Z"
    ),
    "ant": (
        _ball(-0.15, -0.06, 0.12)
        + _ball(0.04, -0.09, 0.075)
        + _ball(0.19, -0.13, 0.085)
        + "M-.02 -.06L-.05 .14H-.01L.03 -.05ZM.06 -.06L.09 .14H.13L.1 -.06ZM-.14 0L-.2 .14H-.15L-.1 0Z"
        "M.2 -.2L.26 -.32L.29 -.3L.24 -.18Z"
    ),
    "vertical-mover": "M0 -.4L.16 -.22H.07V-.02H.16L0 .14L-.16 -.02H-.07V-.22H-.16Z",
    "horizontal-mover": "M-.32 -.11L-.15 -.27V-.18H.15V-.27L.32 -.11L.15 .05V-.04H-.15V.05ZM-.05 -.04H.05V.14H-.05Z",
    "marshall": (
        "M-.19 .14L-.17 .08H-.25V-.1H-.16V-.03H-.1C-.07 -.06 -.05 -.1 -.05 -.15L-.12 -.09L-.21 -.08L-.23 -.14"
        "L-.11 -.28L-.11 -.41L-.02 -.34C.14 -.34 .21 -.2 .16 -.03V-.1H.25V.08H.17L.19 .14Z"
    ),
    "cardinal": (
        "M-.16 .14C-.15 .04 -.11 -.02 -.1 -.08H-.3C-.33 -.08 -.33 -.15 -.3 -.16L-.15 -.19C-.14 -.37 .14 -.37 .15 -.19"
        "L.3 -.16C.33 -.15 .33 -.08 .3 -.08H.1C.11 -.02 .15 .04 .16 .14Z"
        "M-.27 -.1V.02L-.3 .09H-.22L-.25 .02V-.1ZM.27 -.1V.02L.3 .09H.22L.25 .02V-.1Z" + _ball(0, -0.35, 0.035)
    ),
    "wizard": (
        "M-.14 .14L-.12 .02C-.24 .02 -.33 -.02 -.3 -.06C-.26 -.08 -.2 -.09 -.15 -.1C-.1 -.22 -.06 -.3 .02 -.39"
        "C.08 -.43 .15 -.38 .19 -.3C.13 -.33 .09 -.33 .07 -.3C.1 -.24 .13 -.18 .15 -.1C.2 -.09 .26 -.08 .3 -.06"
        "C.33 -.02 .24 .02 .12 .02L.14 .14Z"
    ),
    "dragon": (
        "M-.13 .14L-.09 .04C-.12 .0 -.14 -.02 -.18 -.01C-.2 .01 -.24 .02 -.27 .05C-.25 -.03 -.27 -.07 -.35 -.08"
        "C-.32 -.22 -.26 -.31 -.18 -.35C-.17 -.25 -.14 -.2 -.08 -.19L-.1 -.29L-.12 -.41L-.05 -.34H.05L.12 -.41"
        "L.1 -.29L.08 -.19C.14 -.2 .17 -.25 .18 -.35C.26 -.31 .32 -.22 .35 -.08C.27 -.07 .25 -.03 .27 .05"
        "C.24 .02 .2 .01 .18 -.01C.14 -.02 .12 0 .09 .04L.13 .14Z"
    ),
    "lancer": (
        "M-.23 .14C-.21 .07 -.16 .04 -.15 0H-.2V-.05H.04V0H-.01C0 .04 .05 .07 .07 .14Z"
        "M.1 .14V-.22H.06L.125 -.42L.19 -.22H.15V-.2L.33 -.11L.15 -.02V.14Z" + _ball(-0.08, -0.14, 0.11)
    ),
    "neutron": _ball(0, -0.05, 0.24),
}

_DETAILS = {
    "monarch": "M-.15 .06H.15",
    "queen": "M-.14 .06H.14",
    "rook": "M-.13 -.05H.13M-.14 .06H.14",
    "bishop": "M-.02 -.2L.06 -.06M-.1 .04H.1",
    "knight": "M-.1 -.2L-.07 -.19M.02 -.2C.1 -.14 .11 -.02 .08 .08",
    "merchant": "M-.07 -.17H.07M.06 -.03C-.08 -.1 -.1 .02 0 .02C.1 .02 .08 .13 -.06 .07",
    "captain": "M-.07 -.33L.1 -.26L-.07 -.18",
    "jester": "M-.17 .03H.17M0 -.29V-.04",
    "fool": "M-.07 -.2L.09 -.14M-.11 -.06L.13 .02",
    "little-dog": "M-.08 -.12V-.11M.08 -.12V-.11M-.03 .06H.03L0 .09Z",
    "mutator": "M-.11 0V-.2L0 -.08L.11 -.2V0",
    "giraffe": "M.03 -.28V-.27M.04 -.16V-.15M.03 -.05V-.04M-.1 .05H-.09M.08 .07H.09",
    "marshall": "M-.17 .08H.17M-.1 -.03H.16M-.09 -.22L-.06 -.21M.02 -.26C.08 -.2 .1 -.12 .08 -.03",
    "cardinal": "M-.15 -.19H.15M-.1 -.08H.1M0 .02V.1M-.04 .06H.04",
    "wizard": "M-.15 -.1C-.06 -.07 .06 -.07 .15 -.1M-.12 .02H.12M-.02 -.27V-.19M-.06 -.23H.02M.06 -.19V-.18",
    "dragon": (
        "M-.05 -.27L-.03 -.25M.05 -.27L.03 -.25M-.08 -.19L0 -.13L.08 -.19M-.05 -.06H.05M-.06 .01H.06M-.07 .08H.07"
        "M-.18 -.35C-.25 -.25 -.21 -.12 -.18 -.01M.18 -.35C.25 -.25 .21 -.12 .18 -.01"
    ),
    "lancer": "M-.18 -.15H.02M.15 -.2V-.02M.1 -.22H.15",
    "neutron": "M-.24 -.05C-.1 .06 .1 .06 .24 -.05M0 -.29C-.11 -.15 -.11 .05 0 .19",
}

FREEZE = "M.24 -.41V-.15M.127 -.345L.353 -.215M.127 -.215L.353 -.345"
"""A crystal of ice beside the head of a piece that has no mover any more."""


def figure(kind: str, colour: str, frozen: bool, letters: str) -> str | None:
    """Return the SVG of a piece of ``kind`` that stands alone, or None for a kind that is drawn as a disc.

    It contains a tile with ``letters`` as well: the style sheet shows one of them.
    """
    body = _BODIES.get(kind)
    if body is None:
        return None
    detail = f'<path class="detail" d="{_DETAILS[kind]}"/>' if kind in _DETAILS else ""
    parts = [
        f'<g class="tile"><path class="body" d="{_TILE}"/><text class="letter" dy=".05em">{escape(letters)}</text></g>'
        f'<g class="carved"><path class="body" d="{_PLINTH if kind != "neutron" else ""}{body}"/>{detail}</g>'
    ]
    if colour in _ORNAMENTS:
        parts.append(f'<path class="ornament" d="{_ORNAMENTS[colour]}"/>')
    if frozen:
        parts.append(f'<path class="freeze" d="{FREEZE}"/>')
    return "".join(parts)
