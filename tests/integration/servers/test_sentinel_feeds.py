"""The feeds under Sentinel: what was played before and after a failover is carried on, and told to who watches."""

from events.matches.readmodels import summarise
from events.runtime.connections import connect
from events.store.feed import FeedTail
from tests.support.eventually import eventually
from tests.support.relays import running
from tests.support.stepped_installation import PREFIX, SHARDS, SteppedInstallation
from tests.support.watched_servers import Watched
from workers.relay import Relay


def test_a_relay_and_a_tail_follow_the_store_to_another_primary(watched: Watched) -> None:
    shop = SteppedInstallation(watched.url)
    matches = [shop.start("alice", "bob") for _ in range(8)]
    tail = FeedTail(connect(watched.url), PREFIX, SHARDS)
    told: set[str] = set()

    def is_told() -> bool:
        told.update(delivery.stream for delivery in tail.read(100))
        return told == set(matches)

    with running(Relay(shop.settings, lambda: shop.now)):
        for match in matches:
            shop.play(match, 1)
        eventually(is_told, "the moves before the failover")
        watched.wait_until_complete()
        watched.fail_over()
        watched.wait_until_complete()  # writes are refused until both replicas follow the new primary
        told.clear()
        for match in matches:
            shop.play(match, 1)
        eventually(is_told, "the moves after the failover")
        summaries = [summarise(shop.state(match)) for match in matches]
        eventually(lambda: [shop.readmodels.summary(match) for match in matches] == summaries, "all projections")
    tail.close()
