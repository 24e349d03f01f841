"""Write all vectors of docs/proof but those of ratings: ``python -m tests.proof_vectors``."""

from tests.support import (
    bundle_vectors,
    consistency_vectors,
    log_vectors,
    player_key_vectors,
    receipt_vectors,
    tournament_vectors,
)


def main() -> None:
    """Write every file, the same bytes each time."""
    files = [*bundle_vectors.files(), (consistency_vectors.FILE, consistency_vectors.text())]
    files.append((tournament_vectors.FILE, tournament_vectors.text()))
    files += [*log_vectors.files(), *player_key_vectors.files(), *receipt_vectors.files()]
    for path, text in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"{path}: {len(text):,} characters")


main()
