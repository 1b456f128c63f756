"""φ(q, t) = 0, a(q, t)·q' + b(q, t) = 0: constraints as a system declares them, row by row.
Keywords: holonomic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dalembert.errors import BadDescription, NotLinear
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.joint_constraints import UnitReaction
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.dry_friction import FrictionTerms, rolling_friction, switched_row
from dalembert.mechanics.model.dry_friction import friction as row_friction
from dalembert.mechanics.model.elements import Body, Constraint, RollingContact
from dalembert.mechanics.model.force_reduction import bodies_at_ends
from dalembert.mechanics.model.registry import (
    Registry,
    rate_coefficients,
    refuse_inputs,
    scalar,
    substitute_speeds,
)
from dalembert.symbolic.algebra.exact.zero_test import RandomPoints, provably_zero
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.scalar import Scalar, is_sympy

if TYPE_CHECKING:
    from dalembert.symbolic.algebra.exact.sample_point import SamplePoint


def constrain(
    s: Registry,
    expression: Any,
    name: str | None = None,
    *,
    redundant: bool = False,
    on: Any = None,
    at: Point | None = None,
    friction: Any = None,
    static: Any = None,
    normal: Any = None,
    active: Any = None,
) -> None:
    """expression = 0: holonomic if it holds only q and t, otherwise a relation of the rates, linear
    or not.

    A row that is not linear in the rates is taken by Chetaev's rule, which the derivation states as
    an assumption. `redundant` says that the row follows from the others wherever these hold (as in
    overconstrained linkages): the principles leave it out, while start values and simulation keep
    it. Its reaction acts where the description shows it; `on` names the body it acts on, or
    on=(body, other) the two that it holds together, and `at` the point where it is a force.

    With `friction` μ the row holds as long as |λ| ≤ μ_s n (`static`, μ unless given; `normal` is n)
    and slips beyond: s.friction.

    With `active` the row is switched on and off: it holds while an expression is positive, active=
    "2 - t", or from the start (True) or not yet (False), where events add and drop it. Where it is
    added an impact makes its velocity zero, M (u⁺ − u⁻) = Aᵀ Λ, A u⁺ = 0. A row on positions must
    hold by then. Its force is the input N_name.
    """
    bodies = _constrained_bodies(s, on, at)
    e = _row_expression(s, expression)
    if FrictionTerms(friction, static, normal).is_given("constrain"):
        if redundant or on is not None:
            msg = "constrain: a row that may slip takes neither redundant= nor on="
            raise BadDescription(msg)
        row_friction(s, e, friction, normal=normal, static=static, name=name, active=active)
        return
    if active is not None:
        if redundant or on is not None:
            msg = "constrain: a row that is switched, active=, takes neither redundant= nor on="
            raise BadDescription(msg)
        switched_row(s, e, name, active)
        return
    add_row(s, name, e, redundant=redundant, on=bodies, at=at)


def _constrained_bodies(
    s: Registry, on: Any, at: Point | None
) -> tuple[Body | None, Body | None] | None:
    """The body that a row was declared to act on, and the one that takes the reaction (None: the
    ground).
    """
    if at is not None:
        s.space.check_element(at, Point, "constrain, at=")
    if on is None:
        if at is not None:
            msg = (
                "constrain: at= without on=; name the body whose point the row acts on too, "
                "such "
                "as on=rod"
            )
            raise BadDescription(msg)
        return None
    if at is not None:
        first, second = bodies_at_ends("constrain", at, at, on)
    else:
        first, second = on if isinstance(on, tuple) and len(on) == 2 else (on, None)
    if not isinstance(first, Body) or not isinstance(second, Body | None):
        msg = (
            f"constrain: on={on!r:.60}; name the body that the row acts on, such as on=rod, or "
            f"two, on=(rod, cart)"
        )
        raise BadDescription(msg)
    return first, second


def constraint_name(s: Registry, name: str | None) -> str:
    """The given name, or a number; refused where another row has it."""
    label = f"constraint {len(s.constraints) + 1}" if name is None else check_label(name)
    if any(c.name == label for c in s.constraints):
        msg = f"{label!r} is declared already, as a constraint"
        raise BadDescription(msg)
    return label


def check_label(name: object) -> str:
    """A name that someone gave to a row."""
    if not isinstance(name, str) or not name.strip():
        rows = "" if isinstance(name, str) else "; another row has its own s.constrain(…)"
        msg = f"a constraint is named by a string, not {name!r}{rows}"
        raise BadDescription(msg)
    return name


def add_row(s: Registry, name: str | None, e: Scalar, **known: Any) -> None:
    """A row by itself, with its known properties: fields of `Constraint`."""
    label = constraint_name(s, name)
    if provably_zero(s.space.tape, [e.i])[0]:
        msg = f"{label}: it holds identically, so it constrains nothing"
        raise BadDescription(msg)
    s.constraints.append(_build_constraint(s, label, e, **known))


def _build_constraint(s: Registry, name: str, e: Scalar, **fields: Any) -> Constraint:
    """The row, unless it is none; nothing is declared yet."""
    tape = s.space.tape
    inside = set(symbols_of(tape, (substitute_speeds(s, e.i),)))
    rates = [tape.rate(q.i) for q in s.q]
    if any(x is not None and tape.rate(x) in inside for x in rates):
        msg = f"{name}: it contains accelerations; constraints are on positions or velocities"
        raise BadDescription(msg)
    holonomic = inside.isdisjoint(rates)
    if holonomic and not any(q.i in inside for q in s.q):
        msg = f"{name}: it does not depend on the motion (no coordinate and no rate enters)"
        raise BadDescription(msg)
    try:
        rate_coefficients(s, e)
        nonlinear = False
    except NotLinear:
        nonlinear = True
    refuse_inputs(s, name, e)
    return Constraint(name, e, holonomic, nonlinear=nonlinear, **fields)


def add_rows(
    s: Registry,
    label: str,
    rows: list[tuple[str, Scalar, RollingContact | UnitReaction]],
    redundant: Iterable[str],
    if_trivial: str,
    between: tuple[Point, Point] | None = None,
) -> None:
    """The rows of one declaration: those that vanish identically are dropped and reported, all
    of them are refused.
    """
    marked = _redundant_suffixes(label, [suffix for suffix, _, _ in rows], redundant)
    vanishing = provably_zero(s.space.tape, [e.i for _, e, _ in rows])
    if all(vanishing):
        msg = f"{label}: {if_trivial}"
        raise BadDescription(msg)
    for suffix, _, _ in rows:
        constraint_name(s, f"{label} {suffix}")
    constraints = []
    for (suffix, e, known), gone in zip(rows, vanishing, strict=True):
        if not gone:
            gap = between if suffix in "xyz" else None
            acts = {"contact" if isinstance(known, RollingContact) else "unit_reaction": known}
            row = _build_constraint(
                s,
                f"{label} {suffix}",
                e,
                redundant=suffix in marked,
                gap_points=gap,
                loop_points=between,
                **acts,
            )
            constraints.append(row)
    # all rows or, where one is refused, none
    s.constraints += constraints
    s.trivial_constraints += [
        f"{label} {suffix}" for (suffix, _, _), gone in zip(rows, vanishing, strict=True) if gone
    ]


def resolve_frame(s: Registry, frame: Frame | str, what: str) -> Frame:
    """The frame whose axes rows are seen along: N unless another is given."""
    if frame == "N":
        return s.space.N
    s.space.check_element(frame, Frame, f"{what}, seen=")
    assert isinstance(frame, Frame)
    return frame


def _redundant_suffixes(label: str, suffixes: list[str], redundant: Iterable[str]) -> set[str]:
    if not isinstance(redundant, str) and not (
        isinstance(redundant, Iterable) and all(isinstance(x, str) for x in redundant)
    ):
        msg = f"{label}: redundant={redundant!r}; name rows of it, such as redundant='z'"
        raise BadDescription(msg)
    marked = {redundant} if isinstance(redundant, str) and redundant else set(redundant)
    strange = sorted(marked - set(suffixes))
    if strange:
        listed = ", ".join(map(repr, suffixes))
        msg = f"{label}: redundant={strange[0]!r} names none of its rows; they are {listed}"
        raise BadDescription(msg)
    return marked


def _row_expression(s: Registry, expression: Any) -> Scalar:
    """The expression that a row makes zero; SymPy's Eq(a, b) is a − b."""
    if isinstance(expression, bool):
        msg = (
            "constrain: a == b compares two expressions at once; write the constraint as a "
            "difference, s.constrain(a - b)"
        )
        raise BadDescription(msg)
    if isinstance(expression, Vector):
        msg = (
            f"constrain: {expression} is a vector; write its rows separately, v @ s.N.x, or "
            f"s.coincide(P, Q), s.roll(body, P)"
        )
        raise BadDescription(msg)
    if type(expression).__name__ == "Equality" and is_sympy(expression):
        left, right = expression.args
        return scalar(s, left) - scalar(s, right)
    return scalar(s, expression)


