"""A description from sympy.physics.mechanics: rebuilt from positions and orientations, and checked
against SymPy's own equations.

Velocities that were set by hand are not used: they follow from the geometry, and a contradiction is
reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dalembert.errors import DalembertError
from dalembert.exchange.exports.identifiers import ascii_identifier
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.solid_inertia import inertia
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.system import System
from dalembert.runtime.dynamics.compile import forward_dynamics
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import copy_expressions, evaluate
from dalembert.symbolic.algebra.scalar import Scalar

_STATES: Final = 5
_AGREEMENT_TOLERANCE: Final = 1e-9


class NotRebuilt(DalembertError):
    """A SymPy model that is incomplete or contradicts itself."""


def from_sympy(
    method: Any,
    bodies: Sequence[Any] | None = None,
    *,
    name: str = "From SymPy",
    check: bool = True,
) -> System:
    """The system that a KanesMethod, a LagrangesMethod or a sympy.physics.mechanics.System
    describes.

    bodies   its particles and rigid bodies, where the method does not know them
    check    whether SymPy's own mass matrix and forcing are compared with ours at random states;
             a disagreement is an error
    """
    from dalembert.exchange.exports.sympy_reader import read_sympy_model

    read = read_sympy_model(method, bodies)
    rebuilt = _SympyImporter(read, name)
    if check:
        M, f = (
            [rebuilt.scalar(e) for e in entries] for entries in (read.mass_matrix, read.forcing)
        )
        _check_agreement(rebuilt.system, M, f, [rebuilt.scalar(u) for u in read.u])
    return rebuilt.system


class _SympyImporter:
    """Symbols, frames, points, bodies, loads, rows and speeds, each made when first needed."""

    def __init__(self, read: Any, name: str) -> None:
        import sympy

        self.read, self.sympy = read, sympy
        self.system = System(name)
        self.names: dict[Any, str] = {}
        self.frames: dict[Any, Frame] = {read.N: self.system.N}
        self.points: dict[Any, Point] = {read.O: self.system.O}
        self.rows = 0
        for q in read.q:
            self.names[q] = self._unused_name(str(q.func))
            self.system.coordinate(self.names[q])
        self._speeds()
        self._bodies()
        for k, (where, vector) in enumerate(read.loads, 1):
            load = self.vector(vector)
            if hasattr(where, "pos_from"):
                self.system.force(load, self.point(where), name=f"force {k}")
            else:
                self.system.torque(load, self.frame(where), name=f"torque {k}")
        if read.potential is not None:
            self.system.potential(self.scalar(read.potential))
        for e in (*read.configuration, *read.velocity):
            self.rows += 1
            self.system.constrain(self.scalar(e), f"row {self.rows}")

    def _unused_name(self, wanted: str) -> str:
        candidate = ascii_identifier(wanted)
        while candidate in self.names.values() or candidate in ("t", "pi", "lambda"):
            candidate += "_"
        return candidate

    # ---- expressions -------------------------------------------------------------------------

    def scalar(self, e: Any) -> Any:
        """An expression with its dynamicsymbols and symbols as symbols of the system."""
        sympy, s = self.sympy, self.system
        e = sympy.sympify(e)
        t = self.read.t
        replace = {t: sympy.Symbol("t")}
        for d in e.atoms(sympy.Derivative):
            replace[d] = sympy.Symbol(self._dynamic_symbol(d.expr) + "'" * int(d.derivative_count))
        for f in e.atoms(sympy.core.function.AppliedUndef):
            replace[f] = sympy.Symbol(self._dynamic_symbol(f))
        for c in e.free_symbols - {t}:
            replace[c] = sympy.Symbol(self._constant(c))
        return to_scalar_expression(
            s,
            e.xreplace(
                {k: v for k, v in replace.items() if isinstance(k, sympy.Derivative)}
            ).xreplace(replace),
        )

    def _dynamic_symbol(self, f: Any) -> str:
        """A coordinate or speed; any other function of time is a prescribed motion."""
        if f not in self.names:
            self.names[f] = self._unused_name(str(f.func))
            if f in self.read.specified:
                self.system.input(self.names[f])
            else:
                self.system.specified(self.names[f])
        return self.names[f]

    def _constant(self, c: Any) -> str:
        if c not in self.names:
            self.names[c] = self._unused_name(c.name)
            self.system.constant(self.names[c])
        return self.names[c]

    def vector(self, v: Any) -> Vector:
        """Σ components along frames."""
        total = 0 * self.system.N.x
        for components, frame in getattr(v, "args", ()):
            F = self.frame(frame)
            for c, axis in zip(components, (F.x, F.y, F.z), strict=True):
                total = total + self.scalar(c) * axis if c != 0 else total
        return total

    # ---- geometry ----------------------------------------------------------------------------

    def frame(self, F: Any) -> Frame:
        """The frame, by its direction cosines in the next one on the way to the inertial frame."""
        if F not in self.frames:
            parent = self._next_frame(F, self.read.N)
            R = parent.dcm(F)
            self.frames[F] = self._axis_rotation(F, parent, R) or self.frame(parent).oriented(
                [[self.scalar(R[i, j]) for j in range(3)] for i in range(3)],
                ascii_identifier(F.name),
            )
        return self.frames[F]

    def _next_frame(self, F: Any, N: Any) -> Any:
        try:
            return F._dict_list(N, 0)[1]  # noqa: SLF001 - the way SymPy itself takes
        except (ValueError, IndexError) as problem:
            msg = f"the orientation of {F.name} in {N.name} is not given"
            raise NotRebuilt(msg) from problem

    def _axis_rotation(self, F: Any, parent: Any, R: Any) -> Frame | None:
        """A turn about one axis keeps its angle, so that equations stay short."""
        sympy = self.sympy
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            c, s = R[i, i], R[j, i]
            if (
                R[k, k] == 1
                and c.func is sympy.cos
                and s in (sympy.sin(c.args[0]), -sympy.sin(c.args[0]))
            ):
                P = self.frame(parent)
                sign = 1 if s == sympy.sin(c.args[0]) else -1
                return P.rotated(
                    sign * self.scalar(c.args[0]), (P.x, P.y, P.z)[k], ascii_identifier(F.name)
                )
        return None

    def point(self, P: Any) -> Point:
        """The point, by its position from the origin."""
        if P not in self.points:
            try:
                way = P._pdict_list(self.read.O, 0)  # noqa: SLF001 - the way SymPy itself takes
            except ValueError as problem:
                msg = (
                    f"the position of {P.name} is not given, only its velocity; set it with "
                    f"set_pos or locatenew"
                )
                raise NotRebuilt(msg) from problem
            parent = way[1]
            self.points[P] = self.point(parent).offset(
                self.vector(P.pos_from(parent)), ascii_identifier(P.name)
            )
        return self.points[P]

    def _bodies(self) -> None:
        for k, body in enumerate(self.read.bodies, 1):
            name = f"{body.name}" or f"body {k}"
            if not hasattr(body, "central_inertia"):
                self.system.particle(name, self.scalar(body.mass), self.point(body.point))
                continue
            F = self.frame(body.frame)
            I = body.central_inertia.to_matrix(body.frame)
            entries = [
                self.scalar(I[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))
            ]
            self.system.body(
                name, self.scalar(body.mass), self.point(body.masscenter), F, inertia(F, *entries)
            )

    def _speeds(self) -> None:
        """u = Y q' + Z from SymPy's kinematical differential equations; the rates themselves
        where u = q'.
        """
        if not self.read.definitions:
            return
        definitions = {u: self.scalar(e) for u, e in self.read.definitions.items()}
        for u in definitions:
            self.names[u] = self._unused_name(str(u.func))
        self.system.speeds(**{self.names[u]: e for u, e in definitions.items()})


def to_scalar_expression(system: System, e: Any) -> Any:
    """A SymPy expression in the names of the system."""
    from dalembert.symbolic.algebra.sympy_conversion import from_sympy as read

    return read(system.space.tape, e)


# ---- SymPy's own equations against ours, at random states ----------------------------------------


class Disagreement(DalembertError):
    """SymPy's equations and ours differ, and by how much."""


