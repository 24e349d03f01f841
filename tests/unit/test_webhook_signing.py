"""Webhooks are signed as the Standard Webhooks specification says."""

import base64
import time
from pathlib import Path

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from events.notices.endpoints import EndpointKeys
from events.webhooks.signing import fresh_keys, public_key_of, signed_headers
from tests.support.webhook_receiver import verified_schemes

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "bots.md"
BODY = '{"type":"match.turn","data":{"seat":"Weiß"}}'.encode()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_the_published_package_verifies_a_webhook() -> None:
    keys, now = fresh_keys(), now_ms()
    headers = signed_headers([keys], "abc", now, BODY)
    assert Webhook(keys.secret).verify(BODY, headers)["type"] == "match.turn"
    for forged, sent in ((BODY + b" ", headers), (BODY, {**headers, "webhook-id": "abd"})):
        with pytest.raises(WebhookVerificationError):
            Webhook(keys.secret).verify(forged, sent)


def test_a_receiver_written_from_the_specification_verifies_both_signatures() -> None:
    keys = fresh_keys()
    headers = signed_headers([keys], "abc", 1_700_000_000_999, BODY)
    assert headers["webhook-timestamp"] == "1700000000"
    known = {"secret": keys.secret, "public_key": public_key_of(keys)}
    assert verified_schemes(headers, BODY, 1_700_000_100, **known) == {"v1", "v1a"}
    assert verified_schemes(headers, BODY, 1_700_000_301, **known) == set()
    assert verified_schemes(headers, BODY + b"x", 1_700_000_100, **known) == set()
    other = fresh_keys()
    assert verified_schemes(headers, BODY, 1_700_000_100, secret=other.secret, public_key=public_key_of(other)) == set()


def test_the_signature_of_the_specification_s_example_is_the_same() -> None:
    # The test vector of the reference implementations.
    keys = EndpointKeys(secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", private_key=fresh_keys().private_key)
    headers = signed_headers([keys], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330_000, b'{"test": 2432232314}')
    assert headers["webhook-signature"].split()[0] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_documented_example_is_verified_by_what_the_documentation_says() -> None:
    words = (line.split(None, 1) for line in DOCUMENTATION.read_text(encoding="utf-8").splitlines() if "  " in line)
    known: dict[str, list[str]] = {}
    for name, *value in words:
        known.setdefault(name, []).extend(value)
    headers = {name: " ".join(known[name]) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    secret, public_key = known["secret"][0], known["public"][0].removeprefix("key").strip()
    body, now_s = known["body"][0].encode(), int(headers["webhook-timestamp"])
    assert verified_schemes(headers, body, now_s, secret=secret, public_key=public_key) == {"v1", "v1a"}


def test_old_and_new_keys_sign_side_by_side() -> None:
    old, new = fresh_keys(), fresh_keys()
    headers = signed_headers([new, old], "abc", now_ms(), BODY)
    assert [signature.partition(",")[0] for signature in headers["webhook-signature"].split(" ")] == ["v1", "v1a"] * 2
    for keys in (old, new):
        assert Webhook(keys.secret).verify(BODY, headers)
        now_s = int(headers["webhook-timestamp"])
        assert verified_schemes(headers, BODY, now_s, public_key=public_key_of(keys)) == {"v1a"}


def test_keys_are_long_enough_and_never_the_same() -> None:
    one, other = fresh_keys(), fresh_keys()
    assert len({one.secret, one.private_key, other.secret, other.private_key}) == 4
    for text in (one.secret[6:], one.private_key[5:], public_key_of(one)[5:]):
        assert len(base64.b64decode(text, validate=True)) == 32


def test_an_id_with_a_full_stop_is_not_signed() -> None:
    with pytest.raises(ValueError, match="full stop"):
        signed_headers([fresh_keys()], "a.b", 0, BODY)
