"""The ledger of notices as a page: what the person was told, how and why."""

from flask import render_template, request
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.operations.notice_targets import targets_of
from api.pages.layout import blueprint, sign_in_first
from api.pages.notice_wording import CHANNELS, KINDS, STATES
from api.services import services
from domain.match.terms import duration
from events.notices.ledger import KEPT_MS, MAX_NOTICES

NOTICES_PER_PAGE = 30


@blueprint.get("/notices")
def notices() -> str | Response:
    """Return the notices of the person, of one match if the query names one, the latest first."""
    person = current_person()
    if person is None:
        return sign_in_first()
    match, cursor = request.args.get("match"), request.args.get("cursor")
    page = services().ledger.page(person.id, cursor, NOTICES_PER_PAGE, match)
    return render_template(
        "notices.html",
        page=page,
        match=match,
        is_first_page=not cursor,
        targets=targets_of(person.id),
        kinds=KINDS,
        channels=CHANNELS,
        states=STATES,
        max_notices=MAX_NOTICES,
        kept=duration(KEPT_MS),
    )
