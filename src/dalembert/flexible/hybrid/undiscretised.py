"""Σ φ_i q_i → v(x, t): a system whose members were expanded in functions, with its continua back in their place."""

from __future__ import annotations

from dalembert.algebra.folds import symbols_of
from dalembert.errors import NotApplicable
from dalembert.kinematics.description_checks import nodes_of
from dalembert.model.system import System


def undiscretised(system: System) -> System:
    """The same description with every member a continuum: without amplitudes, and without the masses and energies in them."""
    if not system.expansions:
        return system
    new = system.frozen()
    t = system.space.tape
    gone = {id(element) for elements in system.expanded.values() for element in elements}
    amplitudes = {q.i: str(q.name) for e in system.expansions.values() for each in e.amplitudes.values() for q in each}
    rates = {t.rate(q) for q in amplitudes}
    new.bodies = [b for b in system.bodies if id(b) not in gone]
    new.loads = [x for x in system.loads if id(x) not in gone]
    new.potentials = [p for p in system.potentials if id(p) not in gone]
    new.dissipations = [d for d in system.dissipations if id(d) not in gone]
    new.speed_list = [s for s in system.speed_list if s.definition.i not in rates]
    dropped = {*amplitudes.values(), *(s.name for s in system.speed_list if s.definition.i in rates)}
    new.symbols = {name: s for name, s in system.symbols.items() if name not in dropped}
    new.expansions, new.expanded = {}, {}
    left = [amplitudes[i] for i in symbols_of(t, list(nodes_of(new))) if i in amplitudes]
    if left:
        msg = (
            f"{left[0]} moves something else as well: a body, load or constraint hangs on a point of the expanded member;"
            " describe it as what sits on the member's end, s.end(...), to have hybrid equations"
        )
        raise NotApplicable(msg)
    return new
