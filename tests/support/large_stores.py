"""Bundles, reviews, notices and logs of webhooks as large as they may be."""

import json
from collections.abc import Sequence
from random import Random

from api.services import Services
from domain.review import FactDifference, Finding, judge
from domain.review.findings import MAX_LINE_PLIES
from events.matches.reviews import query_of, write_review
from events.notify.endpoints import MAX_ENDPOINTS_PER_PERSON, MAX_KEPT_ANSWER_BYTES, SentWebhook
from events.notify.notice import DeliveryState, Notice, NoticeChannel, NoticeDelivery, NoticeKind
from events.notify.subscriptions import MAX_SUBSCRIPTIONS
from events.notify.webhooks.payload import MAX_PAYLOAD_BYTES
from events.proof.bundle import basis_of_content, make_contents
from tests.support.callers import Caller

NOTICES = 110


def store_bundle(services: Services, match_id: str) -> None:
    """Store the contents that a worker makes for the bundle of a match too long for a request."""
    for content, positions in zip(make_contents(match_id, services.store.read(match_id)), (False, True), strict=True):
        basis = basis_of_content(content.head.digest, positions=positions)
        services.jobs.store_bundle_content(match_id, basis, content.packed, services.now())


def store_review(services: Services, match_id: str) -> None:
    """Store a review in which every move is a blunder."""
    loaded = services.matches.load(match_id)
    line, query = ("aa1-aa2",) * MAX_LINE_PLIES, query_of(loaded)
    lost = tuple(FactDifference("Captured", seat, "queen, 2 rooks", "king") for seat in range(2))
    findings = [
        Finding(ply, ply % 2, "aa1-aa2", "aa2-aa3", (9000, 1000), 9000, 0, 90, 1, line, line, lost, 24_000)
        for ply in range(1, len(loaded.state.play.moves) + 1)
    ]
    review = judge(loaded.state.game, findings, (0, 1))
    services.reviews.store(query, write_review(query, loaded.state.game, loaded.state.ruleset, review))


def fill_ledger(services: Services, player: str, matches: Sequence[str]) -> None:
    """Tell ``player`` more about ``matches`` than a page lists, through all channels that a person may have."""
    now = services.now()
    targets = [(NoticeChannel.PUSH, f"{number:024}") for number in range(MAX_SUBSCRIPTIONS)]
    targets += [(NoticeChannel.WEBHOOK, f"{number:024}") for number in range(MAX_ENDPOINTS_PER_PERSON)]
    deliveries = tuple(
        NoticeDelivery(channel=channel, target=target, state=DeliveryState.FAILED, reason="It failed. " * 9, at=now)
        for channel, target in [(NoticeChannel.MAIL, ""), *targets]
    )
    for number in range(NOTICES):
        notice = Notice(
            id=f"n{number}", player=player, kind=NoticeKind.TURN,
            match=matches[number % len(matches)], version=1, fact=f"turn:{number}",
            summary="It is your turn.", reason="You want it at once.", at=now, decided_at=now,
            deliveries=deliveries,
        )  # fmt: skip
        services.ledger.decide(notice)


def log_webhook(services: Services, caller: Caller, match_id: str, attempts: int) -> str:
    """Return a webhook of ``caller`` whose log has ``attempts`` of the largest webhooks that are sent."""
    made = caller.post("/me/webhooks", {"url": "https://hooks.example/", "kinds": ["turn"]}).json
    chance = Random(attempts)
    for _ in range(attempts):
        attempt = SentWebhook(
            webhook_id="n", type="match.turn", match=match_id, at=services.now(), took_ms=15_000,
            url=made["url"], headers={"webhook-signature": "v1," + "x" * 150},
            body=json.dumps([f"{chance.getrandbits(40):x}" for _ in range(MAX_PAYLOAD_BYTES // 13)]), status=500,
            answer="x" * MAX_KEPT_ANSWER_BYTES, delivered=False, outcome="No answer.",
        )  # fmt: skip
        services.endpoints.log(caller.id, made["id"], attempt)
    return str(made["id"])
