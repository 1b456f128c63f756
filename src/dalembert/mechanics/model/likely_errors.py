"""Warnings about likely modelling errors: descriptions that are valid but rarely intended.

Each check gives at most one warning for a system. `s.accept(name)` switches it off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from dalembert.errors import BadDescription, warn
from dalembert.mechanics.geometry.frame import Frame, VelocityRecursion
from dalembert.mechanics.geometry.rotation import BasisRotation
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body
from dalembert.mechanics.model.registry import Registry
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import Derivative, evaluate, gradient, symbols_of
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_scalars
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from random import Random

_ROUND: Final = ("disk", "cylinder", "sphere")
# values at which two expressions are compared; equal at all of them means equal, very likely
_SAMPLES: Final = 3
_EQUAL: Final = 1e-9
STIFF_RUN: Final = "stiff run"


def warn_about_likely_errors(s: Registry) -> None:
    """One warning for each check that finds something and was not accepted."""
    for name, check in CHECKS.items():
        if name in s.accepted:
            continue
        if (message := next(check(s), None)) is not None:
            warn(f"{message}. If this is intended: s.accept({name!r})")


def accept(s: Registry, *names: str) -> None:
    """Switch off warnings about likely modelling errors: s.accept("double weight").

    names    "double weight", "torque without reaction", "rolling about the centre",
             "rolling with the wrong sign", "frame of another body" or "stiff run"
    """
    known = (*CHECKS, STIFF_RUN)
    for name in names:
        if name not in known:
            msg = f"accept: there is no check {name!r}; they are {', '.join(known)}"
            raise BadDescription(msg)
        if name not in s.accepted:
            s.accepted.append(name)


def warn_stiff_run(s: Registry, steps: int) -> None:
    """Warn once for a system about a run whose steps are limited by stability."""
    if STIFF_RUN in s.accepted:
        return
    accept(s, STIFF_RUN)
    warn(
        f"this run took {steps} steps because it is stiff: fast decay, not accuracy, limits the "
        f"step size; use integrator='rosenbrock' or 'auto'. If this is intended: "
        f"s.accept({STIFF_RUN!r})"
    )


def double_weight(s: Registry) -> Iterator[str]:
    """Gravity, and in addition a potential m g h or a force m g of a body."""
    field = s.gravity_field
    if field is None:
        return
    already = "which gravity adds already"
    for load in s.loads:
        for F, body in ((F, b) for F, P in load.forces for b in s.bodies if P is b.G):
            if _is_weight(s, F, body, field.g):
                yield f"{load.name}: it is the weight of {body.name!r}, {already}"
    potentials = [p for p in s.potentials if p.between is None]
    heights = _heights(s, field.g) if potentials else []
    for p in potentials:
        if name := _body_of_weight(s, p.V, heights):
            yield f"{p.name}: it is the potential of the weight of {name}, {already}"


class _Height(NamedTuple):
    """−m g·r of a body, or of all, and the coordinates that it depends on."""

    name: str
    V: Scalar
    coordinates: frozenset[int]


def _heights(s: Registry, g: Vector) -> list[_Height]:
    """The potentials of the weights of every body and of all bodies, on one copy of the tape."""
    t, q = s.space.tape.fork(), frozenset(x.i for x in s.q)

    def height(name: str, V: Scalar) -> _Height:
        return _Height(name, V, q.intersection(symbols_of(t, (V.i,))))

    single = [
        height(repr(b.name), Scalar(t, t.neg(_weight(t, b, g).dot_node((b.G - s.O).on(t)))))
        for b in s.bodies
    ]
    if len(single) < 2:
        return single
    return [*single, height("all bodies", sum_scalars(t, (each.V for each in single)))]


def _is_weight(s: Registry, F: Vector, body: Body, g: Vector) -> bool:
    return _are_equal(s, lambda t: [*(F.on(t) - _weight(t, body, g)).components(s.N)])


def _weight(t: Tape, body: Body, g: Vector) -> Vector:
    return g.on(t).scale(body.mass.i)


def _body_of_weight(s: Registry, V: Scalar, heights: list[_Height]) -> str:
    """The body whose weight has the potential V, or "all bodies"; nothing if there is none."""
    wrt = [q.i for q in s.q]
    moved = frozenset(wrt).intersection(symbols_of(s.space.tape, (V.i,)))
    for each in heights:
        # most potentials depend on other coordinates, which is seen without any derivative
        if moved and each.coordinates <= moved:
            t = each.V.tape.fork()
            if _is_zero(s, t, gradient(t, {t.sub(V.i, each.V.i): t.one}, wrt)):
                return each.name
    return ""


def torque_without_reaction(s: Registry) -> Iterator[str]:
    """A torque of a motor or a spring along a joint between two bodies, without its opposite."""
    for load in s.loads:
        if load.forces or load.coordinates or len(load.torques) != 1:
            continue
        T, frame = load.torques[0]
        body, parent = _body_of(s, frame), _body_of(s, frame.parent)
        if body and parent and _is_joint_load(s, T, frame):
            yield (
                f"{load.name}: the torque on {body.name!r} acts along its joint with "
                f"{parent.name!r} and has no reaction there; a motor or spring between them "
                f"needs reaction={parent.name}"
            )


def _body_of(s: Registry, frame: Frame | None) -> Body | None:
    return (
        next((b for b in s.bodies if b.is_rigid and b.frame is frame), None)
        if frame is not None
        else None
    )


def _is_joint_load(s: Registry, T: Vector, frame: Frame) -> bool:
    """Whether T is along the joint axis and depends on an input, a state or the joint."""
    rotation, tape = frame.rotation, s.space.tape.fork()
    if not isinstance(rotation, BasisRotation) or frame.parent is None:
        return False
    components = T.on(tape).components(frame.parent)
    if any(c != tape.zero for k, c in enumerate(components) if k != rotation.axis):
        return False
    names = set(symbols_of(tape, components))
    angles = set(symbols_of(tape, rotation.variables()))
    rates = {tape.rates[i] for i in angles if i in tape.rates}
    return bool(names & (tape.inputs | tape.states | angles | rates))


def rolling_about_the_centre(s: Registry) -> Iterator[str]:
    """A contact point that is the mass centre: the centre is then at rest."""
    for c in s.constraints:
        if c.contact is not None and (
            c.contact.point is c.contact.body.G or not (c.contact.point - c.contact.body.G).parts
        ):
            body = c.contact.body.name
            yield (
                f"{c.name}: the contact point is the centre of {body!r}, which therefore does not "
                "move; "
                f"give the point that touches the ground, such as {body}.G.offset(-r*s.N.y)"
            )


def rolling_with_the_wrong_sign(s: Registry) -> Iterator[str]:
    """A wheel whose highest point is at rest while its lowest point slides at twice its speed."""
    wheels = [b for b in s.bodies if b.shape is not None and b.shape.kind in _ROUND and b.is_rigid]
    up = _up(s)
    if up is None:
        return
    for wheel in wheels:
        for axis in (a for a in "xyz" if a != up):
            if _top_is_at_rest(s, wheel, getattr(s.N, up), getattr(s.N, axis)):
                yield (
                    f"{wheel.name!r} moves along {axis} so that its highest point is at rest: its "
                    "sign of rotation "
                    f"is opposite to rolling on the ground; reverse the angle or the position"
                )


def _up(s: Registry) -> str | None:
    """The axis of N against which gravity acts."""
    if s.gravity_field is None:
        return None
    zero = s.space.tape.zero
    along = [a for a, c in zip("xyz", s.gravity_field.g.components(s.N), strict=True) if c != zero]
    return along[0] if len(along) == 1 else None


def _top_is_at_rest(s: Registry, wheel: Body, up: Vector, along: Vector) -> bool:
    """v_top = 0 and v_bottom ≠ 0 in every motion, or in every motion that one constraint allows."""
    assert wheel.shape is not None
    radius = wheel.shape.sizes[0].i

    def slips(t: Tape) -> tuple[Scalar, Scalar]:
        motion = VelocityRecursion(t, Derivative(t, t.rate))
        assert wheel.frame is not None
        v, arm = motion.v(wheel.G), motion.w(wheel.frame).cross(up.on(t).scale(radius))
        return (v + arm) @ along.on(t), (v - arm) @ along.on(t)

    tape = s.space.tape.fork()
    top, bottom = slips(tape)
    if not _is_zero(s, tape, [bottom.i]) and _is_zero(s, tape, [top.i]):
        return True
    rows = [
        c.expression
        for c in s.constraints
        if c.contact is None and c.gap_points is None and c.loop_points is None
    ]
    for row in rows:
        e = Scalar(tape, row.i)
        rate = e.dot if not symbols_with_rates(tape, row.i) else e
        if _is_multiple(s, tape, rate, top) and not _is_multiple(s, tape, rate, bottom):
            return True
    return False


def symbols_with_rates(tape: Tape, i: int) -> bool:
    """Whether an expression contains a rate."""
    return any(str(tape.nodes[k][1]).endswith("'") for k in symbols_of(tape, (i,)))


def _turns(s: Registry, F: Frame, base: Frame) -> bool:
    """Whether F rotates relative to one of its ancestors."""
    tape = s.space.tape.fork()
    rate = Derivative(tape, tape.rate)
    while F is not base:
        assert F.rotation is not None
        assert F.parent is not None
        if any(w != tape.zero for w in F.rotation.angular_velocity(tape, rate)):
            return True
        F = F.parent
    return False


def frame_of_another_body(s: Registry) -> Iterator[str]:
    """A body in the frame of another body, its centre placed in a frame that no body has."""
    taken = {b.frame for b in s.bodies if b.is_rigid}
    for b in s.bodies:
        other = next(
            (o for o in s.bodies if o is not b and o.is_rigid and o.frame is b.frame), None
        )
        if not b.is_rigid or other is None or b.frame is None:
            continue
        for F in b.G.r.parts:
            if F not in taken and b.frame.is_ancestor_of(F) and _turns(s, F, b.frame):
                yield (
                    f"{b.name!r} has the frame of {other.name!r}, but its mass centre is placed in "
                    f"frame {F.name}, "
                    f"which no body has, so that it does not rotate with {F.name}; give {F.name} "
                    "as its frame"
                )


def _are_equal(s: Registry, differences: Callable[[Tape], list[int]]) -> bool:
    """Whether differences, formed on a copy of the tape, vanish at random values."""
    tape = s.space.tape.fork()
    return _is_zero(s, tape, differences(tape))


def _is_zero(s: Registry, tape: Tape, nodes: list[int]) -> bool:
    return all(abs(x) < _EQUAL for sample in _values(s, tape, nodes) for x in sample)


def _is_multiple(s: Registry, tape: Tape, e: Scalar, of: Scalar) -> bool:
    """Whether e = c · of with a number c."""
    samples = _values(s, tape, [e.i, of.i])
    if any(abs(b) < _EQUAL or abs(a) < _EQUAL for a, b in samples):
        return False
    ratios = [a / b for a, b in samples]
    return max(ratios) - min(ratios) < _EQUAL * max(map(abs, ratios))


def _values(s: Registry, tape: Tape, nodes: list[int]) -> list[list[float]]:
    """The expressions at random values; constants with a value keep it."""
    from random import Random

    numbers = Random(1)  # noqa: S311 - a test point, no secret
    samples = []
    for _ in range(_SAMPLES):
        at = {i: _value(s, tape, i, numbers) for i in symbols_of(tape, nodes)}
        try:
            samples.append(
                [float(x) for x in evaluate(tape, nodes, at.__getitem__, FloatArithmetic())]
            )
        except (ArithmeticError, ValueError):
            return [[float("inf")] * len(nodes)]
    return samples


def _value(s: Registry, tape: Tape, i: int, numbers: Random) -> float:
    symbol = s.symbols.get(str(tape.nodes[i][1]))
    if symbol is not None and symbol.kind == "constant" and symbol.value is not None:
        return float(symbol.value)
    return numbers.uniform(0.3, 1.2)


CHECKS: Final[dict[str, Callable[[Registry], Iterator[str]]]] = {
    "double weight": double_weight,
    "torque without reaction": torque_without_reaction,
    "rolling about the centre": rolling_about_the_centre,
    "rolling with the wrong sign": rolling_with_the_wrong_sign,
    "frame of another body": frame_of_another_body,
}
