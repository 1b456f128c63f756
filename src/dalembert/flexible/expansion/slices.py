"""m_k = w_k ρA(x_k) L at r(x_k): the slices that carry the mass of a member, and what its ends and loads add."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dalembert.algebra.folds import Rewrite
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Number
from dalembert.flexible.expansion.discretised import Discretised
from dalembert.flexible.expansion.integration import at_share, moments
from dalembert.flexible.expansion.polynomials import Polynomial
from dalembert.geometry.frame import Frame
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector, outer
from dalembert.model.elements import Body, Load
from dalembert.model.member import Member


@dataclass(frozen=True, eq=False)
class SectionInertia:
    """A moment of inertia J about one axis of a frame: ½ J (ω·n)², what a thin section keeps of its inertia.

    The frame turns against its base by the section's slope about the axis itself, so that ω·n = ω_base·n + v̇′.
    """

    frame: Frame
    base: Frame
    axis: Vector
    J: Scalar


_SIDES: Final = ("left", "right")


def slices(bent: Discretised) -> Iterator[Body]:
    """The member's mass and the inertia of its sections, at the nodes of its rule."""
    m, L = bent.member, bent.member.length
    whole = _whole(m)
    for k, (xi, w) in enumerate(zip(bent.rule.nodes, bent.rule.weights, strict=True), 1):
        needles = list(_needles(bent, xi, L * w))
        if k == 1 and whole is not None:
            needles.append(whole)
        name = f"{m.name} {k}"
        mass = Scalar(L.tape, L.tape.zero) if m.density is None else at_share(m, m.density, xi) * L * w
        yield from _bodies(name, mass, bent.point(xi, name), needles)


def _whole(m: Member) -> SectionInertia | None:
    """The polar inertia of a member that does not twist turns with its frame: one needle for all of it."""
    if m.polar is None or m.torsion is not None:
        return None
    one = (Polynomial.of([1]), 0)
    return SectionInertia(m.frame, m.frame, m.along, moments(m, m.polar, [one], [one])[0][0] * m.length)


def _needle(m: Member, angle: Scalar, axis: Vector, J: Scalar) -> SectionInertia:
    return SectionInertia(m.frame.rotated(angle, axis), m.frame, axis, J)


def _needles(bent: Discretised, xi: Number, dx: Scalar) -> Iterator[SectionInertia]:
    """ρI dx across each plane of bending, turning with the slope; ρI_p dx about the member, turning with the twist."""
    m = bent.member
    for plane, (rho_I, axis) in enumerate(zip(m.rotary, m.across, strict=False)):
        yield _needle(m, bent.turn(plane, xi), axis, at_share(m, rho_I, xi) * dx)
    if m.polar is not None and m.torsion is not None:
        yield _needle(m, bent.value("phi", xi), m.along, at_share(m, m.polar, xi) * dx)


def _bodies(name: str, mass: Scalar, place: Point, needles: list[SectionInertia]) -> Iterator[Body]:
    """One particle, or as many thin bodies as there are axes about which the section has inertia."""
    if not needles:
        yield Body(name, mass, place)
    names = [name] if len(needles) == 1 else [f"{name}{letter}" for letter in "abcd"[: len(needles)]]
    for each, needle in zip(names, needles, strict=True):
        inertia = outer(needle.axis, needle.base).scaled(needle.J)
        yield Body(each, mass / len(needles), place, needle.frame, inertia)


# ---- ends and loads ------------------------------------------------------------------------------


def end_bodies(bent: Discretised) -> Iterator[Body]:
    """What sits on the ends."""
    m = bent.member
    for share, (side, end) in enumerate(zip(_SIDES, m.ends, strict=True)):
        if end.mass is None:
            continue
        needles = []
        if end.inertia is not None:
            needles = [_needle(m, bent.turn(p, share), axis, end.inertia) for p, axis in enumerate(m.across)]
            if m.kind == "shaft":
                needles = [_needle(m, bent.value("phi", share), m.along, end.inertia)]
        yield from _bodies(f"{side} end of {m.name}", end.mass, _end(bent, share), needles)


def loads(bent: Discretised) -> Iterator[Load]:
    """Forces and moments at the ends, and the load per length f(x) as the force w_k L f(x_k) at the place of every slice."""
    m = bent.member
    for share, (side, end) in enumerate(zip(_SIDES, m.ends, strict=True)):
        if end.force is not None:
            yield Load(f"force at the {side} end of {m.name}", forces=((end.force, _end(bent, share)),))
        if end.moment is not None:
            yield Load(f"moment at the {side} end of {m.name}", torques=tuple(_moment(bent, share, end.moment)))
    if m.load is not None:
        yield Load(f"load on {m.name}", forces=tuple(_distributed(bent, m.load)))


def _end(bent: Discretised, share: int) -> Point:
    return bent.tip if share else bent.point(0, f"root of {bent.member.name}")


def _moment(bent: Discretised, share: int, moment: Vector) -> Iterator[tuple[Vector, Frame]]:
    """The moment axis by axis, each part on a frame that turns about that axis as the end section does."""
    m = bent.member
    rest = moment
    for plane, axis in enumerate(m.across):
        part = (moment @ axis) * axis
        rest -= part
        yield part, m.frame.rotated(bent.turn(plane, share), axis)
    yield rest, m.frame.rotated(bent.value("phi", share), m.along) if "phi" in bent.functions else m.frame


def _distributed(bent: Discretised, load: Vector) -> Iterator[tuple[Vector, Point]]:
    m, tape = bent.member, bent.member.length.tape
    for k, (xi, w) in enumerate(zip(bent.rule.nodes, bent.rule.weights, strict=True), 1):
        here = Rewrite(tape, {m.x.i: (m.length * xi).i})
        parts = {F: (here(c[0]), here(c[1]), here(c[2])) for F, c in load.on(tape).parts.items()}
        yield Vector(tape, parts) * (m.length * w), bent.point(xi, f"load {k} on {m.name}")
