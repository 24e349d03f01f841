"""The review of a short match, found with few nodes in the process of a test."""

from domain.match.guards import rules_of
from domain.review import examine, judge
from events.installation import Installation
from events.matches.reviews import query_of, write_review


def store_review(parts: Installation, match_id: str) -> None:
    """Store the review of a short match, found with few nodes."""
    loaded = parts.matches.load(match_id)
    state, game, query = loaded.state, rules_of(loaded.state), query_of(loaded)
    positions = [state.play.position_after(ply) for ply in range(len(state.play.moves))]
    findings = [
        examine(game, position, positions[:ply], game.parse_move(position, move), 500)
        for ply, (position, move) in enumerate(zip(positions, state.play.moves, strict=True))
    ]
    document = write_review(query, state.game, state.ruleset, judge(state.game, findings, state.result.scores or ()))
    parts.reviews.store(query, document)
