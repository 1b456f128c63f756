"""τ = Y(q, u, u̇) π + known: the loads of a motion, linear in the ten inertial parameters of every
body.
Keywords: regressor.

With P a point of the body, h = m (c − P) and I its inertia about P, the force and the moment about
P that accelerate it,

    f = m a + α×h + ω×(ω×h),   n = I α + ω×I ω + h×a,   a = a_P − g,

are linear in (I, h, m); partial velocities project them on the speeds.

Y π = Y_b (π_b + β π_d): which parameters a motion can identify, and in which combinations. Columns
of Y are dependent if they are so for every q, u, u̇. Y is evaluated at random points of a prime
field, with the constants of the system at their own values, until its rank no longer grows: the
rank found is never too large, and too small only with the probability that a polynomial vanishes at
a random point (Schwartz–Zippel). The coefficients β are fractions of F_p and are read back as
fractions where these are small, otherwise solved for in floats.

Source: C. Atkeson, C. An, J. Hollerbach, Int. J. Robotics Research 5(3), 1986, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dalembert.analysis.inverse.compiled_expressions import CompiledStateFunction
from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import (
    add3,
    cross3,
    dot3,
    matrix_sum,
    parallel_axis_term,
    scale3,
)
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.kinetics.generalized_forces import (
    generalized_active_forces_without_gravity,
    project_loads,
)
from dalembert.mechanics.kinetics.spatial_fields import Location
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.exact.finite_field import Element, modular_inverse
from dalembert.symbolic.algebra.exact.linear_algebra import rational_reconstruction, rref_mod
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.expression_graph import evaluate, symbols_of
from dalembert.symbolic.algebra.tape import Triple

Numbers = NDArray[np.float64]
_SEED: Final = 19
# points beyond those that give as many rows as there are columns
_EXTRA_POINTS: Final = 3
# a fraction with numerator and denominator below this is the only one of its residue modulo a prime
# of 62 bits
_MAX_FRACTION: Final = 10**9
# entries of the inertia, with their row and column
_INERTIA: Final = (
    ("Ixx", 0, 0),
    ("Ixy", 0, 1),
    ("Ixz", 0, 2),
    ("Iyy", 1, 1),
    ("Iyz", 1, 2),
    ("Izz", 2, 2),
)


@dataclass(frozen=True)
class InertialParameter(Displayable):
    """One inertial parameter of a body: an entry of its inertia about its point P, of h = m (c −
    P), or its mass.
    """

    name: str
    body: str
    value: float


class Regressor(Displayable):
    """Y(q, u, udot, t=0, **values) with τ = Y π + known, τ along the independent speeds.

    `parameters` names the columns of Y and gives π as the description has it; `base` says which of
    their combinations a motion can identify.
    """

    def __init__(
        self,
        kin: Kinematics,
        parameters: tuple[InertialParameter, ...],
        columns: list[dict[int, int]],
        known: list[int],
    ) -> None:
        self.parameters = parameters
        self.speeds: tuple[str, ...] = tuple(map(kin.name, kin.u))
        self._kin, self._columns = kin, columns
        zero = kin.tape.zero
        self._entries = [column.get(r, zero) for r in range(kin.n_u) for column in columns]
        self._known = known

    def __str__(self) -> str:
        return (
            f"Regressor: Y(q, u, udot) of {len(self.speeds)} × {len(self.parameters)}\n  rows "
            f"{', '.join(self.speeds)}"
        )

    @cached_property
    def _state_function(self) -> CompiledStateFunction:
        """Y row by row, then the known loads, as native code."""
        return CompiledStateFunction(self._kin, [*self._entries, *self._known])

    def __call__(self, q: Any, u: Any, udot: Any, t: Any = 0.0, **values: Any) -> Numbers:
        """Y at one state, or one for each row of many states."""
        y = self._state_function(q, u, udot, t, **values)[..., : len(self._entries)]
        return y.reshape(*y.shape[:-1], len(self.speeds), len(self.parameters))

    def known_loads(self, q: Any, u: Any, udot: Any, t: Any = 0.0, **values: Any) -> Numbers:
        """The loads that do not depend on π: springs, dampers, inputs and rotors, to be added to
        Y π.
        """
        return self._state_function(q, u, udot, t, **values)[..., len(self._entries) :]

    @property
    def pi(self) -> Numbers:
        """The parameters as the description has them."""
        return np.array([p.value for p in self.parameters])

    @cached_property
    def base(self) -> BaseParameters:
        """The combinations of parameters that matter, decided in a prime field."""
        names = [p.name for p in self.parameters]
        rows = [
            [column.get(r, self._kin.tape.zero) for column in self._columns]
            for r in range(len(self.speeds))
        ]
        return base_parameters(self._kin, rows, names)


def regressor(system: System, bodies: Sequence[str] | None = None) -> Regressor:
    """The regressor of the inertial parameters of all bodies that have mass, or of those named."""
    kin = kinematics(system).fork()
    chosen = _selected_bodies(system, bodies)
    parameters: list[InertialParameter] = []
    columns: list[dict[int, int]] = []
    for body in chosen:
        names, body_columns = _body_columns(kin, body)
        values = _parameter_values(kin, body)
        parameters += [
            InertialParameter(f"{n} of {body.name}", body.name, x)
            for n, x in zip(names, values, strict=True)
        ]
        columns += body_columns
    return Regressor(
        kin,
        tuple(parameters),
        columns,
        _known_loads(kin, [b for b in system.bodies if b not in chosen]),
    )


def _selected_bodies(system: System, names: Sequence[str] | None) -> list[Body]:
    massive = [b for b in system.bodies if b.mass != 0]
    if names is None:
        return massive
    unknown_names = [n for n in names if n not in {b.name for b in massive}]
    if unknown_names:
        msg = (
            f"regressor: no body {unknown_names[0]!r} with mass; there are "
            f"{', '.join(b.name for b in massive)}"
        )
        raise BadDescription(msg)
    return [b for b in massive if b.name in set(names)]


def reference_point(body: Body) -> Point:
    """The first point on the way to the mass centre that is fixed in the body: where its joint
    is.
    """
    P, F = body.G, body.frame
    while P.parent is not None and P.parent.frame is F and set(P.r.parts) <= {F} and _is_fixed(P.r):
        P = P.parent
    return P


def _is_fixed(r: Vector) -> bool:
    nodes = [i for c in r.parts.values() for i in c]
    return not any(i in r.tape.moving for i in symbols_of(r.tape, nodes))


# ---- columns -----------------------------------------------------------------------------------


def _body_columns(kin: Kinematics, body: Body) -> tuple[list[str], list[dict[int, int]]]:
    """{speed: entry of Y} for each parameter of a body; a particle has a mass alone."""
    P = reference_point(body) if body.frame is not None else body.G
    F, t = body.frame or kin.system.N, kin.tape
    a_F, v = _specific_force(kin, P).components(F), _partial_velocities(kin, P, F)
    mass = {r: dot3(t, x, a_F) for r, x in v.items()}
    if body.frame is None:
        return ["m"], [mass]
    w, alpha = kin.w(F).components(F), kin.alpha(F).components(F)
    w_r = _partial_velocities(kin, F, F)
    columns = [
        {r: dot3(t, x, moment) for r, x in w_r.items()}
        for moment in _inertia_moments(kin, w, alpha)
    ]
    for j, swing in enumerate(_first_moment_accelerations(kin, w, alpha)):
        forces = {r: dot3(t, x, swing) for r, x in v.items()}
        # ω_r·(e_j × a) = e_j·(a × ω_r)
        moments = {r: cross3(t, a_F, x)[j] for r, x in w_r.items()}
        columns.append(
            {r: t.add(forces.get(r, t.zero), moments.get(r, t.zero)) for r in forces | moments}
        )
    return [*(n for n, _, _ in _INERTIA), "hx", "hy", "hz", "m"], [*columns, mass]


def _specific_force(kin: Kinematics, P: Point) -> Vector:
    """a − g"""
    field = kin.system.gravity_field
    return kin.a(P) if field is None else kin.a(P) - field.g.on(kin.tape)


def _partial_velocities(kin: Kinematics, X: Point | Frame, F: Frame) -> dict[int, Triple]:
    return {r: x.components(F) for r, x in kin.partial_velocities(X)[0].items()}


def _inertia_moments(kin: Kinematics, w: Triple, alpha: Triple) -> Iterable[Triple]:
    """E α + ω × E ω for each symmetric unit matrix E."""
    t = kin.tape
    for _, i, j in _INERTIA:
        E_alpha, E_w = [t.zero] * 3, [t.zero] * 3
        E_alpha[i], E_w[i] = alpha[j], w[j]
        E_alpha[j], E_w[j] = alpha[i], w[i]
        yield add3(t, (E_alpha[0], E_alpha[1], E_alpha[2]), cross3(t, w, (E_w[0], E_w[1], E_w[2])))


def _first_moment_accelerations(kin: Kinematics, w: Triple, alpha: Triple) -> Iterable[Triple]:
    """α × e + ω × (ω × e) for each axis e."""
    t = kin.tape
    for j in range(3):
        e: Triple = (
            t.one if j == 0 else t.zero,
            t.one if j == 1 else t.zero,
            t.one if j == 2 else t.zero,
        )
        yield add3(t, cross3(t, alpha, e), cross3(t, w, cross3(t, w, e)))


# ---- what is known -----------------------------------------------------------------------------


def _known_loads(kin: Kinematics, others: Sequence[Body]) -> list[int]:
    """The loads but gravity taken to the other side, and the inertia of bodies that are not
    identified.
    """
    field = kin.system.gravity_field
    inertia: list[tuple[Location, Vector]] = []
    for body in others:
        a = kin.a(body.G) if field is None else kin.a(body.G) - field.g.on(kin.tape)
        inertia.append((body.G, -(body.mass * a)))
        if body.frame is not None and body.inertia is not None:
            inertia.append((body.frame, -kin.motion.derivative(body.inertia @ kin.w(body.frame))))
    return list(-(generalized_active_forces_without_gravity(kin) + project_loads(kin, inertia)))


def _parameter_values(kin: Kinematics, body: Body) -> list[float]:
    """(I about P, h, m) as the description has them; NaN where a constant has no value."""
    t = kin.tape
    if body.frame is None or body.inertia is None:
        nodes = [body.mass.i]
    else:
        rho = (body.G - reference_point(body)).on(t).components(body.frame)
        m_rho = scale3(t, body.mass.i, rho)
        # Huygens–Steiner
        I = matrix_sum(t, body.inertia.on(t).to(body.frame).rows, parallel_axis_term(t, m_rho, rho))
        about_P = [I[i][j] for _, i, j in _INERTIA]
        nodes = [*about_P, *m_rho, body.mass.i]
    numbers = {
        s.scalar.i: float(s.value) for s in kin.system.symbols.values() if s.value is not None
    }
    if any(i not in numbers for i in symbols_of(t, nodes)):
        return [np.nan] * len(nodes)
    return [float(x) for x in evaluate(t, nodes, numbers.__getitem__, FloatArithmetic())]


# ---- base parameters ----------------------------------------------------------------------------


@dataclass(frozen=True)
class BaseParameters(Displayable):
    """π_b,i = π_i + Σ_j β_ij π_j: the combinations that matter, named by the parameter that
    leads each.
    """

    # all parameters; indices of the leading ones, and of those that no motion ever shows
    names: tuple[str, ...]
    leading: tuple[int, ...]
    unidentifiable: tuple[int, ...]
    # {parameter: ((leading one, β), …)} of those that only enter combinations; β is a float where
    # it is no small fraction
    coefficients: dict[int, tuple[tuple[int, Fraction | float], ...]]
    # rows of Y that were looked at, each at a random point
    rows: int

    @property
    def count(self) -> int:
        """The number of identifiable combinations."""
        return len(self.leading)

    @property
    def matrix(self) -> Numbers:
        """K with π_b = K π."""
        K = np.zeros((self.count, len(self.names)))
        place = {i: k for k, i in enumerate(self.leading)}
        for i, k in place.items():
            K[k, i] = 1.0
        for j, terms in self.coefficients.items():
            for i, beta in terms:
                K[place[i], j] = float(beta)
        return K

    def combination(self, i: int) -> str:
        """The combination that a leading parameter stands for."""
        text = self.names[i]
        for j, terms in self.coefficients.items():
            for lead, beta in terms:
                if lead == i:
                    sign, size = ("−", -beta) if beta < 0 else ("+", beta)
                    factor = (
                        ""
                        if size == 1
                        else f"{size} "
                        if isinstance(size, Fraction)
                        else f"{size:.12g} "
                    )
                    text += f" {sign} {factor}{self.names[j]}"
        return text

    def __str__(self) -> str:
        head = (
            f"{self.count} base parameters of {len(self.names)}; {len(self.unidentifiable)} "
            f"have no effect"
        )
        return "\n".join([head, *(f"  {self.combination(i)}" for i in self.leading)])


def base_parameters(
    kin: Kinematics, Y: Sequence[Sequence[int]], names: Sequence[str]
) -> BaseParameters:
    """The rank of Y over all motions, its first independent columns, and how the others depend
    on them.
    """
    width = len(names)
    count = -(-width // max(1, len(Y))) + _EXTRA_POINTS
    points = _motion_sample_points(kin, Y, count)
    matrix = [[point(e) for e in row] for point in points for row in Y]
    p = points[0].prime
    rref, pivots = rref_mod(matrix, p)
    grouped: dict[int, tuple[tuple[int, Fraction | float], ...]] = {}
    for j in sorted(set(range(width)).difference(pivots)):
        residues = {i: row[j] for i, row in zip(pivots, rref, strict=True) if row[j]}
        exact = _exact_coefficients(residues, p)
        grouped[j] = _fit_coefficients(kin, Y, j, list(residues)) if exact is None else exact
    idle = tuple(j for j, group in grouped.items() if not group)
    return BaseParameters(
        tuple(names), tuple(pivots), idle, {j: g for j, g in grouped.items() if g}, len(matrix)
    )


def _exact_coefficients(
    residues: Mapping[int, Element], p: int
) -> tuple[tuple[int, Fraction], ...] | None:
    """β modulo p as small fractions; None where one is none."""
    read = [(i, rational_reconstruction(x, p, _MAX_FRACTION)) for i, x in residues.items()]
    exact = tuple((i, beta) for i, beta in read if beta is not None)
    return exact if len(exact) == len(read) else None


def _motion_sample_points(
    kin: Kinematics, Y: Sequence[Sequence[int]], count: int
) -> list[SamplePoint]:
    """Points of one field that differ in the motion and in nothing else; constants have their
    own values.
    """
    t = kin.tape
    inside = symbols_of(t, [e for row in Y for e in row])
    moving = {*kin.q, *kin.u, *kin.udot, *kin.qdot, *kin.qddot, kin.system.t.i}
    first = SamplePoint(t, _SEED)
    p = first.prime
    values = {
        s.scalar.i: Fraction(s.value) for s in kin.system.symbols.values() if s.value is not None
    }
    given = {
        i: x.numerator * modular_inverse(x.denominator, p) % p
        for i, x in values.items()
        if i in inside
    }
    points = []
    for k in range(count):
        point = SamplePoint(t, _SEED, given=given)
        point.generators.redraws.update({kin.name(i): k + 1 for i in inside if i in moving})
        points.append(point)
    return points


def _fit_coefficients(
    kin: Kinematics, Y: Sequence[Sequence[int]], j: int, inside: Sequence[int]
) -> tuple[tuple[int, Fraction | float], ...]:
    """β of one column by least squares over random states, on the columns that the prime field
    found it to depend on.
    """
    columns = [*inside, j]
    native = CompiledStateFunction(kin, [row[k] for row in Y for k in columns])
    rng = np.random.default_rng(_SEED)
    n = 4 * (1 + len(inside) // max(1, len(Y))) + 4
    states = [rng.uniform(-1.5, 1.5, (n, size)) for size in (kin.n_q, kin.n_u, kin.n_u)]
    table = native(*states).reshape(-1, len(columns))
    beta = np.linalg.lstsq(table[:, :-1], table[:, -1], rcond=None)[0]
    return tuple(zip(inside, beta.tolist(), strict=True))
