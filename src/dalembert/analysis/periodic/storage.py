"""Orbits and families as files to go on from: CSV, JSON or Zarr.

A file holds the numbers. The equations of the system, its events and inputs are not in it: to go
on from a file, give them again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from dalembert.analysis.periodic.drive import drive_period
from dalembert.analysis.periodic.family import Family, FamilyMark
from dalembert.analysis.periodic.flow import Flow
from dalembert.analysis.periodic.orbit import PeriodicOrbit
from dalembert.analysis.periodic.orbit_table import ORBIT, read_table, write_table
from dalembert.analysis.periodic.periodic import periodic
from dalembert.analysis.periodic.return_map import EventShooting
from dalembert.errors import DalembertError, NotApplicable, Unwritable, import_optional
from dalembert.foundation.atomic_write import check_extension, write_text
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import BadValue

ENDINGS: Final = (".csv", ".json", ".zarr")
_FORMAT: Final = "dalembert family 1"
_ORBIT_FORMAT: Final = "dalembert orbit 1"
_ARTICLES: Final = {"orbit": "an orbit", "family": "a family"}
# of a family that was read from a table
_STEP: Final = 0.02


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
        "options": _options(orbit),
    }


def _options(orbit: PeriodicOrbit) -> dict[str, Any]:
    """What da.periodic was given to find the orbit, as far as it is numbers and names."""
    shooting = orbit.shooting
    if shooting is None:
        return dict(orbit.options)
    flow, structure = shooting.flow, shooting.structure
    result: dict[str, Any] = {"shift": [flow.names[j] for j in structure.shifts]}
    if isinstance(shooting, EventShooting):
        back = shooting.map
        return {**result, "section": flow.event_list[back.section].title, "returns": back.returns}
    c = shooting.conditions
    if c.period is not None or c.free == "period":
        result["hold"] = "period"
    if c.reversal is not None:
        n_q = flow.kin.n_q
        result["reversal"] = {
            name: int(sign) for name, sign in zip(flow.names[:n_q], c.reversal[:n_q], strict=True)
        }
    result["needs"] = [
        key
        for key, needed in (
            ("closing", shooting.closing.map is not None),
            ("events", bool(flow.event_list)),
        )
        if needed
    ]
    if not flow.autonomous:
        # the flow is shared by the orbits of a family
        shooting.apply(orbit.z)
        result["subharmonic"] = _subharmonic(flow, orbit.period)
    return result


def _subharmonic(flow: Flow, period: float) -> int | None:
    """The number of periods of the drive in a period; None where the drive has no period."""
    try:
        return round(period / drive_period(flow, 1).value())
    except NotApplicable:
        return None


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
        options=dict(data.get("options", {})),
    )


def save_orbit(orbit: PeriodicOrbit, path: str | os.PathLike[str]) -> None:
    """Write an orbit; the ending chooses CSV, JSON or Zarr."""
    check_extension(path, ENDINGS)
    name, system = os.fspath(path).lower(), orbit.system.name
    data = {"format": _ORBIT_FORMAT, "system": system, **orbit_data(orbit)}
    if name.endswith(".json"):
        write_text(path, json.dumps(data, indent=1))
    elif name.endswith(".csv"):
        row = {"kind": ORBIT, "value": None, "position": 0.0, "orbit": data}
        write_text(path, write_table(system, "", [row]))
    else:
        arrays = {"start": orbit.x0, "multipliers": np.array(data["multipliers"]).reshape(-1, 2)}
        _write_zarr(Path(path), "orbit", data, arrays)


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
    check_extension(path, ENDINGS)
    name = os.fspath(path).lower()
    if name.endswith(".json"):
        write_text(path, json.dumps(family_data(family)))
    elif name.endswith(".csv"):
        write_text(path, _csv(family))
    else:
        columns = {
            "parameter": family.values,
            "period": family.periods,
            "start": np.array([o.x0 for o in family.orbits]),
        }
        _write_zarr(Path(path), "family", family_data(family), columns)


def _csv(family: Family) -> str:
    """A row for each orbit and each special point, in the order of the family."""
    rows = [
        {"kind": ORBIT, "value": float(v), "position": float(k), "orbit": orbit_data(o)}
        for k, (o, v) in enumerate(zip(family.orbits, family.values, strict=True))
    ]
    rows += [
        {"kind": m.kind, "value": m.value, "position": m.position, "orbit": orbit_data(m.orbit)}
        for m in family.marks
    ]
    rows.sort(key=lambda row: float(str(row["position"])))
    return write_table(family.orbits[0].system.name, family.parameter, rows)


def _write_zarr(path: Path, kind: str, data: dict[str, Any], arrays: dict[str, Any]) -> None:
    zarr = import_optional("zarr", f"a periodic {kind} as .zarr", "'dalembert[study]'")
    if path.exists():
        msg = f"{path} exists already; give another name"
        raise Unwritable(msg)
    try:
        group = zarr.open_group(path, mode="w")
    except OSError as problem:
        msg = f"cannot write {path}: {problem.strerror or problem}"
        raise Unwritable(msg) from problem
    group.attrs[kind] = json.dumps(data)
    for name, values in arrays.items():
        group.create_array(name, data=np.ascontiguousarray(values))


def open_family(
    path: str | os.PathLike[str],
    system: System,
    *,
    events: Sequence[Any] = (),
    section: str | None = None,
    **options: Any,
) -> Family:
    """A family from a .csv, .json or .zarr file; its last orbit is solved again and can be
    continued.

    `options` are those of da.periodic: `events`, `inputs` and `closing` are given again, names and
    numbers are in the file.
    """
    data = _read(Path(path), system, _FORMAT, "family")
    orbits = [orbit_from_data(system, each) for each in data["orbits"]]
    given = {**options, **({"events": events} if events else {})}
    given |= {} if section is None else {"section": section}
    orbits[-1] = _solve_again(system, orbits[-1], given, path)
    marks = [_mark_from_data(system, m) for m in data["marks"]]
    begin, end = data["over"]
    return Family(data["parameter"], (begin, end), orbits, marks, tuple(data["ends"]), data["step"])


def open_orbit(path: str | os.PathLike[str], system: System, **options: Any) -> PeriodicOrbit:
    """An orbit from its .csv, .json or .zarr file, solved again with the equations of the system.

    `options` are those of da.periodic: `events`, `inputs` and `closing` are given again, names and
    numbers are in the file.
    """
    data = _read(Path(path), system, _ORBIT_FORMAT, "orbit")
    return _solve_again(system, orbit_from_data(system, data), options, path)


def _mark_from_data(system: System, m: dict[str, Any]) -> FamilyMark:
    orbit = orbit_from_data(system, m["orbit"])
    return FamilyMark(m["kind"], m["value"], orbit, m["position"], np.zeros(0))


def _solve_again(
    system: System, orbit: PeriodicOrbit, given: dict[str, Any], path: Any
) -> PeriodicOrbit:
    """The orbit with its equations; a forced one has the period of its drive."""
    stored = {k: v for k, v in orbit.options.items() if v is not None}
    needs = [*stored.pop("needs", ()), *(["events"] if "section" in stored else [])]
    for name in needs:
        if not given.get(name):
            msg = f"{path}: this motion was found with {name}=; give {name}= again"
            raise BadValue(msg)
    free = "section" in stored or "subharmonic" in stored
    options = {"period": None if free else orbit.period, **stored, **given}
    try:
        return periodic(system, orbit.start, values=orbit.constants, **options)
    except DalembertError as problem:
        problem.add_note(f"while solving the orbit of {path} again")
        raise


def _read(path: Path, system: System, kind: str, word: str) -> dict[str, Any]:
    """The numbers in a file, if they are of this kind and of the system."""
    check_extension(path, ENDINGS)
    try:
        if path.suffix.lower() == ".json":
            result = json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix.lower() == ".csv":
            result = _from_table(path.read_text(encoding="utf-8"), word)
        else:
            zarr = import_optional("zarr", f"a periodic {word} as .zarr", "'dalembert[study]'")
            result = json.loads(zarr.open_group(path, mode="r").attrs[word])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        msg = f"{path} cannot be read as {_ARTICLES[word]}: {problem}"
        raise BadValue(msg) from problem
    if not isinstance(result, dict) or result.get("format") != kind:
        msg = f"{path} is no file of {_ARTICLES[word]}"
        raise BadValue(msg)
    if result["system"] != system.name:
        msg = f"{path} holds {_ARTICLES[word]} of {result['system']!r}, not of {system.name!r}"
        raise BadValue(msg)
    return result


def _from_table(text: str, word: str) -> dict[str, Any]:
    """The data of an orbit or a family from a table."""
    system, parameter, rows = read_table(text)
    orbits = [row for row in rows if row["kind"] == ORBIT]
    if word == "orbit":
        if parameter or len(rows) != 1:
            msg = "the table has a family; use da.open_family"
            raise BadValue(msg)
        return {"format": _ORBIT_FORMAT, "system": system, **orbits[0]["orbit"]}
    if not parameter:
        msg = "the table has a single orbit; use da.open_orbit"
        raise BadValue(msg)
    return {
        "format": _FORMAT,
        "system": system,
        "parameter": parameter,
        "over": [orbits[0]["value"], orbits[-1]["value"]],
        "step": _STEP,
        "ends": ["", ""],
        "orbits": [row["orbit"] for row in orbits],
        "marks": [row for row in rows if row["kind"] != ORBIT],
    }
