"""Orbits as a CSV table, a row for each: written for other programs, and read to go on from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dalembert.runtime.numerics.symbol_values import BadValue

ORBIT: Final = "orbit"
_FIRST: Final = ("kind", "parameter", "value", "position", "period", "energy", "stability")
_NUMBERS: Final = ("closing_error", "multiplier_error")
_GROUPS: Final = ("start", "constant", "advance")
_PLURAL: Final = {"start": "start", "constant": "constants", "advance": "advance"}


def write_table(system: str, parameter: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """CSV text; a row has a kind, a value of the parameter, a position and the data of an orbit."""
    first = rows[0]["orbit"]
    count = max(len(row["orbit"]["multipliers"]) for row in rows)
    head = [*_FIRST, *(f"{group} {name}" for group in _GROUPS for name in first[_PLURAL[group]])]
    head += [f"{part} mu{k + 1}" for k in range(count) for part in ("Re", "Im")]
    head += ["unit multipliers", *_NUMBERS, "options", "system"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        o = row["orbit"]
        mu = [repr(x) for pair in o["multipliers"] for x in pair]
        named = [o[_PLURAL[g]].get(name) for g in _GROUPS for name in first[_PLURAL[g]]]
        cells = [row["kind"], parameter, row["value"], row["position"], o["period"], o["energy"]]
        cells += [o["stability"], *named, *mu, *[""] * (2 * count - len(mu))]
        cells += ["; ".join(o["unit_multipliers"]), *(o[key] for key in _NUMBERS)]
        cells += [json.dumps(o["options"]), system]
        writer.writerow(["" if x is None else x if isinstance(x, str) else repr(x) for x in cells])
    return out.getvalue()


def read_table(text: str) -> tuple[str, str, list[dict[str, Any]]]:
    """The name of the system, the parameter and the rows of a table."""
    reader = csv.DictReader(io.StringIO(text))
    missing = {*_FIRST, "system", "options", "unit multipliers"} - set(reader.fieldnames or ())
    if missing:
        msg = f"no table of periodic motions: the column {min(missing)!r} is missing"
        raise BadValue(msg)
    rows = [_row(each) for each in reader]
    if not rows:
        msg = "the table has no row"
        raise BadValue(msg)
    return rows[0]["system"], rows[0]["parameter"], rows


def _row(cells: dict[str, str]) -> dict[str, Any]:
    """One row with its numbers read."""
    named: dict[str, dict[str, float]] = {_PLURAL[group]: {} for group in _GROUPS}
    for column, cell in cells.items():
        group, _, name = column.partition(" ")
        if group in _GROUPS and name and cell:
            named[_PLURAL[group]][name] = float(cell)
    mu = []
    for k in range(1, len(cells)):
        real = cells.get(f"Re mu{k}")
        if not real:
            break
        mu.append([float(real), float(cells[f"Im mu{k}"])])
    orbit = {
        "period": float(cells["period"]),
        "energy": float(cells["energy"]) if cells["energy"] else None,
        "stability": cells["stability"],
        "multipliers": mu,
        "unit_multipliers": [x for x in cells["unit multipliers"].split("; ") if x],
        "options": json.loads(cells["options"]),
        **named,
        **{key: float(cells[key]) for key in _NUMBERS},
    }
    value, position = (float(cells[key]) if cells[key] else 0.0 for key in ("value", "position"))
    return {
        "kind": cells["kind"],
        "value": value,
        "position": position,
        "orbit": orbit,
        "system": cells["system"],
        "parameter": cells["parameter"],
    }
