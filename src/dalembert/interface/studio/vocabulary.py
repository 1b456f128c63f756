"""What the editor completes and explains: kinds of elements with their keys, sections,
functions; from the reader's own tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dalembert.exchange.exports.formats import FORMATS
from dalembert.exchange.modelfile.element_schema import (
    ELEMENT_TYPES,
    SECTIONS,
    SETTINGS,
    TYPES,
    ElementKey,
)
from dalembert.exchange.modelfile.expression_reader import FUNCTIONS
from dalembert.exchange.modelfile.templates import TEMPLATES
from dalembert.mechanics.agreement.principle_registry import PRINCIPLE_NAMES, load_principle

_FORMS: Final = {
    "number": "a number with or without unit",
    "values": "a table, name = number",
    "texts": "a table, name = expression in t",
    "events": "a list of tables",
    "text": "a text",
    "flag": "true or false",
    "ranges": "a table, name = [from, to]",
}


def vocabulary(gallery: Sequence[str]) -> dict[str, Any]:
    """Everything that the page of the studio offers by name."""
    return {
        "kinds": {
            kind.name: {
                "what": kind.description,
                "main": kind.main,
                "keys": [_key(k) for k in kind.keys],
            }
            for kind in ELEMENT_TYPES.values()
        },
        "sections": {name: what for name, (_, what) in SECTIONS.items()},
        "settings": {
            section: {key: _FORMS.get(form, form) for key, form in keys.items()}
            for section, keys in SETTINGS.items()
        },
        "functions": sorted(FUNCTIONS),
        "templates": list(TEMPLATES),
        "gallery": list(gallery),
        "formats": {name: style.says for name, style in FORMATS.items()},
        "principles": {name: load_principle(name)[0].title for name in PRINCIPLE_NAMES},
    }


def _key(key: ElementKey) -> dict[str, Any]:
    return {"name": key.name, "type": key.type, "what": TYPES[key.type], "required": key.required}
