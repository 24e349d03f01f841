"""Push messages: their encryption and the identification of their sender, and which services are called."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key, generate_private_key

from events.notify.push.encryption import (
    MAX_PLAINTEXT_BYTES,
    InvalidKeyError,
    encoded_point,
    encrypt,
    from_base64url,
    read_point,
    to_base64url,
)
from events.notify.push.sender_key import VALID_S, authorization, subject_of
from events.notify.push.services import UNKNOWN_SERVICE, InvalidEndpointError, check_endpoint, service_name
from tests.support.push_service import Browser, verified_claims
from tests.support.tables import table

NOW = 1_800_000_000_000

# RFC 8291, section 5 and appendix A.
PLAINTEXT = b"When I grow up, I want to be a watermelon"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
SECRET = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
    "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_message_of_the_rfc_comes_out_byte_for_byte() -> None:
    sender = derive_private_key(int.from_bytes(from_base64url(SENDER), "big"), SECP256R1())
    message = encrypt(PLAINTEXT, from_base64url(POINT), from_base64url(SECRET), sender, from_base64url(SALT))
    assert to_base64url(message) == MESSAGE


@pytest.mark.parametrize("size", [0, 1, MAX_PLAINTEXT_BYTES])
def test_the_browser_reads_a_message_of_every_size_that_is_sent(size: int) -> None:
    browser = Browser("https://push.example/1")
    sender = generate_private_key(SECP256R1())
    message = encrypt(b"x" * size, browser.point, browser.secret, sender, bytes(16))
    assert len(message) <= 4096
    assert browser.decrypt(message) == b"x" * size


def test_a_message_that_is_too_long_is_refused() -> None:
    browser = Browser("https://push.example/1")
    with pytest.raises(ValueError, match="at most 3993 bytes, not 3994"):
        encrypt(b"x" * 3994, browser.point, browser.secret, generate_private_key(SECP256R1()), bytes(16))


@pytest.mark.parametrize(
    ("point", "reason"),
    [
        (b"", "must have 65 bytes"),
        (b"\x04" + bytes(63), "must have 65 bytes"),
        (b"\x04" + bytes(64), "is not a point of the curve P-256"),
        (b"\x05" + from_base64url(POINT)[1:], "is not a point of the curve P-256"),
        (from_base64url(POINT)[:-1] + b"\x0f", "is not a point of the curve P-256"),
    ],
)
def test_a_point_off_the_curve_is_refused(point: bytes, reason: str) -> None:
    with pytest.raises(InvalidKeyError, match=reason):
        read_point(point)


@pytest.mark.parametrize("text", ["a", "ä", "a+b/", "ab cd", "ab\ncd"])
def test_what_is_not_base64url_is_refused(text: str) -> None:
    with pytest.raises(InvalidKeyError, match="must be base64url"):
        from_base64url(text)


def test_base64url_is_read_with_and_without_padding() -> None:
    assert [from_base64url(text) for text in ("_-8", "_-8=", "")] == [b"\xff\xef", b"\xff\xef", b""]


def test_the_push_service_can_tell_who_sends_for_whom_and_until_when() -> None:
    key = generate_private_key(SECP256R1())
    header = authorization("https://push.example:8443/wpush/v2/abc", key, "mailto:office@rookery.example", NOW)
    claims, point = verified_claims(header)
    assert point == encoded_point(key.public_key())
    expected = {
        "aud": "https://push.example:8443",
        "exp": NOW // 1000 + VALID_S,
        "sub": "mailto:office@rookery.example",
    }
    assert claims == expected


def test_the_token_of_the_rfc_is_valid_by_the_same_measure() -> None:
    # RFC 8292, section 2.4.
    header = (
        "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9."
        "eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0."
        "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA, "
        "k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
    )
    claims, _ = verified_claims(header)
    assert claims == {"aud": "https://push.example.net", "exp": 1453523768, "sub": "mailto:push@example.com"}


@pytest.mark.parametrize(("contact", "page_url", "subject"), table(__file__, "the subject is the contact"))
def test_the_subject_is_the_contact_or_the_address(contact: str | None, page_url: str, subject: str | None) -> None:
    assert subject_of(contact, page_url) == subject


@pytest.mark.parametrize(("endpoint", "name"), table(__file__, "the services of the browsers are known by name"))
def test_the_services_of_the_browsers_are_known_by_name(endpoint: str, name: str) -> None:
    check_endpoint(endpoint)
    assert service_name(endpoint) == name


@pytest.mark.parametrize("endpoint", table(__file__, "every other address is refused"))
def test_every_other_address_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidEndpointError, match=UNKNOWN_SERVICE):
        check_endpoint(endpoint, ["10.9.0.0/16"])


@pytest.mark.parametrize(
    "endpoint",
    [*table(__file__, "what is no address of a subscription is refused"), "https://fcm.googleapis.com/" + "a" * 1000],
)
def test_what_is_no_address_of_a_subscription_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidEndpointError):
        check_endpoint(endpoint)


def test_an_operator_can_allow_networks() -> None:
    check_endpoint("http://10.9.8.7:8080/push/1", ["192.0.2.0/24", " 10.9.0.0/16"])
    check_endpoint("https://[fd00::7]/push/1", ["fd00::/8"])
    assert service_name("http://10.9.8.7:8080/push/1") == "10.9.8.7:8080"
