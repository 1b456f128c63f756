"""[[repeat]] n = 10: elements by counting, with {i} and its neighbours in their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from dalembert.exchange.modelfile.source_positions import ModelSource, Path, Span

MAX_REPEATS: Final = 1000
_COUNTER: Final = re.compile(r"\{([^{}]*)\}")
_NEIGHBOURS: Final = {"i": 0, "i-1": -1, "i+1": 1, "i−1": -1}


def expand_repeats(
    table: dict[str, Any], source: ModelSource, given: Mapping[str, int]
) -> tuple[dict[str, Any], ModelSource]:
    """The table with the elements of its families in it, each at the place where its pattern
    stands.

    `given` are counts that replace those in the file.
    """
    families = table.get("repeat")
    if families is None:
        return table, source
    if isinstance(families, dict):
        families = [families]
    if not isinstance(families, list) or not all(isinstance(f, dict) for f in families):
        source.raise_error(
            "repeat: write [[repeat]], then n = 10 and the elements below it", ("repeat",), key=True
        )
    whole = {key: value for key, value in table.items() if key != "repeat"}
    places = dict(source.positions)
    single = isinstance(table["repeat"], dict)
    for k, family in enumerate(families):
        here: Path = ("repeat",) if single else ("repeat", k)
        first, last = _bounds(family, source, here, given)
        body = {key: value for key, value in family.items() if key not in ("n", "from")}
        if not body:
            source.raise_error(
                'repeat: it repeats nothing; put elements such as [repeat.pin."theta_{i}"] below '
                "it",
                here,
                key=True,
            )
        for i in range(first, last + 1):
            _merge(whole, body, source, places, here, (), i)
    return whole, ModelSource(source.file, source.text, places)


def _bounds(
    family: dict[str, Any], source: ModelSource, here: Path, given: Mapping[str, int]
) -> tuple[int, int]:
    first, last = family.get("from", 1), given.get("n", family.get("n"))
    if last is None:
        source.raise_error("repeat: say how many, n = 10", here, key=True)
    for key, value in (("from", first), ("n", last)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            source.raise_error(
                f"repeat: {key} = {value!r:.40} is no count; give a whole number such as 10",
                (*here, key),
            )
    if last - first >= MAX_REPEATS:
        source.raise_error(
            f"repeat: {last} elements are too many; at most {MAX_REPEATS}", (*here, "n")
        )
    return first, last


def _merge(
    into: dict[str, Any],
    body: Any,
    source: ModelSource,
    places: dict[Path, Span],
    old: Path,
    new: Path,
    i: int,
) -> None:
    for pattern, value in body.items():
        name = _format_counter(pattern, i, source, (*old, pattern), key=True)
        there, here = (*old, pattern), (*new, name)
        if isinstance(value, dict):
            inner = into.setdefault(name, {})
            if not isinstance(inner, dict) or (
                inner and len(here) == 2 and here in places and not _has_counter(pattern)
            ):
                source.raise_error(
                    f"{'.'.join(map(str, here))} is declared already", there, key=True
                )
            _copy_position(source, places, there, here)
            _merge(inner, value, source, places, there, here, i)
        elif name in into:
            source.raise_error(
                f"{'.'.join(map(str, here))} is declared already; put {{i}} into the name",
                there,
                key=True,
            )
        else:
            into[name] = _substitute_counter(value, i, source, there)
            _copy_position(source, places, there, here)
            if isinstance(value, list):
                for k in range(len(value)):
                    _copy_position(source, places, (*there, k), (*here, k))


def _has_counter(pattern: str) -> bool:
    return "{" in pattern


def _copy_position(source: ModelSource, places: dict[Path, Span], old: Path, new: Path) -> None:
    span = source.span(old)
    if span is not None:
        places.setdefault(new, span)


def _substitute_counter(value: Any, i: int, source: ModelSource, path: Path) -> Any:
    if isinstance(value, str):
        return _format_counter(value, i, source, path)
    if isinstance(value, list):
        return [_substitute_counter(v, i, source, (*path, k)) for k, v in enumerate(value)]
    return value


def _format_counter(
    text: str, i: int, source: ModelSource, path: Path, *, key: bool = False
) -> str:
    def number(match: re.Match[str]) -> str:
        inside = match[1].replace(" ", "")
        if inside not in _NEIGHBOURS:
            source.raise_error(
                f"{match[0]}: only the counter {{i}} and its neighbours {{i-1}} and {{i+1}} are "
                f"allowed there",
                path,
                key=key,
            )
        return str(i + _NEIGHBOURS[inside])

    return _COUNTER.sub(number, text)
