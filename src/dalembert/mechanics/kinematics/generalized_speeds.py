"""q̇ = W u + X: from speeds and constraint rows to the rates of the coordinates.
Keywords: generalized speeds.

All n speeds are u = Ψ q̇ + ψ with the constraint rows last; the rates follow by elimination,
without a symbolic inverse. The four rates of a quaternion are written ė = ½ Eᵀ s through the three
components s of the spin, so that no pivot can vanish at a particular attitude.

a ẋ + b ẏ + c = 0 with a² + b² = 1 is the row of a knife edge, a skate or a wheel that does not slip
sideways. Solved for ẏ or for ẋ it divides by b or by a, which vanish at some headings although the
edge is the same at all of them; the speed v = b ẋ − a ẏ along the edge divides by nothing: ẋ = b v
− a c, ẏ = −a v − b c.

Source: Gre03 (4.1)–(4.9), Bar00 (22)–(23).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from dalembert.errors import IllPosed
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame, VelocityRecursion
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import Quaternion
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.constraint_rows import ConstraintRow
from dalembert.mechanics.model.elements import Speed
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.elimination import Elimination, Row
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints, provably_zero
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_of_products
from dalembert.symbolic.algebra.tape import Tape, Triple

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.exact.sample_point import SamplePoint


@dataclass(frozen=True)
class KnifeEdgeSpeed:
    """The speed v along an edge: the place of its row, those of the two rates among the
    unknowns, and a, b, c.
    """

    row: int
    x: int
    y: int
    a: int
    b: int
    c: int
    v: int

    def rates_from_speed(self, t: Tape, v: int) -> tuple[int, int]:
        """(b v − a c, −a v − b c)"""
        return t.sub(t.mul(self.b, v), t.mul(self.a, self.c)), t.neg(
            t.add(t.mul(self.a, v), t.mul(self.b, self.c))
        )

    def speed_from_rates(self, t: Tape, xdot: int, ydot: int) -> int:
        """v = b ẋ − a ẏ"""
        return t.sub(t.mul(self.b, xdot), t.mul(self.a, ydot))

    def substitute_into(self, t: Tape, row: Row) -> Row:
        """Another row with both rates replaced; v takes the place of ẋ among its unknowns."""
        c, coefficients = row
        p, q = coefficients.get(self.x, t.zero), coefficients.get(self.y, t.zero)
        c = t.sub(c, t.mul(self.c, t.add(t.mul(p, self.a), t.mul(q, self.b))))
        others = {k: e for k, e in coefficients.items() if k not in (self.x, self.y)}
        along = self.speed_from_rates(t, p, q)
        return c, others if along == t.zero else others | {self.x: along}


def find_knife_edge_speeds(t: Tape, rows: Sequence[Row]) -> tuple[KnifeEdgeSpeed, ...]:
    """One for every row of two rates that says so exactly, no rate in two of them."""
    taken: set[int] = set()
    pairs: list[tuple[int, int, int]] = []
    for i, (_, coefficients) in enumerate(rows):
        if (
            len(coefficients) == 2
            and taken.isdisjoint(coefficients)
            and _is_unit_direction(t, *coefficients.values())
        ):
            taken.update(coefficients)
            x, y = sorted(coefficients)
            pairs.append((i, x, y))
    letter = "v" if "v" not in t.names else "v_e"
    numbers = (
        [""]
        if len(pairs) == 1
        else [f"_{n}" if letter == "v" else f"{n}" for n in range(1, len(pairs) + 1)]
    )
    edge_speeds = []
    for (i, x, y), number in zip(pairs, numbers, strict=True):
        c, coefficients = rows[i]
        a, b = coefficients[x], coefficients[y]
        if t.nodes[b][0] == "neg":
            # the same row: v then points where ẋ does, at the heading zero
            a, b, c = t.neg(a), t.neg(b), t.neg(c)
        edge_speeds.append(
            KnifeEdgeSpeed(i, x, y, a, b, c, t.private_symbol(f"{letter}{number}", moving=True))
        )
    return tuple(edge_speeds)


def _is_unit_direction(t: Tape, a: int, b: int) -> bool:
    """Whether a² + b² = 1 was shown, for a and b that depend on the coordinates."""
    turning = all(any(s in t.moving for s in symbols_of(t, (e,))) for e in (a, b))
    return turning and provably_zero(t, [t.sub(t.add(t.mul(a, a), t.mul(b, b)), t.one)])[0]


@dataclass(frozen=True)
class SpeedChoice:
    """The independent speeds, and every rate of a coordinate in terms of them."""

    u: list[int]
    # Ψ_I q̇ + ψ_I for each independent speed, in q̇
    definitions: list[int]
    qdot: list[int]
    # declared speeds that the constraints make dependent
    dependent: list[Speed]
    # spins of quaternion frames in terms of the speeds
    spins: dict[Frame, Triple]
    # divisors of the elimination that depend on the coordinates, and may vanish
    state_dependent_pivots: list[int] = field(default_factory=list)
    # rows that were not eliminated, each with e(q, u, t) = 0
    retained_rows: list[tuple[ConstraintRow, int]] = field(default_factory=list)
    # {v: {ẋ: b, ẏ: −a}} of the speeds along edges
    edge_coefficients: dict[int, dict[int, int]] = field(default_factory=dict)


class SpeedSolver:
    """Chooses the independent speeds and solves for q̇."""

    def __init__(
        self,
        system: System,
        tape: Tape,
        qdot: list[int],
        rows: tuple[ConstraintRow, ...],
        in_rates: Substitution,
    ) -> None:
        self.system, self.tape, self.qdot, self.rows, self.in_rates = (
            system,
            tape,
            qdot,
            rows,
            in_rates,
        )
        self._introduce_quaternion_spins()

    def _introduce_quaternion_spins(self) -> None:
        """Unknowns z: the rates of ordinary coordinates, and the spins of quaternion frames."""
        t = self.tape
        self.spins: dict[Frame, Triple] = {}
        replaced: dict[int, int] = {}
        labels: set[str] = set()
        for F in self.system.space.frames:
            if isinstance(F.rotation, Quaternion):
                # frames of the same name must not share their spins
                label = F.name if F.name not in labels else f"{F.name}{F.number}"
                labels.add(label)
                s = tuple(t.private_symbol(f"omega_{label}{axis}", moving=True) for axis in "xyz")
                self.spins[F] = s  # type: ignore[assignment]
                rates = F.rotation.rates_from_velocity(t, s)  # type: ignore[arg-type]
                for e, edot in zip(F.rotation.e, rates, strict=True):
                    replaced[t.rate(e)] = edot  # type: ignore[index]
        self.in_z = Substitution(t, replaced)
        self.z = [x for x in self.qdot if x not in replaced] + [
            x for s in self.spins.values() for x in s
        ]
        self.motion = VelocityRecursion(t, self._rate_in_z, spins=self.spins)
        self._total = Derivative(t, t.rate)

    def _rate_in_z(self, e: int) -> int:
        return self.in_z(self._total(e))

    # ---- the equations for z -----------------------------------------------------------------

    def _row_in_unknowns(self, row: ConstraintRow) -> int:
        """A q̇ + b in z; a contact is formed again from velocities, which keeps quaternions
        short.
        """
        if row.contact is not None and self.spins:
            return row.contact.slip(self.motion).i
        return self.in_z(
            sum_of_products(
                self.tape, ((a, self.in_z(self.qdot[k])) for k, a in row.A.items()), row.b
            )
        )

    def _speed_in_unknowns(self, speed: Speed) -> int:
        if self.spins and speed.of is not None and speed.along is not None:
            v = self.motion.w(speed.of) if isinstance(speed.of, Frame) else self.motion.v(speed.of)
            return v.components(speed.along)[speed.axis]
        return self.in_z(self.in_rates(speed.definition.i))

    def solve(self, dependent: tuple[str, ...] = ()) -> SpeedChoice:
        """The independent speeds by the user's choice, or else the rates that no row eliminates,
        all but `dependent` if these are named.
        """
        linear = LinearCoefficients(self.tape, self.z)
        rows = [linear(self._row_in_unknowns(r)) for r in self.rows if not r.is_norm]
        speeds = self.system.speed_list
        n, m = len(self.z), len(rows)
        if not speeds:
            return self._choose_default_speeds(rows, dependent)
        if len(speeds) not in (n - m, n):
            raise IllPosed(
                self._count_message(len(speeds), m),
                [c.name for c in self.system.constraints if c.nonlinear or c.redundant],
            )
        forms = [linear(self._speed_in_unknowns(s)) for s in speeds]
        independent = list(range(n)) if m == 0 else list(range(len(speeds)))
        if m and len(speeds) == n:
            independent = self._independent_speed_indices(rows, forms)
        return self._use_declared_speeds(rows, forms, independent)

    def keep_all_rates(self) -> SpeedChoice:
        """u = z: every rate is a speed (a spin where there is a quaternion), and every row A z +
        b = 0 stays a row.
        """
        held = [(row, self._row_in_unknowns(row)) for row in self.rows if not row.is_norm]
        choice = self._choose_default_speeds([])
        return replace(choice, dependent=list(self.system.speed_list), retained_rows=held)

    def _count_message(self, declared: int, m: int) -> str:
        n, norms = len(self.qdot), sum(r.is_norm for r in self.rows)
        have = (
            f"{n} coordinates, {declared} speed{'s' * (declared != 1)} and {m + norms or 'no'} "
            f"constraint row{'s' * (m + norms != 1)}"
        )
        extra = [repr(c.name) for c in self.system.constraints if c.nonlinear or c.redundant]
        have += f" (without {', '.join(extra)}, which eliminates no speed)" if extra else ""
        missing = n - m - norms - declared
        if missing > 0:
            return (
                f"{have}: add {missing} speed{'s' * (missing != 1)} or "
                f"constraint{'s' * (missing != 1)} (Gre03 §4.1)"
            )
        fitting = f"declare {n - m - norms}" + (
            f", or {n - norms} of which {m} are constrained" if m else ""
        )
        return f"{have}: {-missing} speed{'s' * (missing != -1)} too many; {fitting}"

    # ---- the two cases -----------------------------------------------------------------------

    def _choose_default_speeds(
        self, rows: list[Row], dependent: tuple[str, ...] = ()
    ) -> SpeedChoice:
        """u = the rates that remain independent, or speeds along edges where these spare a
        division by what may vanish.
        """
        choice = self._eliminate_rows(rows, self.z, dependent)
        edges = (
            ()
            if dependent or not choice.state_dependent_pivots
            else find_knife_edge_speeds(self.tape, rows)
        )
        along = self._choose_edge_speeds(rows, edges) if edges else choice
        return along if self._pivot_coordinates(along) < self._pivot_coordinates(choice) else choice

    def _pivot_coordinates(self, choice: SpeedChoice) -> set[int]:
        """The coordinates that decide where a divisor vanishes."""
        return self.tape.moving.intersection(symbols_of(self.tape, choice.state_dependent_pivots))

    def _choose_edge_speeds(
        self, rows: list[Row], edges: tuple[KnifeEdgeSpeed, ...]
    ) -> SpeedChoice:
        """The rows of edges solved for their two rates, the others in v."""
        used = {e.row for e in edges}
        others = [row for i, row in enumerate(rows) if i not in used]
        z: list[int | None] = list(self.z)
        for e in edges:
            others = [e.substitute_into(self.tape, row) for row in others]
            z[e.x], z[e.y] = e.v, None
        return self._eliminate_rows(others, z, edges=edges)

    def _eliminate_rows(
        self,
        rows: list[Row],
        z: Sequence[int | None],
        wanted: tuple[str, ...] = (),
        edges: tuple[KnifeEdgeSpeed, ...] = (),
    ) -> SpeedChoice:
        """u = those of z that no row eliminates; those eliminated first have a numeric
        coefficient.
        """
        t = self.tape
        elimination = Elimination(t, [(c, dict(k)) for c, k in rows], lambda k: -k, t.moving)
        solved, dependent = elimination.run()
        if wanted:
            solved = {
                k: (t.zero, {})
                for k, x in enumerate(z)
                if x is not None and t.nodes[x][1] in wanted
            }
        u = [x for k, x in enumerate(z) if x is not None and k not in solved]
        if (elimination.moving_pivots or wanted) and not dependent:
            elimination = Elimination(
                t, [_restrict_to_unknowns(t, row, z, solved) for row in rows], lambda _: 0, t.moving
            )
            solved, _ = elimination.run()
        value = {x: x for x in u} | _solved_values(t, solved, z)
        for e in edges:
            value[self.z[e.x]], value[self.z[e.y]] = e.rates_from_speed(t, value[e.v])
        definitions = self._speed_definitions(u, edges)
        along = {
            e.v: {self.z[e.x]: e.b, self.z[e.y]: t.neg(e.a)}
            for e in edges
            if e.v in value and value[e.v] == e.v
        }
        rates, spins = self._coordinate_rates(value), self._spin_values(value)
        return SpeedChoice(u, definitions, rates, [], spins, elimination.moving_pivots, [], along)

    def _speed_definitions(self, u: list[int], edges: tuple[KnifeEdgeSpeed, ...]) -> list[int]:
        """The speeds as expressions in q̇; those along an edge by its two rates."""
        definition = {
            e.v: e.speed_from_rates(
                self.tape, self._rate_definition(self.z[e.x]), self._rate_definition(self.z[e.y])
            )
            for e in edges
        }
        return [definition[x] if x in definition else self._rate_definition(x) for x in u]

    def _rate_definition(self, x: int) -> int:
        """The default speed x as an expression in q̇."""
        for F, s in self.spins.items():
            if x in s and F.rotation is not None:
                return F.rotation.angular_velocity(
                    self.tape, Derivative(self.tape, self.tape.rate)
                )[s.index(x)]
        return x

    def _independent_speed_indices(self, rows: list[Row], forms: list[Row]) -> list[int]:
        """Which of n declared speeds stay independent: in order of declaration, those the rows
        do not already fix.
        """
        from dalembert.symbolic.algebra.exact.linear_algebra import rank_mod

        n = len(self.z)

        def choose(point: SamplePoint) -> list[int]:
            matrix = [[point(k[j]) if j in k else 0 for j in range(n)] for _, k in rows]
            accepted: list[int] = []
            for r, (_, k) in enumerate(forms):
                candidate = [*matrix, [point(k[j]) if j in k else 0 for j in range(n)]]
                if rank_mod(candidate, point.prime).rank == len(candidate):
                    matrix = candidate
                    accepted.append(r)
            return accepted

        return RandomPoints(self.tape, 1).at(0, choose)

    def _use_declared_speeds(
        self, rows: list[Row], forms: list[Row], independent: list[int]
    ) -> SpeedChoice:
        t = self.tape
        speeds = self.system.speed_list
        equations = [
            (t.sub(forms[r][0], speeds[r].scalar.i), dict(forms[r][1])) for r in independent
        ]
        solved, _ = Elimination(
            t, [*equations, *((c, dict(k)) for c, k in rows)], lambda _: 0, t.moving
        ).run()
        if len(solved) < len(self.z):
            raise IllPosed(self._undetermined_message(solved))
        value = {self.z[k]: t.neg(c) for k, (c, _) in solved.items()}
        chosen = [speeds[r] for r in independent]
        definitions = [self.in_rates(s.definition.i) for s in chosen]
        dependent = [s for r, s in enumerate(speeds) if r not in independent]
        return SpeedChoice(
            [s.scalar.i for s in chosen],
            definitions,
            self._coordinate_rates(value),
            dependent,
            self._spin_values(value),
        )

    def _undetermined_message(self, solved: dict[int, Row]) -> str:
        t = self.tape
        free = next(k for k in range(len(self.z)) if k not in solved)
        # z_k = −a z_free for every z_k that goes with the free one: the direction in which q̇ is
        # not determined
        along = sum_of_products(
            t, ((a[free], self.z[k]) for k, (_, a) in sorted(solved.items()) if free in a)
        )
        total = t.sub(self.z[free], along)
        what = "the rate" if total == self.z[free] else "the combination of rates"
        remedy = "change a speed's definition so that every rate follows"
        return f"the speeds and constraints leave {what} {Scalar(t, total)} undetermined: {remedy}"

    def _coordinate_rates(self, value: dict[int, int]) -> list[int]:
        back = Substitution(self.tape, {x: e for x, e in value.items() if x != e})
        return [back(self.in_z(x)) for x in self.qdot]

    def _spin_values(self, value: dict[int, int]) -> dict[Frame, Triple]:
        return {F: (value[s[0]], value[s[1]], value[s[2]]) for F, s in self.spins.items()}


def _unknown_symbol(z: Sequence[int | None], k: int) -> int:
    """Unknown number k, which no speed along an edge has replaced."""
    x = z[k]
    assert x is not None
    return x


def _solved_values(t: Tape, solved: dict[int, Row], z: Sequence[int | None]) -> dict[int, int]:
    """{z_k: −(c + Σ a_j z_j)} of the unknowns that were solved for."""
    return {
        _unknown_symbol(z, k): t.neg(
            sum_of_products(t, ((a, _unknown_symbol(z, j)) for j, a in coefficients.items()), c)
        )
        for k, (c, coefficients) in solved.items()
    }


def _restrict_to_unknowns(
    t: Tape, row: Row, z: Sequence[int | None], unknowns: Container[int]
) -> Row:
    """The row with all but some unknowns taken as given: these can be solved for by
    determinants, which vanish least.
    """
    c, coefficients = row
    c = sum_of_products(
        t, ((a, _unknown_symbol(z, k)) for k, a in coefficients.items() if k not in unknowns), c
    )
    return c, {k: a for k, a in coefficients.items() if k in unknowns}


def definitions_in_rates(system: System, t: Tape) -> dict[int, int]:
    """{u: Ψ q̇ + ψ} of the declared speeds; a definition that mentions other speeds is brought
    to q̇ alone.
    """
    definitions = {s.scalar.i: s.definition.i for s in system.speed_list}
    for _ in range(len(definitions)):
        rewrite = Substitution(t, definitions)
        once = {
            u: rewrite(e) if e not in definitions else definitions[e]
            for u, e in definitions.items()
        }
        if once == definitions:
            break
        definitions = once
    return definitions


def velocities_from_speeds(
    system: System, tape: Tape, dependent: list[Speed]
) -> tuple[dict[Frame, Vector], dict[Point, Vector]]:
    """ω = u₁ b₁ + u₂ b₂ + u₃ b₃ for frames (and v for points) all of whose components are
    speeds.
    """
    gone = {s.name for s in dependent}
    groups: dict[int, list[Speed]] = {}
    for s in system.speed_list:
        if s.of is not None and s.name not in gone:
            groups.setdefault(id(s.of), []).append(s)
    w: dict[Frame, Vector] = {}
    v: dict[Point, Vector] = {}
    for group in groups.values():
        if len(group) == 3 and group[0].along is not None:
            u1, u2, u3 = (s.scalar.i for s in sorted(group, key=lambda s: s.axis))
            vector = Vector(tape, {group[0].along: (u1, u2, u3)})
            if isinstance(group[0].of, Frame):
                w[group[0].of] = vector
            elif isinstance(group[0].of, Point):
                v[group[0].of] = vector
    return w, v
