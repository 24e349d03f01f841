"""The figures of the Fourplay page."""

from api.pages.rules.figure import Figure, Result

_STANDARD = (
    "bR1bHMbG7yGyHM1yR/1bKbQbB1b,3y,1yB1yK1/bVM1bDg1b,5y,1yDgyQyVM/bGbB1bMu7yMu1yByG/2b,1bA5yA1y,2/1b,11y,1/15/7*7/15/"
    "1r,11g,1/2r,1rA5gA1g,2/rGrB1rMu7gMu1gBgG/rVMrQrDg1r,5g,1gDg1gVM/1rK1rB1r,3g,1gBgQgK1/"
    "rR1rHMrG7gGgHM1gR r play - - 0"
)
_ARMY = "3rMurA10/3rMu11/r,1rQ12/rRrK13/15"
_NORTH = "15/15/15/15/15/15/15/7*7"
_LEASHED = "15/bK10yB2yK/11yQ3/9y,1yR3/11rG3/12y,2/15/7*7/6rDg8/15/15/15/15/14gK/rK14"
_OWN = ("a1", "h8")

FIGURES = (
    Figure(
        "start",
        _STANDARD,
        "The ready-made armies: the same sixteen pieces in each quadrant, turned by a quarter each time.",
        move_count=56,
    ),
    Figure(
        "king",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/3rK11/2b,12/1r,12gK/15 r play - - 0",
        "The King goes one step, and may take the blue Ant on c3.",
        reach="d4",
        reached="d4-c4 d4-c5 d4-d3 d4-d5 d4-e3 d4-e4 d4-e5 d4xc3",
        view=_OWN,
    ),
    Figure(
        "lines",
        "15/bK13yK/15/7rVM7/15/15/15/7*2rHM4/15/5rB9/7rR1y,5/15/15/14gK/rK14 r play - - 0",
        "A Rook. It stops at the first piece, and at the edge; the yellow Ant on j5 it can take. The Bishop on f6 runs "
        "along diagonals, the Vertical Mover on h12 along its column, the Horizontal Mover on k8 along its "
        "row. All four are stopped by the Neutron on h8 where it stands in the way.",
        reach="h5",
        reached="h5-a5 h5-b5 h5-c5 h5-d5 h5-e5 h5-f5 h5-g5 h5-h1 h5-h2 h5-h3 h5-h4 h5-h6 h5-h7 h5-i5 h5xj5",
        legal="f6-a11 f6-k1 h12-h9 h12-h15 k8-i8 k8-o8",
        illegal="h12-h7 k8-g8 f6xh8",
    ),
    Figure(
        "giraffe",
        "15/bK13yK/15/15/15/15/3b,1r,9/7*7/15/4r,10/3rKrG10/8g,6/15/14gK/15 r play - - 0",
        "The Giraffe leaps one square along and four across, over whatever stands between. Its own Ant on f9 keeps it "
        "from one of eight squares.",
        reach="e5",
        reached="e5-a4 e5-a6 e5-d1 e5-f1 e5-i6 e5xd9 e5xi4",
        view=("a1", "i9"),
    ),
    Figure(
        "queen",
        "15/bK13yK/15/4bG10/10yG4/4bG4yG5/15/7*7/4r,10/15/4rQ1g,1g,g,5/15/15/14gK/1rK13 r play - - 0",
        "The Queen may leap over one piece on the way, of any colour; the Neutron counts. So it takes the first or the "
        "second piece on a line, never the third.",
        legal="e5-e6 e5-e8 e5-e9 e5xe10 e5-f6 e5-g7 e5-i9 e5xj10 e5-f5 e5xg5 e5-h5 e5xi5",
        illegal="e5xe12 e5-e11 e5-e7 e5-h8 e5xk11 e5xj5",
    ),
    Figure(
        "archer-moves",
        "15/bK13yK/15/2b,9y,2/15/15/15/7*7/rK14/15/15/3rA8g,2/15/14gK/15 r play - - 0",
        "The Archer walks four squares with one turn at most, inside its own quadrant.",
        reach="d4",
        reached="d4-a3 d4-a5 d4-b2 d4-b6 d4-c1 d4-c7 d4-e1 d4-e7 d4-f2 d4-f6 d4-g3 d4-g5",
        view=_OWN,
    ),
    Figure(
        "archer-paths",
        "15/bK13yK/15/2b,9y,2/15/15/15/7*7/15/15/3rG11/3rA1rG6g,2/3rK11/14gK/15 r play - - 0",
        "Of the two paths to a square one must be clear. The pieces on d5, f4 and d3 leave the Archer eight squares.",
        reach="d4",
        reached="d4-a3 d4-a5 d4-b2 d4-b6 d4-c1 d4-c7 d4-e1 d4-e7",
        view=_OWN,
    ),
    Figure(
        "archer-shoots",
        "15/bK13yK/15/15/15/15/15/4bG2*yG6/7yG7/15/3gG11/4rA3yGyG5/4gG10/4gG9gK/rKbG13 r play - - 0",
        "The Archer shoots up to four squares straight and three diagonally, at the first piece on the line. It stays "
        "where it is; the target is removed.",
        moves="e4*i4",
        after="15/bK13yK/15/15/15/15/15/4bG2*yG6/7yG7/15/3gG11/4rA4yG5/4gG10/4gG9gK/rKbG13 b play - - 0",
        legal="e4*b1 e4*d5 e4*e3 e4*e8 e4*h7",
        illegal="e4*i8 e4*j4 e4*e2 e4xe3 e4-e8",
        view=("a1", "j8"),
    ),
    Figure(
        "dog-free",
        "15/bK13yK/15/15/15/15/15/5b,y,*7/6rDg8/7rK7/15/15/15/14gK/15 r play - - 0",
        "A free Little Dog steps to an empty square, or attaches to a piece beside it: here to two Ants or to its own "
        "King (rings), but not to the Neutron.",
        reach="g7",
        reached="g7-f6 g7-f7 g7-g6 g7-h7 g7>f8 g7>g8 g7>h6",
        illegal="g7xg8 g7>h8",
        view=("d4", "j10"),
    ),
    Figure(
        "dog-attached",
        f"{_LEASHED} r play - g7>l12 0",
        "The Little Dog on g7 is attached to its own Giraffe on l12. It leaps to one or two squares from there, "
        "captures there, or detaches (`g7<l12`).",
        reach="g7",
        reached=(
            "g7-j10 g7-j14 g7-k11 g7-k12 g7-k13 g7-l10 g7-m11 g7-m12 g7-m13 g7-n10 g7-n12 g7-n14 g7<l12 g7xj12 g7xl13 "
            "g7xl14"
        ),
        illegal="g7xl12 g7-l11 g7xm10 g7-g8 g7>l11",
        view=("f6", "o15"),
    ),
    Figure(
        "dog-captures",
        f"{_LEASHED} r play - g7>l12 0",
        "It takes the Bishop on l14 and is still attached to l12.",
        moves="g7xl14",
        after=("15/bK10rDg2yK/11yQ3/9y,1yR3/11rG3/12y,2/15/7*7/15/15/15/15/15/14gK/rK14 b play - l14>l12 0"),
        view=("f6", "o15"),
    ),
    Figure(
        "mutator",
        "15/bK13yK/15/15/15/15/15/5y,1*7/15/15/4rVM10/4rMu10/3gG4g,6/14gK/rK14 r play - - 0",
        "The Mutator on e4 stands beside a Vertical Mover of its own and a green Giraffe. It has the moves of both, "
        "always as a red piece.",
        reach="e4",
        reached="e4-a3 e4-a5 e4-d8 e4-e1 e4-e2 e4-e3 e4-i5 e4xf8 e4xi3",
        view=("a1", "i8"),
    ),
    Figure(
        "ant",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/3rK11/2b,12/1r,12gK/15 r play - - 0",
        "An Ant goes and captures one step diagonally.",
        reach="b2",
        reached="b2-a1 b2-a3 b2-c1 b2xc3",
        view=("a1", "g7"),
    ),
    Figure(
        "host-moves",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/3rQ9g,1/2rDg12/14gK/rK14 r play - c3>d4 0",
        "The Dog on c3 is attached to the Queen. She moves; it stays on c3, and stays attached.",
        moves="d4-m4",
        after="15/bK13yK/15/15/15/15/15/7*7/15/15/15/12rQg,1/2rDg12/14gK/rK14 b play - c3>m4 1",
        view=("a1", "o6"),
    ),
    Figure(
        "dog-follows",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/12rQg,1/2rDg12/14gK/rK14 r play - c3>m4 0",
        "Later it may leap to her side across the board, and capture there.",
        legal="c3xn4 c3-o4 c3xo2 c3-m2 c3<m4",
        illegal="c3-c4 c3xm4 c3-d4",
        view=("a1", "o6"),
    ),
    Figure(
        "host-captured",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/3rR8gQ2/2rDg12/14gK/rK14 g play - c3>d4 0",
        "The host is captured: the Dog is free. The Queen on d4 is not its new host.",
        moves="m4xd4",
        after="15/bK13yK/15/15/15/15/15/7*7/15/15/15/3gQ11/2rDg12/14gK/rK14 r play - - 0",
        view=("a1", "o6"),
    ),
    Figure(
        "dog-captured",
        "15/bK13yK/15/15/15/15/15/7*7/6gB8/15/15/3rDgrR10/2rDg12/14gK/rK14 g play - c3>d4;d4>e4 0",
        "The Dog on d4 is attached to e4 and is itself the host of the Dog on c3. Its capture ends both attachments.",
        moves="g7xd4",
        after="15/bK13yK/15/15/15/15/15/7*7/15/15/15/3gBrR10/2rDg12/14gK/rK14 r play - - 0",
        view=_OWN,
    ),
    Figure(
        "trade",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/4rQ10/15/2rB12/1rK12gK/15 r play - - 0",
        "Queen and King stand on one diagonal with one piece between them: they may change places.",
        moves="e5<>b2",
        after="15/bK13yK/15/15/15/15/15/7*7/15/15/4rK10/15/2rB12/1rQ12gK/15 b play - - 1",
        view=_OWN,
    ),
    Figure(
        "trade-two-between",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/4rQ10/3rR11/2rB12/1rK12gK/15 r play - - 0",
        "Not with two pieces between them.",
        illegal="e5<>b2",
        view=_OWN,
    ),
    Figure(
        "trade-none-between",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/4rQ10/2rB12/15/1rK12gK/15 r play - - 0",
        "And not with none.",
        illegal="e5<>b2",
        view=_OWN,
    ),
    Figure(
        "trade-in-check",
        "15/bK13yK/15/1bR13/15/15/15/7*7/15/15/4rQ10/15/2rB12/1rK12gK/15 r play - - 0",
        "Not in check either: Blue's Rook on b12 attacks the King on b2. That the trade would end the check "
        "does not help.",
        legal="b2-c2 e5-e6",
        illegal="e5<>b2",
        view=("a1", "h12"),
    ),
    Figure(
        "trade-no-check",
        "15/14yK/15/1bR13/15/15/15/7*7/15/15/4rQ10/3y,11/15/1rK12gK/15 r play b - 0",
        "Blue is out of this game, so that Rook gives no check. The piece between may be an enemy.",
        legal="e5<>b2",
        view=("a1", "h12"),
    ),
    Figure(
        "trade-with-dogs",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/4rQgDg9/15/2rB12/1rKrDg11gK/15 r play - c2>b2;f5>e5 0",
        "The Dog on c2 is attached to the King, the green one on f5 to the Queen. After the trade both still are.",
        moves="e5<>b2",
        after="15/bK13yK/15/15/15/15/15/7*7/15/15/4rKgDg9/15/2rB12/1rQrDg11gK/15 b play - c2>e5;f5>b2 1",
        view=_OWN,
    ),
    Figure(
        "promotion",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/15/rRrR9gK3/1rQ11r,1/rK1rB11gG r play - - 0",
        "The Ant on n2 may promote on o1 or stay an Ant. Red has a Queen and two Rooks already; these are not offered.",
        moves="n2xo1=Mu",
        after="15/bK13yK/15/15/15/15/15/7*7/15/15/15/15/rRrR9gK3/1rQ13/rK1rB11rMu b play - - 0",
        reach="n2",
        reached="n2-m1 n2-m3 n2-o3 n2xo1 n2xo1=B n2xo1=Dg n2xo1=G n2xo1=HM n2xo1=Mu n2xo1=VM",
        illegal="n2xo1=Q n2xo1=R",
        view=("i1", "o6"),
    ),
    Figure(
        "mutator-chain",
        "15/bK13yK/15/15/15/15/15/7*7/7rMu7/15/15/4rMurMurR8/15/14gK/rK14 r play - - 0",
        "f4 stands beside the Rook on g4 and moves like it. e4 stands beside f4 only, h7 beside the Neutron only: "
        "neither can move.",
        legal="f4-f5 f4-f15 f4-f1",
        illegal="f4-e5 e4-e5 h7-h6",
        view=("d1", "j8"),
    ),
    Figure(
        "mutator-king",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/15/13rMu1/14gK/rK14 r play - - 0",
        "Beside a King a Mutator captures as a King: it attacks any enemy King that it touches.",
        reach="n3",
        reached="n3-m2 n3-m3 n3-m4 n3-n2 n3-n4 n3-o3 n3-o4 n3xo2",
        view=("i1", "o7"),
    ),
    Figure(
        "mutator-archer",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/8rMugA5/15/15/8g,5gK/rK14 r play - - 0",
        "Beside Green's Archer, the red Mutator shoots; its walks must end in the red quadrant.",
        reach="i5",
        reached="i5*i2 i5*j5 i5-e5 i5-f4 i5-f6 i5-g3 i5-g7",
        view=("d1", "k8"),
    ),
    Figure(
        "mutator-queen",
        "15/bK13yK/15/15/15/15/15/7*7/15/3rQ11/4rMu10/3rG11/15/1rK12gK/15 r play - - 0",
        "Beside a Queen it may also trade places with its King.",
        moves="e5<>b2",
        after="15/bK13yK/15/15/15/15/15/7*7/15/3rQ11/4rK10/3rG11/15/1rMu12gK/15 b play - - 1",
        view=_OWN,
    ),
    Figure(
        "mutator-dog-free",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/4rDg10/4rMug,9/15/14gK/rK14 r play - - 0",
        "Beside a free Little Dog it steps, but cannot attach.",
        reach="e4",
        reached="e4-d3 e4-d4 e4-d5 e4-e3 e4-f3 e4-f5",
        illegal="e4>e5 e4>f4 e4xf4",
        view=_OWN,
    ),
    Figure(
        "mutator-dog",
        "15/bK13yK/11yR3/11y,3/15/15/15/7*7/15/15/3gDg11/4rMu10/15/14gK/rK14 r play - d5>l12 0",
        "Green's Dog on d5 is attached to l12. The Mutator beside it leaps around l12 too, and leaves the "
        "Dog as it is.",
        moves="e4xl13",
        after="15/bK13yK/11rMu3/11y,3/15/15/15/7*7/15/15/3gDg11/15/15/14gK/rK14 b play - d5>l12 0",
        legal="e4-j10 e4-k11 e4-l14 e4-n14",
        illegal="e4<l12 e4xl12",
    ),
    Figure(
        "mutator-ant",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/11gK3/12gDgg,1/1rQ11rMu1/rK14 r play - m3>n2 0",
        "Beside Green's Ant on n3 it may promote on o1, to anything but a Mutator. Green's Dog, attached to "
        "it, stays so.",
        moves="n2-o1=R",
        after="15/bK13yK/15/15/15/15/15/7*7/15/15/15/11gK3/12gDgg,1/1rQ13/rK13rR b play - m3>o1 1",
        legal="n2-o1 n2-o1=B n2-o1=Dg n2-o1=G n2-o1=VM n2-o1=HM",
        illegal="n2-o1=Mu n2-o1=Q",
        view=("i1", "o7"),
    ),
    Figure(
        "mutator-no-ant",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/11gK3/15/15/12gBrMu1/rK12rR1 r play - - 0",
        "Without an Ant beside it a Mutator does not promote, though it may go to the corner.",
        legal="n2-o1 n2xm2",
        illegal="n2-o1=Q",
        view=("i1", "o7"),
    ),
    Figure(
        "king-captured",
        "15/bKbRbDg11yK/15/15/15/15/15/7*7/15/15/rR14/15/2g,12/14gK/rK14 r play - c14>b14 0",
        "Red takes Blue's King. Blue is out, the blue army is frozen, and the turn goes on to Yellow.",
        moves="a5xa14",
        after="15/rRbRbDg11yK/15/15/15/15/15/7*7/15/15/15/15/2g,12/14gK/rK14 y play b c14>b14 0",
    ),
    Figure(
        "frozen",
        "2rMu12/rRbR1bDg10yK/15/15/15/15/15/7*7/15/15/15/15/2g,12/14gK/rK14 r play b - 0",
        "A frozen Rook is captured like an enemy (`a14xb14`) and lends its moves to the Mutator on c15.",
        legal="a14xb14 c15-b15 c15-c14 c15-c4 c15xc3 c15-o15",
        illegal="c15xd14 c15xb14",
    ),
    Figure(
        "pass",
        "15/bK13yK/15/12y,2/15/15/15/7*7/15/15/15/15/rMurMurMu12/rHMrMurMu11gK/rKrMurMu12 r play - - 0",
        "Red's own pieces leave no move to King, Mover and Mutators. Red must pass.",
        moves="pass",
        after="15/bK13yK/15/12y,2/15/15/15/7*7/15/15/15/15/rMurMurMu12/rHMrMurMu11gK/rKrMurMu12 b play - - 1",
        complete="pass",
        view=("a1", "g7"),
    ),
    Figure(
        "draft-start",
        f"{_NORTH}/15/15/15/15/15/15/15 r setup - - 0",
        "The draft begins with an empty board. The King comes first, on any of 49 squares.",
        move_count=49,
        legal="K@a1 K@g7",
        illegal="Q@a1 K@h1 K@a8 done",
        view=_OWN,
    ),
    Figure(
        "draft-budget",
        f"{_NORTH}/15/15/{_ARMY} r setup - - 0",
        "Red has spent 45 of 60 and buys an Archer. Two things are refused for the rules of places (an Ant "
        "on a corner, a piece outside the quadrant), two for limits (a second Queen, a second King), and it "
        "is too early to be done.",
        moves="A@g7",
        after=f"{_NORTH}/6rA8/15/{_ARMY} r setup - - 0",
        legal="Mu@a4 R@a1 Dg@g1 B@a1 VM@c1",
        illegal=",@a1 Mu@h3 Q@a4 K@a4 done",
        view=_OWN,
    ),
    Figure(
        "draft-done",
        f"{_NORTH}/6rA8/15/{_ARMY} r setup - - 0",
        "55 are spent. Red may finish, or buy what 5 still pay for.",
        moves="done",
        after=f"{_NORTH}/6rA8/15/{_ARMY} b setup - - 0",
        legal="R@a4 B@a4",
        illegal="Mu@a4 Dg@a4 A@a4",
        view=_OWN,
    ),
    Figure(
        "last-king",
        "15/1bR12yK/15/15/15/15/yQ14/7*7/15/15/15/15/1rRg,12/15/rK14 y play bg - 0",
        "Blue and Green are out already. Yellow takes the last other King.",
        moves="a9xa1",
        after="15/1bR12yK/15/15/15/15/15/7*7/15/15/15/15/1rRg,12/15/yQ14 y play bgr - 0",
        result=Result((0.6667, 0.0, 1.0, 0.3333), "last-king"),
    ),
    Figure(
        "kings-only",
        "15/1bR12yK/15/15/15/15/15/7*7/15/15/15/15/2g,12/15/rK14 y play bg - 7",
        "Red and Yellow have nothing but their Kings; frozen pieces do not count. They share first and second place.",
        complete="",
        result=Result((0.8333, 0.0, 0.8333, 0.3333), "insufficient-material"),
    ),
    Figure(
        "hundredth",
        "15/14yK/15/15/15/15/yQ14/7*7/15/15/15/15/1rR13/14gK/rK14 y play b - 99",
        "The hundredth turn without a capture. The three survivors share the first three places.",
        moves="o14-o13",
        after="15/15/14yK/15/15/15/yQ14/7*7/15/15/15/15/1rR13/14gK/rK14 g play b - 100",
        result=Result((0.6667, 0.0, 0.6667, 0.6667), "no-progress"),
    ),
    Figure(
        "third-time",
        "15/bK13yK/15/15/15/15/15/7*7/15/15/15/15/2rR12/15/rK14 b play g - 0",
        "Three players go to and fro. After twelve turns the position stands for the third time.",
        moves=("a14-a13 o14-o13 c3-c4 a13-a14 o13-o14 c4-c3 a14-a13 o14-o13 c3-c4 a13-a14 o13-o14 c4-c3"),
        after="15/bK13yK/15/15/15/15/15/7*7/15/15/15/15/2rR12/15/rK14 b play g - 12",
        result=Result((0.6667, 0.6667, 0.6667, 0.0), "repetition"),
    ),
)
