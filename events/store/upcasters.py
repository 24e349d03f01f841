"""How events of older schemas become events of the present ones.

A stored event never changes, nor does its schema. When the shape of a type changes, a function
``upcast_<type>_v<n>_v<n+1>`` is added here that converts the older content to the newer, registered in ``UPCASTERS``
under the type and the schema that it starts from. The present schema of a type is one more than the last of these.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from events.store.converter import SchemaError, integer

Content = Mapping[str, Any]
Upcaster = Callable[[Content], Content]
Upcasters = Mapping[tuple[str, int], Upcaster]


def upcast_match_created_v1_v2(content: Content) -> Content:
    """From before there were terms: no clock runs in such a match, since its players never agreed to one."""
    return content


def upcast_match_created_v2_v3(content: Content) -> Content:
    """From before seeds were text: the number in decimal, from which the same seeds of moves follow."""
    return _with_seed_as_text(content)


def upcast_match_created_v3_v4(content: Content) -> Content:
    """From before terms said that a turn of several plies is one move for the clock: there each ply was one."""
    return content


def upcast_seed_drawn_v1_v2(content: Content) -> Content:
    """From before seeds were text, as above."""
    return _with_seed_as_text(content)


def _with_seed_as_text(content: Content) -> Content:
    if "seed" not in content:
        return content
    try:
        return {**content, "seed": str(integer(content["seed"]))}
    except SchemaError as error:
        error.path = ".seed"
        raise


def upcast_move_submitted_v1_v2(content: Content) -> Content:
    """From before channels were recorded: what is known is whether an opponent moved."""
    return {**content, "channel": "opponent"} if "level" in content else content


def upcast_draw_accepted_v1_v2(content: Content) -> Content:
    """From before channels were recorded."""
    return content


def upcast_draw_accepted_v2_v3(content: Content) -> Content:
    """From before engines were recorded: an opponent's answer cannot be computed again."""
    return content


def upcast_draw_accepted_v3_v4(content: Content) -> Content:
    """From before players could sign acts that settle a match: no signature."""
    return content


def upcast_draw_offered_v1_v2(content: Content) -> Content:
    """From before players could sign, as above."""
    return content


def upcast_draw_declined_v1_v2(content: Content) -> Content:
    """From before engines were recorded, as above."""
    return content


def upcast_ruling_appealed_v1_v2(content: Content) -> Content:
    """From before appeals said so: every one froze a match that was being played."""
    return {**content, "freezes": True}


def upcast_ruling_appealed_v2_v3(content: Content) -> Content:
    """From before appeals settled anything: a case settled later did not bar an appeal (domain.match.earlier)."""
    return content


def upcast_ruling_appealed_v3_v4(content: Content) -> Content:
    """From before players could sign, as above."""
    return content


def upcast_dispute_raised_v1_v2(content: Content) -> Content:
    """From before appeals settled anything: what was settled could be disputed again (domain.match.earlier)."""
    return content


def upcast_player_resigned_v1_v2(content: Content) -> Content:
    """From before channels were recorded."""
    return content


def upcast_player_resigned_v2_v3(content: Content) -> Content:
    """From before players could sign, as above."""
    return content


def upcast_ruling_made_v1_v2(content: Content) -> Content:
    """From before reason and rule could be erased: the digests of the texts, without a salt."""
    return _with_digests(content, "reason", "rule")


def upcast_ruleset_proposed_v1_v2(content: Content) -> Content:
    """From before reasons could be erased, as above."""
    return _with_digests(content, "reason")


def _with_digests(content: Content, *fields: str) -> Content:
    """Return ``content`` with the SHA-256 of the texts in ``fields``; of a blank text, which is no reason, with ""."""
    texts = {field: content[field] for field in fields if isinstance(content.get(field), str)}
    digests = {
        field: hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest() if text.strip() else ""
        for field, text in texts.items()
    }
    return {**content, **digests}


UPCASTERS: Upcasters = {
    ("match-created", 1): upcast_match_created_v1_v2,
    ("match-created", 2): upcast_match_created_v2_v3,
    ("match-created", 3): upcast_match_created_v3_v4,
    ("seed-drawn", 1): upcast_seed_drawn_v1_v2,
    ("move-submitted", 1): upcast_move_submitted_v1_v2,
    ("draw-accepted", 1): upcast_draw_accepted_v1_v2,
    ("draw-accepted", 2): upcast_draw_accepted_v2_v3,
    ("draw-accepted", 3): upcast_draw_accepted_v3_v4,
    ("draw-offered", 1): upcast_draw_offered_v1_v2,
    ("draw-declined", 1): upcast_draw_declined_v1_v2,
    ("ruling-appealed", 1): upcast_ruling_appealed_v1_v2,
    ("ruling-appealed", 2): upcast_ruling_appealed_v2_v3,
    ("ruling-appealed", 3): upcast_ruling_appealed_v3_v4,
    ("dispute-raised", 1): upcast_dispute_raised_v1_v2,
    ("player-resigned", 1): upcast_player_resigned_v1_v2,
    ("player-resigned", 2): upcast_player_resigned_v2_v3,
    ("ruling-made", 1): upcast_ruling_made_v1_v2,
    ("ruleset-proposed", 1): upcast_ruleset_proposed_v1_v2,
}


def present_schema(type_name: str, upcasters: Upcasters = UPCASTERS) -> int:
    """Return the schema number that events of this type are written with."""
    schema = 1
    while (type_name, schema) in upcasters:
        schema += 1
    return schema


def upcast(type_name: str, schema: int, content: Content, upcasters: Upcasters = UPCASTERS) -> Content:
    """Return ``content`` of an event of ``schema`` in the shape of the present schema of its type."""
    for older in range(schema, present_schema(type_name, upcasters)):
        content = upcasters[type_name, older](content)
    return content
