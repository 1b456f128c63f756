"""λ(q, u, t) in any mode: a = A λ + b with a_N = 0 or N = 0, a_T = 0 or T = −s μ N, solved on the
tape.
Keywords: Painlevé paradox.

Whether a contact is closed, sticks, or in which direction it slips are symbols that a run sets:
what is compiled holds for all modes.

Source: Pfeiffer and Glocker (1996), chapters 4–6, with the rows of active contacts written as one
system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations, RowProjection
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.model.elements import UnilateralContact
from dalembert.runtime.contact.joint_normal_force import AffineForce, joint_normal_forces
from dalembert.symbolic.algebra.elimination import solve_regularized
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints, SamplePoint, rank_mod
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, copy_expressions
from dalembert.symbolic.algebra.functions import sqrt
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, SparseMatrix, sum_of_products
from dalembert.symbolic.algebra.tape import Tape

# a part of A_kk by which rows that depend on one another give way
_REGULARIZATION: Final = Fraction(1, 10**9)
# products of one elimination up to which K λ = r is unrolled: twenty rows that all interact
_MAX_UNROLLED: Final = 4000
# the same where λ must be an expression: this takes a minute to compile with derivatives
_MAX_UNROLLED_EXPRESSIONS: Final = 20_000


@dataclass(frozen=True)
class ContactRow:
    """A row v(q, u, t) with its force λ: the normal (`normal`) or the slip of contact number
    `contact`.
    """

    contact: int
    normal: bool
    # the flag that is 1 in modes in which the row holds
    active: int
    lam: int
    v: int
    # d v/dt = γ + J u̇
    gamma: int
    J: dict[int, int]
    # the second direction of friction in a plane
    across: bool = False


@dataclass(frozen=True)
class ContactEquations:
    """Nodes of one tape: u̇ = c + H λ, a = A λ + b, λ as solved for any mode, the guards and the
    projections.
    """

    kin: Kinematics
    tape: Tape
    rows: tuple[ContactRow, ...]
    # {(number of a contact, whether it is its normal row): number of the row}
    row_index: dict[tuple[int, bool], int]
    # {number of a contact with friction in a plane: number of its second row}
    across_index: dict[int, int]
    c: tuple[int, ...]
    # H by rows of u̇: {row: coefficient}
    H: tuple[dict[int, int], ...]
    A: tuple[tuple[int, ...], ...]
    b: tuple[int, ...]
    lam: tuple[int, ...]
    pivots: tuple[int, ...]
    # {contact: the force of the row that presses it}
    joint_normal_forces: dict[int, AffineForce]
    # whether rows of several contacts depend on one another in every position
    dependent: bool
    # what loops solve where K λ = r has too many rows to be unrolled; λ and pivots are symbols then
    loops: ModeSystem | None
    # the step onto constraint rows that were not eliminated
    permanent: RowProjection | None

    @property
    def contacts(self) -> list[UnilateralContact]:
        """As they were declared."""
        return self.kin.system.contacts

    def explicit_equations(self, route: str) -> ExplicitEquations:
        """u̇ = c + H λ, with λ as symbols."""
        t, kin = self.tape, self.kin
        udot = Column(t, self.c) + SparseMatrix(t, self.H, len(self.rows)) @ Column(
            t, (row.lam for row in self.rows)
        )
        return ExplicitEquations(
            kin.system.name, t, kin.q, kin.u, kin.qdot_of_u, tuple(udot), f"{route} with contacts"
        )


class ModeSystem(NamedTuple):
    """K λ = r in parts: 1 for rows that hold, r, and what friction adds to the lines of K."""

    K: list[list[int]]
    right: list[int]
    holds: list[int]
    pulls: list[dict[int, int]]

    def elimination_products(self, zero: int) -> int:
        """Products of an elimination in the given order, from the zeros of K."""
        lines = [{j for j, x in enumerate(line) if x != zero} for line in self.K]
        count = 0
        for k, line in enumerate(lines):
            right = {j for j in line if j > k}
            for other in lines[k + 1 :]:
                if k in other:
                    other.update(right)
                    count += len(right)
        return count


def contact_equations(
    kin: Kinematics, equations: ExplicitEquations, *, as_expressions: bool = False
) -> ContactEquations:
    """Everything that is known before a mode is: A and b; and λ with the modes as symbols.

    Loops solve for the λ of many rows, unless `as_expressions` asks for what can be differentiated.
    """
    kin = kin.fork()
    t = kin.tape
    rows = _contact_rows(kin)
    forces = [row.lam for row in rows]
    c, H = _rates_in_forces(t, equations, forces)
    permanent = _permanent_projection(t, equations)
    J = SparseMatrix(t, (row.J for row in rows), len(c))
    A = (J @ SparseMatrix(t, H, len(rows))).dense()
    b = (Column(t, (row.gamma for row in rows)) + J @ Column(t, c)).nodes
    pressed = joint_normal_forces(kin, c, H, forces)
    system = _mode_system(kin, rows, A, b, pressed)
    dependent = _have_dependent_rows(t, rows, A)
    places = {(row.contact, row.normal): k for k, row in enumerate(rows) if not row.across}
    across = {row.contact: k for k, row in enumerate(rows) if row.across}
    many = _is_too_long(system, t.zero, as_expressions=as_expressions)
    loops = system if many and not pressed and permanent is None else None
    lam, pivots = forces, [t.symbol(f"pivot {k}") for k in range(len(rows))]
    if loops is None:
        soft = _regularization(t, rows, A, system.holds, dependent)
        lam, pivots = solve_regularized(t, system.K, system.right, soft)
    return ContactEquations(
        kin, t, tuple(rows), places, across, c, H, A, b, tuple(lam), tuple(pivots), pressed,
        dependent, loops, permanent,
    )  # fmt: skip


def _rates_in_forces(
    t: Tape, equations: ExplicitEquations, forces: Sequence[int]
) -> tuple[tuple[int, ...], tuple[dict[int, int], ...]]:
    """c and the rows of H in u̇ = c + H λ."""
    in_forces = LinearCoefficients(t, forces)
    parts = [in_forces(i) for i in copy_expressions(equations.tape, t, equations.udot)]
    return tuple(p[0] for p in parts), tuple(p[1] for p in parts)


def _is_too_long(system: ModeSystem, zero: int, *, as_expressions: bool) -> bool:
    """Whether unrolled code of the elimination has more products than its limit."""
    most = _MAX_UNROLLED_EXPRESSIONS if as_expressions else _MAX_UNROLLED
    return system.elimination_products(zero) > most


def _permanent_projection(t: Tape, equations: ExplicitEquations) -> RowProjection | None:
    """The step onto constraint rows in augmented form, on this tape."""
    given = equations.projection
    if given is None:
        return None

    def here(nodes: Sequence[int]) -> tuple[int, ...]:
        return tuple(copy_expressions(equations.tape, t, nodes))

    return RowProjection(
        here(given.position_step),
        here(given.velocity_step),
        here((given.residual,))[0],
        here(given.multipliers),
    )


def _have_dependent_rows(t: Tape, rows: Sequence[ContactRow], A: Sequence[tuple[int, ...]]) -> bool:
    """Whether rows of contacts that interact depend on one another in every position."""
    near = [
        {j for j, a in enumerate(line) if a != t.zero}
        | {i}
        | {j for j, row in enumerate(rows) if row.contact == rows[i].contact}
        for i, line in enumerate(A)
    ]
    left = set(range(len(rows)))
    while left:
        group, waiting = set(), [min(left)]
        while waiting:
            i = waiting.pop()
            if i in left:
                left.discard(i)
                group.add(i)
                waiting += near[i]
        if len({rows[i].contact for i in group}) > 1 and _depend(t, [rows[i] for i in group]):
            return True
    return False


def _depend(t: Tape, rows: Sequence[ContactRow]) -> bool:
    """Whether the rank of J is less than the number of its rows at a random point."""
    columns = sorted({k for row in rows for k in row.J})

    def rank(point: SamplePoint) -> int:
        J = [[point(row.J[k]) if k in row.J else 0 for k in columns] for row in rows]
        return rank_mod(J, point.prime).rank

    return len(rows) > len(columns) or RandomPoints(t, 1).at(0, rank) < len(rows)


def _contact_rows(kin: Kinematics) -> list[ContactRow]:
    """Slip in a plane, then normals, then slip along a direction: eliminated in this order no pivot
    vanishes but where Painlevé's paradox is.
    """
    t = kin.tape
    accelerations = LinearCoefficients(t, kin.udot)
    rows = []
    contacts = list(enumerate(kin.system.contacts))
    plane = [(k, c) for k, c in contacts if c.T_across is not None]
    given = [
        (k, False, across, c.mode_symbols[1], force, row)
        for k, c in plane
        for across, force, row in ((False, c.T, c.slip), (True, c.T_across, c.slip_across))
    ]
    given += [(k, True, False, c.mode_symbols[0], c.N, c.approach) for k, c in contacts]
    given += [
        (k, False, False, _sticks_freely(t, c), c.T, c.slip)
        for k, c in contacts
        if c.T_across is None
    ]
    for k, normal, across, holds, force, row in given:
        if force is None or row is None:
            continue
        v = kin.in_speeds(row.i)
        gamma, J = accelerations(kin.rate(v))
        rows.append(ContactRow(k, normal, holds.i, force.i, v, gamma, J, across))
    return rows


class PlaneFlags(NamedTuple):
    """What a run decides about slip in a plane, in the order of `PLANE_SYMBOLS`."""

    held: Scalar
    rate_1: Scalar
    rate_2: Scalar
    jerk_1: Scalar
    jerk_2: Scalar
    begin: Scalar
    end: Scalar
    level: Scalar
    sense: Scalar


def _plane_flags(t: Tape, c: UnilateralContact) -> PlaneFlags:
    return PlaneFlags(*(Scalar(t, x.i) for x in c.plane_symbols))


def _acceleration_flag(kin: Kinematics, row: ContactRow) -> Scalar:
    """1 in modes that prescribe the acceleration of a row: zero, or that of slip in a plane which
    begins or ends.
    """
    c, t = kin.system.contacts[row.contact], kin.tape
    stick = Scalar(t, row.active)
    return stick if row.normal or c.T_across is None else stick + _plane_flags(t, c).held


def _slip_speed(kin: Kinematics, c: UnilateralContact) -> tuple[Scalar, Scalar, Scalar]:
    """v₁, v₂ and |v| of slip in a plane; |v| is replaced by √(v² + 1) where the friction is not
    that of slip.
    """
    t = kin.tape
    assert c.slip is not None
    assert c.slip_across is not None
    v1, v2 = (Scalar(t, kin.in_speeds(x.i)) for x in (c.slip, c.slip_across))
    slips = Scalar(t, c.mode_symbols[2].i)
    return v1, v2, sqrt(v1 * v1 + v2 * v2 + (1 - slips * (1 - _plane_flags(t, c).held)))


def _slip_direction(kin: Kinematics, row: ContactRow) -> Scalar:
    """±1, or a component of v/|v| for slip in a plane; 0 in other modes."""
    c, t = kin.system.contacts[row.contact], kin.tape
    direction = Scalar(t, c.mode_symbols[2].i)
    if c.T_across is None:
        return direction
    v1, v2, speed = _slip_speed(kin, c)
    return direction * (v2 if row.across else v1) / speed


def _prescribed_acceleration(kin: Kinematics, row: ContactRow) -> Scalar:
    """a + j (t − t₀) of slip in a plane that begins or ends."""
    c, t = kin.system.contacts[row.contact], kin.tape
    flags = _plane_flags(t, c)
    a, j = (flags.rate_2, flags.jerk_2) if row.across else (flags.rate_1, flags.jerk_1)
    return a + j * (Scalar(t, kin.system.t.i) - flags.begin)


def _mode_system(
    kin: Kinematics,
    rows: Sequence[ContactRow],
    A: Sequence[tuple[int, ...]],
    b: Sequence[int],
    pressed: Mapping[int, AffineForce],
) -> ModeSystem:
    """K λ = r: for each row its acceleration where it holds, and otherwise what its force is."""
    t = kin.tape
    K, right = [], []
    pulls: list[dict[int, int]] = [{} for _ in rows]
    for k, row in enumerate(rows):
        c = kin.system.contacts[row.contact]
        _, _, _, side, _ = _flags(t, c)
        holds = _acceleration_flag(kin, row)
        free = 1 - holds
        line = [holds * Scalar(t, a) for a in A[k]]
        line[k] += free
        r = -(holds * Scalar(t, b[k]))
        if not row.normal:
            assert c.friction is not None
            if c.T_across is not None:
                r += _plane_flags(t, c).held * _prescribed_acceleration(kin, row)
            pull = free * _slip_direction(kin, row) * _coefficient(kin, c)
            n = _normal_row(rows, row.contact)
            pull = pull * side if c.two_sided else pull
            if n is not None:
                line[n] += pull
                pulls[k][n] = pull.i
            elif row.contact in pressed:
                free_force, along = pressed[row.contact]
                for j, x in along.items():
                    line[j] += pull * Scalar(t, x)
                r -= pull * Scalar(t, free_force)
            else:
                r -= pull * Scalar(t, normal_force(kin, c))
        K.append([x.i for x in line])
        right.append(r.i)
    return ModeSystem(K, right, [_acceleration_flag(kin, row).i for row in rows], pulls)


def _normal_row(rows: Sequence[ContactRow], contact: int) -> int | None:
    """The number of the row of N of a contact; None where it has none."""
    return next((k for k, row in enumerate(rows) if row.normal and row.contact == contact), None)


def _sticks_freely(t: Tape, c: UnilateralContact) -> Scalar:
    """1 where T is what holds the contact; 0 also where it sticks with |T| = μ_s N and others
    hold it.
    """
    _, stick, direction, _, _ = _flags(t, c)
    return stick * (1 - direction * direction)


def _coefficient(kin: Kinematics, c: UnilateralContact) -> Scalar:
    """μ in slip, μ_s where the contact sticks at its limit."""
    assert c.friction is not None
    assert c.static is not None
    t = kin.tape
    mu, mu_static = (Scalar(t, kin.in_speeds(x.i)) for x in (c.friction, c.static))
    if mu.i == mu_static.i or c.T_across is not None:
        return mu
    return mu + Scalar(t, c.mode_symbols[1].i) * (mu_static - mu)


def _flags(t: Tape, c: UnilateralContact) -> list[Scalar]:
    """closed, stick, direction, side and slack on this tape."""
    return [Scalar(t, x.i) for x in c.mode_symbols]


def normal_force(kin: Kinematics, c: UnilateralContact) -> int:
    """|n| of a normal force that was given."""
    assert c.normal is not None
    return kin.tape.call("abs", kin.in_speeds(c.normal.i))


def _regularization(
    t: Tape,
    rows: Sequence[ContactRow],
    A: Sequence[tuple[int, ...]],
    holds: Sequence[int],
    dependent: bool,
) -> list[int]:
    """ε A_kk of rows that hold, where contacts may hold whose rows depend on one another."""
    if sum(row.normal for row in rows) < 2 and not dependent:
        return []
    return [t.mul(t.const(_REGULARIZATION), t.mul(h, A[k][k])) for k, h in enumerate(holds)]


@dataclass(frozen=True)
class ConstraintCorrection:
    """δq, δu and the residual: one projection step onto closed gaps and sticking rows."""

    dq: tuple[int, ...]
    du: tuple[int, ...]
    residual: int


def projection_step(e: ContactEquations) -> ConstraintCorrection:
    """δu = −H ν, A ν = v over rows that hold; δq = −W H ν, A ν = g over gaps that are closed.

    H = M⁻¹ Jᵀ, so that these are the shortest ways measured by the masses. Constraint rows in
    augmented form come first: v and g are those after the step onto them, which H keeps.
    """
    t, kin, rows = e.tape, e.kin, e.rows
    holds = [row.active for row in rows]
    gaps = [e.contacts[row.contact].gap if row.normal else None for row in rows]
    first = e.permanent or _no_projection(t, kin.n_u)
    z_step, u_step = Column(t, first.position_step), Column(t, first.velocity_step)

    def after(value: int, row: ContactRow, step: Column) -> int:
        return sum_of_products(t, ((a, step.nodes[k]) for k, a in row.J.items()), value)

    du = u_step + _velocity_change(e, [after(row.v, row, u_step) for row in rows], holds)
    left = sum_of_products(
        t, ((h, t.call("abs", row.v)) for h, row in zip(holds, rows, strict=True)), first.residual
    )
    W = SparseMatrix(t, (line for _, line in kin.WX), kin.n_u)
    dq = W @ z_step
    if any(g is not None for g in gaps):
        active = [h if g is not None else t.zero for h, g in zip(holds, gaps, strict=True)]
        moved = [
            t.zero if g is None else after(g.i, row, z_step)
            for g, row in zip(gaps, rows, strict=True)
        ]
        dq = W @ (z_step + _velocity_change(e, moved, active))
        left = sum_of_products(
            t,
            ((a, t.call("abs", g.i)) for a, g in zip(active, gaps, strict=True) if g is not None),
            left,
        )
    return ConstraintCorrection(tuple(dq), tuple(du), left)


def _no_projection(t: Tape, n_u: int) -> RowProjection:
    nothing = (t.zero,) * n_u
    return RowProjection(nothing, nothing, t.zero, ())


def _velocity_change(e: ContactEquations, values: list[int], active: list[int]) -> Column:
    """−H ν with A ν = the given values over the rows that are active."""
    t, K, holding = e.tape, [], [Scalar(e.tape, a) for a in active]
    for k in range(len(e.rows)):
        line = [holding[k] * holding[j] * Scalar(t, a) for j, a in enumerate(e.A[k])]
        line[k] += 1 - holding[k]
        K.append([x.i for x in line])
    right = [(a * Scalar(t, v)).i for a, v in zip(holding, values, strict=True)]
    soft = _regularization(t, e.rows, e.A, active, e.dependent)
    nu, _ = solve_regularized(t, K, right, soft)
    return -(SparseMatrix(t, e.H, len(e.rows)) @ Column(t, nu))


class Guard(NamedTuple):
    """What stays positive while a mode lasts: what it is, the number of its contact, and its node
    in q, u, t and λ.

    `free` is the same where no force enters, which costs less: in modes without forces that may
    vanish or leave a cone it is enough.
    """

    kind: str
    contact: int
    node: int
    free: int | None = None


def guards(e: ContactEquations) -> list[Guard]:
    """What stays positive while a mode lasts.

    gap    g of an open contact, N of a closed one
    slip   the slip velocity along its direction
    cone   μ_s N ∓ T of a sticking one
    jam    the pivot that vanishes where a slipping contact has no solution, or more than one
    (Painlevé)
    """
    t, kin = e.tape, e.kin
    collected: list[Guard] = []
    for k, c in enumerate(e.contacts):
        closed, stick, direction, side, slack = _flags(t, c)
        n = _normal_force_or_none(e, k)
        n = side * n if n is not None and c.two_sided else n
        if n is not None:
            if c.two_sided:
                if c.slip is not None:
                    present = n + slack if c.active is None else n + slack + (1 - closed)
                    collected.append(Guard("gap", k, present.i))
            elif c.gap is not None:
                apart = Scalar(t, c.gap.i) + slack
                # a contact that is off, side = 0, is given 1
                apart = (1 - closed) * (apart if c.active is None else side * apart + (1 - side))
                collected.append(Guard("gap", k, (closed * n + apart).i, (closed + apart).i))
        if c.slip is None or c.static is None or c.T is None:
            continue
        v, T = Scalar(t, kin.in_speeds(c.slip.i)), Scalar(t, c.T.i)
        if c.T_across is not None:
            collected += _plane_guards(e, k, n)
            continue
        # a contact that does not slip is given 1
        moves = (1 - stick) * direction
        slips = (moves * v + slack + (1 - moves * moves)).i
        collected.append(Guard("slip", k, slips, slips))
        bound = Scalar(t, kin.in_speeds(c.static.i)) * (
            Scalar(t, normal_force(kin, c)) if n is None else n
        )
        holds = _sticks_freely(t, c)
        collected += [
            Guard("cone", k, (holds * left + (1 - holds)).i) for left in (bound - T, bound + T)
        ]
        if n is not None:
            collected.append(Guard("jam", k, e.pivots[e.row_index[k, False]]))
    return collected


def _plane_guards(e: ContactEquations, k: int, n: Scalar | None) -> list[Guard]:
    """slip   ±(|v| − level) in slip, the time that is left where its acceleration is prescribed
    cone   μ_s N − |T| of a sticking contact
    jam    the pivot of the normal force

    """
    t, kin, c = e.tape, e.kin, e.contacts[k]
    assert c.static is not None
    assert c.T is not None
    assert c.T_across is not None
    _, stick, slips, _, slack = _flags(t, c)
    flags, (_, _, speed) = _plane_flags(t, c), _slip_speed(kin, c)
    rest = 1 - slips
    left = flags.end - Scalar(t, kin.system.t.i)
    free = slips * (1 - flags.held)
    slip = (free * flags.sense * (speed - flags.level) + slips * flags.held * left + rest).i
    T1, T2 = Scalar(t, c.T.i), Scalar(t, c.T_across.i)
    bound = Scalar(t, kin.in_speeds(c.static.i)) * (
        Scalar(t, normal_force(kin, c)) if n is None else n
    )
    cone = stick * (bound - sqrt(T1 * T1 + T2 * T2 + (1 - stick)) + slack) + (1 - stick)
    collected = [Guard("slip", k, slip, slip), Guard("cone", k, cone.i)]
    normal = e.row_index.get((k, True))
    return collected if normal is None else [*collected, Guard("jam", k, e.pivots[normal])]


def _normal_force_or_none(e: ContactEquations, k: int) -> Scalar | None:
    """N of contact k, or the force of the row that presses it, signed; None where it was given."""
    t, force = e.tape, e.contacts[k].N
    if force is not None:
        return Scalar(t, force.i)
    if k not in e.joint_normal_forces:
        return None
    free, along = e.joint_normal_forces[k]
    return Scalar(t, sum_of_products(t, ((x, e.rows[j].lam) for j, x in along.items()), free))
