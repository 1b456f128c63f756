"""Orbits and families as files: CSV for other programs, JSON and Zarr to go on from.

A file holds the numbers. The equations of the system are not in it: to go on from a family,
give the system.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from dalembert.analysis.periodic.family import Family, FamilyMark
from dalembert.analysis.periodic.flow import Flow, describe
from dalembert.analysis.periodic.orbit import PeriodicOrbit
from dalembert.analysis.periodic.periodic import periodic
from dalembert.errors import DalembertError, Unwritable, import_optional
from dalembert.foundation.atomic_write import check_extension, write_text
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import BadValue

_ENDINGS: Final = (".csv", ".json", ".zarr")
_FORMAT: Final = "dalembert family 1"
_ORBIT_FORMAT: Final = "dalembert orbit 1"


def orbit_data(orbit: PeriodicOrbit) -> dict[str, Any]:
    """The numbers of an orbit."""
    return {
        "period": orbit.period,
        "start": orbit.start,
        "constants": orbit.constants,
        "multipliers": [
            [float(m.real), float(m.imag)] for m in np.asarray(orbit.multipliers, dtype=complex)
        ],
        "unit_multipliers": list(orbit.unit_multipliers),
        "stability": orbit.stability,
        "energy": orbit.energy,
        "advance": orbit.advance,
        "closing_error": orbit.closing_error,
        "multiplier_error": orbit.multiplier_error,
    }


def orbit_from_data(system: System, data: dict[str, Any]) -> PeriodicOrbit:
    """The orbit without its equations."""
    values = np.array([complex(a, b) for a, b in data["multipliers"]])
    return PeriodicOrbit(
        system=system,
        period=float(data["period"]),
        start=dict(data["start"]),
        multipliers=values,
        unit_multipliers=tuple(data["unit_multipliers"]),
        stability=str(data["stability"]),
        period_error=float("nan"),
        state_error=float("nan"),
        multiplier_error=float(data["multiplier_error"]),
        closing_error=float(data["closing_error"]),
        energy=data["energy"],
        constants=dict(data["constants"]),
        advance=dict(data["advance"]),
        iterations=0,
    )


def save_orbit(orbit: PeriodicOrbit, path: str | os.PathLike[str]) -> None:
    """Write an orbit as JSON."""
    check_extension(path, (".json",))
    write_text(path, json.dumps({"format": _ORBIT_FORMAT, **orbit_data(orbit)}, indent=1))


def family_data(family: Family) -> dict[str, Any]:
    """The numbers of a family."""
    return {
        "format": _FORMAT,
        "system": family.orbits[0].system.name,
        "parameter": family.parameter,
        "over": list(family.over),
        "step": family.step,
        "ends": list(family.ends),
        "orbits": [orbit_data(o) for o in family.orbits],
        "marks": [
            {"kind": m.kind, "value": m.value, "position": m.position, "orbit": orbit_data(m.orbit)}
            for m in family.marks
        ],
    }


def save_family(family: Family, path: str | os.PathLike[str]) -> None:
    """Write a family; the ending chooses CSV, JSON or Zarr."""
    check_extension(path, _ENDINGS)
    name = os.fspath(path).lower()
    if name.endswith(".json"):
        write_text(path, json.dumps(family_data(family)))
    elif name.endswith(".csv"):
        write_text(path, _csv(family))
    else:
        _write_zarr(family, Path(path))


def _csv(family: Family) -> str:
    """A row for each orbit and each special point, in the order of the family."""
    first = family.orbits[0]
    count = max(len(o.multipliers) for o in family.orbits)
    head = ["kind", family.parameter, "period", "energy", "stability", *first.start]
    head += [f"{part} mu{k + 1}" for k in range(count) for part in ("Re", "Im")]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    rows = [
        (float(k), "orbit", o, float(v))
        for k, (o, v) in enumerate(zip(family.orbits, family.values, strict=True))
    ]
    rows += [(m.position, m.kind, m.orbit, m.value) for m in family.marks]
    for _, kind, o, value in sorted(rows, key=lambda row: row[0]):
        mu = [
            x
            for m in np.asarray(o.multipliers, dtype=complex)
            for x in (repr(float(m.real)), repr(float(m.imag)))
        ]
        energy = "" if o.energy is None else repr(o.energy)
        writer.writerow(
            [
                kind,
                repr(value),
                repr(o.period),
                energy,
                o.stability,
                *map(repr, o.start.values()),
                *mu,
            ]
        )
    return out.getvalue()


def _write_zarr(family: Family, path: Path) -> None:
    zarr = import_optional("zarr", "a family as .zarr", "'dalembert[study]'")
    if path.exists():
        msg = f"{path} is there already; give another name"
        raise Unwritable(msg)
    try:
        group = zarr.open_group(path, mode="w")
    except OSError as problem:
        msg = f"cannot write {path}: {problem.strerror or problem}"
        raise Unwritable(msg) from problem
    group.attrs["family"] = json.dumps(family_data(family))
    columns = {
        "parameter": family.values,
        "period": family.periods,
        "start": np.array([o.x0 for o in family.orbits]),
    }
    for name, values in columns.items():
        group.create_array(name, data=np.ascontiguousarray(values))


def open_family(
    path: str | os.PathLike[str],
    system: System,
    *,
    events: Sequence[Any] = (),
    section: str | None = None,
    **options: Any,
) -> Family:
    """A family from a .json or .zarr file; its last orbit is solved again, to go on from it.

    `options` are those of da.periodic with which the orbit was found (inputs, shift, hold,
    subharmonic …).
    """
    data = _family_of(system, path)
    orbits = [orbit_from_data(system, each) for each in data["orbits"]]
    by_events = {"events": events, "section": section}
    orbits[-1] = _solve_again(system, orbits[-1], {**options, **by_events})
    marks = [_mark_from_data(system, m) for m in data["marks"]]
    begin, end = data["over"]
    return Family(data["parameter"], (begin, end), orbits, marks, tuple(data["ends"]), data["step"])


def _family_of(system: System, path: str | os.PathLike[str]) -> dict[str, Any]:
    """The numbers in a file, if they are a family of the system."""
    data = _read(Path(path))
    if data.get("format") != _FORMAT:
        msg = f"{path} is no file of a family"
        raise BadValue(msg)
    if data["system"] != system.name:
        msg = f"{path} holds a family of {data['system']!r}, not of {system.name!r}"
        raise BadValue(msg)
    return data


def _mark_from_data(system: System, m: dict[str, Any]) -> FamilyMark:
    orbit = orbit_from_data(system, m["orbit"])
    return FamilyMark(m["kind"], m["value"], orbit, m["position"], np.zeros(0))


def _solve_again(system: System, orbit: PeriodicOrbit, options: dict[str, Any]) -> PeriodicOrbit:
    """The orbit with its equations; a forced one has the period of its drive."""
    given = describe(system, orbit.start, None, orbit.constants, options.get("inputs"), 0.0)
    free = options.get("events") or not Flow(given).autonomous
    period = None if free else orbit.period
    return periodic(system, orbit.start, period, values=orbit.constants, **options)


def _read(path: Path) -> dict[str, Any]:
    check_extension(path, (".json", ".zarr"))
    try:
        if path.suffix == ".json":
            result = json.loads(path.read_text(encoding="utf-8"))
        else:
            zarr = import_optional("zarr", "a family as .zarr", "'dalembert[study]'")
            result = json.loads(zarr.open_group(path, mode="r").attrs["family"])
    except (OSError, ValueError, KeyError) as problem:
        msg = f"{path} cannot be read as a family: {problem}"
        raise BadValue(msg) from problem
    if not isinstance(result, dict):
        msg = f"{path} cannot be read as a family"
        raise BadValue(msg)
    return result


def open_orbit(path: str | os.PathLike[str], system: System, **options: Any) -> PeriodicOrbit:
    """An orbit from its JSON file, solved again with the equations of the system."""
    data = _read(Path(path))
    if data.get("format") != _ORBIT_FORMAT:
        msg = f"{path} is no file of an orbit"
        raise BadValue(msg)
    stored = orbit_from_data(system, data)
    try:
        return _solve_again(system, stored, options)
    except DalembertError as problem:
        problem.add_note(f"while solving the orbit of {path} again")
        raise
