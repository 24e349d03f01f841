"""How events of older schemas become events of the present ones.

When the shape of a type changes, a function ``upcast_<type>_v<n>_v<n+1>`` is added and registered in ``UPCASTERS``
under the type and the schema that it starts from.
"""

from collections.abc import Callable, Mapping
from typing import Any

Content = Mapping[str, Any]
Upcaster = Callable[[Content], Content]
Upcasters = Mapping[tuple[str, int], Upcaster]

UPCASTERS: Upcasters = {}


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
