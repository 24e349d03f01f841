"""Which addresses of push subscriptions this server connects to."""

import pytest

from events.push.services import UNKNOWN_SERVICE, InvalidEndpointError, check_endpoint, service_name
from tests.support.tables import table


@pytest.mark.parametrize(
    ("endpoint", "name"),
    [
        ("https://fcm.googleapis.com/fcm/send/abc:APA91b", "Google"),
        ("https://updates.push.services.mozilla.com/wpush/v2/gAAA", "Mozilla"),
        ("https://autopush.push.services.mozilla.com/wpush/v2/gAAA", "Mozilla"),
        ("https://web.push.apple.com/QGu", "Apple"),
        ("https://api.push.apple.com:443/QGu", "Apple"),
        ("https://wns2-par02p.notify.windows.com/w/?token=BQY%3d", "Microsoft"),
    ],
)
def test_the_services_of_the_browsers_are_known_by_name(endpoint: str, name: str) -> None:
    check_endpoint(endpoint)
    assert service_name(endpoint) == name


@pytest.mark.parametrize("endpoint", table(__file__, "every other address is refused"))
def test_every_other_address_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidEndpointError, match=UNKNOWN_SERVICE):
        check_endpoint(endpoint, ["10.9.0.0/16"])


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "abc",
        "https://fcm.googleapis.com",
        "https://fcm.googleapis.com/",
        "https://user@fcm.googleapis.com/abc",
        "https://user:password@fcm.googleapis.com/abc",
        "https://fcm.googleapis.com/abc#there",
        "https://fcm.googleapis.com:no/abc",
        "https://[fcm.googleapis.com/abc",
        "https://fcm.googleapis.com/a c",
        "https://fcm.googleapis.com/a\r\nHost: x",
        "https://fcm.googleapis.com/ä",
        "https://fcm.googleapis.com\\@evil.example/abc",
        "https://fcm.googleapis.com/" + "a" * 1000,
    ],
)
def test_what_is_no_address_of_a_subscription_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidEndpointError):
        check_endpoint(endpoint)


def test_an_operator_can_allow_networks() -> None:
    check_endpoint("http://10.9.8.7:8080/push/1", ["192.0.2.0/24", " 10.9.0.0/16"])
    check_endpoint("https://[fd00::7]/push/1", ["fd00::/8"])
    assert service_name("http://10.9.8.7:8080/push/1") == "10.9.8.7:8080"
