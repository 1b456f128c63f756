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
from dalembert.exchange.modelfile.element_schema import KINDS, SECTIONS
from dalembert.exchange.modelfile.model_builder import ModelBuilder
from dalembert.exchange.modelfile.repeat_expansion import counted_out
from dalembert.exchange.modelfile.run_settings import settings
from dalembert.exchange.modelfile.source_positions import BadModel, ModelText, Scanner
from dalembert.exchange.modelfile.symbol_sections import declare_symbols, declare_words, expect_parts
from dalembert.exchange.modelfile.value_reader import ElementValues
from dalembert.foundation.suggestions import nearest
from dalembert.mechanics.model.system import System

LARGEST: Final = 2**20
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def load_model(path: str | Path, *, set: Mapping[str, Any] | None = None) -> System:  # noqa: A002 - as --set
    """The system in a file of TOML or JSON; `set` replaces values of constants, and n of families."""
    return read_model(_text(Path(path).expanduser()), str(path), set=set)


def read_model(text: str, file: str = "model.toml", *, set: Mapping[str, Any] | None = None) -> System:  # noqa: A002 - as --set
    """The system that a text describes; the ending of `file` says whether it is TOML or JSON."""
    table, source = _parsed(text, file)
    given = dict(set or {})
    counts = _counts(table, given)
    try:
        table, source = counted_out(table, source, counts)
        _replace(table, given, counts, source)
        return _built(table, source)
    except RecursionError:
        msg = "its elements hang on one another too deeply; put what others hang on before them"
        raise BadModel(msg, file) from None


def _text(file: Path) -> str:
    try:
        if file.is_dir():
            msg = f"load: {str(file)!r} is a folder; give a file"
            raise BadDescription(msg)
        if file.stat().st_size > LARGEST:
            msg = f"{file}: {file.stat().st_size / 2**20:.1f} MB are more than any model needs, at most {LARGEST // 2**20}; it is not read"
            raise BadDescription(msg)
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        msg = f"{file}: it is not in UTF-8 (byte {problem.start + 1}); save it in that encoding"
        raise BadDescription(msg) from None
    except (OSError, ValueError) as problem:
        if isinstance(problem, BadDescription):
            raise
        why = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        msg = f"load: {str(file)!r} cannot be read: {why}"
        raise BadDescription(msg) from None


def _parsed(text: str, file: str) -> tuple[dict[str, Any], ModelText]:
    # line ends as the scanner and the reader both count them
    text = text.replace("\r\n", "\n")
    try:
        if file.lower().endswith(".json"):
            table = json.loads(text, parse_float=Decimal, parse_constant=_not_finite, object_pairs_hook=_once)
            places = Scanner(text).json()
        else:
            table = tomllib.loads(text, parse_float=Decimal)
            places = Scanner(text).toml()
    except tomllib.TOMLDecodeError as problem:
        _refuse_syntax(str(problem), text, file)
    except json.JSONDecodeError as problem:
        ModelText(file, text).refuse_at(f"this is not JSON: {problem.msg}", problem.pos)
    except RecursionError:
        msg = "it is nested too deeply"
        raise BadModel(msg, file) from None
    except (ValueError, ArithmeticError) as problem:
        msg = f"a number in it cannot be read: {problem!s:.80}"
        raise BadModel(msg, file) from None
    if not isinstance(table, dict):
        msg = 'expected a table of elements at the top, { "name": … }'
        raise BadModel(msg, file)
    return table, ModelText(file, text, places)


def _not_finite(word: str) -> Any:
    msg = f"{word} is not a number"
    raise ValueError(msg)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(n for n in names if names.count(n) > 1)
        msg = f"{twice!r} stands twice in one table"
        raise ValueError(msg)
    return table


def _refuse_syntax(problem: str, text: str, file: str) -> None:
    where = _PLACE.search(problem)
    sentence = _PLACE.sub("", problem)
    if "overwrite" in sentence or "twice" in sentence or "declare" in sentence:
        sentence = f"two elements of one name, or a table that is opened twice ({sentence})"
    else:
        sentence = f"this is not TOML: {sentence[:1].lower()}{sentence[1:]}"
    lines = text.split("\n")
    line, column = (int(where[1]), int(where[2])) if where and where[1] else (len(lines), len(lines[-1]) + 1)
    offset = sum(len(x) + 1 for x in lines[: line - 1]) + column - 1
    ModelText(file, text).refuse_at(sentence, offset)


def _counts(table: dict[str, Any], given: Mapping[str, Any]) -> dict[str, int]:
    """n of the families, where it is set and no constant is called so."""
    constants = table.get("constants")
    if "repeat" not in table or "n" not in given or (isinstance(constants, dict) and "n" in constants):
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


def _replace(table: dict[str, Any], given: dict[str, Any], counts: Mapping[str, int], source: ModelText) -> None:
    """Constants with other values than the file has."""
    constants = table.get("constants", {})
    for name, value in given.items():
        if name in counts:
            continue
        if not isinstance(constants, dict) or name not in constants:
            known = [*constants, *(["n"] if counts else [])] if isinstance(constants, dict) else []
            hint = nearest(name, known) or (f"there are {', '.join(known)}" if known else "it has none")
            msg = f"{source.file}: no constant is called {name!r:.60}; {hint}"
            raise BadDescription(msg)
        old = constants[name]
        new = value if isinstance(value, str | int) else Decimal(str(value))
        constants[name] = {**old, "value": new} if isinstance(old, dict) else new


def _built(table: dict[str, Any], source: ModelText) -> System:
    for key in table:
        if key not in SECTIONS and key not in KINDS and key != "$schema":
            hint = nearest(key, [*SECTIONS, *KINDS]) or "see `dalembert new pendulum` for a file that works"
            source.refuse(f"unknown key {key!r:.60}; {hint}", (key,), key=True)
    name = table.get("name", Path(source.file).stem or "System")
    b = ModelBuilder(System(), table, source)
    values = ElementValues(b, ())
    b.s.name = values.text(name, ("name",)).strip() or "System"
    b.s.source = values.text(table.get("source", ""), ("source",))
    declare_symbols(b)
    expect_parts(b)
    b.expect_elements()
    if "gravity" in table:
        b.expect(("gravity",), lambda: b.gravity(table["gravity"], table.get("up", "y")))
    b.build()
    for section, verb in (("displays", b.s.display), ("units", b.s.units)):
        declare_words(b, section, verb)
    b.s.settings = settings(b)
    return b.s
