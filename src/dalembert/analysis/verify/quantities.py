"""T, V, L, H, S, p_θ, Q_θ, v(P).x, W_1_2: quantities that an answer may name, as expressions in
q̇.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics import spatial_fields
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, gradient
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column

_ENTRY: Final = re.compile(r"(W|X|M|f|A|b)_(\d{1,2})(?:_(\d{1,2}))?")
VECTOR: Final = re.compile(
    r"(r|v|a|w|omega|ω|alpha|α)(?:_(\d{1,2}))?\(([^()]{1,60})\)\.(?:([^\W\d]\w*)\.)?([xyz])"
)
_SPELLINGS: Final = {"ω": "w", "omega": "w", "α": "alpha"}
CONSTANTS: Final = ("const", "constant", "konst", "C")


@dataclass(frozen=True)
class VectorName:
    """A component of a vector: of a point or frame, along an axis of a frame, and for a partial
    velocity the number of its speed.
    """

    kind: str
    place: Point | Frame
    frame: Frame
    axis: str
    speed: int | None = None


class MechanicalQuantities:
    """The quantities of a system by their usual names."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin, self.tape = kin, kin.tape

    @cached_property
    def _of(self) -> Quantities:
        return Quantities(self.kin)

    # ---- names ---------------------------------------------------------------------------------

    def is_name(self, name: str) -> bool:
        """Whether it names a quantity; nothing is computed."""
        return (
            name in self._energies
            or name in CONSTANTS
            or self._place(name, ("p", "Q")) is not None
            or self._force(name) is not None
            or (name.startswith("δ") and self._coordinate(name[1:]) is not None)
            or _ENTRY.fullmatch(name) is not None
            or self._vector_places(name) is not None
        )

    def node(self, name: str) -> int | None:
        """The quantity as a node, in q̇ and q̈ where it can be; None where the name means none."""
        if name in self._energies:
            return self._energies[name]().i
        place = self._place(name, ("p", "Q"))
        if place is not None:
            return self._momentum(place) if name.startswith("p") else self._load(place)
        number = self._force(name)
        if number is not None:
            return self._active_forces[number]
        entry = _ENTRY.fullmatch(name)
        if entry is not None:
            return self._entry(entry[1], int(entry[2]) - 1, int(entry[3] or 1) - 1)
        return self._component(name)

    def _coordinate(self, name: str) -> int | None:
        return next((k for k, q in enumerate(self.kin.q) if self.kin.name(q) == name), None)

    def _place(self, name: str, letters: tuple[str, ...]) -> int | None:
        """p_theta → the place of theta; p_1 → the first coordinate."""
        letter, _, index = name.partition("_")
        if letter not in letters or not index:
            return None
        place = self._coordinate(index)
        if place is None and index.isdigit() and 0 < int(index) <= self.kin.n_q:
            return int(index) - 1
        return place

    def _force(self, name: str) -> int | None:
        """F_2 → the generalized active force along the second speed; F_theta → along θ̇."""
        match = re.fullmatch(r"F_?r?_?(\d{1,2})", name)
        if match is not None:
            return self._speed(match[1])
        place = self._place(name, ("F",))
        rate = None if place is None else self.kin.qdot_of_u[place]
        return self.kin.u.index(rate) if rate in self.kin.u else None

    def _speed(self, number: str) -> int | None:
        return int(number) - 1 if 0 < int(number) <= self.kin.n_u else None

    # ---- energies ------------------------------------------------------------------------------

    @cached_property
    def _energies(self) -> dict[str, Callable[[], Scalar]]:
        return {
            "T": lambda: self.T,
            "V": lambda: self.V,
            "U": lambda: self.V,
            "L": lambda: self.T - self.V,
            "H": self._hamiltonian,
            "E": lambda: self.T + self.V,
            "S": self._gibbs,
        }

    @cached_property
    def T(self) -> Scalar:
        """The kinetic energy in q̇."""
        return self._scalar(self._of.rates.T.value)

    @cached_property
    def V(self) -> Scalar:
        """The potential energy."""
        return self._scalar(spatial_fields.potential_energy(self.kin))

    def _scalar(self, e: Scalar) -> Scalar:
        return Scalar(self.tape, self.kin.in_rates(e.i))

    def _gibbs(self) -> Scalar:
        """S without the terms that are free of accelerations."""
        from dalembert.symbolic.algebra.expression_graph import Substitution

        S: Scalar = self._of.speeds.S.value
        at_rest = Substitution(self.tape, dict.fromkeys(self.kin.udot, self.tape.zero))
        return S - Scalar(self.tape, at_rest(S.i))

    def _hamiltonian(self) -> Scalar:
        """H = p·q̇ − L"""
        t = self.tape
        products = (
            Scalar(t, t.mul(self._momentum(k), rate)) for k, rate in enumerate(self.kin.qdot)
        )
        return sum(products, Scalar(t, t.zero)) - self.T + self.V

    # ---- columns -------------------------------------------------------------------------------

    def _momentum(self, k: int) -> int:
        """p_k = ∂T/∂q̇_k"""
        return gradient(self.tape, {self.T.i: self.tape.one}, [self.kin.qdot[k]])[0]

    @cached_property
    def _loads(self) -> Column:
        return self._of.rates.Q.value  # type: ignore[no-any-return]

    def _load(self, k: int) -> int:
        """Q_k of the loads that have no potential."""
        return self._loads.nodes[k]

    @cached_property
    def _active_forces(self) -> tuple[int, ...]:
        """F_r of all loads, along the speeds."""
        q = self._of.speeds
        column = q.nonpotential_force(q.velocity_variables).value
        V_r = LinearCoefficients(self.tape, self.kin.u)(self.kin.coordinate_rate(self.V.i))[1]
        t = self.tape
        return tuple(t.sub(node, V_r.get(r, t.zero)) for r, node in enumerate(column.nodes))

    def active_force(self, r: int) -> int:
        """F_r of all loads, along one speed."""
        return self._active_forces[r]

    # ---- entries of matrices -------------------------------------------------------------------

    def _entry(self, matrix: str, i: int, j: int) -> int | None:
        """W_ij and X_i of q̇ = W u + X, M_ij and f_i of M u̇ = f, A_ij and b_i of A q̇ + b = 0."""
        kin, zero = self.kin, self.tape.zero
        if matrix in ("W", "X"):
            if i >= kin.n_q or (matrix == "W" and j >= kin.n_u):
                return None
            X, W = kin.WX[i]
            return X if matrix == "X" else W.get(j, zero)
        if matrix in ("A", "b"):
            if i >= len(kin.rows) or (matrix == "A" and j >= kin.n_q):
                return None
            return kin.rows[i].b if matrix == "b" else kin.rows[i].A.get(j, zero)
        if i >= kin.n_u or j >= kin.n_u:
            return None
        return self._common_form(matrix, i, j)

    def _common_form(self, matrix: str, i: int, j: int) -> int:
        from dalembert.mechanics.agreement.principle_registry import derive_equations_of_motion
        from dalembert.symbolic.algebra.expression_graph import copy_expressions

        derivation = derive_equations_of_motion(self.kin)
        residual = copy_expressions(derivation.tape, self.tape, derivation.equations.residuals)[i]
        minus_f, M = LinearCoefficients(self.tape, self.kin.udot)(residual)
        return self.tape.neg(minus_f) if matrix == "f" else M.get(j, self.tape.zero)

    # ---- vectors -------------------------------------------------------------------------------

    def _vector_places(self, name: str) -> VectorName | None:
        """v(bob).x, w(B).A.z, v_2(bob).x → which vector, of what, along which axis."""
        match = VECTOR.fullmatch(name)
        if match is None:
            return None
        kind, of, along = _SPELLINGS.get(match[1], match[1]), match[3].strip(), match[4]
        place = self._frame(of) if kind in ("w", "alpha") else self._point(of)
        frame = self.kin.system.N if along is None else self._frame(along)
        speed = None if match[2] is None else self._speed(match[2])
        unknown = match[2] is not None and (speed is None or kind not in ("v", "w"))
        if place is None or frame is None or unknown:
            return None
        return VectorName(kind, place, frame, match[5], speed)

    def _frame(self, name: str) -> Frame | None:
        system = self.kin.system
        body = next((b for b in system.bodies if b.name == name), None)
        return (
            body.frame
            if body is not None
            else next((f for f in system.space.frames if f.name == name), None)
        )

    def _point(self, name: str) -> Point | None:
        system = self.kin.system
        body = next((b for b in system.bodies if b.name == name), None)
        return (
            body.G
            if body is not None
            else next((p for p in system.space.points if p.name == name), None)
        )

    def _component(self, name: str) -> int | None:
        places = self._vector_places(name)
        if places is None:
            return None
        kind, place, motion = places.kind, places.place, self.kin.motion_in_rates
        if places.speed is not None:
            partials = self.kin.partial_velocities(place)[0]
            vector = partials.get(places.speed)
            if vector is None:
                return self.tape.zero
        elif isinstance(place, Frame):
            vector = motion.w(place)
        elif kind == "r":
            vector = (place - self.kin.system.O).on(self.tape)
        else:
            vector = motion.v(place)
        if kind in ("a", "alpha"):
            vector = motion.derivative(vector)
        return vector.components(places.frame)["xyz".index(places.axis)]
