"""Masses: particles, rigid bodies, and the shapes that know their own inertia."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from dalembert.errors import BadDescription, warn
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.solid_inertia import (
    box_inertia,
    cylinder_inertia,
    disk_inertia,
    rod_inertia,
    sphere_inertia,
)
from dalembert.mechanics.geometry.solid_inertia import inertia as inertia_dyadic
from dalembert.mechanics.geometry.vector import Dyadic, Vector, outer_square
from dalembert.mechanics.model.elements import Body, Shape
from dalembert.mechanics.model.registry import Registry, constant_value, scalar, time_varying_names
from dalembert.symbolic.algebra.exact.zero_test import decide_all_zero, provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar

# roundoff of a zero moment of inertia, relative to the largest
_ROUNDOFF: Final = 1e-12


def particle(s: Registry, name: str, mass: Any, at: Point) -> Body:
    """A mass at a point."""
    check_body_name(s, name)
    s.space.check_element(at, Point, f"particle {name!r}")
    body = Body(name, _mass(s, name, mass), at)
    s.bodies.append(body)
    return body


# the sizes of each shape, in their order
_SHAPE_SIZES: Final = {
    "rod": ("length",),
    "disk": ("radius",),
    "sphere": ("radius",),
    "box": ("a", "b", "c"),
    "cylinder": ("radius", "length"),
}


def body(
    s: Registry,
    name: str,
    mass: Any,
    G: Point,
    frame: Frame,
    inertia: Dyadic,
    *,
    about: Point | None = None,
    shape: Shape | None = None,
) -> Body:
    """A rigid body: mass, mass centre G, its frame, and its inertia about G (or about another of
    its points).
    """
    check_body_name(s, name)
    s.space.check_element(G, Point, f"body {name!r}")
    s.space.check_element(frame, Frame, f"body {name!r}")
    if not isinstance(inertia, Dyadic):
        msg = (
            f"body {name!r}: expected its inertia, such as da.inertia(B, 1, 1, 1) or "
            f"da.rod_inertia(B.y, m, l), got {inertia!r}"
        )
        raise BadDescription(msg)
    s.space.check_same_system(inertia.frame.space)
    if about is not None:
        s.space.check_element(about, Point, f"body {name!r}, about")
    if not isinstance(shape, Shape | None):
        msg = f"body {name!r}: expected a shape, such as da.Shape('sphere', (r,)), got {shape!r}"
        raise BadDescription(msg)
    m = _mass(s, name, mass)
    central = inertia if about is None else _central_inertia(inertia, m, G - about)
    _check_inertia(s, name, central, frame)
    if shape is not None:
        shape = _check_shape(s, name, shape)
    body = Body(name, m, G, frame, central, shape)
    s.bodies.append(body)
    return body


def check_body_name(s: Registry, name: str) -> None:
    """Refuse a body without a name, or with one that is taken."""
    if not isinstance(name, str) or not name:
        msg = f"a body needs a name, got {name!r}"
        raise BadDescription(msg)
    if any(b.name == name for b in s.bodies):
        msg = f"a body named {name!r} is declared already"
        raise BadDescription(msg)


def _mass(s: Registry, name: str, mass: Any) -> Scalar:
    m = scalar(s, mass)
    moving = time_varying_names(s, m.i, inputs=True)
    if moving:
        msg = f"body {name!r}: its mass depends on {', '.join(moving)}; a mass must be constant"
        raise BadDescription(msg)
    value = constant_value(s, m)
    if value is not None and value <= 0:
        msg = f"body {name!r}: its mass is {value:g}; a mass must be positive"
        raise BadDescription(msg)
    return m


def _central_inertia(I_P: Dyadic, m: Scalar, r: Vector) -> Dyadic:
    """I_G = I_P − m (r·r 1 − r r)   (Huygens–Steiner)"""
    F = I_P.frame
    square = r @ r
    return (
        I_P + inertia_dyadic(F, -m * square, -m * square, -m * square) + outer_square(r, F).scale(m)
    )


def _check_inertia(s: Registry, name: str, I: Dyadic, frame: Frame) -> None:
    tape = s.space.tape
    in_body = I.to(frame).entries()
    rate = Derivative(tape, tape.rate)
    changing = [rate(c) for c in in_body]
    if not decide_all_zero(
        tape, changing, f"body {name!r}: whether its inertia is constant in the body"
    ):
        q = _varying_symbol(s, in_body)
        own = f"give it in the body's own frame {frame.name}"
        msg = f"body {name!r}: its inertia is not constant in the body, it changes with {q}; {own}"
        raise BadDescription(msg)
    fault = inertia_fault(I, frame, lambda i: constant_value(s, Scalar(tape, i)))
    if fault is None:
        return
    msg = f"body {name!r}: {fault.text}"
    if fault.impossible:
        raise BadDescription(msg)
    warn(msg)


def _varying_symbol(s: Registry, entries: tuple[int, ...]) -> str:
    tape = s.space.tape
    for i in symbols_of(tape, entries):
        if i in tape.moving:
            along = Derivative(tape, {i: tape.one}.get)
            if not all(provably_zero(tape, [along(c) for c in entries])):
                return str(tape.nodes[i][1])
    return "time"


def _check_sizes(s: Registry, body: str, **sizes: Any) -> tuple[Scalar, ...]:
    """Lengths and radii, none of them negative as far as they are known."""
    made = {what: scalar(s, v) for what, v in sizes.items()}
    for what, size in made.items():
        value = constant_value(s, size)
        if value is not None and value <= 0:
            msg = f"body {body!r}: its {what} is {value:g}; a {what} must be positive"
            raise BadDescription(msg)
    return tuple(made.values())


def _check_shape(s: Registry, body: str, shape: Shape) -> Shape:
    """The shape with its sizes as positive expressions."""
    names = _SHAPE_SIZES.get(shape.kind)
    if names is None:
        msg = f"body {body!r}: no shape {shape.kind!r:.40}; there are {', '.join(_SHAPE_SIZES)}"
        raise BadDescription(msg)
    if not isinstance(shape.sizes, tuple | list) or len(names) != len(shape.sizes):
        msg = (
            f"body {body!r}: the sizes of a {shape.kind} are ({', '.join(names)}"
            f"{',' if len(names) == 1 else ''}), got {shape.sizes!r:.60}"
        )
        raise BadDescription(msg)
    sizes = _check_sizes(s, body, **dict(zip(names, shape.sizes, strict=True)))
    return Shape(shape.kind, sizes, shape.axis)


def rod(s: Registry, name: str, at: Point, mass: Any, length: Any) -> Body:
    """A thin uniform rod that hangs from `at` along −y of the frame of the point; `.tip` is its
    end.
    """
    s.space.check_element(at, Point, f"rod {name!r}")
    F = at.frame
    (l,) = _check_sizes(s, name, length=length)
    made = body(
        s,
        name,
        mass,
        at.offset(-l / 2 * F.y, frame=F),
        F,
        rod_inertia(F.y, mass, l),
        shape=Shape("rod", (l,), F.y),
    )
    made.points["tip"] = at.offset(-l * F.y, f"tip of {name}", F)
    return made


def disk(
    s: Registry, name: str, G: Point, frame: Frame, mass: Any, radius: Any, axis: Vector
) -> Body:
    """A thin uniform disk with its axis along `axis`, a vector or "x", "y", "z" of its frame."""
    n = frame.named_axis(axis) if isinstance(frame, Frame) else axis
    return body(
        s,
        name,
        mass,
        G,
        frame,
        disk_inertia(n, mass, radius),
        shape=Shape("disk", _check_sizes(s, name, radius=radius), n),
    )


def sphere(s: Registry, name: str, G: Point, frame: Frame, mass: Any, radius: Any) -> Body:
    """A homogeneous sphere."""
    return body(
        s,
        name,
        mass,
        G,
        frame,
        sphere_inertia(frame, mass, radius),
        shape=Shape("sphere", _check_sizes(s, name, radius=radius)),
    )


def cylinder(
    s: Registry,
    name: str,
    G: Point,
    frame: Frame,
    mass: Any,
    radius: Any,
    length: Any,
    axis: Vector,
) -> Body:
    """A solid cylinder with its axis along `axis`, a vector or "x", "y", "z" of its frame."""
    n = frame.named_axis(axis) if isinstance(frame, Frame) else axis
    shape = Shape("cylinder", _check_sizes(s, name, radius=radius, length=length), n)
    return body(s, name, mass, G, frame, cylinder_inertia(n, mass, radius, length), shape=shape)


def box(s: Registry, name: str, G: Point, frame: Frame, mass: Any, a: Any, b: Any, c: Any) -> Body:
    """A solid box with sides a, b, c along the axes of its frame."""
    return body(
        s,
        name,
        mass,
        G,
        frame,
        box_inertia(frame, mass, a, b, c),
        shape=Shape("box", _check_sizes(s, name, a=a, b=b, c=c)),
    )


# ---- what the principal moments of inertia of a real body satisfy: I_a ≥ 0, I_a ≤ I_b + I_c
# ------------


class InertiaFault(NamedTuple):
    """What is wrong with an inertia; an impossible one is refused, an implausible one only
    deserves a word.
    """

    text: str
    impossible: bool


def inertia_fault(
    I: Dyadic, frame: Frame, number: Callable[[int], float | None]
) -> InertiaFault | None:
    """What the moments that matter violate, as far as their numbers are known.

    A body that turns about one axis of its frame needs only the moment about it; the others may be
    left at zero.
    """
    turning = frame.rotation_axes
    if not turning:
        return None
    values = [number(c) for c in I.to(frame).entries()]
    known = [float(v) for v in values if v is not None]
    if len(turning) == 1:
        about = values[turning[0]]
        return (
            InertiaFault(
                f"its moment of inertia about {frame.name}.{'xyz'[turning[0]]} is {about:g}", True
            )
            if about is not None and about < 0
            else None
        )
    if len(known) < 6:
        return None
    moments = principal_moments(*known)
    fault = _negative(moments, known) or _check_triangle(moments)
    if fault is None or fault.impossible:
        return fault
    # one rate: it turns about one axis, skew in its frame, and the other moments do not matter
    t = frame.w.tape
    rates = [
        i for i in symbols_of(t, frame.w.components(frame)) if str(t.nodes[i][1]).endswith("'")
    ]
    return fault if len(rates) > 1 else None


def _negative(moments: list[float], entries: list[float]) -> InertiaFault | None:
    smallest, _, largest = moments
    if smallest >= -_ROUNDOFF * max(abs(smallest), abs(largest)):
        return None
    why = "" if min(entries[:3]) < 0 else "; its products of inertia are too large for its moments"
    return InertiaFault(f"its inertia has a negative principal moment ({smallest:g}){why}", True)


def _check_triangle(moments: list[float]) -> InertiaFault | None:
    a, b, c = moments
    if c <= (a + b) * (1 + _ROUNDOFF):
        return None
    return InertiaFault(
        f"principal moments {a:g}, {b:g}, {c:g} violate the triangle inequality; no real body has "
        f"them",
        False,
    )


def principal_moments(
    xx: float, yy: float, zz: float, xy: float, yz: float, xz: float
) -> list[float]:
    """The eigenvalues of a symmetric dyadic, smallest first."""
    if xy == yz == xz == 0:
        return sorted((xx, yy, zz))
    import numpy as np

    return sorted(map(float, np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])))
