"""Read models brought up to date in tests in which no relay runs."""

from api.services import Services
from events.store.kinds import only_matches


def project(services: Services) -> list[str]:
    """Bring all read models up to their streams, as the relay does; return the ids of all matches."""
    projector = services.projector
    by_shard = [list(only_matches(services.store.streams(shard))) for shard in range(services.store.shards)]
    for matches in filter(None, by_shard):
        assert projector.project(matches) == {}
    return [match for matches in by_shard for match in matches]
