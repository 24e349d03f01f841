"""The figures of the page of The Tower Game."""

from api.pages.rules.figure import Figure, Result

_EMPTY = "5/5/5/5/5"
_PAWNS = "ppppp/ppppp/ppppp/ppppp/ppppp"
_PAWNS_WHITE = _PAWNS.upper()
_MIDDLE = f"{_EMPTY}|{_EMPTY}|{_EMPTY}|{_EMPTY}"
_ALL_RIGHTS = "aa1,ae1,ea1,ee1,aa8,ae8,ea8,ee8"
_ORIGINAL = (
    f"rnmmr/ccmmn/cckjj/nbbjj/rbbnr|{_PAWNS}|{_MIDDLE}|{_PAWNS_WHITE}|RNBBR/CCBBN/CCKJJ/NMMJJ/RMMNR w {_ALL_RIGHTS} -"
)
_ALTERNATE = (
    f"rnbmr/bmjcn/jckbm/nbmjc/rjcnr|{_PAWNS}|{_MIDDLE}|{_PAWNS_WHITE}|RNBMR/BMJCN/JCKBM/NBMJC/RJCNR w {_ALL_RIGHTS} -"
)
_BLACK_CASTLE = f"r3r/5/2k2/5/r3r|{_PAWNS}"
_LONE = "4k/5/5/5/K4|5/5/5/p4/5|5/5/5/P4/5|5/5/5/5/5|5/5/5/5/5|5/5/2"
_KINGS = f"2/5/5|{_EMPTY}|{_EMPTY} w - - 0"
_RANK_1 = ("ae1", "ea1")
_RANKS_1_TO_4 = ("ae1", "ea4")
_RANKS_5_TO_8 = ("ae5", "ea8")
_PASSED_BEFORE = f"4k/5/5/5/5|5/5/2p2/5/5|{_EMPTY}|5/1PPP1/1P1P1/1PPP1/5|5/5/2P2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/K4"
_PASSED = f"4k/5/5/5/5|{_EMPTY}|{_EMPTY}|5/1PPP1/1PpP1/1PPP1/5|5/5/2P2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/K4"
_MATE = f"{_EMPTY}|{_EMPTY}|{_EMPTY}|{_EMPTY}|{_EMPTY}|5/5/2K2/5/5|5/5/5/1F3/5|5/5/5/5/k4 b - -"
_TWO_ROOKS = f"4k/5/5/5/5|{_EMPTY}|{_EMPTY}|5/2R2/5/5/5|5/5/2r2/5/5|{_EMPTY}|{_EMPTY}"

