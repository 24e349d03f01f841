"""Write the test vectors of bundles: ``python -m tests.proof_vectors``."""

from tests.support.bundle_vectors import FOLDER, files


def main() -> None:
    """Write every file, the same bytes each time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in files():
        path.write_text(text)
        print(f"{path}: {len(text):,} characters")


main()
