"""The worst time to detect the end of a game of Four Towers, in milliseconds of processor time.

Here no piece of the side to move has a move of its own, multi-moves can begin in very many ways, and none is legal. The
positions were found by changing random ones step by step to what takes longest; hardly any game comes near to them.
The quickest of several times counts, so that other work on the machine does not.
"""

import time
from collections.abc import Iterator

from domain.four_towers import GAME
from tests.bench.measure import Table, verdict

TARGET_MS = 100.0
REPEATS = 3

CROWDED = (
    "1k1/MC4/2M4K1/10/3N2d3/p1r2r3/5rn3/br4d3/9/2b3/3 b - RN/- - 1 1",
    "1MN/dW2L1/8R/1K1D1C3p/w1N3q1Lp/1w1Lbm2C/lPCmk1p3/3cr2p2/1lc1P2qP/CB1r2/1c1 w - RN/RBN - 0 1",
    "p1P/2n1n1/wDP2c3/K1m4D1q/4R1c1Bp/bDcn1crR1/4N1rCP1/P3M1DQ2/p2PC1RQ1/Np4/1bk w - -/BN - 0 1",
    "C2/Dm2l1/1C1Q1P3/B1L1WNB2p/w2PC1D1MB/2b2PCR1/CmK2L2m1/MBBR2LlL1/5nwp1/1B3r/1k1 w - RNK/RBK - 0 1",
    "1MN/d3L1/2C4Bk/mK1D1Cq3/w1NW2qLL1/3MNm2p/4C1c2q/3cCl1p2/3wPp1qp/plwM2/pc1 w - R/BN - 0 1",
)


def tables() -> Iterator[Table]:
    table = Table(
        "Endings of Four Towers: mates that take longest to detect, in milliseconds of processor time",
        *("position", "ms", "target"),
    )
    for text in CROWDED:
        milliseconds = 1000 * min(_seconds(text) for _ in range(REPEATS))
        table.add(text, milliseconds, verdict(milliseconds, TARGET_MS, at_least=False))
    yield table


def _seconds(text: str) -> float:
    position = GAME.parse_position(text)
    start = time.process_time()
    if GAME.outcome(position, ()) is None:
        raise RuntimeError(f"this game is not over: {text}")
    return time.process_time() - start