FIGURES = (
    Figure(
        "start",
        f"{_ORIGINAL} 0",
        "The original start, rank by rank: rank 1 at the bottom left, rank 8 at the top right.",
        move_count=91,
    ),
    Figure(
        "start-alternate",
        f"{_ALTERNATE} 0",
        "The alternate start. Black's men stand above White's on the same files, without any exchange.",
        move_count=91,
    ),
    Figure(
        "two-files",
        f"{_ORIGINAL} 0",
        "`ac2-ac4` and `ca2-ca4` are moves on different files: the column comes first.",
        moves="ac2-ac4",
        after=(
            f"rnmmr/ccmmn/cckjj/nbbjj/rbbnr|{_PAWNS}|{_EMPTY}|{_EMPTY}|5/5/P4/5/5|{_EMPTY}|PPPPP/PPPPP/1PPPP/PPPPP/PPPPP|"
            f"RNBBR/CCBBN/CCKJJ/NMMJJ/RMMNR b {_ALL_RIGHTS} - 0"
        ),
        legal="ca2-ca4",
        view=_RANKS_1_TO_4,
    ),
    Figure(
        "rook",
        f"{_LONE}R{_KINGS}",
        "The Rook: six lines, along a column, a row or straight up and down.",
        reach="cc3",
        reached=(
            "cc3-ac3 cc3-bc3 cc3-ca3 cc3-cb3 cc3-cc1 cc3-cc2 cc3-cc4 cc3-cc5 cc3-cc6 cc3-cc7 cc3-cc8 cc3-cd3 "
            "cc3-ce3 cc3-dc3 cc3-ec3"
        ),
    ),
    Figure(
        "bishop",
        f"{_LONE}B{_KINGS}",
        "The Bishop: twelve lines on which two coordinates change together. It stays on cubes of one shade.",
        reach="cc3",
        reached=(
            "cc3-aa3 cc3-ac1 cc3-ac5 cc3-ae3 cc3-bb3 cc3-bc2 cc3-bc4 cc3-bd3 cc3-ca1 cc3-ca5 cc3-cb2 cc3-cb4 "
            "cc3-cd2 cc3-cd4 cc3-ce1 cc3-ce5 cc3-db3 cc3-dc2 cc3-dc4 cc3-dd3 cc3-ea3 cc3-ec1 cc3-ec5 cc3-ee3"
        ),
    ),
    Figure(
        "merchant",
        f"{_LONE}M{_KINGS}",
        "The Merchant: eight lines on which all three coordinates change together.",
        reach="cc3",
        reached=(
            "cc3-aa1 cc3-aa5 cc3-ae1 cc3-ae5 cc3-bb2 cc3-bb4 cc3-bd2 cc3-bd4 cc3-db2 cc3-db4 cc3-dd2 cc3-dd4 "
            "cc3-ea1 cc3-ea5 cc3-ee1 cc3-ee5"
        ),
    ),
    Figure(
        "knight",
        f"{_LONE}N{_KINGS}",
        "The Knight leaps two steps along one coordinate and one along another.",
        reach="cc3",
        reached=(
            "cc3-ab3 cc3-ac2 cc3-ac4 cc3-ad3 cc3-ba3 cc3-bc1 cc3-bc5 cc3-be3 cc3-ca2 cc3-ca4 cc3-cb1 cc3-cb5 "
            "cc3-cd1 cc3-cd5 cc3-ce2 cc3-ce4 cc3-da3 cc3-dc1 cc3-dc5 cc3-de3 cc3-eb3 cc3-ec2 cc3-ec4 cc3-ed3"
        ),
    ),
    Figure(
        "captain",
        f"{_LONE}C{_KINGS}",
        "The Captain leaps two steps along one coordinate and one along both others. It too stays on one shade.",
        reach="cc3",
        reached=(
            "cc3-ab2 cc3-ab4 cc3-ad2 cc3-ad4 cc3-ba2 cc3-ba4 cc3-bb1 cc3-bb5 cc3-bd1 cc3-bd5 cc3-be2 cc3-be4 "
            "cc3-da2 cc3-da4 cc3-db1 cc3-db5 cc3-dd1 cc3-dd5 cc3-de2 cc3-de4 cc3-eb2 cc3-eb4 cc3-ed2 cc3-ed4"
        ),
    ),
    Figure(
        "jester",
        f"{_LONE}J{_KINGS}",
        "The Jester leaps two steps along two coordinates and one along the third.",
        reach="cc3",
        reached=(
            "cc3-aa2 cc3-aa4 cc3-ab1 cc3-ab5 cc3-ad1 cc3-ad5 cc3-ae2 cc3-ae4 cc3-ba1 cc3-ba5 cc3-be1 cc3-be5 "
            "cc3-da1 cc3-da5 cc3-de1 cc3-de5 cc3-ea2 cc3-ea4 cc3-eb1 cc3-eb5 cc3-ed1 cc3-ed5 cc3-ee2 cc3-ee4"
        ),
    ),
    Figure(
        "fool",
        f"{_LONE}F{_KINGS}",
        "The Fool steps to any of the 26 cubes around it, like a King, but may be captured.",
        reach="cc3",
        reached=(
            "cc3-bb2 cc3-bb3 cc3-bb4 cc3-bc2 cc3-bc3 cc3-bc4 cc3-bd2 cc3-bd3 cc3-bd4 cc3-cb2 cc3-cb3 cc3-cb4 "
            "cc3-cc2 cc3-cc4 cc3-cd2 cc3-cd3 cc3-cd4 cc3-db2 cc3-db3 cc3-db4 cc3-dc2 cc3-dc3 cc3-dc4 cc3-dd2 "
            "cc3-dd3 cc3-dd4"
        ),
    ),
    Figure(
        "fool-attacked",
        f"4k/5/2r2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/p4|5/5/2F2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/K4 w - - 0",
        "The Rook on cc8 attacks the Fool on cc4. That is no check, and White may move elsewhere.",
        moves="aa1-ba1",
        after=f"4k/5/2r2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/p4|5/5/2F2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/1K3 b - - 1",
    ),
    Figure(
        "pawn-steps",
        f"4k/5/5/5/5|5/5/5/5/p4|{_EMPTY}|{_EMPTY}|5/5/5/1n3/5|5/3P1/2n2/5/5|5/5/2P2/1P3/5|5/5/5/5/K4 w - - 0",
        "The Pawn on cc2 is blocked. The one on bb2 may step to bb3 but not to bb4, which is taken, and may capture on "
        "cc3. The one on dd3 has left its starting rank.",
        complete="aa1-aa2 aa1-ab1 aa1-ba1 aa1-bb1 bb2-bb3 bb2xcc3 dd3-dd4",
        illegal="cc2-cc4 cc2-cc3 bb2-bb4 dd3-dd5",
        view=_RANKS_1_TO_4,
    ),
    Figure(
        "pawn-captures",
        f"4k/5/5/5/5|{_EMPTY}|{_EMPTY}|{_EMPTY}|5/1nnn1/1nnn1/1nnn1/5|5/5/2P2/5/5|{_EMPTY}|5/5/5/5/K4 w - - 0",
        "A Pawn captures one cube forward in eight directions, but never straight ahead.",
        reach="cc3",
        reached="cc3xbb4 cc3xbc4 cc3xbd4 cc3xcb4 cc3xcd4 cc3xdb4 cc3xdc4 cc3xdd4",
        illegal="cc3xcc4 cc3-cc4",
        view=_RANKS_1_TO_4,
    ),
    Figure(
        "passing-set",
        f"{_PASSED_BEFORE} b - - 0",
        "Black's Pawn goes two cubes and passes cc6.",
        moves="cc7-cc5",
        after=f"{_PASSED} w - cc6 0",
        view=_RANKS_5_TO_8,
    ),
    Figure(
        "passing-capture",
        f"{_PASSED} w - cc6 0",
        "Every Pawn that could capture on cc6 may take it in passing: here eight of them. The Pawn on cc4 may not.",
        moves="dd5xcc6",
        after=(
            f"4k/5/5/5/5|{_EMPTY}|5/5/2P2/5/5|5/1PP2/1P1P1/1PPP1/5|5/5/2P2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/K4 b - - 0"
        ),
        legal="bb5xcc6 bc5xcc6 bd5xcc6 cb5xcc6 cd5xcc6 db5xcc6 dc5xcc6",
        read=(("ddxcc6e.p.", "dd5xcc6"), ("ddxcc6", "dd5xcc6")),
        illegal="cc4xcc5 cc4xcc6",
        view=_RANKS_5_TO_8,
    ),
    Figure(
        "passing-lapsed",
        f"5/4k/5/5/5|{_EMPTY}|{_EMPTY}|5/1PPP1/1PpP1/1PPP1/5|5/5/2P2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/K4/5 w - - 2",
        "A move later the chance is gone.",
        illegal="dd5xcc6",
        view=_RANKS_5_TO_8,
    ),
    Figure(
        "passing-check",
        f"4k/5/5/5/5|5/5/5/5/p4|{_EMPTY}|5/2P2/2p2/5/5|5/5/5/1K3/5|{_EMPTY}|{_EMPTY}|{_EMPTY} w - cc6 0",
        "The Pawn that has just come to cc5 gives check. Taking it in passing is one way out.",
        legal="cd5xcc6 bb4xcc5",
        illegal="cd5-cd6",
    ),
    Figure(
        "promotion",
        f"4n/3r1/5/5/5|4P/5/2P2/5/5|{_EMPTY}|5/5/5/5/4k|{_EMPTY}|{_EMPTY}|{_EMPTY}|5/5/5/5/K4 w - - 0",
        "Seven men to choose from, on each cube where a Pawn can arrive. It must become one of them.",
        legal="cc7-cc8=F cc7-cc8=R cc7xdd8=J ee7xdd8=M",
        read=(("cc8=F", "cc7-cc8=F"), ("ccxdd8=M", "cc7xdd8=M")),
        illegal="cc7-cc8 cc7-cc8=K ee7-ee8=F",
        view=_RANKS_5_TO_8,
    ),
    Figure(
        "castling",
        f"{_BLACK_CASTLE}|{_MIDDLE}|{_PAWNS_WHITE}|R3R/5/2K2/5/R3R w {_ALL_RIGHTS} - 0",
        "The King goes to the corner, the Rook of that corner to the cube between. White may castle to all four.",
        moves="cc1-ee1",
        after=f"{_BLACK_CASTLE}|{_MIDDLE}|{_PAWNS_WHITE}|R3K/3R1/5/5/R3R b aa8,ae8,ea8,ee8 - 1",
        legal="cc1-aa1 cc1-ae1 cc1-ea1",
        read=(("Kee1", "cc1-ee1"), ("O-J", "cc1-ea1")),
        illegal="O-B",
        view=_RANK_1,
    ),
    Figure(
        "castling-blocked",
        f"{_BLACK_CASTLE}|{_MIDDLE}|{_PAWNS_WHITE}|R3R/3B1/2K2/1n3/R3R w {_ALL_RIGHTS} - 0",
        "Only the passed cube must be empty. Here two of them are not.",
        legal="cc1-ae1 cc1-ea1",
        illegal="cc1-ee1 cc1-aa1",
        view=_RANK_1,
    ),
    Figure(
        "castling-passed",
        "r4/5/2k2/5/r3r|ppppp/ppp1p/ppppp/ppppp/ppppp|5/5/5/5/5|5/3r1/5/5/5|5/5/5/5/5|5/5/5/5/5|"
        "PPPPP/PPP1P/PPPPP/PPPPP/PPPPP|R3R/5/2K2/5/R3R w aa1,ae1,ea1,ee1,aa8,ae8,ea8 - 0",
        "A black Rook on dd5 looks down the dd file at the passed cube dd1.",
        legal="cc1-aa1 cc1-ae1 cc1-ea1",
        illegal="cc1-ee1",
    ),
    Figure(
        "castling-corner",
        "r4/5/2k2/5/r3r|pppp1/ppppp/ppppp/ppppp/ppppp|5/5/5/5/5|4r/5/5/5/5|5/5/5/5/5|5/5/5/5/5|"
        "PPPP1/PPPPP/PPPPP/PPPPP/PPPPP|R3R/5/2K2/5/R3R w aa1,ae1,ea1,ee1,aa8,ae8,ea8 - 0",
        "The corner is attacked, and with it the Rook: the King may not go there.",
        legal="cc1-aa1 cc1-ae1 cc1-ea1",
        illegal="cc1-ee1",
    ),
    Figure(
        "castling-check",
        "r4/5/2k2/5/r3r|ppppp/ppppp/pp1pp/ppppp/ppppp|5/5/5/5/5|5/5/2r2/5/5|5/5/5/5/5|5/5/5/5/5|"
        "PPPPP/PPPPP/PP1PP/PPPPP/PPPPP|R3R/5/2K2/5/R3R w aa1,ae1,ea1,ee1,aa8,ae8,ea8 - 0",
        "A King in check may not castle at all.",
        illegal="cc1-aa1 cc1-ae1 cc1-ea1 cc1-ee1",
    ),
    Figure(
        "castling-right-lost",
        f"{_BLACK_CASTLE}|{_MIDDLE}|{_PAWNS_WHITE}|R3R/5/2K2/5/R3R w {_ALL_RIGHTS} - 0",
        "When a Rook leaves its corner, that right is gone for good. A move of the King ends all four.",
        moves="ee1-ed1",
        after=f"{_BLACK_CASTLE}|{_MIDDLE}|{_PAWNS_WHITE}|R4/4R/2K2/5/R3R b aa1,ae1,ea1,aa8,ae8,ea8,ee8 - 1",
        view=_RANK_1,
    ),
    Figure(
        "checkmate",
        f"{_MATE} 0",
        "A Fool that is protected by its King mates in the corner.",
        complete="",
        result=Result((1.0, 0.0), "checkmate"),
        view=_RANKS_1_TO_4,
    ),
    Figure(
        "stalemate",
        f"1R3/5/5/5/k4|1R3/5/R4/2N2/5|{_EMPTY}|{_EMPTY}|{_EMPTY}|{_EMPTY}|{_EMPTY}|5/3K1/5/5/5 b - - 0",
        "Black has no move and is not in check. White, who has stalemated, gets three quarters of the point.",
        complete="",
        result=Result((0.75, 0.25), "stalemate"),
    ),
    Figure(
        "not-enough",
        f"4k/5/5/5/5|{_EMPTY}|{_EMPTY}|{_EMPTY}|5/5/2r2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/K4 b - - 0",
        "King and Rook cannot mate a King in this space: a draw. The same holds for B, M, N, C and J.",
        complete="",
        result=Result((0.5, 0.5), "insufficient-material"),
    ),
    Figure(
        "enough",
        f"4k/5/5/5/5|{_EMPTY}|{_EMPTY}|{_EMPTY}|5/5/2F2/5/5|{_EMPTY}|{_EMPTY}|5/5/5/5/K4 w - - 0",
        "A King and a Fool can mate, so the game goes on. A Pawn is enough too.",
        going_on=True,
    ),
    Figure(
        "third-time",
        f"{_ORIGINAL} 0",
        "Two Knights go out and back, twice. The start then stands for the third time.",
        moves="da1-ca3 da8-ca6 ca3-da1 ca6-da8 da1-ca3 da8-ca6 ca3-da1 ca6-da8",
        after=f"{_ORIGINAL} 8",
        result=Result((0.5, 0.5), "repetition"),
    ),
    Figure(
        "hundredth",
        f"{_TWO_ROOKS}|5/5/5/5/K4 w - - 99",
        "The hundredth ply in a row without a capture or a Pawn move ends the game.",
        moves="aa1-ab1",
        after=f"{_TWO_ROOKS}|5/5/5/K4/5 b - - 100",
        result=Result((0.5, 0.5), "no-progress"),
    ),
    Figure(
        "mate-first",
        f"{_MATE} 100",
        "A mate given with the hundredth ply counts as a mate.",
        complete="",
        result=Result((1.0, 0.0), "checkmate"),
        view=_RANKS_1_TO_4,
    ),
    Figure(
        "prefix",
        f"4k/5/2R2/5/5|5/5/5/5/p4|{_EMPTY}|{_EMPTY}|5/5/R4/5/5|{_EMPTY}|{_EMPTY}|5/5/2R2/5/K4 w - - 0",
        "Three Rooks can go to cc4. The one on ac4 is alone on its file; the other two share theirs.",
        read=(("acRcc4", "ac4-cc4"), ("cc1Rcc4", "cc1-cc4"), ("cc8Rcc4", "cc8-cc4"), ("8Rcc4", "cc8-cc4")),
        illegal="Rcc4 ccRcc4",
    ),
)
