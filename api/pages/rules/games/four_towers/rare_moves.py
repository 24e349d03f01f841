"""Figures of Four Towers: direct moves, rearrangements, multi-moves and returns."""

from api.pages.rules.figure import Figure
from api.pages.rules.games.four_towers.claims import Only, promoting, shown

_AFTER_TAKING = "k2/6/9/10/10/9/3N6/10/9/6/K2 b - N/- b@d5 8 5"

SHOWN = (
    shown(
        Figure(
            "direct-rook",
            "k2/6/9/10/10/9/3R6/4Q5/9/6/K2 w - -/- - 0 1",
            "A rook on d5 links orthogonal neighbours. The queen on e4 goes to the analogous square of I or of V. One "
            "tower carries her once only, so not on to c8; and III is not in this zone.",
            legal="R/e4>>b5 B/e4>>f7",
            illegal="e4>>c8 e4>>h3",
        ),
        Only("Direct moves of the whole queen", "e4>>.*", "e4>>b5 e4>>f7"),
    ),
    shown(
        Figure(
            "direct-bishop",
            "k2/6/9/10/10/9/3B6/4Q5/9/6/K2 w - -/- - 0 1",
            "A bishop on d5 links diagonal neighbours: here II and IV.",
            illegal="e4>>b5 e4>>f7",
        ),
        Only("Direct moves of the whole queen", "e4>>.*", "e4>>c8"),
    ),
    shown(
        Figure(
            "direct-promotion",
            "k2/6/9/3r6/10/9/1P1B6/10/9/6/K2 w - -/- - 0 1",
            "Two towers, one of them held by an enemy. The pawn goes with the bishop from I to V, and may go on with "
            "the rook to IV or to VIII, where it promotes.",
            illegal="b5>>g10",
            reach="b5",
            reached=f"b5-a5 b5-b6 b5-c5 b5>>f7 b5>>c8 {promoting('b5>>g10')}",
        ),
    ),
    shown(
        Figure(
            "direct-attach",
            "3/6/8k/10/10/4B4/3R6/10/4N4/6/K2 w - -/- - 0 1",
            "The knight joins the bishop on the analogous square of V. A cardinal stands there.",
            moves="e3>>+f6",
            after="3/6/8k/10/10/4C4/3R6/10/9/6/K2 b - N/- - 1 1",
        ),
        Only("Direct moves of the knight", "e3>>.*", "e3>>+f6 e3>>b4"),
    ),
    shown(
        Figure(
            "direct-chain",
            "3/6/8k/3b6/10/4B4/3R6/1N8/9/6/K2 w - -/- - 0 1",
            "The rook leads from I to II and IV, and from IV the enemy bishop on e8 leads on to VIII. V is not "
            "reached: it is not an orthogonal neighbour of I, and the rook's tower carries the knight only once.",
        ),
        Only("Direct moves of the knight", "b4>>.*", "b4>>c7 b4>>e3 b4>>g9"),
    ),
    shown(
        Figure(
            "direct-ordinary",
            "3/6/8k/10/10/9/3R6/6N3/4R4/6/K2 w - -/- - 0 1",
            "The knight on g4 puts II and V in line, and the rook goes to f6 by an ordinary move. The direct move "
            "there is not listed again.",
            legal="e3-f6 e3>>b4",
            illegal="e3>>f6",
        )
    ),
    shown(
        Figure(
            "rearrange",
            "3/6/8k/10/10/9/p2W6/1NN7/9/6/K2 w - -/- - 0 1",
            "The wizard's owner may rearrange both knights in arena I, on any square where the enemy pawn is not.",
            moves="I:Na3,Nb5",
            after="3/6/8k/10/10/9/pN1W6/10/N8/6/K2 b - -/- - 1 1",
            illegal="I:Na5,Nb5 I:Nb4,Nc4 I:Na3 II:Ne3",
        ),
        Only("Rearrangements", "[IVX]+:.*", number=27),
    ),
    shown(
        Figure(
            "rearrange-arenas",
            "3/1p2N1/8k/3W6/1P8/4R4/10/10/9/6/K2 w - -/- - 0 1",
            "Only one arena at a time. VII has no white piece to rearrange.",
            illegal="VII:Nd9",
        ),
        Only(
            "Rearrangements",
            "[IVX]+:.*",
            "IV:Pb6 IV:Pb7 IV:Pb8 IV:Pc6 IV:Pc8 IV:Pd6 IV:Pd7 IV:Pd8 V:Re5 V:Re6 V:Re7 V:Rf5 V:Rf7 V:Rg5 V:Rg6 V:Rg7 "
            "VIII:Nf10 VIII:Nf8 VIII:Nf9 VIII:Ng8 VIII:Ng9 VIII:Nh10 VIII:Nh8 VIII:Nh9",
        ),
    ),
    shown(
        Figure(
            "multi-knight",
            "2k/6/9/10/6d3/9/6n3/10/9/6/K2 b - -/- - 0 1",
            "One knight moves four times. It starts in V, VI, IX and VIII, the four arenas of h7, once in each.",
            moves="g5-i6;i6-j8;j8-h9;h9-f10",
            after="2k/3n2/9/10/6d3/9/10/10/9/6/K2 w - -/N - 1 2",
        ),
        Only("Multi-moves", ".*;.*", number=37),
    ),
    shown(
        Figure(
            "multi-pawns",
            "3/6/8k/10/10/3P5/3D6/P9/9/6/K2 w - -/- - 0 1",
            "A pawn in I and one in V. That pawn may go on from IV, where it has come, but going back alone would "
            "change nothing.",
            read=(("e6-d6;a4-a5", "a4-a5;e6-d6"),),
            illegal="e6-d6;d6-e6 a4-a5;a5-b5",
        ),
        Only(
            "Multi-moves",
            ".*;.*",
            "a4-a5;e6-d6 a4-a5;e6-d6;d6-c6 a4-a5;e6-d6;d6-d7 a4-a5;e6-d6;d6-e6 a4-a5;e6-e7 a4-a5;e6-f6 a4-b4;e6-d6 "
            "a4-b4;e6-d6;d6-c6 a4-b4;e6-d6;d6-d7 a4-b4;e6-d6;d6-e6 a4-b4;e6-e7 a4-b4;e6-f6 e6-d6;d6-c6 e6-d6;d6-d7",
        ),
    ),
    shown(
        Figure(
            "return-set",
            "k2/6/9/10/10/9/3b6/1N8/9/6/K2 w - -/- - 7 5",
            "A capture on a tower. The fifth field of the position now names the piece and the tower: `b@d5`.",
            moves="b4xd5",
            after=_AFTER_TAKING,
        )
    ),
    shown(
        Figure(
            "return",
            _AFTER_TAKING,
            "The bishop comes back, on any vacant square of the four arenas round d5. That is Black's whole turn.",
            moves="@B:e6",
            after="k2/6/9/10/10/3b5/3N6/10/9/6/K2 w - N/B - 9 6",
            illegal="@B:g4 @B:d5 @B:h4",
        ),
        Only("Returns", "@.*", number=36),
    ),
    shown(
        Figure(
            "return-lapsed",
            _AFTER_TAKING,
            "Black does something else. The bishop is lost for good, and the clock goes back to 0.",
            moves="c11-c10",
            after="3/k5/9/10/10/9/3N6/10/9/6/K2 w - N/K - 0 6",
        )
    ),
    shown(
        Figure(
            "return-check",
            "3/6/8K/10/10/9/3R6/10/9/k5/3 b - R/- b@d5 1 1",
            "White's rook has just taken a bishop on d5, with check. The bishop may come back between rook and king; "
            "the king may also step aside, or use the rook's link to I.",
            complete="@B:d3 @B:d4 d2-c3 d2-e2 d2-e3 d2>>a3",
        )
    ),
    shown(
        Figure(
            "return-refracted",
            "3/6/8k/K2n6/8r1/9/10/10/2r6/6/3 w - -/- Q@e8 0 1",
            "Black's knight has just taken White's queen on e8, and so turned the line of the rook on j7 towards b8. "
            "The queen may return on this line; c7 and d7 are not on it, and i7 is not in the zone of e8.",
            complete="@Q:c8 @Q:d8 @Q:e7 @Q:f7 @Q:g7 b8-b7",
            illegal="@Q:c7 @Q:d7 @Q:i7",
        )
    ),
)
