"""What a campaign has found."""

from typing import NamedTuple

from tests.chaos.checker import Verdict


class Report(NamedTuple):
    """The result of a run; ``faults`` must be empty.

    ``kills`` and ``pauses`` are by part of the installation; ``moves`` are slots that moved, ``lost_tails`` how often a
    node of the store was killed with replicas behind. ``recognised`` counts people who were told right who they are,
    ``mistaken`` are those who were taken for somebody else or for nobody.
    """

    kills: dict[str, int]
    restarts: int
    matches: int
    acknowledged: int
    verdict: Verdict
    down: tuple[str, ...]
    stuck: tuple[str, ...]
    damaged: tuple[str, ...]
    differing: tuple[str, ...]
    pauses: dict[str, int]
    moves: int = 0
    lost_tails: int = 0
    recognised: int = 0
    mistaken: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """Everything that must not have happened."""
        return self.verdict.faults + self.down + self.stuck + self.damaged + self.differing + self.mistaken

    def __str__(self) -> str:
        verdict = self.verdict
        counts = {
            "kills": _counted(self.kills), "pauses": _counted(self.pauses), "moves of slots": self.moves,
            "tails cut": self.lost_tails, "restarts": self.restarts, "matches": self.matches,
            "acknowledged moves": self.acknowledged, "acknowledged, lost": len(verdict.lost),
            "incidents": len(verdict.incidents), "doubled": len(verdict.doubled),
            "out of order": len(verdict.disordered), "seen going back": len(verdict.backward),
            "wrongly refused": len(verdict.refused), "parts down": len(self.down), "stuck matches": len(self.stuck),
            "damaged streams": len(self.damaged), "wrong read models": len(self.differing),
            "people recognised": self.recognised, "people mistaken": len(self.mistaken),
        }  # fmt: skip
        return "\n".join(f"{name:20}{count}" for name, count in counts.items())


def _counted(by_part: dict[str, int]) -> str:
    parts = ", ".join(f"{part} {count}" for part, count in sorted(by_part.items()))
    return f"{sum(by_part.values())} ({parts})" if parts else "0"