def _check_agreement(
    system: System, M: Sequence[Scalar], f: Sequence[Scalar], u: Sequence[Scalar]
) -> None:
    """Refuse a model whose equations in SymPy are others than those of its bodies, positions and
    loads.
    """
    worst = _largest_residual(system, M, f, u)
    if not worst <= _AGREEMENT_TOLERANCE:
        why = (
            "velocities that were typed may contradict the positions, or a load or body is "
            "missing in one of them"
        )
        msg = (
            f"SymPy's own equations disagree with those rebuilt from positions and "
            f"orientations, "
            f"by {worst:.2g} relative: {why}"
        )
        raise Disagreement(msg)


def _largest_residual(
    system: System, M: Sequence[Scalar], f: Sequence[Scalar], u: Sequence[Scalar]
) -> float:
    """The largest |M_s u̇ − f_s| over random states, relative to its largest term, with our own
    u̇.
    """
    explicit, kin = forward_dynamics(system), kinematics(system).fork()
    rng = np.random.default_rng(1)
    entries = [
        kin.in_speeds(i)
        for i in copy_expressions(system.space.tape, kin.tape, [e.i for e in (*M, *f)])
    ]
    # the speeds and their rates in the independent ones
    rates = [kin.rate(kin.in_speeds(x.i)) for x in u]
    n, worst = len(u), 0.0
    for _ in range(_STATES):
        numbers = {
            i: float(rng.uniform(0.3, 1.3))
            for i, node in enumerate(kin.tape.nodes)
            if node[0] == "symbol"
        }
        udot = evaluate(explicit.tape, explicit.udot, numbers.__getitem__, FloatArithmetic())
        numbers |= dict(zip(kin.udot, udot, strict=True))
        ours = evaluate(kin.tape, (*entries, *rates), numbers.__getitem__, FloatArithmetic())
        mass, forcing, accelerations = np.split(np.array(ours), [n * n, n * n + n])
        mass = mass.reshape(n, n)
        size = (np.abs(mass) @ np.abs(accelerations) + np.abs(forcing)).max()
        worst = max(worst, float(np.abs(mass @ accelerations - forcing).max() / (size or 1.0)))
    return worst
