"""T = ½∫ρA v·v dx + …, V = ½∫EI v″² dx + …: the energies of a member as densities in its fields.

r = r_P + (x + u − s) e_x + v e_y + w e_z. Where bending shortens the member, s is a field of its own with the condition s′ = ½(v′² + w′²),
kept by a multiplier N: the axial force. So no integral stands inside an integral, and N comes out as what it is.

Source: Bar00 (60)–(62), with the ½ and the polar inertia.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from dalembert.algebra.columns import gathered, total
from dalembert.algebra.scalar import Scalar
from dalembert.errors import IllPosed
from dalembert.flexible.hybrid.fields import Fields
from dalembert.flexible.hybrid.integrals import Integrals
from dalembert.flexible.hybrid.velocities import Velocities
from dalembert.geometry.point import Point
from dalembert.geometry.vector import Vector
from dalembert.model.member import End, Member

SHORTENING, FORCE = "s", "N"


@dataclass(frozen=True)
class Place:
    """Somewhere on a member: x itself, or one of its ends."""

    label: str
    x: Scalar


@dataclass(frozen=True)
class Continuum:
    """A member on the tape of a derivation: its fields, the motion of its points, its energies."""

    member: Member
    velocities: Velocities = field(repr=False)
    # the symbol of each field of the member on this tape, by the field's own name
    symbols: dict[str, str]
    gravity: Vector | None = field(repr=False)

    @cached_property
    def fields(self) -> Fields:
        """The fields and their derivatives."""
        return Fields(self.velocities.tape, self.member.x.i, list(self.symbols.values()), self.velocities.rate)

    @cached_property
    def integrals(self) -> Integrals:
        """Integrals over this member."""
        return Integrals(self.fields, self.member.length.i)

    @cached_property
    def places(self) -> tuple[Place, Place, Place]:
        """Anywhere, x = 0, x = length."""
        from dalembert.algebra.printing import text

        label = text(self.member.length)
        t, m = self.velocities.tape, self.member
        x, start, end = (Scalar(t, i) for i in (m.x.i, t.zero, m.length.i))
        return Place("", x), Place("0", start), Place("L" if set(label) & set("()′'") else label, end)

    # ---- symbols -----------------------------------------------------------------------------

    def value(self, name: str, place: Place, along: int = 0, dots: int = 0) -> Scalar:
        """A field or one of its derivatives at a place; zero if the member has no such field."""
        t, symbol = self.velocities.tape, self.symbols.get(name)
        return Scalar(t, t.zero if symbol is None else self.fields.symbol(symbol, along, dots, place.label))

    def turn(self, k: int, place: Place, along: int = 0, dots: int = 0) -> Scalar:
        """The angle by which sections turn in the k-th direction of bending: v′, or ψ in Timoshenko's beam."""
        turns = [f.symbol for f in self.member.fields if f.kind == "turn"]
        return self.value(turns[k], place, along, dots) if turns else self.value("vw"[k], place, along + 1, dots)

    # ---- motion ------------------------------------------------------------------------------

    def offset(self, place: Place) -> Vector:
        """(x + u − s) e_x + v e_y + w e_z"""
        t, m = self.velocities.tape, self.member
        r = m.along.on(t) * (place.x + self.value("u", place) - self.value(SHORTENING, place))
        for name, direction in zip("vw", m.bending, strict=False):
            r = r + direction.on(t) * self.value(name, place)
        return r

    def velocity(self, place: Place) -> Vector:
        """v = v_P + d(offset)/dt      Source: Bar00 (61)."""
        motion = self.velocities.motion
        return motion.v(self.member.at) + motion.derivative(self.offset(place))

    def spin(self, about: Vector, own: Scalar) -> Scalar:
        """ω·n + θ̇: how fast sections turn about an axis."""
        return self.velocities.motion.w(self.member.frame) @ about + own

    # ---- energies ----------------------------------------------------------------------------

    def kinetic(self) -> Scalar:
        """½ρA v·v + ½ρI (ω·n + v̇′)² + ½ρI_p (ω·e_x + φ̇)²      Source: Bar00 (62), corrected."""
        m, here = self.member, self.places[0]
        v = self.velocity(here)
        parts = [(m.density, v @ v)] if m.density is not None else []
        for k, rho_I in enumerate(m.rotary):
            parts.append((rho_I, self.spin(m.across[k], self.turn(k, here, dots=1)) ** 2))
        if m.polar is not None:
            parts.append((m.polar, self.spin(m.along, self.value("phi", here, dots=1)) ** 2))
        return self._half(parts)

    def strain(self) -> Scalar:
        """½EI v″² + ½kGA (v′ − ψ)² + ½EA u′² + ½GJ φ′² + ½N₀ v′² + N (½v′² − s′)"""
        m, here = self.member, self.places[0]
        slopes = [self.value(name, here, 1) for name, _ in zip("vw", m.bending, strict=False)]
        parts = [(EI, self.turn(k, here, 1) ** 2) for k, EI in enumerate(m.stiffness)]
        parts += [(kGA, (slopes[k] - self.turn(k, here)) ** 2) for k, kGA in enumerate(m.shear)]
        parts += [(e, self.value(n, here, 1) ** 2) for e, n in ((m.axial, "u"), (m.torsion, "phi")) if e is not None]
        parts += [(m.tension, slope**2) for slope in slopes if m.tension is not None]
        strain = self._half(parts)
        return strain + self.value(FORCE, here) * (self.drawn_in() - self.value(SHORTENING, here, 1)) if m.shortening else strain

    def drawn_in(self) -> Scalar:
        """½(v′² + w′²): by how much bending shortens the member, per length."""
        slopes = (self.value(name, self.places[0], 1) for name, _ in zip("vw", self.member.bending, strict=False))
        return total(self.velocities.tape, (slope**2 for slope in slopes)) / 2

    def weight(self, place: Place, mass: Scalar | None) -> Scalar:
        """−ρA g·r"""
        t, g = self.velocities.tape, self.gravity
        if g is None or mass is None:
            return Scalar(t, t.zero)
        height = g @ self.offset(place)
        P: Point | None = self.member.at
        while P is not None:
            height += g @ P.r
            P = P.parent
        return -(height * mass)

    def end_kinetic(self, end: End, place: Place) -> Scalar:
        """½m v·v + ½J (ω·n + v̇′)² of what sits on an end."""
        v = self.velocity(place)
        parts = [(end.mass, v @ v)] if end.mass is not None else []
        if end.inertia is not None:
            turning = [(n, self.turn(k, place, dots=1)) for k, n in enumerate(self.member.across)]
            # what sits on the end of a shaft turns with its twist
            turning = turning or [(self.member.along, self.value("phi", place, dots=1))]
            parts += [(end.inertia, self.spin(n, rate) ** 2) for n, rate in turning]
        return self._half(parts)

    def end_potential(self, end: End, place: Place) -> Scalar:
        """½k v² + ½κ v′² + … of the springs at an end, and the weight of its mass."""
        bent = range(len(self.member.bending))
        parts: list[tuple[Scalar, Scalar]] = []
        if end.spring is not None:
            parts += [(end.spring, self.value("vw"[k], place) ** 2) for k in bent]
        if end.turning_spring is not None:
            parts += [(end.turning_spring, self.turn(k, place) ** 2) for k in bent]
        parts += [(k, self.value(name, place) ** 2) for k, name in ((end.axial_spring, "u"), (end.twisting_spring, "phi")) if k is not None]
        return self._half(parts) + self.weight(place, end.mass)

    # ---- loads -------------------------------------------------------------------------------

    def load_seeds(self) -> dict[int, int]:
        """The load per length against the velocity it moves with, component by component."""
        m = self.member
        return {} if m.load is None else gathered(self.velocities.tape, self._pairs(self.velocity(self.places[0]), m.load))

    def end_seeds(self, end: End, place: Place) -> dict[int, int]:
        """Force, moment and damper of an end against the velocities they move with."""
        t = self.velocities.tape
        pairs = [] if end.force is None else list(self._pairs(self.velocity(place), end.force))
        if end.moment is not None:
            pairs += self._moment(end.moment, place)
        if end.damper is not None:
            # across a member that bends, along a bar, against the twist of a shaft
            rates = [self.value(name, place, dots=1) for name in self.member.rigidities]
            pairs += [(rate.i, (-rate * end.damper).i) for rate in rates]
        return {rate: load for rate, load in gathered(t, pairs).items() if load != t.zero and t.value(rate) is None}

    def _moment(self, moment: Vector, place: Place) -> Iterator[tuple[int, int]]:
        """The moment about every axis the section turns about by itself; what is left of it turns the frame."""
        t, m = self.velocities.tape, self.member
        turning = [(n, self.turn(k, place, dots=1)) for k, n in enumerate(m.across)]
        turning.append((m.along, self.value("phi", place, dots=1)))
        M = rest = self.velocities.vector(moment)
        for axis, own in turning:
            part = M @ axis
            rest = rest - axis.on(t) * part
            yield self.spin(axis, own).i, part.i
        yield from self._pairs(self.velocities.motion.w(m.frame), rest)

    def _pairs(self, velocity: Vector, load: Vector) -> Iterator[tuple[int, int]]:
        force = self.velocities.vector(load)
        for F, components in velocity.parts.items():
            yield from zip(components, force.components(F), strict=True)

    def _half(self, parts: list[tuple[Scalar, Scalar]]) -> Scalar:
        return total(self.velocities.tape, (e * k for k, e in parts)) / 2


def continuum(member: Member, velocities: Velocities, others: bool, gravity: Vector | None) -> Continuum:
    """A member on the tape of a derivation; its fields get names that the system does not use otherwise."""
    t = velocities.tape
    wanted = [f.symbol for f in member.fields] + [SHORTENING, FORCE] * member.shortening
    if not wanted:
        msg = f"{member.kind} {member.name!r}: nothing in it can move; give it a stiffness"
        raise IllPosed(msg)
    taken = set(t.names)
    symbols = {name: f"{name}_{member.name}" if others or name in taken else name for name in wanted}
    if not others and "x" not in taken | set(t.displays.values()):
        t.displays[f"x_{member.name}"] = "x"
    g = None if gravity is None else gravity.on(t)
    return Continuum(member, velocities, symbols, g)