def roll(
    s: Registry,
    body: Body,
    at: Point,
    name: str | None = None,
    *,
    along: str = "xyz",
    on: Body | None = None,
    seen: Frame | str = "N",
    friction: Any = None,
    static: Any = None,
    normal: Any = None,
) -> None:
    """v_G + ω × (C − G) = 0: the point of the body at `at` is at rest, so the body rolls without
    slip on fixed ground.

    With `on` it has the velocity of the point of that other body at the same place: one body rolls
    on another. `along` names the axes of N, or of `seen` (the frame of an inclined plane), for
    which a row is wanted ("xy" where the height is constrained by itself). Components that vanish
    identically (the height, where the geometry already holds it) are dropped and reported. With
    `friction` μ it rolls as long as friction holds it under the force `normal` that presses it to
    the ground, and slips beyond; one direction of slip is left then.
    """
    for candidate in (body,) if on is None else (body, on):
        _check_rolling_body(candidate)
    if not isinstance(along, str) or not along or not set(along) <= set("xyz"):
        msg = f"roll: along={along!r}; name axes of N, such as 'xy'"
        raise BadDescription(msg)
    if len(set(along)) != len(along):
        msg = f"roll: along={along!r} names an axis twice"
        raise BadDescription(msg)
    s.space.check_element(at, Point, "roll")
    axes = resolve_frame(s, seen, "roll")
    label = f"rolling of {body.name}" if name is None else check_label(name)
    contacts = [(axis, RollingContact(body, at, getattr(axes, axis), on)) for axis in along]
    rows: list[tuple[str, Scalar, RollingContact | UnitReaction]] = [
        (f"along {axis}", c.slip(s.space.motion), c) for axis, c in contacts
    ]
    _refuse_dependent_rows(s, label, rows)
    if (terms := FrictionTerms(friction, static, normal)).is_given(label):
        _add_rolling_friction(s, label, rows, terms)
        return
    why = "the contact point is always at rest, so rolling constrains nothing"
    add_rows(s, label, rows, (), why)


