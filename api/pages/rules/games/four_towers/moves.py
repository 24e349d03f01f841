"""Figures of Four Towers: the board, and the moves that are possible without any tower."""

from api.pages.rules.figure import Figure
from api.pages.rules.games.four_towers.claims import Only, shown

START = "dmk/rnbdcq/ppppppbnr/6pppp/10/9/10/PPPP6/RNBPPPPPP/QCDBNR/KMD w - -/- - 0 1"
_LANCERS = "2k/6/1L2l4/7p2/10/4l4/4L1L3/10/9/6/K2"
_SPLITTING = "2k/n2r2/6c2/10/10/3PL4/1W5Q2/10/6M2/6/K2 w - -/- - 0 1"

SHOWN = (
    shown(
        Figure(
            "start",
            START,
            "The start. The gaps show the nine arenas, and the four shaded squares between them are the towers. "
            "Black's army is White's after half a turn of the board.",
            move_count=50,
            legal="b3-c5 d4-d5 d4-d6",
        )
    ),
    shown(
        Figure(
            "analogous",
            "3/1Pk3/4P4/8P1/1P8/4P4/8P1/1P8/4P4/4P1/1K1 w - -/- - 0 1",
            "Nine analogous squares: every pawn stands in the middle of its arena.",
        )
    ),
    shown(
        Figure(
            "rook",
            "k2/6/9/10/10/9/4R5/10/9/6/K2 w - -/- - 0 1",
            "A rook. The towers d5 and e8 are squares on its way like any other.",
            reach="e5",
            reached=(
                "e5-a5 e5-b5 e5-c5 e5-d5 e5-f5 e5-g5 e5-h5 e5-i5 e5-j5 e5-e2 e5-e3 e5-e4 e5-e6 e5-e7 e5-e8 e5-e9 "
                "e5-e10 e5-e11"
            ),
        )
    ),
    shown(
        Figure(
            "cardinal",
            "k2/6/9/10/10/4C4/10/10/9/6/K2 w - -/- - 0 1",
            "A cardinal moves like a bishop or like a knight. What begins with `B/` or `N/` is a move of one part: "
            "the other stays.",
            reach="f6",
            reached=" ".join(
                f"{part}f6-{square}"
                for part, squares in (
                    ("", "c3 d4 e5 g7 h8 i9 c9 d8 e7 g5 h4 i3 d5 d7 e4 e8 g4 g8 h5 h7"),
                    ("B/", "c3 d4 e5 g7 h8 i9 c9 d8 e7 g5 h4 i3"),
                    ("N/", "d5 d7 e4 e8 g4 g8 h5 h7"),
                )
                for square in squares.split()
            ),
        )
    ),
    shown(
        Figure(
            "king",
            "k1r/6/9/10/10/4K4/10/10/9/6/3 w - -/- - 0 1",
            "A king. It may not step onto the e-file, which the rook attacks.",
            reach="f6",
            reached="f6-f5 f6-f7 f6-g5 f6-g6 f6-g7",
            illegal="f6-e6",
        )
    ),
    shown(
        Figure(
            "pawn",
            "k2/6/9/10/10/9/10/1p1n6/2P6/6/K2 w - -/- - 0 1",
            "A pawn on a square where it starts: one or two forward, one sideways, captures diagonally forward.",
            reach="c3",
            reached="c3-c4 c3-c5 c3-b3 c3-d3 c3xb4 c3xd4",
        )
    ),
    shown(
        Figure(
            "pawn-double",
            "k2/6/9/10/10/9/10/3PP5/9/6/2K w - -/- - 0 1",
            "Files have their own double-step squares: a pawn starts on d4, but none on e4.",
            legal="d4-d5 d4-d6 e4-e5",
            illegal="e4-e6",
        )
    ),
    shown(
        Figure(
            "lancer",
            "3/6/8k/10/10/9/4p5/3L1P4/9/6/K2 w - -/- - 0 1",
            "A lancer: one or two squares forward, diagonally forward or sideways. It does not leap: f6 is behind the "
            "pawn on e5, f4 is held by its own side. `P/` is a move of one of its two pawns.",
            reach="d4",
            reached=("d4-b4 d4-c4 d4-c5 d4-d5 d4-d6 d4-b6 d4-e4 d4xe5 P/d4-c4 P/d4-d5 P/d4-d6 P/d4-e4 P/d4xe5"),
            illegal="d4-f4 d4-f6",
        )
    ),
    shown(
        Figure(
            "passing-set",
            f"{_LANCERS} b - -/- - 0 1",
            "A double step. The squares that were crossed and reached are remembered for one turn.",
            moves="i8-i6",
            after="2k/6/1L2l4/10/10/4l2p1/4L1L3/10/9/6/K2 w i7i6 -/- - 1 2",
        )
    ),
    shown(
        Figure(
            "passing-straight",
            "2k/6/1L2l4/10/10/4l2p1/4L1L3/10/9/6/K2 w i7i6 -/- - 1 2",
            "The lancer on g5 could have taken the pawn on i7, two diagonal steps away. Its own move was of two "
            "squares, too, so it can be taken in its turn.",
            moves="g5xi7(i6)",
            after="2k/6/1L2l4/10/7L2/4l4/4L5/10/9/6/K2 b h6i7 -/- - 0 2",
        ),
        Only("All captures en passant", r".*x.*\(.*", "g5xi7(i6)"),
    ),
    shown(
        Figure(
            "passing-diagonal",
            f"{_LANCERS} w - -/- - 0 1",
            "A lancer goes two squares diagonally over d6, and is taken there by one that captures sideways.",
            moves="e5-c7 f6xd6(c7)",
            after="2k/6/1L2l4/7p2/10/2l6/6L3/10/9/6/K2 w e6d6 -/- - 0 2",
        )
    ),
    shown(
        Figure(
            "passing-sideways",
            "2k/6/3Ll4/7p2/10/4l4/4L1L3/10/9/6/K2 b e9f9 -/- - 1 1",
            "White has played `d9-f9`. Black may take the lancer where it stands, or where it has passed.",
            moves="g9xe9(f9)",
            after="2k/6/2l6/7p2/10/4l4/4L1L3/10/9/6/K2 w f9e9 -/- - 0 2",
        ),
        Only("Captures by g9", "g9x.*", "g9xe9(f9) g9xf9"),
    ),
    shown(
        Figure(
            "passing-beyond",
            "2k/6/1Ll6/7p2/10/4l4/4L1L3/10/9/6/K2 w f9e9 -/- - 1 2",
            "The other way round, after `g9-e9`: the capture leads past the lancer that it removes, for that one is "
            "put back on f9 in thought, and e9 is vacant then.",
            moves="d9xf9(e9)",
            after="2k/6/3L5/7p2/10/4l4/4L1L3/10/9/6/K2 b e9f9 -/- - 0 2",
        ),
        Only("Captures by d9", "d9x.*", "d9xe9 d9xf9(e9)"),
    ),
    shown(
        Figure(
            "passing-attached",
            "k2/6/9/10/10/1pLp5/10/10/8L/6/K2 b d5d6 -/- - 1 1",
            "A pawn has gone from d4 over d5 to d6 and attached to another one there. The whole lancer is taken.",
            moves="c6xd5(d6)",
            after="k2/6/9/10/10/3p5/3p6/10/8L/6/K2 w - -/- - 0 2",
        ),
        Only("All captures", ".*x.*", "c6xd5(d6) e6xd5(d6)"),
    ),
    shown(
        Figure(
            "passing-tower",
            "k2/6/9/10/10/9/2p7/10/3P5/6/K2 w - -/- - 0 1",
            "The pawn that has gone to the tower is taken on d4. It was not taken by a move onto the tower, so it "
            "cannot return: the fifth field of the position, which would name it, is empty.",
            moves="d3-d5 c5xd4(d5)",
            after="k2/6/9/10/10/9/10/3p6/9/6/K2 w - -/- - 0 2",
        )
    ),
    shown(
        Figure(
            "attach",
            START,
            "Two pieces become one: the rook joins the knight on b3, and a marshall stands there.",
            moves="a3+b3",
            after="dmk/rnbdcq/ppppppbnr/6pppp/10/9/10/PPPP6/1MBPPPPPP/QCDBNR/KMD b - R/- - 1 1",
            illegal="a3+a4 c3+d2 f2+f3",
        ),
        Only(
            "All attachments at the start",
            r".*\+.*",
            "N/e2+c3 R/d2+e2 R/h1+h2 a3+b3 a4+b4 b3+d2 b4+a4 b4+c4 c4+b4 c4+d4 d3+c4 d3+d4 d3+e3 d4+c4 e3+d3 e3+d4 "
            "e3+f3 f3+e3 f3+g3 g2+h1 g3+f3 g3+h3 h3+g3 h3+i3 i2+h2 i3+h3",
        ),
    ),
    shown(
        Figure(
            "detach",
            _SPLITTING,
            "Five turns. A cardinal leaves the wizard and a rook remains. Rook and knight become a marshall. The "
            "knight of a marshall joins the queen, which becomes a wizard. A bishop leaves the cardinal. One pawn of "
            "the lancer joins the pawn beside it, which is now the lancer.",
            moves="C/b5-a3 f10+c10 N/g3+h5 B/i9-g7 P/f6+e6",
            after="2k/m5/6n2/10/5b4/3LP4/1R5W2/10/C5R2/6/K2 b - N/B - 5 3",
        )
    ),
    shown(
        Figure(
            "swap",
            "k2/6/9/3B6/10/9/3R6/1N6N1/9/6/K2 w - -/- - 0 1",
            "The bishop on the tower e8 and the knight on i4 change places, by a bishop's move of the first.",
            moves="e8<>i4",
            after="k2/6/9/3N6/10/9/3R6/1N6B1/9/6/K2 b - B/- - 1 1",
        ),
        Only("Swaps", ".*<>.*", "b4<>d5 e8<>i4"),
        Only("Attachments", r".*\+.*", "b4+d5 e8+i4"),
    ),
    shown(
        Figure(
            "swap-king",
            "k2/6/9/10/10/9/3K6/4P5/9/6/3 w - -/- - 0 1",
            "A king begins a swap by a step. A pawn may be the other piece, but begins none.",
            moves="d5<>e4",
            after="k2/6/9/10/10/9/3P6/4K5/9/6/3 b - K/- - 1 1",
            illegal="e4<>d5",
        )
    ),
    shown(
        Figure(
            "no-passing",
            "3/6/8k/10/10/9/3N6/1N8/9/6/K2 w - -/- - 0 1",
            "Two knights that changed places would leave the board as it is. They cannot attach either.",
            illegal="b4<>d5 d5<>b4 b4+d5",
        )
    ),
)
