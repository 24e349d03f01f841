"""Figures of Four Towers: what pieces on towers do, dragons and promotion."""

from api.pages.rules.figure import Figure
from api.pages.rules.games.four_towers.claims import Only, promoting, shown

_CARDINAL = "3/6/8k/10/10/3B5/3C6/2N7/9/6/K2 w - -/- - 0 1"
_ROOK_OR_KNIGHT = "b8 c8 d8 e8 f8 g8 h8 j8 k8 i9 i7 i6 i5 i4 i3 i2 i1 g9 g7 h10 h6 j6 k9 k7"

SHOWN = (
    shown(
        Figure(
            "refraction",
            "k2/6/9/10/6n3/9/3N6/10/4R4/6/K2 w - -/- - 0 1",
            "A rook between two knights, one of each side. To the left it reaches d3 in II, then c4, b4 and a4 in I. "
            "Upwards it goes from e4 to f5 in V, and from f7 to g8 in VIII.",
            reach="e3",
            reached=(
                "e3-d3 e3-c4 e3-b4 e3-a4 e3-e4 e3-f5 e3-f6 e3-f7 e3-g8 e3-g9 e3-g10 e3-f3 e3-g3 e3-h3 e3-i3 e3-e2"
            ),
            illegal="e3-d4 e3-e5 e3-f8",
        )
    ),
    shown(
        Figure(
            "refraction-pawn",
            "k2/6/9/10/10/9/10/5PN1K1/9/6/3 w - -/- - 0 1",
            "Forward of f4 is now g5, to the right of it g3; f5 is out of reach while the knight stays.",
            reach="f4",
            reached="f4-g5 f4-e4 f4-g3",
            illegal="f4-f5",
        )
    ),
    shown(
        Figure(
            "refraction-king",
            "k2/6/9/10/10/9/10/5PN1K1/9/6/3 w - -/- - 0 1",
            "The step down from i4 is refracted, too: it leads to h3, and so does the diagonal one. That is one move. "
            "No step leads to i3.",
            reach="i4",
            reached="i4-h3 i4-h4 i4-h5 i4-i5 i4-j4 i4-j5",
            illegal="i4-i3",
        )
    ),
    shown(
        Figure(
            "refraction-capture",
            "k2/6/9/10/10/9/4p1p3/5PN1K1/7p1/6/3 w - -/- - 0 1",
            "Only orthogonal steps are turned. The pawn captures diagonally as ever, on e5 and g5, and is blocked by "
            "the pawn on g5 besides. The king takes below, on h3.",
            legal="f4xe5 f4xg5 i4xh3",
            illegal="f4-g5 f4-f5",
        )
    ),
    shown(
        Figure(
            "refraction-two",
            "k2/6/9/10/10/9/3N2r3/6N3/9/6/K2 b - -/- - 0 1",
            "Knights on two towers side by side. No orthogonal step ends on a tower with a knight, so the rook takes "
            "neither of them.",
            reach="g5",
            reached=(
                "g5-f5 g5-e5 g5-d6 g5-c6 g5-b6 g5-f4 g5-f3 g5-f2 g5-h4 g5-i4 g5-j4 g5-g6 g5-g7 g5-g8 g5-g9 g5-g10"
            ),
            illegal="g5xd5 g5xg4",
        )
    ),
    shown(
        Figure(
            "refraction-near",
            "3/6/8k/10/10/9/2PN2R3/10/9/R5/K2 w - -/- - 0 1",
            "A knight on d5 puts its four arenas in line all along their borders. That holds for the step down from "
            "g5, too: it leads to f4, past the vacant tower g4. Likewise d2 to the left leads to c3, c5 to the right "
            "to d4, and c5 upwards to d6.",
            legal="g5-f4 g5-f3 g5-f2 d2-c3 d2-b3 d2-a3 c5-d4 c5-d6",
            illegal="g5-g4 c5-c6",
        )
    ),
    shown(
        Figure(
            "queen",
            "2r/6/8k/10/10/9/3Q6/4K5/9/6/3 w - -/- - 0 1",
            "The rook on e11 bears on the king, but the queen on d5 covers it. The queen may leave only if she then "
            "stands in the way, or lets the king take her place.",
            reach="e4",
            reached="e4-d3 e4-d4 e4-e3 e4-e5 e4-f3 e4-f4 e4-f5 e4<>d5",
        ),
        Only("Moves of the whole queen", "d5.*", "d5-e5 d5-e6 d5<>e4"),
    ),
    shown(
        Figure(
            "queen-taken",
            "2r/6/8k/10/10/1b7/3Q6/4K5/9/6/3 b - -/- - 0 1",
            "With the queen the cover is gone, and White is in check at once.",
            moves="c6xd5",
            after="2r/6/8k/10/10/9/3b6/4K5/9/6/3 w - -/B Q@d5 1 2",
        )
    ),
    shown(
        Figure(
            "queen-check",
            "2r/6/8k/10/10/9/3b6/4K5/9/6/3 w - -/B Q@d5 1 2",
            "Rook and bishop both give check now, so no return of the queen would help. The king may take the bishop, "
            "or use the bishop's own link from II to IV.",
            complete="e4-d3 e4-d4 e4-f4 e4-f5 e4>>c8 e4xd5",
        )
    ),
    shown(
        Figure(
            "queen-kings",
            "3/6/9/10/10/9/3Q6/10/4K1k2/6/3 w - -/- - 0 1",
            "A covered king goes up to the other one, and gives check.",
            moves="e3-f3",
            after="3/6/9/10/10/9/3Q6/10/5Kk2/6/3 b - K/- - 1 1",
            legal="e3-f4 e3-f2",
        )
    ),
    shown(
        Figure(
            "king-tower",
            "3/6/1p7/5n4/10/9/3K6/10/k8/6/3 w - -/- - 0 1",
            "From a tower a king captures like a queen and steps like a king.",
            reach="d5",
            reached="d5-c4 d5-c5 d5-c6 d5-d4 d5-d6 d5-e4 d5-e5 d5-e6 d5xd9 d5xg8",
            illegal="d5-d7",
        )
    ),
    shown(
        Figure(
            "king-gives-check",
            "3/1k4/9/10/10/9/3K6/P9/9/6/3 b - -/- - 0 1",
            "And it attacks like a queen: Black is in check along the d-file.",
            complete="d10-c10 d10-c11 d10-c9 d10-e10 d10-e11 d10-e9",
        )
    ),
    shown(
        Figure(
            "marshall-captures",
            "3/6/2R6/10/9k/1r1r5/1B1M6/1Np7/9/6/K2 w - -/- - 0 1",
            "A marshall on d5. In the arenas I, II, IV and V rooks, knights and marshalls take only each other, and "
            "nothing else takes them.",
            legal="b5xc4 b4xc6 e9xe6",
            illegal="b5xc6",
        )
    ),
    shown(
        Figure(
            "marshall-parts",
            "2k/6/9/10/10/9/3M6/5R4/3Q1B3/1N4/K2 w - -/- - 0 1",
            "Rook and knight may join, other pairs may not. No rook leaves the queen on d3, though her bishop may.",
            illegal="R/d3-d4 d3+e2",
        ),
        Only("Attachments", r".*\+.*", "N/d5+f4 e2+f4"),
        Only(
            "Moves of the queen's parts",
            "./d3.*",
            "B/d3-b5 B/d3-c4 B/d3-e4 B/d3-f5 B/d3-g6 B/d3-h7 B/d3-i8 B/d3-j9",
        ),
    ),
    shown(
        Figure(
            "marshall-check",
            "2k/6/9/10/10/9/3M6/4r5/9/1K4/3 w - -/- - 0 1",
            "Rooks, knights and marshalls give no check from or into the zone. Here the king may even step beside the "
            "rook, but it cannot take it.",
            complete="N/d5-e3 d5-e3 e2-d2 e2-d3 e2-e3 e2-f2 e2-f3",
        )
    ),
    shown(
        Figure(
            "cardinal-bishop",
            _CARDINAL,
            "A cardinal on d5: the bishop leaps like a knight. A knight's move is also what dragons copy then: `N/-`.",
            moves="e6-c5",
            after="3/6/8k/10/10/9/2BC6/2N7/9/6/K2 b - N/- - 1 1",
            reach="e6",
            reached="e6-c5 e6-c7 e6-d4 e6-d8 e6-f4 e6-f8 e6-g5 e6-g7",
        )
    ),
    shown(
        Figure(
            "cardinal-knight",
            _CARDINAL,
            "And the knight runs like a bishop, to swap with the cardinal as well.",
            reach="c4",
            reached="c4-b3 c4-b5 c4-d3 c4-e2 c4<>d5",
        )
    ),
    shown(
        Figure(
            "cardinal-two",
            "2k/6/9/3c6/10/4N4/3C6/10/9/6/K2 w - -/- - 0 1",
            "Two cardinals act on V, one of each side. The knight is switched once, and runs like a bishop.",
            reach="f6",
            reached="f6-c3 f6-d4 f6-e5 f6-g7 f6-h8 f6-i9 f6-c9 f6-d8 f6-e7 f6-g5 f6-h4 f6-i3",
        )
    ),
    shown(
        Figure(
            "pawn-tower",
            "3/6/8k/10/1p8/3P5/3p6/1P8/9/6/K2 w - -/- - 0 1",
            "A pawn on d5, whose ever it is, gives the pawns of both sides in its zone a double step.",
            reach="e6",
            reached="e6-d6 e6-f6 e6-e7 e6-e8",
        )
    ),
    shown(
        Figure(
            "pawn-tower-black",
            "3/6/8k/10/1p8/3P5/3p6/1P8/9/6/K2 b - -/- - 0 1",
            "The same with Black to move.",
            reach="c7",
            reached="c7-b7 c7-d7 c7-c6 c7-c5",
        )
    ),
    shown(
        Figure(
            "lancer-tower",
            "3/6/8k/10/10/3P5/3L6/2p7/9/6/K2 w - -/- - 0 1",
            "A lancer on d5 gives pawns and lancers of both sides a step backward.",
            reach="e6",
            reached="e6-d6 e6-f6 e6-e7 e6-e5",
        )
    ),
    shown(
        Figure(
            "lancer-tower-black",
            "3/6/8k/10/10/3P5/3L6/2p7/9/6/K2 b - -/- - 0 1",
            "The same with Black to move. Forward of c4 is c3, where a black pawn promotes.",
            reach="c4",
            reached=f"c4-b4 c4-d4 c4-c5 {promoting('c4-c3')}",
        )
    ),
    shown(
        Figure(
            "dragon-rook",
            "2k/6/R4D3/7d2/10/9/10/10/1N7/6/K2 w - -/R - 0 1",
            "Black's last move was a rook's: `R` stands behind the stroke of the fourth field. The white dragon moves "
            "like a rook.",
            reach="h9",
            reached=(
                "h9-d9 h9-e9 h9-f9 h9-g9 h9-i9 h9-j9 h9-k9 h9-h10 h9-h8 h9-h7 h9-h6 h9-h5 h9-h4 h9-h3 h9-h2 h9-h1"
            ),
        )
    ),
    shown(
        Figure(
            "dragon-both",
            "2k/6/R4D3/7d2/10/9/2N7/10/9/6/K2 b - N/R - 1 1",
            "After White's `b3-c5` a knight was moved, too. Dragons of both sides move like rook or knight.",
            reach="i8",
            reached=" ".join(f"i8-{square}" for square in _ROOK_OR_KNIGHT.split()),
        )
    ),
    shown(
        Figure(
            "dragon-bishop",
            "3/6/5D2k/10/10/9/p9/10/9/6/K2 w - N/B - 0 1",
            "White has moved a knight last, Black a bishop.",
            reach="h9",
            reached=("h9-b3 h9-c4 h9-d5 h9-e6 h9-f7 h9-g8 h9-i8 h9-j7 h9-g10 h9-f8 h9-f10 h9-g7 h9-i7 h9-j8"),
        )
    ),
    shown(
        Figure(
            "dragon-pin",
            "2k/6/R8/10/10/9/10/10/1N5d1/4D1/K2 w - -/- - 0 1",
            "White may not move the knight: then the black dragon on h3 could take like a knight, and White would be "
            "in check. Dragons have nothing to copy yet.",
            illegal="b3-c5 b3-d4 h2-h4",
        ),
        Only("Moves of b3 and h2", "(b3|h2).*", ""),
    ),
    shown(
        Figure(
            "dragon-check",
            "k2/6/9/6d3/10/9/10/R9/3N5/6/1K1 w - R/- - 0 1",
            "White's last move was a rook's, and the black dragon on h8 gives check like a rook. Every knight's move "
            "ends that check, for it changes what the dragon copies.",
            complete="a4-h4 d3-b4 d3-c5 d3-e5 d3-f2 d3-f4 h1-g1 h1-g2 h1-h2 h1-i1 h1-i2",
            illegal="a4-a5",
        )
    ),
    shown(
        Figure(
            "promotion",
            "2P/1P4/4L4/10/4P1R3/9/1k8/10/9/6/K2 w - -/- - 0 1",
            "A step, a diagonal step of a lancer, one pawn of a lancer, an attachment, a direct move, a step sideways "
            "by a pawn that was put on e11: all of them promote.",
            legal="d10-d11=M g9-h10=N P/g9-g10=B d10+e11=D f7>>g10=W e11-d11=Q",
            illegal="d10-d11 d10+e11 g9-h10 d10-d11=K d10-d11=L",
        )
    ),
    shown(
        Figure(
            "promotion-put",
            "3/1k4/7B1/10/6P3/9/10/10/9/6/K2 w - -/- - 0 1",
            "The bishop swaps with the pawn, which is put on j9 and stays a pawn.",
            moves="j9<>h7",
            after="3/1k4/7P1/10/6B3/9/10/10/9/6/K2 b - B/- - 1 1",
        )
    ),
    shown(
        Figure(
            "promotion-later",
            "3/6/1k5P1/10/6B3/9/10/10/9/6/K2 w - B/K - 2 2",
            "When it next moves by itself to a promotion square, it promotes. A direct move leads it elsewhere.",
            reach="j9",
            reached=f"{promoting('j9-i9')} {promoting('j9-k9')} j9>>f7",
            illegal="j9-i9",
        )
    ),
)
