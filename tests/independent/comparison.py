"""What dalembert says about a random system, held against the reference: relative differences,
named.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import dalembert as da
from independent.bridge import Declared
from independent.description import Description
from independent.generator import drawn

TOLERANCE = 1e-9
# a reference that is smaller than this counts as zero
_SMALLEST = 1e-3
# and smaller than this is what 60 digits leave of nothing
_ZERO = 1e-30


@dataclass(frozen=True)
class Difference:
    """Two numbers that should be one, and how far they are apart as a part of the largest of
    their kind.
    """

    what: str
    expected: float
    actual: float
    scale: float

    @property
    def relative(self) -> float:
        gap = abs(self.expected - self.actual) / self.scale
        return gap if np.isfinite(gap) else np.inf


def description(known: dict[str, Any]) -> Description:
    return drawn(known["seed"], known["attempt"])


def run_of(known: dict[str, Any]) -> da.Trajectory:
    """The motion for an instant from the state of the reference; where the bodies of a row are
    asked for, they are named.
    """
    run = _run_of(known)
    asked = [
        row.name
        for row in description(known).rows
        if row.kind == "spin" and repr(row.name) in run.reactions.why_no_joints
    ]
    return _run_of(known, asked) if asked else run


def _run_of(known: dict[str, Any], asked: Collection[str] = ()) -> da.Trajectory:
    """From the state of the reference; dependent rates are left to the start."""
    d = description(known)
    s = Declared(d, asked).s
    start = dict(zip(d.coordinates, known["q"], strict=True))
    start |= {
        f"{x}.dot": v
        for x, v in zip(d.coordinates, known["rates"], strict=True)
        if x in known["given"]
    }
    inputs = {name: float(x) for name, x in d.inputs.items()}
    with warnings.catch_warnings():
        # some of these draws are stiff, light or at rest
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.simulate(
            s,
            1e-9,
            start=start,
            inputs=inputs,
            t0=float(d.t),
            at=[float(d.t)],
            audit=False,
            progress=False,
        )


def compared(
    kind: str, pairs: list[tuple[str, float, float]], beside: float = 0.0
) -> Iterator[Difference]:
    """Differences as a part of the largest reference of a kind; where all vanish, of a size that
    stands beside them.
    """
    largest = max((abs(expected) for _, expected, _ in pairs), default=0.0)
    scale = max(_SMALLEST, largest if largest > _ZERO else beside)
    return (
        Difference(f"{kind} {what}", expected, actual, scale) for what, expected, actual in pairs
    )


def motion(known: dict[str, Any], run: da.Trajectory) -> Iterator[Difference]:
    """Rates that the start solved for, accelerations, energies, multipliers and drive loads."""
    names = description(known).coordinates
    yield from compared(
        "rate",
        [(x, v, float(run[f"{x}.dot"][0])) for x, v in zip(names, known["rates"], strict=True)],
    )
    q = [
        (x, a, float(run[f"{x}.dot.dot"][0]))
        for x, a in zip(names, known["accelerations"], strict=True)
    ]
    yield from compared("acceleration", q)
    T, V = known["energies"]
    yield from compared(
        "energy", [("T", T, float(run.kinetic_energy[0])), ("V", V, float(run.potential_energy[0]))]
    )
    found = run.reactions
    # forces that cancel leave the rounding of each: m times the largest acceleration is a force of
    # this system
    force = float(sum(b.mass for b in description(known).masses)) * max(abs(a) for _, a, _ in q)
    yield from compared(
        "multiplier",
        [(n, x, float(found.rows[n].multiplier[0])) for n, x in known["multipliers"].items()],
        force,
    )
    # a motion that only says how a row moves has no load of its own
    drives = [
        (n, x, float(found.drives[n].load[0]) if n in found.drives else 0.0)
        for n, x in known["drives"].items()
    ]
    yield from compared(
        "drive load", [d for d in drives if d[0] in found.drives or abs(d[1]) > _SMALLEST]
    )


def wrenches(known: dict[str, Any], run: da.Trajectory) -> Iterator[Difference]:
    """Every component of a joint's wrench and of a declaration's force that is unique."""
    found, pairs = run.reactions, []
    for name, expected in known["joints"].items():
        mine = [
            joint
            for joint in found.joints.values()
            if set(joint.name.split(" (")[0].split(", ")) <= set(name.split())
        ]
        if not mine:
            pairs.append((f"{name}: missing", 1.0, np.nan))
        for joint in mine:
            pairs += _components(f"joint {joint.name}", expected, joint, 1)
    for name, expected in known["rows"].items():
        row = found[name]
        # a link without masses has no name of a body
        names = expected["on"] or {row.on, row.against} - {
            "the ground",
            *(b.name for b in description(known).masses),
        }
        sides = (row.on in names) - (row.against in names)
        if row.force is not None or row.moment is not None:
            pairs += _components(f"row {name}", expected, row, sides)
    yield from compared("wrench", pairs)


def _components(
    name: str, expected: dict[str, list[float | None]], load: Any, sign: int
) -> list[tuple[str, float, float]]:
    """Force and moment about the place of the reference, component by component."""
    force = np.zeros(3) if load.force is None else sign * load.force[0]
    moment = np.zeros(3) if load.moment is None else sign * load.moment[0]
    place = np.array(expected["at"])
    if load.at is not None and load.force is not None:
        moment = moment + np.cross(load.at[0] - place, force)
    pairs = [
        (f"{name} f_{k}", e, a) for k, e, a in zip("xyz", expected["force"], force, strict=True)
    ]
    pairs += [
        (f"{name} m_{k}", e, a) for k, e, a in zip("xyz", expected["moment"], moment, strict=True)
    ]
    return [(what, e, float(a)) for what, e, a in pairs if e is not None]
