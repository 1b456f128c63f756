"""H λ = −c with N ≥ 0, |T| ≤ k μ_s N: whether a system can rest in a position, and what part k of
its friction that takes.

Equilibria with friction are sets: a position belongs to it where k ≤ 1. Where the forces are not
determined (two supports that both hold), k is the least that some of them need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.runtime.contact.contact_model import ContactModel, ContactQuantities, contact_model
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.run_values import parameter_vector, run_values

_TOUCHING: Final = 1e-9
_SMALL: Final = 1e-9
_BISECTIONS: Final = 44
_MAX_FACTOR: Final = 2.0**20


@dataclass(frozen=True)
class RestPosition(Displayable):
    """Whether a system rests in a position; `needed` is the fraction of the static friction
    that this needs, infinite where none suffices.
    """

    rests: bool
    needed: float
    # {contact: (N, T)} that hold it, and the contact that slips first
    forces: Mapping[str, tuple[float, float]] = field(repr=False)
    first: str = ""

    def __bool__(self) -> bool:
        return self.rests

    def __str__(self) -> str:
        if not np.isfinite(self.needed):
            return "does not rest: no forces of the contacts balance the loads here"
        part = f"{self.needed:.6g} times the static friction available"
        if not self.rests:
            return f"does not rest: it would take {part}; {self.first!r} slips"
        held = ", ".join(
            f"{name}: N = {N:.6g}, T = {T:.6g}" for name, (N, T) in self.forces.items()
        )
        return (
            f"rests, with {part}"
            + (f"; {self.first!r} would slip first" if self.first else "")
            + f" ({held})"
        )

    __repr__ = __str__


def solve_rest_position(
    kin: Kinematics,
    equations: ExplicitEquations,
    at: Mapping[Any, float],
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
    t: float,
) -> RestPosition:
    """The forces that hold a system at rest in a position, by linear programming."""
    plane = next((c for c in kin.system.contacts if c.T_across is not None), None)
    if plane is not None:
        msg = (
            f"rests: {plane.name!r} has friction in a plane, whose cone is no linear inequality; "
            f"simulate from rest instead"
        )
        raise NotApplicable(msg)
    guide = next((c for c in kin.system.contacts if c.two_sided and c.T is not None), None)
    if guide is not None:
        msg = (
            f"rests: {guide.name!r} presses from either side, and its admissible friction forces "
            "are not convex; simulate from rest instead"
        )
        raise NotApplicable(msg)
    switched = next((c for c in kin.system.contacts if c.active is not None), None)
    if switched is not None:
        msg = (
            f"rests: {switched.name!r} is switched by active=, and whether it holds is decided in "
            f"a run; simulate from rest instead"
        )
        raise NotApplicable(msg)
    chosen = run_values(kin, values, inputs)
    model = contact_model(chosen, equations)
    start = solve_initial_conditions(chosen.kin, at, chosen.symbol_values_at(t), t)
    if np.abs(start.qdot).max(initial=0.0) > _SMALL:
        msg = "rests: give a position; in this one velocities were given too, or a constraint moves"
        raise NotApplicable(msg)
    q, c = model.quantities(start.y, t), _unforced_acceleration(model, start.y, t)
    model.check_coefficients(q)
    scale = max(float(np.abs(c).max(initial=0.0)), 1e-300)
    feasible = _friction_program(model, q._replace(normal=[n / scale for n in q.normal]), c / scale)
    if (forces := feasible(_MAX_FACTOR)) is None:
        return RestPosition(rests=False, needed=np.inf, forces={})
    low, high = 0.0, _MAX_FACTOR
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        solution = feasible(middle)
        if solution is None:
            low = middle
        else:
            high, forces = middle, solution
    return _result(model, q, forces * scale)


def _unforced_acceleration(model: ContactModel, y: FloatArray, t: float) -> FloatArray:
    """u̇ without any force of a contact."""
    kin, native = model.values.kin, model.compiled.native
    p = np.array(parameter_vector(model.values, native.parameters), dtype=float)
    rates = native.rates.batch(np.append(y, t)[np.newaxis], p)[0]
    return np.asarray(rates[kin.speed_offset : kin.speed_offset + kin.n_u])


def _friction_program(
    model: ContactModel, q: ContactQuantities, c: FloatArray
) -> Callable[[float], FloatArray | None]:
    """λ/scale with H λ = −c and |T| ≤ k μ_s n, or None."""
    rows, place = model.equations.rows, model.equations.row_index
    bounds: list[tuple[float | None, float | None]] = []
    for row in rows:
        contact = model.contacts[row.contact]
        closed = contact.gap is None or abs(q.gap[row.contact]) <= _TOUCHING
        bounds.append(
            (0.0, 0.0)
            if not closed
            else (0.0, None)
            if row.normal and not contact.two_sided
            else (None, None)
        )

    def feasible(k: float) -> FloatArray | None:
        from scipy.optimize import linprog

        A, b, limits = [], [], list(bounds)
        for j, row in enumerate(rows):
            if row.normal:
                continue
            n = place.get((row.contact, True))
            mu = k * float(q.mu_static[row.contact])
            if n is None:
                most = mu * float(q.normal[row.contact])
                limits[j] = (-most, most)
                continue
            for sign in (1.0, -1.0):
                line = np.zeros(len(rows))
                line[j], line[n] = sign, -mu
                A.append(line)
                b.append(0.0)
        result = linprog(
            np.zeros(len(rows)),
            A_ub=np.array(A) if A else None,
            b_ub=b or None,
            A_eq=q.H,
            b_eq=-c,
            bounds=limits,
            method="highs",
        )
        return np.asarray(result.x) if result.status == 0 else None

    return feasible


def _result(model: ContactModel, q: ContactQuantities, lam: FloatArray) -> RestPosition:
    forces: dict[str, tuple[float, float]] = {}
    first, needed, place = "", 0.0, model.equations.row_index
    for k, c in enumerate(model.contacts):
        n, t = place.get((k, True)), place.get((k, False))
        N = float(q.normal[k]) if n is None else float(lam[n])
        T = 0.0 if t is None else float(lam[t])
        forces[c.name] = (N, T)
        limit = float(q.mu_static[k]) * abs(N)
        if t is not None and limit > 0.0 and abs(T) / limit > needed:
            first, needed = c.name, abs(T) / limit
    return RestPosition(rests=needed <= 1.0 + _SMALL, needed=needed, forces=forces, first=first)
