"""r, v, a and R, ω, α of every body in the independent speeds u, with the partial velocities.

v = Σ_r v_r u_r + v_t, ω = Σ_r ω_r u_r + ω_t. Velocities come by recursion from the parent; partial
velocities are sparse.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any, Final

from dalembert.errors import NotASystem
from dalembert.foundation.caching import (
    COMPUTE_LOCK,
    PerOwnerCache,
    lazy_property,
    shared_property,
)
from dalembert.foundation.display import Displayable
from dalembert.mechanics.geometry.frame import Frame, VelocityRecursion
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.constraint_rows import (
    ConstraintRow,
    VelocityRow,
    constraint_rows,
)
from dalembert.mechanics.kinematics.generalized_speeds import (
    SpeedChoice,
    SpeedSolver,
    definitions_in_rates,
    velocities_from_speeds,
)
from dalembert.mechanics.kinematics.idle_coordinates import check_equations_exist
from dalembert.mechanics.kinematics.state_layout import StateLayout
from dalembert.mechanics.model.likely_errors import warn_about_likely_errors
from dalembert.mechanics.model.member_verbs import declare_amplitude_speeds
from dalembert.mechanics.model.registry import check_complete, warn_about_moving_points
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.expression_graph import Derivative, LinearCoefficients, Substitution
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Number, Tape, Triple

# velocities are written on the tape of the system when they are first asked for: one thread at a
# time
_UNREDUCED_CACHE: Final = PerOwnerCache["Kinematics"]()
_DEPENDENT_RATES_CACHE: Final = PerOwnerCache["Kinematics"]()
# what a fork recomputes on request
_TAPE_BOUND_ATTRIBUTES: Final = (
    *("tape", "in_rates", "in_speeds", "rate", "coordinate_rate"),
    *(
        "qddot_of_u",
        "velocity_rows",
        "motion",
        "motion_in_rates",
        "_linear",
        "_acceleration_cache",
        "_partial_velocity_cache",
    ),
)


class Kinematics(Displayable):
    """The kinematics that all principles share: q, u, q̇ = W u + X, the rows A q̇ + b = 0, and all
    velocities.

    It owns a fork of the system's tape; every derivation forks it again at `mark`, so derivations
    do not see
    one another.

    With `eliminate=False` nothing is eliminated: u = z are all the rates (spins where there is a
    quaternion), and the constraint rows stay in augmented form as `velocity_rows`. Declared speeds
    then follow from the rates by their definitions.
    """

    def __str__(self) -> str:
        counted = (
            f"{len(self.q)} coordinates, {len(self.rows)} constraint rows, {len(self.u)} "
            f"independent speeds"
        )
        return f"Kinematics of {self.system.name}: {counted} {', '.join(map(self.name, self.u))}"

    def __init__(
        self,
        system: System,
        *,
        eliminate: bool = True,
        complete: bool = True,
        dependent: tuple[str, ...] = (),
    ) -> None:
        # a system that carries continua is complete without coordinates and masses of its own
        if complete:
            check_complete(system)
        self.system = system.snapshot()
        t = self.__dict__["tape"] = system.space.tape.fork()
        self.q: tuple[int, ...] = tuple(q.i for q in system.q)
        self.qdot: tuple[int, ...] = tuple(q.dot.i for q in system.q)
        self.qddot: tuple[int, ...] = tuple(q.dot.dot.i for q in system.q)
        # everything in q̇: declared speeds replaced by their definitions
        self._definitions = definitions_in_rates(system, t)
        declared = constraint_rows(system, t, list(self.qdot), self.in_rates)
        self._sort_rows(declared, eliminate=eliminate)
        solver = SpeedSolver(system, t, list(self.qdot), self.rows, self.in_rates)
        choice = solver.solve(dependent) if eliminate else solver.keep_all_rates()
        self._adopt_speeds(choice)
        # what a run holds constant between times at which it is set again: none in a description
        self.sampled_inputs: tuple[int, ...] = ()
        in_u = Substitution(t, self._in_u)
        self._collect_states(in_u)
        self._retained_rows = (
            *choice.retained_rows,
            *((r, in_u(r.nonlinear)) for r in self.nonlinear if r.nonlinear is not None),
        )
        # λ of the rows that stay in augmented form
        self.multipliers: tuple[int, ...] = tuple(
            t.private_symbol(f"lambda_{j}") for j in range(1, len(self._retained_rows) + 1)
        )
        # q̇_k = Σ_r W_kr u_r + X_k, as [(X_k, {r: W_kr})]
        self.WX = list(map(LinearCoefficients(t, self.u), self.qdot_of_u))
        self.base_tape_length = len(t)
        # what was computed once from this kinematics, shared by its forks
        self.cached_results: dict[Any, dict[Hashable, Any]] = {}
        self._base_tape: Tape | None = None

    def _sort_rows(self, declared: tuple[ConstraintRow, ...], *, eliminate: bool) -> None:
        """Rows declared redundant take no part in the elimination, nor do those nonlinear in the
        rates.
        """
        self.redundant: tuple[ConstraintRow, ...] = tuple(
            r for r in declared if r.redundant and r.nonlinear is None
        )
        self.nonlinear: tuple[ConstraintRow, ...] = tuple(
            r for r in declared if r.nonlinear is not None
        )
        self.rows: tuple[ConstraintRow, ...] = tuple(
            r for r in declared if r.nonlinear is None and not (eliminate and r.redundant)
        )
        self._eliminated = eliminate

    def _adopt_speeds(self, choice: SpeedChoice) -> None:
        """The independent speeds u, and everything in u: rates of coordinates and dependent speeds
        replaced.
        """
        t = self.tape
        self.state_dependent_pivots: tuple[int, ...] = tuple(choice.state_dependent_pivots)
        # {v: {ẋ: b, ẏ: −a}} of speeds along edges that were chosen for the user
        self.edge_coefficients = choice.edge_coefficients
        # what another choice of speeds calls the expressions of this one
        self.speed_aliases: dict[str, Scalar] = {}
        self.u: tuple[int, ...] = tuple(choice.u)
        self.udot: tuple[int, ...] = tuple(t.rate(u) or t.zero for u in choice.u)
        self.definitions: tuple[int, ...] = tuple(choice.definitions)
        self.qdot_of_u: tuple[int, ...] = tuple(choice.qdot)
        self._in_u = {x: e for x, e in zip(self.qdot, choice.qdot, strict=True) if x != e}
        rewrite = Substitution(t, self._in_u)
        self._in_u |= {s.scalar.i: rewrite(self.in_rates(s.definition.i)) for s in choice.dependent}
        self._rate_of = dict(zip(self.q, choice.qdot, strict=True))
        self._dependent, self._spins = choice.dependent, choice.spins

    def _collect_states(self, in_u: Substitution) -> None:
        """First-order states in addition to the motion, ẋ in the speeds, and their initial values
        where a run gives none.
        """
        symbols = self.system.symbols
        self.x: tuple[int, ...] = tuple(
            i
            for s in symbols.values()
            for i in ((s.scalar.i,) if s.kind == "state" else s.driven_states)
        )
        rates = {symbols[name].scalar.i: e.i for name, e in self.system.state_rates.items()}
        self.xdot: tuple[int, ...] = tuple(
            in_u(rates[i] if i in rates else self.tape.rates[i]) for i in self.x
        )
        values = {s.scalar.i: s.value for s in symbols.values()}
        self.declared_x: tuple[Number | None, ...] = tuple(values.get(i) for i in self.x)

    @shared_property
    def tape(self) -> Tape:
        """Where the expressions are; that of a fork is copied when it is first asked for, and
        most runs never ask.
        """
        assert self._base_tape is not None
        return self._base_tape.fork()

    @lazy_property
    def in_rates(self) -> Substitution:
        """e with declared speeds replaced by their definitions."""
        return Substitution(self.tape, self._definitions)

    @lazy_property
    def in_speeds(self) -> Substitution:
        """e with rates of coordinates and dependent speeds replaced: everything in u."""
        return Substitution(self.tape, self._in_u)

    @lazy_property
    def rate(self) -> Derivative:
        """de/dt along the motion."""
        return Derivative(self.tape, partial(symbol_rate, self.tape, self._rate_of))

    @lazy_property
    def coordinate_rate(self) -> Derivative:
        """∂e/∂q · (W u + X): the part of de/dt that comes from the coordinates."""
        return Derivative(self.tape, self._rate_of.get)

    @lazy_property
    def _acceleration_cache(self) -> dict[Point, Vector]:
        return {}

    @lazy_property
    def _partial_velocity_cache(self) -> dict[Frame | Point, tuple[dict[int, Vector], Vector]]:
        return {}

    def fork(self, base_tape: Tape | None = None) -> Kinematics:
        """The same kinematics on a tape of its own, for one derivation; `grown` is the tape of
        another fork, to go on from.
        """
        if self._base_tape is None or len(self._base_tape) != self.base_tape_length:
            # this one never grows, so that forks are plain copies of it
            self._base_tape = self.tape.fork(self.base_tape_length)
        new: Kinematics = object.__new__(Kinematics)
        own = self.__dict__.copy()
        for name in _TAPE_BOUND_ATTRIBUTES:
            own.pop(name, None)
        if base_tape is not None:
            own["tape"] = base_tape.fork()
        new.__dict__ = own
        return new

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "tape": self.tape, "cached_results": {}, "_base_tape": None}

    def spin_symbols(self, F: Frame) -> Triple | None:
        """The three speeds that are the spin of a quaternion frame along its own axes, if it has
        such speeds.
        """
        spin = self._spins.get(F)
        return spin if spin is not None and all(x in self.u for x in spin) else None

    # ---- speeds ------------------------------------------------------------------------------

    @lazy_property
    def qddot_of_u(self) -> list[int]:
        """q̈_k = Σ_r W_kr u̇_r + c_k, as nodes in u̇."""
        return [self.rate(e) for e in self.qdot_of_u]

    @lazy_property
    def velocity_rows(self) -> tuple[VelocityRow, ...]:
        """e(q, u, t) = 0 and ė = A u̇ + γ = 0 of every row that was not eliminated."""
        linear = LinearCoefficients(self.tape, self.udot)
        velocity_rows = []
        for row, e in self._retained_rows:
            gamma, A = linear(self.rate(e))
            velocity_rows.append(VelocityRow(row, e, A, gamma))
        return tuple(velocity_rows)

    @property
    def nonlinear_rows(self) -> tuple[VelocityRow, ...]:
        """The rows that are not linear in the speeds, where the speeds have used up all others."""
        return (
            tuple(r for r in self.velocity_rows if r.row.nonlinear is not None)
            if self._eliminated and self.nonlinear
            else ()
        )

    @property
    def linear_rows(self) -> tuple[ConstraintRow, ...]:
        """Every row that is linear in the rates, those declared redundant too."""
        return (*self.rows, *self.redundant) if self._eliminated else self.rows

    @property
    def rows_with_multipliers(self) -> tuple[ConstraintRow, ...]:
        """The rows that have a multiplier each: those linear in the rates, then the others."""
        return (*self.rows, *self.nonlinear)

    @property
    def edge_speed_definitions(self) -> list[tuple[int, int]]:
        """(v, b ẋ − a ẏ) of the independent speeds along edges, which are not declared."""
        return [
            (u, e)
            for u, e in zip(self.u, self.definitions, strict=True)
            if u in self.edge_coefficients
        ]

    # ---- motion of points and frames ---------------------------------------------------------

    @lazy_property
    def motion(self) -> VelocityRecursion:
        """Velocities in the speeds."""
        w, v = velocities_from_speeds(self.system, self.tape, self._dependent)
        return VelocityRecursion(self.tape, self.rate, w, v, self._spins)

    @lazy_property
    def motion_in_rates(self) -> VelocityRecursion:
        """Velocities in the rates q̇."""
        return VelocityRecursion(self.tape, Derivative(self.tape, self.tape.rate))

    @lazy_property
    def _linear(self) -> LinearCoefficients:
        return LinearCoefficients(self.tape, self.u)

    def v(self, P: Point) -> Vector:
        """v_P in the speeds."""
        return self.motion.v(P)

    def w(self, F: Frame) -> Vector:
        """ω_F in the speeds."""
        return self.motion.w(F)

    def a(self, P: Point) -> Vector:
        """a_P = dv_P/dt"""
        if P not in self._acceleration_cache:
            self._acceleration_cache[P] = self.motion.derivative(self.motion.v(P))
        return self._acceleration_cache[P]

    def alpha(self, F: Frame) -> Vector:
        """α_F = dω_F/dt"""
        return self.motion.derivative(self.motion.w(F))

    def partial_velocities(self, X: Point | Frame) -> tuple[dict[int, Vector], Vector]:
        """({r: v_r}, v_t) of a point, ({r: ω_r}, ω_t) of a frame; only those that do not vanish."""
        partials = self._partial_velocity_cache.get(X)
        if partials is None:
            partials = self._partial_velocity_cache[X] = split_linear(
                self._linear, self.motion.v(X) if isinstance(X, Point) else self.motion.w(X)
            )
        return partials

    def vector_in_speeds(self, a: Vector) -> Vector:
        """A vector of the description with q̇ replaced by W u + X."""
        return a.on(self.tape).map(self.in_speeds)

    def vector_in_rates(self, a: Vector) -> Vector:
        """A vector of the description with the speeds replaced by their definitions in q̇."""
        return a.on(self.tape).map(self.in_rates)

    def row_in_rates(self, row: ConstraintRow) -> int:
        """A q̇ + b of one row."""
        return sum_of_products(self.tape, ((a, self.qdot[k]) for k, a in row.A.items()), row.b)

    def scalar(self, i: int) -> Scalar:
        """A node of this tape as an expression."""
        return Scalar(self.tape, i)

    def name(self, i: int) -> str:
        """The name of a symbol."""
        return str(self.tape.nodes[i][1])

    @property
    def state(self) -> tuple[int, ...]:
        """(q, x, u): what a run integrates, in its order; x are the first-order states, and
        behind them what the run holds.
        """
        return (*self.q, *self.x, *self.sampled_inputs, *self.u)

    @property
    def layout(self) -> StateLayout:
        """Where q, x, sampled inputs and u are in the state."""
        return StateLayout(len(self.q), len(self.x), len(self.sampled_inputs), len(self.u))

    @property
    def speed_offset(self) -> int:
        """The index of the first speed in the state."""
        return self.layout.speed_offset

    @property
    def n_q(self) -> int:
        """n, the number of coordinates."""
        return len(self.q)

    @property
    def n_u(self) -> int:
        """p, the number of independent speeds."""
        return len(self.u)


def symbol_rate(tape: Tape, known: dict[int, int], i: int) -> int | None:
    """dx/dt along the motion: q̇ = W u + X for coordinates, u̇ for speeds, the jets of prescribed
    motions.
    """
    return known[i] if i in known else tape.rate(i)


def split_linear(linear: LinearCoefficients, v: Vector) -> tuple[dict[int, Vector], Vector]:
    """v = Σ_r v_r x_r + v_t: the vectors v_r and v_t."""
    t = v.tape
    zero = t.zero
    parts: dict[int, Vector] = {}
    rest = Vector(t, {})
    for F, c in v.parts.items():
        forms = [linear(x) for x in c]
        rest = rest + Vector(t, {F: (forms[0][0], forms[1][0], forms[2][0])})
        for r in sorted({r for _, k in forms for r in k}):
            part = Vector(
                t,
                {F: (forms[0][1].get(r, zero), forms[1][1].get(r, zero), forms[2][1].get(r, zero))},
            )
            parts[r] = parts[r] + part if r in parts else part
    return parts, rest


def kinematics(system: System) -> Kinematics:
    """The kinematics of a system as it is now; computed once until something is declared."""
    if not isinstance(system, System):
        msg = f"give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    with COMPUTE_LOCK:
        declare_amplitude_speeds(system)
        signature = system.cache_key()
        if system.cached is None or system.cached[0] != signature:
            warn_about_moving_points(system)
            warn_about_likely_errors(system)
            kin = Kinematics(system)
            check_equations_exist(kin)
            # its own system, which runs and derivations hand on, does not grow and has the same one
            system.cached = kin.system.cached = (signature, kin)
        return system.cached[1]  # type: ignore[return-value]


def unreduced_kinematics(kin: Kinematics) -> Kinematics:
    """The same system with every rate a speed and every row kept in augmented form; computed
    once.
    """
    return _UNREDUCED_CACHE(
        kin, None, lambda: _with_speed_aliases(kin, Kinematics(kin.system, eliminate=False))
    )


def kinematics_with_dependent(kin: Kinematics, rates: tuple[str, ...]) -> Kinematics:
    """The same system with these rates solved for, and the others as its speeds; computed once
    for each choice.
    """
    return _DEPENDENT_RATES_CACHE(
        kin, rates, lambda: _with_speed_aliases(kin, Kinematics(kin.system, dependent=rates))
    )


def _with_speed_aliases(kin: Kinematics, other: Kinematics) -> Kinematics:
    """Another choice of speeds, in which those along edges can still be asked for by the name
    that the equations show.
    """
    other.speed_aliases = {kin.name(u): kin.scalar(e) for u, e in kin.edge_speed_definitions}
    return other
