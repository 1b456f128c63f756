"""H λ = −c with N ≥ 0, |T| ≤ k μ_s N: whether a system can rest in a position, and what part k of
its friction that takes.
Keywords: second-order cone, cutting planes.

Friction in a plane has a round cone: tangent planes d·T ≤ k μ_s N, d along the force that leaves
it, are added to the linear program until none does. Without a solution of the program the cone
has none.

Equilibria with friction are sets: a position belongs to it where k ≤ 1. Where the forces are not
determined (two supports that both hold), k is the least that some of them need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

import numpy as np

from dalembert.errors import NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.elements import UnilateralContact
from dalembert.runtime.contact.contact_equations import ContactRow
from dalembert.runtime.contact.contact_model import ContactModel, ContactQuantities, contact_model
from dalembert.runtime.states.initial_conditions import solve_initial_conditions
from dalembert.runtime.states.run_values import parameter_vector, run_values

_TOUCHING: Final = 1e-9
_SMALL: Final = 1e-9
_RESOLUTION: Final = 1e-11
_NO_FRICTION: Final = 1e-12
# of the linear program, the least that it allows
_TOLERANCE: Final = 1e-10
_MAX_FACTOR: Final = 2.0**20
# of forces without friction, relative to the loads
_LEAST_WEIGHT: Final = 1e-6
# what a force may lie outside a round cone, relative, and planes that are tried for one factor
_ROUND: Final = 4e-10
_MOST_CUTS: Final = 60


@dataclass(frozen=True)
class RestPosition(Displayable):
    """Whether a system rests in a position; `needed` is the fraction of the static friction
    that this needs, infinite where none suffices.
    """

    rests: bool
    needed: float
    # {contact: (N, T)} that hold it, (N, T1, T2) in a plane, and the contact that slips first
    forces: Mapping[str, tuple[float, ...]] = field(repr=False)
    first: str = ""

    def __bool__(self) -> bool:
        return self.rests

    def __str__(self) -> str:
        if not np.isfinite(self.needed):
            return "does not rest: no forces of the contacts balance the loads here"
        part = f"{self.needed:.6g} of the available static friction"
        if not self.rests:
            return f"does not rest: it would take {part}; {self.first!r} slips"
        held = ", ".join(
            f"{name}: N = {N:.6g}, T = {' and '.join(f'{x:.6g}' for x in T)}"
            for name, (N, *T) in self.forces.items()
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
    program = _FrictionProgram(model, q._replace(normal=[n / scale for n in q.normal]), c / scale)
    lam = program.least_factor_forces()
    if lam is None:
        return RestPosition(rests=False, needed=np.inf, forces={})
    return _result(model, q, lam * scale)


def _unforced_acceleration(model: ContactModel, y: FloatArray, t: float) -> FloatArray:
    """u̇ without any force of a contact."""
    kin, native = model.values.kin, model.compiled.native
    p = np.array(parameter_vector(model.values, native.parameters), dtype=float)
    rates = native.rates.batch(np.append(y, t)[np.newaxis], p)[0]
    return np.asarray(rates[kin.layout.u])


class _FrictionProgram:
    """λ with H λ = −c and |T| ≤ k μ_s N for the least k, forces and c relative to the loads.

    For a given k a linear program minimizes s with |T| − k μ_s N ≤ s w, w = μ_s N of the forces
    before; the largest |T|/(μ_s N) of its solution is the next k (Dinkelbach's method).
    """

    def __init__(self, model: ContactModel, q: ContactQuantities, c: FloatArray) -> None:
        self._q, self._c, place = q, c, model.equations.row_index
        across = model.equations.across_index
        rows = model.equations.rows
        self._bounds = [_force_bounds(model.contacts[row.contact], q, row) for row in rows]
        # {contact: rows of its friction}, and its normal row
        self._tangents = {
            k: [t, across[k]] if k in across else [t]
            for k in range(len(model.contacts))
            if (t := place.get((k, False))) is not None
        }
        self._normals = {k: place.get((k, True)) for k in self._tangents}
        # (contact, d) of the planes d·T ≤ k μ_s N + s w
        self._planes = [
            (k, d)
            for k, own in self._tangents.items()
            for d in np.vstack([np.eye(len(own)), -np.eye(len(own))])
        ]

    def least_factor_forces(self) -> FloatArray | None:
        """λ, or None where no friction is enough."""
        lam = self._solve(_MAX_FACTOR, dict.fromkeys(self._tangents, 0.0))
        if lam is None:
            return None
        k = self._factor(lam)
        while k > _NO_FRICTION:
            weights = {i: max(self._limit(i, lam), _LEAST_WEIGHT) for i in self._tangents}
            new = self._solve(k, weights)
            smaller = k if new is None else self._factor(new)
            if new is None or smaller >= k * (1.0 - _RESOLUTION):
                break
            lam, k = new, smaller
        return lam

    def _limit(self, contact: int, lam: FloatArray) -> float:
        """μ_s N"""
        n = self._normals[contact]
        N = self._q.normal[contact] if n is None else float(lam[n])
        return float(self._q.mu_static[contact]) * N

    def _factor(self, lam: FloatArray) -> float:
        """The largest |T|/(μ_s N)."""
        factors = [0.0]
        for i, rows in self._tangents.items():
            size, limit = float(np.hypot.reduce(lam[rows])), self._limit(i, lam)
            if size > _TOLERANCE:
                factors.append(size / limit if limit > 0.0 else _MAX_FACTOR)
        return max(factors)

    def _solve(self, k: float, weights: Mapping[int, float]) -> FloatArray | None:
        """λ of the least s for this k, with planes added where a round cone is left."""
        lam = None
        for _ in range(_MOST_CUTS):
            solution = self._linear_program(k, weights)
            if solution is None:
                return None
            lam, s = solution[:-1], float(solution[-1])
            outside = []
            for i, rows in self._tangents.items():
                size = float(np.hypot.reduce(lam[rows]))
                allowed = k * self._limit(i, lam) + s * weights[i]
                if len(rows) == 2 and size > allowed + _ROUND * (size + abs(allowed)):
                    outside.append((i, lam[rows] / size))
            if not outside:
                break
            self._planes += outside
        return lam

    def _linear_program(self, k: float, weights: Mapping[int, float]) -> FloatArray | None:
        from scipy.optimize import linprog

        m = len(self._bounds)
        A, b = np.zeros((len(self._planes), m + 1)), np.zeros(len(self._planes))
        for i, (contact, d) in enumerate(self._planes):
            most, n = k * float(self._q.mu_static[contact]), self._normals[contact]
            A[i, self._tangents[contact]], A[i, m] = d, -weights[contact]
            if n is None:
                b[i] = most * float(self._q.normal[contact])
            else:
                A[i, n] = -most
        result = linprog(
            np.eye(m + 1)[m],
            A_ub=A if len(A) else None,
            b_ub=b if len(A) else None,
            A_eq=np.hstack([self._q.H, np.zeros((len(self._c), 1))]),
            b_eq=-self._c,
            bounds=[*self._bounds, (-2.0 * k, 0.0)],
            method="highs",
            options={"primal_feasibility_tolerance": _TOLERANCE},
        )
        return np.asarray(result.x) if result.status == 0 else None


def _force_bounds(
    contact: UnilateralContact, q: ContactQuantities, row: ContactRow
) -> tuple[float | None, float | None]:
    """Least and largest force of a row."""
    if contact.gap is not None and abs(q.gap[row.contact]) > _TOUCHING:
        return 0.0, 0.0
    return (0.0, None) if row.normal and not contact.two_sided else (None, None)


def _result(model: ContactModel, q: ContactQuantities, lam: FloatArray) -> RestPosition:
    forces: dict[str, tuple[float, ...]] = {}
    first, needed, across = "", 0.0, model.equations.across_index
    for k, c in enumerate(model.contacts):
        n = model.equations.row_index.get((k, True))
        N = float(q.normal[k]) if n is None else float(lam[n])
        t = model.equations.row_index.get((k, False))
        T = np.zeros(1) if t is None else lam[[t, across[k]] if k in across else [t]]
        forces[c.name] = (N, *T.tolist())
        limit, size = float(q.mu_static[k]) * abs(N), float(np.hypot.reduce(T))
        if limit > 0.0 and size / limit > needed:
            first, needed = c.name, size / limit
    return RestPosition(rests=needed <= 1.0 + _SMALL, needed=needed, forces=forces, first=first)
