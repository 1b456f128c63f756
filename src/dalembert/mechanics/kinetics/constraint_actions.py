"""A_j δq = Σ d·δr_P + m·δθ_F: where a constraint row acts on the bodies, so that λ_j becomes forces
and moments.

Rolling and closures know their points. Of a row written by hand the description is searched for
what it can be: the gap between two points along an axis, their distance, the angle of two axes, a
relative velocity, a coupling of coordinates, or a surface for one free body. A candidate counts
only if its variation is that of the row, decided at a random point of a prime field; where two
candidates put different wrenches on the bodies, none is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from itertools import product
from typing import NoReturn

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.joint_constraints import UnitReaction
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.constraint_rows import ConstraintRow
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, split_linear
from dalembert.mechanics.kinetics.constraint_action_search import UnitReactionSearch
from dalembert.mechanics.kinetics.free_bodies import GroupLoad
from dalembert.mechanics.kinetics.rigid_groups import RigidGroup, RigidGroups
from dalembert.mechanics.model.elements import Body, Constraint
from dalembert.symbolic.algebra.elimination import solve_rows
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints, provably_zero, rank_mod
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, symbols_of
from dalembert.symbolic.algebra.sparse_matrix import (
    Column,
    SparseMatrix,
    sum_of_products,
)

# {k: the components of ∂v/∂q̇_k and, where a moment may act, of ∂ω/∂q̇_k}
Twists = dict[int, tuple[int, ...]]


def row_wrench(
    kin: Kinematics,
    row: ConstraintRow,
    body: Body,
    at: Point | None = None,
    other: Body | None = None,
) -> UnitReaction | None:
    """The row as a force at a point of a body, or without one as a force at its mass centre and a
    moment; None if it is no such thing.

    Along motions that the body cannot make it exerts nothing. A wrench that this leaves open is
    none.
    """
    P = body.G if at is None else at
    v, w = _velocities(kin, P, body, other)
    turned = at is None and body.frame is not None
    columns = _twist_columns(kin, [v, w] if turned else [v])
    if not set(row.A) <= set(columns):
        return None
    present = [
        c for c in range(6 if turned else 3) if any(x[c] != kin.tape.zero for x in columns.values())
    ]
    independent = _independent(kin, columns)
    if len(independent) == len(present):
        parts = _solve_linear(
            kin,
            [
                (row.A.get(k), {c: x[c] for c in present if x[c] != kin.tape.zero})
                for k, x in columns.items()
            ],
        )
        components = [parts.get(c, kin.tape.zero) for c in range(6)]
    elif not turned:
        components = _force_in_span(kin, row, columns, independent)
    else:
        return None
    return _verified_reaction(kin, row, P, body, columns, components)


def _velocities(kin: Kinematics, P: Point, body: Body, other: Body | None) -> tuple[Vector, Vector]:
    """v and ω of the body's point at P against the other body's."""
    motion, none = kin.motion_in_rates, Vector(kin.tape, {})

    def of(b: Body | None) -> tuple[Vector, Vector]:
        if b is None or b.frame is None:
            return (none if b is None else motion.v(b.G)), none
        return motion.v(b.G) + motion.w(b.frame).cross((P - b.G).on(kin.tape)), motion.w(b.frame)

    (v, w), (v_0, w_0) = of(body), of(other)
    return v - v_0, w - w_0


def _twist_columns(kin: Kinematics, velocities: list[Vector]) -> Twists:
    t, N = kin.tape, kin.system.N
    linear = LinearCoefficients(t, kin.qdot)
    parts = [split_linear(linear, v)[0] for v in velocities]
    none = Vector(t, {})
    columns = {
        k: tuple(c for p in parts for c in p.get(k, none).components(N))
        for k in sorted({k for p in parts for k in p})
    }
    # what vanishes identically is taken for nothing
    gone = dict(zip(columns, (provably_zero(t, x) for x in columns.values()), strict=True))
    return {
        k: tuple(t.zero if g else c for c, g in zip(x, gone[k], strict=True))
        for k, x in columns.items()
        if not all(gone[k])
    }


def _independent(kin: Kinematics, columns: Twists) -> list[int]:
    """Coordinates whose columns are independent and span all of them."""
    keys = list(columns)
    dependent = RandomPoints(kin.tape, 1).at(
        0,
        lambda p: (
            rank_mod([[p.real_value(x) for x in columns[k]] for k in keys], p.prime).dependent
        ),
    )
    return [k for i, k in enumerate(keys) if i not in dependent]


def _solve_linear(kin: Kinematics, rows: list[tuple[int | None, dict[int, int]]]) -> dict[int, int]:
    """z with Σ a_c z_c = b for all rows; what they leave open is zero."""
    t = kin.tape
    return solve_rows(t, ((t.zero if b is None else t.neg(b), a) for b, a in rows), lambda c: c)


def _force_in_span(
    kin: Kinematics, row: ConstraintRow, columns: Twists, independent: list[int]
) -> list[int]:
    """f = Σ c_k v_k with f·v_k = A_k: a force in the directions in which the point can go."""
    t = kin.tape

    v = SparseMatrix.from_dense(t, (columns[k][:3] for k in independent), 3)
    c = _solve_linear(
        kin,
        [
            (row.A.get(k), dict(products))
            for k, products in zip(independent, (v @ v.T).rows, strict=True)
        ],
    )
    return [
        *(v.T @ Column(t, (c.get(j, t.zero) for j in range(len(independent))))),
        t.zero,
        t.zero,
        t.zero,
    ]


def _verified_reaction(
    kin: Kinematics, row: ConstraintRow, P: Point, body: Body, columns: Twists, w: list[int]
) -> UnitReaction | None:
    """The hold, if it does the work of the row along every coordinate."""
    t, N = kin.tape, kin.system.N
    misses = [
        sum_of_products(t, zip(x, w, strict=False), t.neg(row.A.get(k, t.zero)))
        for k, x in columns.items()
    ]
    if not all(provably_zero(t, misses)):
        return None
    force, moment = Vector(t, {N: (w[0], w[1], w[2])}), Vector(t, {N: (w[3], w[4], w[5])})
    return UnitReaction(
        ((P, force),) if force.parts else (),
        ((body.frame, moment),) if moment.parts and body.frame is not None else (),
    )


REMEDY = (
    "declare it by what it holds (s.roll, s.coincide, s.close, s.distance, s.gear), or say "
    "where: s.constrain(..., on=body, at=P)"
)


@dataclass(frozen=True)
class ConstraintAction:
    """What λ = 1 of a row puts on the rigid groups: forces at points, moments; none where it acts
    in the joints, or this is unknown.
    """

    forces: tuple[tuple[RigidGroup, Point, Vector], ...] = ()
    moments: tuple[tuple[RigidGroup, Vector], ...] = ()
    unknown_reason: str = ""
    # the body it was declared to act on, and the one with the reaction
    named: tuple[str, str] | None = None
    # the force of the ground at a point, where the body that carries it is open
    ground_force: tuple[Point, Vector] | None = field(default=None, compare=False)

    @property
    def body_pair(self) -> tuple[str, str] | None:
        """The body that it acts on, and the one that takes the opposite."""
        labels = [g.label(P) for g, P, _ in self.forces] + [g.label() for g, _ in self.moments]
        touched = [x for x in dict.fromkeys(labels) if x != "the ground"]
        return self.named or (
            (touched[0], touched[1] if len(touched) > 1 else "the ground") if touched else None
        )

    @property
    def on(self) -> RigidGroup | None:
        """The group of the first of its sides."""
        sides = self.body_pair
        groups = [(g, g.label(P)) for g, P, _ in self.forces] + [
            (g, g.label()) for g, _ in self.moments
        ]
        moving = [
            g
            for g, label in groups
            if g.before is not None and (self.named or sides is None or label == sides[0])
        ]
        return next(iter(moving), None)


def reaction_rows(kin: Kinematics) -> tuple[ConstraintRow, ...]:
    """Every row that exerts something: those with a multiplier in the principles, then those
    marked redundant.
    """
    acting = kin.rows_with_multipliers
    known = {row.name for row in acting}
    return (*acting, *(row for row in kin.redundant if row.name not in known))


def multipliers(kin: Kinematics) -> tuple[int, ...]:
    """λ_1, …, λ_m: one symbol for each row, the same as in the principles, and more where rows
    are marked redundant.
    """
    return tuple(
        kin.tape.private_symbol(f"lambda_{j}") for j in range(1, len(reaction_rows(kin)) + 1)
    )


def row_loads_by_group(groups: RigidGroups, actions: list[ConstraintAction]) -> Iterator[GroupLoad]:
    """λ_j d at the points and λ_j m on the frames that the rows hold."""
    t = groups.kin.tape
    for lam, row, action in zip(
        multipliers(groups.kin), reaction_rows(groups.kin), actions, strict=False
    ):
        yield from (GroupLoad(row.name, g, d.on(t).scale(lam), P) for g, P, d in action.forces)
        yield from (GroupLoad(row.name, g, m.on(t).scale(lam)) for g, m in action.moments)


def row_actions(groups: RigidGroups) -> list[ConstraintAction]:
    """For every row that holds, where it takes hold."""
    kin = groups.kin
    declared = {c.name: c for c in kin.system.constraints}
    search: UnitReactionSearch | None = None
    actions = []
    for row in reaction_rows(kin):
        c = declared.get(row.name)
        if (
            c is None
            or row.is_norm
            or row.contact is not None
            or c.unit_reaction is not None
            or row.nonlinear is not None
        ):
            actions.append(_declared_action(groups, row, c))
            continue
        search = search or RandomPoints(kin.tape, 1).at(
            0, lambda point: UnitReactionSearch(groups, point)
        )
        try:
            action = _custom_row_action(groups, search, row, c)
        except NotApplicable as problem:
            action = ConstraintAction(unknown_reason=str(problem))
        if row.holonomic and action.on is None:
            action = replace(action, ground_force=search.ground_force(row))
        actions.append(action)
    return actions


def _declared_action(
    groups: RigidGroups, row: ConstraintRow, declared: Constraint | None
) -> ConstraintAction:
    """What the declaration says by itself: rolling, closures; the norm of a quaternion acts on no
    body.
    """
    contact = row.contact
    if contact is not None:
        d, C = contact.direction, contact.point
        ground = groups.ground if contact.ground is None else groups.of_body[contact.ground]
        named = contact.body.name, "the ground" if contact.ground is None else contact.ground.name
        return ConstraintAction(
            ((groups.of_body[contact.body], C, d), (ground, C, -d)), named=named
        )
    if declared is not None and declared.unit_reaction is not None:
        try:
            return assign_reaction(
                groups, declared.unit_reaction, f"the row {row.name!r}", declared.loop_points
            )
        except NotApplicable as problem:
            return ConstraintAction(unknown_reason=str(problem))
    unknown = (
        ""
        if row.is_norm
        else f"{row.name!r} is not linear in the velocities, and where it acts is not known"
    )
    return ConstraintAction(unknown_reason=unknown)


def assign_reaction(
    groups: RigidGroups, hold: UnitReaction, what: str, closes: tuple[Point, Point] | None = None
) -> ConstraintAction:
    """A hold on the groups that its points and frames belong to; a frame of a closure to the
    side that turns with it.
    """
    points = [P for P, _ in hold.forces] if closes is None else closes
    sides = {groups.group_of_point(P, what): P for P in reversed(points)}
    forces = tuple((groups.group_of_point(P, what), P, d) for P, d in hold.forces)
    moments = tuple(
        (
            _group_of_moment(
                groups, F, [P for P in points if groups.rotates_with(P.frame, F)], what
            ),
            m,
        )
        for F, m in hold.moments
    )
    touched = [
        g
        for g in dict.fromkeys([*(g for g, *_ in forces), *(g for g, _ in moments)])
        if g.before is not None
    ]
    labels = [g.label(sides.get(g)) for g in touched]
    return ConstraintAction(
        forces,
        moments,
        named=(labels[0], labels[1] if len(labels) > 1 else "the ground") if labels else None,
    )


def _group_of_moment(groups: RigidGroups, F: Frame, points: list[Point], what: str) -> RigidGroup:
    """The group of a frame: that of a point which is held and turns with it, where there is one."""
    return groups.group_of_point(points[0], what) if points else groups.group_of_frame(F, what)


def _custom_row_action(
    groups: RigidGroups, search: UnitReactionSearch, row: ConstraintRow, c: Constraint
) -> ConstraintAction:
    """A row of s.constrain: as declared, or as the description shows."""
    if c.on is not None:
        return _named_action(groups, search, row, c.on, c.at)
    holds = _candidates(groups, search, row)
    agreed = _unanimous_action(search, holds)
    if agreed is not None:
        return agreed
    alone = None if holds else search.sole_body(row)
    # a link without masses on the way to the ground may be meant as well
    direct = alone is not None and groups.of_body[alone].before is groups.ground
    if (
        alone is not None
        and direct
        and search.is_free(alone)
        and (hold := row_wrench(groups.kin, row, alone)) is not None
    ):
        return _body_action(groups, hold, alone, None)
    to_ground = all(any(g is groups.ground for g, *_ in (*a.forces, *a.moments)) for a in holds)
    if c.is_coupling or (
        to_ground and (len(row.A) == 1 or not holds) and _is_coordinate_coupling(groups.kin, row)
    ):
        return ConstraintAction()
    msg = (
        f"it is not known on which bodies {row.name!r} acts{_ambiguity_text(search, holds)}; "
        f"{REMEDY} to have the wrenches in the joints"
    )
    raise NotApplicable(msg)


def _ambiguity_text(search: UnitReactionSearch, candidates: list[ConstraintAction]) -> str:
    """The first two candidates that hold different bodies, in words."""
    acting = [a for a in candidates if search.wrenches(a.forces, a.moments)]
    pairs = list(dict.fromkeys(a.body_pair for a in acting if a.body_pair is not None))
    # one pair of bodies, but different places
    if len(pairs) < 2:
        return " or at which point: more than one is possible" if candidates else ""
    bodies = {b.name for b in search.kin.system.bodies}
    return f": it may hold {' or '.join(_body_pair_text(sides, bodies) for sides in pairs[:2])}"


def _body_pair_text(sides: tuple[str, str], bodies: set[str]) -> str:
    """The sides in words, and as on= takes them where both are bodies."""
    named = [
        x if x == "the ground" else repr(x) if x in bodies else f"the part without masses at {x!r}"
        for x in sides
    ]
    moving = [x for x in sides if x != "the ground"]
    on = moving[0] if len(moving) == 1 else f"({', '.join(moving)})"
    return f"{named[0]} against {named[1]}" + f" (on={on})" * bodies.issuperset(moving)


def _is_coordinate_coupling(kin: Kinematics, row: ConstraintRow) -> bool:
    """x = f(t), x = r θ: a coordinate by others with constant coefficients; along an axis that
    is oblique none has the coefficient 1.
    """
    t = kin.tape
    return not any(i in t.moving for i in symbols_of(t, row.A.values())) and any(
        abs(t.value(a) or 0) == 1 for a in row.A.values()
    )


def _candidates(
    groups: RigidGroups, search: UnitReactionSearch, row: ConstraintRow
) -> list[ConstraintAction]:
    """What the row can be, on the bodies."""
    actions = []
    for hold, body in search.candidate_reactions(row):
        actions += (
            [_body_action(groups, hold, body, None)]
            if body is not None
            else _possible_actions(groups, search, hold, f"the row {row.name!r}")
        )
    return actions


def _possible_actions(
    groups: RigidGroups, search: UnitReactionSearch, hold: UnitReaction, what: str
) -> list[ConstraintAction]:
    """A hold on the groups of its points and frames; of points without masses also on the bodies
    that move with these along the force.
    """
    forces, moving = [], []
    for P, d in hold.forces:
        group = groups.massive_group_of_point(P, what)
        massless = group.before is not None and not group.masses
        forces.append((group, P, d))
        moving.append(((search.group_moving_along(P, d) or group) if massless else group, P, d))
    # every choice of bodies that turn as the frames do
    choices = product(
        *([(group, m) for group in search.groups_for_moment(F, m)] for F, m in hold.moments)
    )
    places = [forces] if forces == moving else [moving, forces]
    return [ConstraintAction(tuple(each), moments) for moments in choices for each in places]


def _unanimous_action(
    search: UnitReactionSearch, candidates: list[ConstraintAction]
) -> ConstraintAction | None:
    """The first candidate, if all of them put the same wrench on every body."""
    pairs = [(search.wrenches(a.forces, a.moments), a) for a in candidates]
    acting = [(wrench, a) for wrench, a in pairs if wrench]
    return acting[0][1] if len({frozenset(wrench.items()) for wrench, _ in acting}) == 1 else None


def _named_action(
    groups: RigidGroups,
    search: UnitReactionSearch,
    row: ConstraintRow,
    on: tuple[Body | None, Body | None],
    at: Point | None,
) -> ConstraintAction:
    """The body, the one against it and perhaps the point were named."""
    body, other = on
    assert body is not None
    sides = {groups.of_body[body], groups.ground if other is None else groups.of_body[other]}
    fitting: list[ConstraintAction] = []
    if at is None:
        fitting = [
            a
            for a in _candidates(groups, search, row)
            if {g for g, *_ in (*a.forces, *a.moments)} <= sides
        ]
        if action := _unanimous_action(search, fitting) or _named_couple(groups, search, row, on):
            return _order_by_name(
                action,
                groups.of_body[body],
                (body.name, "the ground" if other is None else other.name),
            )
        hold = row_wrench(groups.kin, row, body, None, other)
    else:
        hold = search.axis_force(row, body, at, other) or row_wrench(
            groups.kin, row, body, at, other
        )
    if hold is None:
        _refuse_named_action(row, body, at, ambiguous=bool(fitting))
    return _body_action(groups, hold, body, other)


def _refuse_named_action(
    row: ConstraintRow, body: Body, at: Point | None, *, ambiguous: bool
) -> NoReturn:
    where, more = ("", "; name the point too, at=P") if at is None else (f"at {at.name} ", "")
    why = (
        "more than one direction fits it"
        if ambiguous
        else "its force there would not be that of the row"
    )
    msg = f"{row.name!r} cannot act {where}on {body.name!r} alone: {why}{more}"
    raise NotApplicable(msg)


def _named_couple(
    groups: RigidGroups,
    search: UnitReactionSearch,
    row: ConstraintRow,
    on: tuple[Body | None, Body | None],
) -> ConstraintAction | None:
    """(ω_B − ω_C)·n: a moment on each of two named bodies that turn as the frames do, also where
    other bodies, or the ground, turn so.
    """
    for hold, _ in search.candidate_reactions(row):
        sides = [
            [
                b
                for b in on
                if b is not None and b.frame is not None and groups.rotates_with(b.frame, F)
            ]
            for F, _ in hold.moments
        ]
        if (
            not hold.forces
            and all(len(fitting) == 1 for fitting in sides)
            and len({fitting[0].name for fitting in sides}) == 2
        ):
            moments = tuple(
                (groups.of_body[fitting[0]], m)
                for fitting, (_, m) in zip(sides, hold.moments, strict=True)
            )
            return ConstraintAction((), moments)
    return None


def _order_by_name(
    action: ConstraintAction, first: RigidGroup, named: tuple[str, str]
) -> ConstraintAction:
    """The body that was named first comes first."""
    forces = sorted(action.forces, key=lambda force: force[0] is not first)
    moments = sorted(action.moments, key=lambda moment: moment[0] is not first)
    return replace(action, forces=tuple(forces), moments=tuple(moments), named=named)


def _body_action(
    groups: RigidGroups, hold: UnitReaction, body: Body, other: Body | None
) -> ConstraintAction:
    """The hold on one body, its opposite on the other."""
    here, there = groups.of_body[body], groups.ground if other is None else groups.of_body[other]
    forces = [(g, P, d if g is here else -d) for P, d in hold.forces for g in (here, there)]
    moments = [(g, m if g is here else -m) for _, m in hold.moments for g in (here, there)]
    return ConstraintAction(
        tuple(forces),
        tuple(moments),
        named=(body.name, "the ground" if other is None else other.name),
    )
