"""Compare both verifiers on forged bundles: ``python -m tests.bench.forgeries --count 10000 --seed 1``.

They must name the same steps as proved and the same fault. Printed is in which step forgeries end, and the first
differences; the status is 1 if there are any.
"""

import argparse
import json
import sys
from collections import Counter

from tests.support.forgeries import forgeries
from tests.support.second_verifier import second_verdicts
from tests.support.verdicts import verdict

MAX_PRINTED = 20


def main() -> None:
    """Draw, verify and compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.forgeries", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="how many forgeries (10000)")
    parser.add_argument("--seed", type=int, default=1, help="what they are drawn from (1)")
    chosen = parser.parse_args()
    asked = list(forgeries(chosen.count, chosen.seed))
    ends: Counter[str] = Counter()
    different = 0
    for number, (given, second) in enumerate(zip(asked, second_verdicts(asked), strict=True)):
        first = verdict(given)
        ends["no fault" if first["fault"] is None else first["fault"]["step"]] += 1
        if first == second:
            continue
        different += 1
        if different <= MAX_PRINTED:
            print(f"forgery {number}: {json.dumps(first)} in Python, {json.dumps(second)} in JavaScript")
    for step, count in ends.most_common():
        print(f"{count:>7,} {step}")
    print(f"{len(asked):>7,} forgeries of seed {chosen.seed}, {different:,} of them judged differently")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
