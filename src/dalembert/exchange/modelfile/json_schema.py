"""A JSON Schema of model files, made from the table that reads them: editors complete keys and
mark what is wrong.
"""

from __future__ import annotations

from typing import Any, Final

from dalembert.exchange.modelfile.element_schema import (
    ELEMENT_TYPES,
    NESTED_TABLES,
    SECTIONS,
    SETTINGS,
    TYPES,
    ElementKey,
)

_TEXT: Final = {"type": "string"}
_SCALAR: Final = {"type": ["number", "string"]}
_FLAG: Final = {"type": "boolean"}
_TABLE: Final = {"type": "object"}


def _list(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def _any_of(*ways: Any) -> dict[str, Any]:
    return {"anyOf": list(ways)}


def _map(values: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


_JSON: Final[dict[str, dict[str, Any]]] = {
    "scalar": _SCALAR,
    "scalar or row": _SCALAR,
    "scalar or flag": {"type": ["number", "string", "boolean"]},
    "number": _SCALAR,
    "scalars": _any_of(_SCALAR, _list(_SCALAR)),
    "vectors": _any_of(_TEXT, _list(_TEXT, minItems=1, maxItems=2)),
    "bodies": _any_of(_TEXT, _list(_TEXT, minItems=2, maxItems=2)),
    "inertia": _any_of(_TEXT, _list(_SCALAR, minItems=3, maxItems=6)),
    "cosines": _list(_list(_SCALAR, minItems=3, maxItems=3), minItems=3, maxItems=3),
    "names": _any_of(_TEXT, _list(_TEXT)),
    "rows": _any_of(_TEXT, _list(_TEXT)),
    "functions": _any_of({"type": "integer"}, _map({"type": "integer"})),
    "flag": _FLAG,
    "table": {},
}
_SECTION: Final[dict[str, dict[str, Any]]] = {
    "text": _TEXT,
    "scalar or vector": _SCALAR,
    "symbols": _any_of(_TEXT, _list(_TEXT), _map(_any_of(_SCALAR, _TABLE))),
    **dict.fromkeys(("values", "motions", "speeds", "states"), _map(_any_of(_SCALAR, _TABLE))),
    "expressions": _map(_SCALAR),
    "displays": _map(_TEXT),
    "units": _map(_TEXT),
    "texts": _map(_SCALAR),
    "ranges": _map(_list(_SCALAR, minItems=2, maxItems=2)),
    **dict.fromkeys(("number", "time", "rate", "energy", "ratio"), _SCALAR),
    "flag": _FLAG,
}


def schema() -> dict[str, Any]:
    """The schema of a model file."""
    elements = {
        name: {"description": kind.description, **_map(_element(kind.keys, kind.main))}
        for name, kind in ELEMENT_TYPES.items()
    }
    sections = {
        name: {"description": what, **_section(name, form)}
        for name, (form, what) in SECTIONS.items()
        if name != "repeat"
    }
    several = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "from": {"type": "integer"},
            **elements,
            **sections,
        },
    }
    repeat = {"description": SECTIONS["repeat"][1], **_any_of(_list(several), several)}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "dalembert model",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "$schema": _TEXT,
            **sections,
            **elements,
            "repeat": repeat,
            "exercise": _TABLE,
        },
    }


def _element(keys: tuple[ElementKey, ...], main: str) -> dict[str, Any]:
    whole = _table(keys)
    whole["properties"]["where"] = {
        "description": "Names for parts of its expressions.",
        **_map(_SCALAR),
    }
    # keywords of objects do not apply to texts and numbers; with anyOf editors could not say what
    # is wrong in an object
    return whole | {"type": ["object", "string", "number", "integer"]} if main else whole


def _table(keys: tuple[ElementKey, ...]) -> dict[str, Any]:
    table: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {k.name: _key(k) for k in keys},
    }
    required = [k.name for k in keys if k.required]
    return table | ({"required": required} if required else {})


def _key(key: ElementKey) -> dict[str, Any]:
    if key.type in ("shape", "end"):
        inside = _table(NESTED_TABLES[key.type])
        return {
            "description": TYPES[key.type],
            **(inside if key.type == "shape" else _any_of(_TEXT, inside)),
        }
    return {"description": TYPES[key.type], **_JSON.get(key.type, _TEXT)}


def _section(name: str, form: str) -> dict[str, Any]:
    if form == "results":
        return _list(_table(NESTED_TABLES["printed"]))
    if form != "settings":
        return _SECTION[form]
    keys = {
        k: _list(_any_of(_TEXT, _table(NESTED_TABLES["event"])))
        if f == "events"
        else _SECTION.get(f, _map(_SCALAR))
        for k, f in SETTINGS[name].items()
    }
    return {"type": "object", "additionalProperties": False, "properties": keys}
