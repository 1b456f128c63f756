"""T, V, p, H_P and the mass centre: sums over all bodies of a system or some of them, as
expressions in q, q̇ and t.

They are written on a tape of their own, so that asking for one declares nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

from dalembert.errors import BadDescription, NotApplicable, NotASystem, Unknown
from dalembert.foundation.caching import COMPUTE_LOCK
from dalembert.mechanics.geometry.frame import VelocityRecursion
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.model.elements import Body, Potential
from dalembert.mechanics.model.registry import substitute_speeds
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.expression_graph import Derivative
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_scalars
from dalembert.symbolic.algebra.tape import Tape

_HALF: Final = Fraction(1, 2)


def kinetic_energy(system: System, *, of: Any = None) -> Scalar:
    """T = Σ ½ m v·v + ½ ω·I·ω

    Of all bodies, or of those that `of` names: a body, its name, or several. Of a system that is
    given by its energies the T given.

    Source: Gre03 (4.43).
    """
    _check_system(system)
    if system.given_kinetic_energies:
        _refuse_selection(of)
        return _in_rates(system, sum_scalars(system.space.tape, system.given_kinetic_energies))
    motion, chosen = _velocity_recursion(system), _selected_bodies(system, of)
    return sum_scalars(
        motion.tape, (part for body in chosen for part in _kinetic_energy_terms(motion, body))
    )


def _kinetic_energy_terms(motion: VelocityRecursion, body: Body) -> Iterable[Scalar]:
    v = motion.v(body.G)
    yield _HALF * body.mass * (v @ v)
    if body.frame is not None and body.inertia is not None:
        w = motion.w(body.frame)
        yield _HALF * (w @ (body.inertia @ w))


def potential_energy(system: System, *, of: Any = None) -> Scalar:
    """V = Σ V_i − Σ m g·r

    Of all declared potentials, springs among them, and of gravity, where V = 0 for masses at O.
    `of` names bodies, for the potential of their weight, and potentials by their names.
    """
    _check_system(system)
    tape, chosen = (
        _forked_tape(system),
        _selected_bodies(system, of, (*system.bodies, *system.potentials)),
    )
    declared = [_in_rates(system, p.V) for p in chosen if isinstance(p, Potential)]
    if system.gravity_field is None:
        return sum_scalars(tape, declared)
    g = system.gravity_field.g.on(tape)
    return sum_scalars(
        tape,
        [
            *declared,
            *(
                -(body.mass * (g @ (body.G - system.O)))
                for body in chosen
                if isinstance(body, Body)
            ),
        ],
    )


def momentum(system: System, *, of: Any = None) -> Vector:
    """p = Σ m v

    Of all bodies, or of those that `of` names. ṗ is the sum of the forces from outside.
    """
    _check_masses(system)
    motion = _velocity_recursion(system)
    return _vector_sum(
        motion.tape, (motion.v(body.G) * body.mass for body in _selected_bodies(system, of))
    )


def angular_momentum(system: System, about: Point | None = None, *, of: Any = None) -> Vector:
    """H_P = Σ (G − P) × m v + I·ω

    About P, by default O, with velocities in the inertial frame. Ḣ_P = M_P − v_P × p, so that Ḣ_P
    is the moment M_P of the forces and torques from outside where P is at rest or the mass centre.
    """
    _check_masses(system)
    P = system.O if about is None else about
    system.space.check_element(P, Point, "angular_momentum: about")
    motion = _velocity_recursion(system)
    return _vector_sum(
        motion.tape,
        (
            part
            for body in _selected_bodies(system, of)
            for part in _angular_momentum_terms(motion, body, P)
        ),
    )


def _angular_momentum_terms(motion: VelocityRecursion, body: Body, P: Point) -> Iterable[Vector]:
    yield (body.G - P).cross(motion.v(body.G) * body.mass)
    if body.frame is not None and body.inertia is not None:
        yield body.inertia @ motion.w(body.frame)


def mass_centre(system: System, *, of: Any = None) -> Point:
    """r_G = Σ m r / Σ m

    The mass centre of all bodies, or of those that `of` names, as a point: G − P, G.v, G.a,
    G.v_in(B). Of one body its own G.
    """
    _check_masses(system)
    chosen: list[Body] = _selected_bodies(system, of)
    if len(chosen) == 1:
        return chosen[0].G
    with COMPUTE_LOCK:
        tape = system.space.tape
        mass = sum_scalars(tape, (body.mass for body in chosen))
        r = _vector_sum(tape, ((body.G - system.O) * (body.mass / mass) for body in chosen))
        # asked for again it is the same point
        name = (
            "mass centre"
            if of is None
            else f"mass centre of {', '.join(body.name for body in chosen)}"
        )
        known = (
            P
            for P in system.space.points
            if P.name == name and P.parent is system.O and P.r.parts == r.parts
        )
        return next(known, None) or system.O.offset(r, name, system.N)


# ---- which bodies, and on which tape
# ---------------------------------------------------------------


def _check_system(system: System) -> None:
    if not isinstance(system, System):
        msg = f"give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    continuous = [name for name in system.members if name not in system.expansions]
    if continuous:
        msg = (
            f"the member {continuous[0]!r} is a continuum: da.discretise(s) puts masses in its "
            f"place, whose energy and momentum are sums"
        )
        raise NotApplicable(msg)


def _check_masses(system: System) -> None:
    _check_system(system)
    if system.given_kinetic_energies:
        msg = (
            f"{system.name} is given by its energies: it has no bodies, whose momenta could be "
            f"added"
        )
        raise NotApplicable(msg)


def _refuse_selection(of: Any) -> None:
    if of is not None:
        msg = (
            "of=: a system that is given by its energies has no bodies to choose from; leave it out"
        )
        raise NotApplicable(msg)


def _selected_bodies(system: System, of: Any, among: Iterable[Any] | None = None) -> list[Any]:
    """The bodies (or potentials) that were named, each once."""
    known = list(system.bodies if among is None else among)
    if not known:
        msg = f"{system.name} has no bodies yet: s.particle(…), s.rod(…), s.body(…)"
        raise BadDescription(msg)
    if of is None:
        return known
    named = list(of) if isinstance(of, list | tuple | set | frozenset) else [of]
    return list({id(x): x for x in (_find_element(known, each) for each in named)}.values())


def _find_element(known: list[Any], each: Any) -> Any:
    for x in known:
        if x is each or (isinstance(each, str) and x.name == each):
            return x
    what = (
        repr(each)
        if isinstance(each, str)
        else f"{type(each).__name__} {getattr(each, 'name', each)!r}"
    )
    msg = (
        f"of={what}: not among {', '.join(x.name for x in known)}; give bodies of this system "
        f"or "
        f"their names"
    )
    raise Unknown(msg)


def _forked_tape(system: System) -> Tape:
    with COMPUTE_LOCK:
        return system.space.tape.fork()


def _velocity_recursion(system: System) -> VelocityRecursion:
    """Velocities in the rates."""
    tape = _forked_tape(system)
    return VelocityRecursion(tape, Derivative(tape, tape.rate))


def _in_rates(system: System, e: Scalar) -> Scalar:
    """An expression of the description with the declared speeds replaced by their definitions."""
    with COMPUTE_LOCK:
        return Scalar(system.space.tape, substitute_speeds(system, e.i))


def _vector_sum(tape: Tape, vectors: Iterable[Vector]) -> Vector:
    return sum((v.on(tape) for v in vectors), Vector(tape, {}))
