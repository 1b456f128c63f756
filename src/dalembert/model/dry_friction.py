"""T = −μ n sign(v), |T| ≤ μ_s n: dry friction along a row, under a normal force that is given, or that of a constraint row."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from dalembert.algebra.folds import Derivative, Linear, symbols_of
from dalembert.algebra.scalar import Scalar
from dalembert.errors import BadDescription, NotLinear
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.contact_forces import along_row, coefficients, contact_forces, contact_name, declare_contact
from dalembert.model.elements import Body, Load
from dalembert.model.loads import checked_load_name
from dalembert.model.material_points import placed
from dalembert.model.registry import Registry, in_rates, number, refuse_accelerations, refuse_inputs, scalar


class FrictionTerms(NamedTuple):
    """What a row was told of its friction: μ, μ_s and the normal force."""

    friction: Any
    static: Any
    normal: Any

    def wanted(self, what: str) -> bool:
        """Whether friction was asked for; its terms without it are refused."""
        if self.friction is None and (self.static is not None or self.normal is not None):
            msg = f"{what}: static= and normal= without friction=; give friction=μ too"
            raise BadDescription(msg)
        return self.friction is not None


def friction(
    s: Registry,
    slip: Any,
    friction: Any,
    *,
    normal: Any = None,
    static: Any = None,
    stribeck: Any = None,
    viscous: Any = 0,
    name: str | None = None,
) -> None:
    """T = −μ n sign(v) in slip, |T| ≤ μ_s n at rest: dry friction along a row v(q, q̇, t), such as the rate of a joint.

    `normal` is n, the force that presses (for a pin its radius times the force, for a clutch the torque per μ), or the name of a
    constraint row whose force does, from either side, and is found with the motion; `viscous` adds −c v;
    `stribeck` is the velocity v_s of μ + (μ_s − μ) exp(−(v/v_s)²). A row on positions is taken by its rate.
    """
    label = contact_name(s, name, "friction")
    v = _slip(s, label, scalar(s, slip))
    if normal is None:
        msg = f"{label}: friction needs a normal force; give normal=…, or declare the contact itself with s.contact(point, …, friction=…)"
        raise BadDescription(msg)
    mu = coefficients(s, label, friction, static)
    c = scalar(s, viscous)
    if mu is None and c == 0:
        msg = f"{label}: friction = 0 and viscous = 0: nothing holds and nothing slows down"
        raise BadDescription(msg)
    if c != 0:
        s.loads.append(along_row(s, checked_load_name(s, f"{label}, viscous", "friction"), v, -c * v))
    if mu is None:
        return
    n = _normal(s, label, normal)
    _, T = contact_forces(s, label, normal=False, slips=True)
    assert T is not None
    declare_contact(s, label, along_row(s, label, v, T), None, None, v, (None, T), n, mu, stribeck, (0, "newton"), False, None)


def rolling_friction(
    s: Registry, label: str, direction: Vector, at: Point, body: Body, ground: Body | None, v: Scalar, given: FrictionTerms
) -> None:
    """A row of rolling that may slip: T along the direction at the point of contact, and its opposite on what it rolls on."""
    if given.normal is None:
        way = "normal=…, such as normal=m*g, or free its height and declare s.contact(…, radius=…, friction=…)"
        msg = f"{label}: friction on a row without a normal force; give {way}"
        raise BadDescription(msg)
    mu = coefficients(s, label, given.friction, given.static)
    if mu is None:
        msg = f"{label}: friction = 0 holds nothing; leave the row out"
        raise BadDescription(msg)
    n = _normal(s, label, given.normal)
    _, T = contact_forces(s, label, normal=False, slips=True)
    F = T * direction
    acting = placed((F, at, body)) if ground is None else placed((F, at, body), (-F, at, ground))
    declare_contact(s, label, Load(label, *acting), None, None, v, (None, T), n, mu, None, (0, "newton"), False, (at, None, direction))


def _normal(s: Registry, label: str, normal: Any) -> Scalar | str:
    """An expression, or the name of the row whose force it is."""
    names = [c.name for c in s.constraints if not c.redundant]
    if isinstance(normal, str) and normal in names:
        return normal
    if isinstance(normal, str) and not re.fullmatch(r"[\s\d./eE+-]+", normal):
        rows = f"there are {', '.join(map(repr, names))}" if names else "there are none yet; declare it before its friction"
        msg = f"{label}: normal={normal!r:.60} names no constraint row ({rows})"
        raise BadDescription(msg)
    n = scalar(s, normal)
    refuse_accelerations(s, label, (n.i,))
    if (pressing := number(s, n)) is not None and pressing < 0:
        msg = f"{label}: normal = {pressing:g}; the force that presses is not negative"
        raise BadDescription(msg)
    return n


def _slip(s: Registry, label: str, e: Scalar) -> Scalar:
    """A row as a velocity: itself, or its rate where it is on positions."""
    tape = s.space.tape
    rates = [q.dot.i for q in s.q]
    refuse_inputs(s, label, e)
    if not set(rates).intersection(symbols_of(tape, (in_rates(s, e.i),))):
        e = Scalar(tape, Derivative(tape, tape.rate)(e.i))
    try:
        _, slopes = Linear(tape, rates)(in_rates(s, e.i))
    except NotLinear as problem:
        msg = f"{label}: the slip velocity is {problem}; friction acts along a row that is linear in the rates"
        raise BadDescription(msg) from problem
    if not slopes:
        msg = f"{label}: no rate enters {e}, so that nothing slips"
        raise BadDescription(msg)
    return e
