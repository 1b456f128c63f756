"""How each number of the interactive panel may be changed: the form of its slider, its meaning,
and the limits of a good run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from dalembert.interface.report.result_blocks import ACCEPTABLE_DRIFT
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.runtime.simulation.diagnosis import EXCESSIVE
from dalembert.symbolic.algebra.expression_graph import symbols_of

if TYPE_CHECKING:
    from dalembert.mechanics.model.system import System

# of a run in Python: entries of W as multiples of a speed, and the part of E_Z that a run may not
# lose
STEEP: Final = 300.0
LOST: Final = 0.1


def slider_forms(system: System) -> dict[str, str]:
    """{name: "angle", "damping" or "positive"}; other numbers have sliders about their value."""
    angles = {
        i
        for F in system.space.frames
        if F.rotation is not None and not isinstance(F.rotation, Quaternion)
        for i in F.rotation.variables()
    }
    tape = system.space.tape
    damping = {i for d in system.dissipations for i in symbols_of(tape, (d.D.i,))}
    found: dict[str, str] = {}
    for s in system.symbols.values():
        if s.kind == "coordinate" and (s.scalar.i in angles or system.unit(s.name) == "rad"):
            found[s.name] = "angle"
        elif s.kind == "constant" and s.scalar.i in damping:
            found[s.name] = "damping"
        elif s.kind == "constant" and s.value is not None and float(s.value) > 0:
            found[s.name] = "positive"
    return found


def meanings(system: System) -> dict[str, str]:
    """{name: what it is}, for those who hover or listen."""
    names = {s.scalar.i: s.name for s in system.symbols.values()}
    found: dict[str, str] = {}
    for F in system.space.frames:
        for i in F.rotation.variables() if F.rotation is not None else ():
            if i in names:
                found.setdefault(names[i], f"orientation of frame {F.name}")
    for b in system.bodies:
        if b.mass.i in names:
            found.setdefault(names[b.mass.i], f"mass of {b.name}")
    field = system.gravity_field
    for i in () if field is None else symbols_of(system.space.tape, field.g.components(system.N)):
        found.setdefault(names.get(i, ""), "gravitational acceleration")
    for name, body in owners(system).items():
        found.setdefault(name, f"constant of {body}")
    kinds = {s.name: f"{s.kind} {s.name}" for s in system.symbols.values()}
    moving = (s.name for s in system.symbols.values() if s.kind == "coordinate")
    rates = {f"{name}.dot": f"rate of {name}" for name in moving}
    return kinds | rates | {name: f"{name}: {what}" for name, what in found.items()}


def owners(system: System) -> dict[str, str]:
    """{name of a constant: the body it belongs to}, for constants of one body only."""
    names = {s.scalar.i: s.name for s in system.symbols.values() if s.kind == "constant"}
    tape = system.space.tape
    bodies: dict[str, set[str]] = {}
    for b in system.bodies:
        parts = [b.mass.i, *(() if b.inertia is None else b.inertia.entries())]
        parts += [] if b.shape is None else [x.i for x in b.shape.sizes]
        for i in symbols_of(tape, parts):
            if i in names:
                bodies.setdefault(names[i], set()).add(b.name)
    return {name: next(iter(of)) for name, of in bodies.items() if len(of) == 1}


def limits(rows: Iterable[str], entries: Iterable[str]) -> dict[str, Any]:
    """By what a run in the page is judged, as a run in Python is."""
    return {
        "small": ACCEPTABLE_DRIFT,
        "lost": LOST,
        "excessive": EXCESSIVE,
        "steep": STEEP,
        "rows": list(rows),
        "entries": list(entries),
    }
