"""A_k = f·∂v/∂q̇_k + μ·∂ω/∂q̇_k: the force and the moment on one body that a row amounts to, whatever the row says."""

from __future__ import annotations

from dalembert.algebra.columns import Column, Rows, contracted
from dalembert.algebra.exact.field import Trials, rank_mod, shown_zero
from dalembert.algebra.folds import Linear
from dalembert.geometry.closure import Hold
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.kinematics.elimination import solution
from dalembert.kinematics.rows import ConstraintRow
from dalembert.kinematics.system_kinematics import Kinematics, linear_parts
from dalembert.model.elements import Body

# {k: the components of ∂v/∂q̇_k and, where a moment may act, of ∂ω/∂q̇_k}
Twists = dict[int, tuple[int, ...]]


def wrench_on(kin: Kinematics, row: ConstraintRow, body: Body, at: Point | None = None, other: Body | None = None) -> Hold | None:
    """The row as a force at a point of a body, or without one as a force at its mass centre and a moment; None if it is no such thing.

    Along motions that the body cannot make it exerts nothing. A wrench that this leaves open is none.
    """
    P = body.G if at is None else at
    v, w = _velocities(kin, P, body, other)
    turned = at is None and body.frame is not None
    columns = _columns(kin, [v, w] if turned else [v])
    if not set(row.A) <= set(columns):
        return None
    present = [c for c in range(6 if turned else 3) if any(x[c] != kin.tape.zero for x in columns.values())]
    independent = _independent(kin, columns)
    if len(independent) == len(present):
        parts = _solved(kin, [(row.A.get(k), {c: x[c] for c in present if x[c] != kin.tape.zero}) for k, x in columns.items()])
        components = [parts.get(c, kin.tape.zero) for c in range(6)]
    elif not turned:
        components = _spanned(kin, row, columns, independent)
    else:
        return None
    return _checked(kin, row, P, body, columns, components)


def _velocities(kin: Kinematics, P: Point, body: Body, other: Body | None) -> tuple[Vector, Vector]:
    """v and ω of the body's point at P against the other body's."""
    motion, none = kin.motion_in_rates, Vector(kin.tape, {})

    def of(b: Body | None) -> tuple[Vector, Vector]:
        if b is None or b.frame is None:
            return (none if b is None else motion.v(b.G)), none
        return motion.v(b.G) + motion.w(b.frame).cross((P - b.G).on(kin.tape)), motion.w(b.frame)

    (v, w), (v_0, w_0) = of(body), of(other)
    return v - v_0, w - w_0


def _columns(kin: Kinematics, velocities: list[Vector]) -> Twists:
    t, N = kin.tape, kin.system.N
    linear = Linear(t, kin.qdot)
    parts = [linear_parts(linear, v)[0] for v in velocities]
    none = Vector(t, {})
    found = {k: tuple(c for p in parts for c in p.get(k, none).components(N)) for k in sorted({k for p in parts for k in p})}
    # what vanishes identically is taken for nothing
    gone = dict(zip(found, (shown_zero(t, x) for x in found.values()), strict=True))
    return {k: tuple(t.zero if g else c for c, g in zip(x, gone[k], strict=True)) for k, x in found.items() if not all(gone[k])}


def _independent(kin: Kinematics, columns: Twists) -> list[int]:
    """Coordinates whose columns are independent and span all of them."""
    keys = list(columns)
    dependent = Trials(kin.tape, 1).at(0, lambda p: rank_mod([[p.plain(x) for x in columns[k]] for k in keys], p.prime).dependent)
    return [k for i, k in enumerate(keys) if i not in dependent]


def _solved(kin: Kinematics, rows: list[tuple[int | None, dict[int, int]]]) -> dict[int, int]:
    """z with Σ a_c z_c = b for all rows; what they leave open is zero."""
    t = kin.tape
    return solution(t, ((t.zero if b is None else t.neg(b), a) for b, a in rows), lambda c: c)


def _spanned(kin: Kinematics, row: ConstraintRow, columns: Twists, independent: list[int]) -> list[int]:
    """f = Σ c_k v_k with f·v_k = A_k: a force in the directions in which the point can go."""
    t = kin.tape

    v = Rows.of(t, (columns[k][:3] for k in independent), 3)
    c = _solved(kin, [(row.A.get(k), dict(products)) for k, products in zip(independent, (v @ v.T).rows, strict=True)])
    return [*(v.T @ Column(t, (c.get(j, t.zero) for j in range(len(independent))))), t.zero, t.zero, t.zero]


def _checked(kin: Kinematics, row: ConstraintRow, P: Point, body: Body, columns: Twists, w: list[int]) -> Hold | None:
    """The hold, if it does the work of the row along every coordinate."""
    t, N = kin.tape, kin.system.N
    misses = [contracted(t, zip(x, w, strict=False), t.neg(row.A.get(k, t.zero))) for k, x in columns.items()]
    if not all(shown_zero(t, misses)):
        return None
    force, moment = Vector(t, {N: (w[0], w[1], w[2])}), Vector(t, {N: (w[3], w[4], w[5])})
    return Hold(((P, force),) if force.parts else (), ((body.frame, moment),) if moment.parts and body.frame is not None else ())
