"""da.load("pendulum.toml"): a text becomes a System, and nothing in it is executed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from dalembert.errors import BadDescription
from dalembert.exchange.modelfile.element_schema import ELEMENT_TYPES, SECTIONS
from dalembert.exchange.modelfile.model_builder import ModelBuilder
from dalembert.exchange.modelfile.repeat_expansion import expand_repeats
from dalembert.exchange.modelfile.run_settings import read_settings
from dalembert.exchange.modelfile.source_positions import BadModel, ModelSource, PositionScanner
from dalembert.exchange.modelfile.symbol_sections import (
    add_local_definitions,
    declare_labels,
    declare_symbols,
)
from dalembert.exchange.modelfile.value_reader import ValueReader
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.model.system import System

MAX_FILE_BYTES: Final = 2**20
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


# as --set
def load_model(path: str | Path, *, set: Mapping[str, Any] | None = None) -> System:  # noqa: A002
    """The system in a file of TOML or JSON; `set` replaces values of constants, and n of
    families.
    """
    return read_model(_read_text(Path(path).expanduser()), str(path), set=set)


def read_model(
    text: str,
    file: str = "model.toml",
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002
) -> System:
    """The system that a text describes; the ending of `file` says whether it is TOML or JSON."""
    table, source = _parse(text, file)
    given = dict(set or {})
    counts = _repeat_counts(table, given)
    try:
        table, source = expand_repeats(table, source, counts)
        _override_constants(table, given, counts, source)
        return _build_system(table, source)
    except RecursionError:
        msg = "its elements are nested too deeply; declare parents before their children"
        raise BadModel(msg, file) from None


def _read_text(file: Path) -> str:
    try:
        if file.is_dir():
            msg = f"load: {str(file)!r} is a folder; give a file"
            raise BadDescription(msg)
        if file.stat().st_size > MAX_FILE_BYTES:
            msg = (
                f"{file}: {file.stat().st_size / 2**20:.1f} MB are more than any model needs, "
                f"at "
                f"most {MAX_FILE_BYTES // 2**20}; it is not read"
            )
            raise BadDescription(msg)
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        msg = f"{file}: it is not in UTF-8 (byte {problem.start + 1}); save it in that encoding"
        raise BadDescription(msg) from None
    except (OSError, ValueError) as problem:
        if isinstance(problem, BadDescription):
            raise
        why = (
            problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        )
        msg = f"load: {str(file)!r} cannot be read: {why}"
        raise BadDescription(msg) from None


def _parse(text: str, file: str) -> tuple[dict[str, Any], ModelSource]:
    # line ends as the scanner and the reader both count them
    text = text.replace("\r\n", "\n")
    try:
        if file.lower().endswith(".json"):
            table = json.loads(
                text,
                parse_float=Decimal,
                parse_constant=_reject_non_finite,
                object_pairs_hook=_reject_duplicate_keys,
            )
            places = PositionScanner(text).json()
        else:
            table = tomllib.loads(text, parse_float=Decimal)
            places = PositionScanner(text).toml()
    except tomllib.TOMLDecodeError as problem:
        _raise_toml_error(str(problem), text, file)
    except json.JSONDecodeError as problem:
        ModelSource(file, text).raise_error_at(f"this is not JSON: {problem.msg}", problem.pos)
    except RecursionError:
        msg = "it is nested too deeply"
        raise BadModel(msg, file) from None
    except (ValueError, ArithmeticError) as problem:
        msg = f"a number in it cannot be read: {problem!s:.80}"
        raise BadModel(msg, file) from None
    if not isinstance(table, dict):
        msg = 'expected a table of elements at the top, { "name": … }'
        raise BadModel(msg, file)
    return table, ModelSource(file, text, places)


def _reject_non_finite(word: str) -> Any:
    msg = f"{word} is not a number"
    raise ValueError(msg)


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(n for n in names if names.count(n) > 1)
        msg = f"{twice!r} is given twice in one table"
        raise ValueError(msg)
    return table


def _raise_toml_error(problem: str, text: str, file: str) -> None:
    where = _PLACE.search(problem)
    sentence = _PLACE.sub("", problem)
    if "overwrite" in sentence or "twice" in sentence or "declare" in sentence:
        sentence = f"two elements of one name, or a table that is opened twice ({sentence})"
    else:
        sentence = f"this is not TOML: {sentence[:1].lower()}{sentence[1:]}"
    lines = text.split("\n")
    line, column = (
        (int(where[1]), int(where[2])) if where and where[1] else (len(lines), len(lines[-1]) + 1)
    )
    offset = sum(len(x) + 1 for x in lines[: line - 1]) + column - 1
    ModelSource(file, text).raise_error_at(sentence, offset)


def _repeat_counts(table: dict[str, Any], given: Mapping[str, Any]) -> dict[str, int]:
    """n of the families, where it is set and no constant is called so."""
    constants = table.get("constants")
    if (
        "repeat" not in table
        or "n" not in given
        or (isinstance(constants, dict) and "n" in constants)
    ):
        return {}
    n = given["n"]
    if isinstance(n, str) and n.strip().isdigit():
        n = int(n)
    if isinstance(n, float) and n.is_integer():
        n = int(n)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        msg = f"n = {given['n']!r:.40} is no count; give a whole number such as 10"
        raise BadDescription(msg)
    return {"n": n}


def _override_constants(
    table: dict[str, Any], given: dict[str, Any], counts: Mapping[str, int], source: ModelSource
) -> None:
    """Constants with other values than the file has."""
    constants = table.get("constants", {})
    for name, value in given.items():
        if name in counts:
            continue
        if not isinstance(constants, dict) or name not in constants:
            known = [*constants, *(["n"] if counts else [])] if isinstance(constants, dict) else []
            hint = suggest_name(name, known) or (
                f"there are {', '.join(known)}" if known else "it has none"
            )
            msg = f"{source.file}: no constant is called {name!r:.60}; {hint}"
            raise BadDescription(msg)
        old = constants[name]
        new = value if isinstance(value, str | int) else Decimal(str(value))
        constants[name] = {**old, "value": new} if isinstance(old, dict) else new


def _build_system(table: dict[str, Any], source: ModelSource) -> System:
    for key in table:
        if key not in SECTIONS and key not in ELEMENT_TYPES and key not in ("$schema", "exercise"):
            hint = (
                suggest_name(key, [*SECTIONS, *ELEMENT_TYPES])
                or "see `dalembert new pendulum` for a file that works"
            )
            source.raise_error(f"unknown key {key!r:.60}; {hint}", (key,), key=True)
    name = table.get("name", Path(source.file).stem or "System")
    b = ModelBuilder(System(), table, source)
    values = ValueReader(b, ())
    b.s.name = values.text(name, ("name",)).strip() or "System"
    b.s.source = values.text(table.get("source", ""), ("source",))
    declare_symbols(b)
    add_local_definitions(b)
    b.add_pending_elements()
    if "gravity" in table:
        b.add_pending(("gravity",), lambda: b.gravity(table["gravity"], table.get("up", "y")))
    b.build()
    for section, verb in (("displays", b.s.display), ("units", b.s.units)):
        declare_labels(b, section, verb)
    b.s.settings = read_settings(b)
    return b.s
