"""s.save("model.toml"): any System as a file of TOML or JSON, in declared order and one layout,
whole or not at all.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from dalembert.exchange.modelfile.model_writer import ModelWriter
from dalembert.exchange.modelfile.run_settings import Settings
from dalembert.foundation.atomic_write import check_extension, write_text
from dalembert.mechanics.model.system import System

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def save(system: System, path: str | Path, *, settings: Settings | None = None) -> Path:
    """Write a system to a file; the ending decides whether it is TOML or JSON."""
    check_extension(path, (".toml", ".json"))
    form = json_text if str(path).lower().endswith(".json") else toml_text
    return write_text(path, form(system, settings))


def toml_text(system: System, settings: Settings | None = None) -> str:
    """The file of a system in TOML."""
    w = ModelWriter(system, settings)
    plain = {k: v for k, v in w.head.items() if not isinstance(v, dict)}
    lines = [f"{key} = {_value(value)}" for key, value in plain.items()]
    for key, table in w.head.items():
        if isinstance(table, dict):
            lines += ["", f"[{key}]", *_toml_pairs(table)]
    for kind, handle, table in w.elements:
        lines += ["", f"[{kind}.{_key(handle)}]" if handle else f"[{kind}]", *_toml_pairs(table)]
    for key, value in w.tail.items():
        lines += _toml_section(key, value)
    return "\n".join(lines) + "\n"


def json_text(system: System, settings: Settings | None = None) -> str:
    """The file of a system in JSON."""
    w = ModelWriter(system, settings)
    whole: dict[str, Any] = dict(w.head)
    for kind, handle, table in w.elements:
        if handle:
            whole.setdefault(kind, {})[handle] = table
        else:
            whole[kind] = table
    return json.dumps(_to_json_value(whole | w.tail), indent=2, ensure_ascii=False) + "\n"


def _to_json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _to_json_value(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_to_json_value(v) for v in value]
    return float(value) if isinstance(value, Decimal) else value


def _toml_section(key: str, value: Any) -> list[str]:
    """A section with the tables and lists of tables inside it under headers of their own."""
    if isinstance(value, list):
        return [line for table in value for line in ("", f"[[{key}]]", *_toml_pairs(table))]
    events = {
        k: v for k, v in value.items() if isinstance(v, list) and v and isinstance(v[0], dict)
    }
    lines = ["", f"[{key}]", *_toml_pairs({k: v for k, v in value.items() if k not in events})]
    return lines + [
        line for k, several in events.items() for line in _toml_section(f"{key}.{k}", several)
    ]


def _toml_pairs(table: dict[str, Any]) -> list[str]:
    return [f"{_key(k)} = {_value(v)}" for k, v in table.items()]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        inside = ", ".join(_toml_pairs(value))
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, Decimal):
        return _float(value)
    return str(value)


def _float(value: Decimal) -> str:
    """A float of TOML: digits on both sides of the point."""
    text = f"{value.normalize():f}"
    if len(text) > 20:
        text = f"{value.normalize():e}".replace("E", "e")
    mantissa, e, power = text.partition("e")
    return (mantissa if "." in mantissa or e else f"{mantissa}.0") + e + power
