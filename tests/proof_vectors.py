"""Write the test vectors of bundles, of consistency and of receipts: ``python -m tests.proof_vectors``."""

from tests.support import consistency_vectors, receipt_vectors
from tests.support.bundle_vectors import files


def main() -> None:
    """Write every file, the same bytes each time."""
    for path, text in (*files(), (consistency_vectors.FILE, consistency_vectors.text()), *receipt_vectors.files()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"{path}: {len(text):,} characters")


main()
