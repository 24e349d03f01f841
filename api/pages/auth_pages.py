"""The forms to sign in and to sign up."""

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from api.access.auth import current_person
from api.pages.layout import blueprint, local_path


@blueprint.get("/sign-in")
def sign_in() -> str | Response:
    """Return the sign-in form, or redirect a person who is signed in already."""
    return _form("sign_in.html")


@blueprint.get("/sign-up")
def sign_up() -> str | Response:
    """Return the sign-up form, or redirect a person who has an account already."""
    return _form("sign_up.html")


def _form(template: str) -> str | Response:
    after = local_path(request.args.get("next"), url_for("web.my_matches"))
    person = current_person()
    if person is not None and person.kind != "guest":
        return redirect(after)
    return render_template(template, after=after)