def _check_rolling_body(body: Any) -> None:
    if not isinstance(body, Body) or body.frame is None:
        msg = (
            "roll: give a rigid body and the point of contact, s.roll(disk, C), or "
            "s.roll(disk, C, on=table)"
        )
        raise BadDescription(msg)


def _add_rolling_friction(
    s: Registry,
    label: str,
    rows: list[tuple[str, Scalar, RollingContact | UnitReaction]],
    terms: FrictionTerms,
) -> None:
    """Rolling with friction: the one row along which the point of contact can slip."""
    vanishing = provably_zero(s.space.tape, [e.i for _, e, _ in rows])
    left = [
        (e, c)
        for (_, e, c), gone in zip(rows, vanishing, strict=True)
        if not gone and isinstance(c, RollingContact)
    ]
    if len(left) != 1:
        msg = (
            f"{label}: friction is along one direction of slip, and here are {len(left)}; name "
            f"it, along='x', and its frame, seen=…"
        )
        raise BadDescription(msg)
    (e, c) = left[0]
    rolling_friction(s, label, c.direction, c.point, c.body, c.ground, e, terms)


def _refuse_dependent_rows(
    s: Registry, label: str, rows: list[tuple[str, Scalar, RollingContact | UnitReaction]]
) -> None:
    """Where the slip has one direction only, its components along other axes say the same
    several times.
    """
    from dalembert.symbolic.algebra.exact.linear_algebra import rank_mod

    forms = [rate_coefficients(s, e) for _, e, _ in rows]
    columns = sorted({k for form in forms for k in form})

    def dependent(point: SamplePoint) -> list[str]:
        matrix = [[point(form[k]) if k in form else 0 for k in columns] for form in forms]
        dependencies = rank_mod(matrix, point.prime).dependent
        return [
            rows[i][0]
            for i in sorted(
                {x for i, others in dependencies.items() if others for x in (i, *others)}
            )
        ]

    if columns and (same := RandomPoints(s.space.tape, 1).at(0, dependent)):
        remedy = (
            "give the frame of the contact, seen=frame, whose axes lie along and across the slip"
        )
        msg = (
            f"{label}: its rows {' and '.join(same)} are the same condition; {remedy}, or name "
            "fewer "
            f"axes, "
            f"along='{same[0][-1]}'"
        )
        raise BadDescription(msg)
