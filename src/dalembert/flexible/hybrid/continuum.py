"""T = ½∫ρA v·v dx + …, V = ½∫EI v″² dx + …: the energies of a member as densities in its fields.

r = r_P + (x + u − s) e_x + v e_y + w e_z. Where bending shortens the member, s is a field of its own with the condition s′ = ½(v′² + w′²),
kept by a multiplier N: the axial force. So no integral stands inside an integral, and N comes out as what it is.

Source: Bar00 (60)–(62), with the ½ and the polar inertia.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

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
    x: int


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
        t = self.velocities.tape
        return Place("", self.member.x.i), Place("0", t.zero), Place("L" if set(label) & set("()′'") else label, self.member.length.i)

    # ---- symbols -----------------------------------------------------------------------------

    def value(self, name: str, place: Place, along: int = 0, dots: int = 0) -> int:
        """A field or one of its derivatives at a place; zero if the member has no such field."""
        symbol = self.symbols.get(name)
        return self.velocities.tape.zero if symbol is None else self.fields.symbol(symbol, along, dots, place.label)

    def turn(self, k: int, place: Place, along: int = 0, dots: int = 0) -> int:
        """The angle by which sections turn in the k-th direction of bending: v′, or ψ in Timoshenko's beam."""
        turns = [f.symbol for f in self.member.fields if f.kind == "turn"]
        return self.value(turns[k], place, along, dots) if turns else self.value("vw"[k], place, along + 1, dots)

    # ---- motion ------------------------------------------------------------------------------

    def offset(self, place: Place) -> Vector:
        """(x + u − s) e_x + v e_y + w e_z"""
        t, m = self.velocities.tape, self.member
        axial = t.sub(t.add(place.x, self.value("u", place)), self.value(SHORTENING, place))
        r = m.along.on(t).scaled(axial)
        for name, direction in zip("vw", m.bending, strict=False):
            r = r + direction.on(t).scaled(self.value(name, place))
        return r

    def velocity(self, place: Place) -> Vector:
        """v = v_P + d(offset)/dt      Source: Bar00 (61)."""
        motion = self.velocities.motion
        return motion.v(self.member.at) + motion.derivative(self.offset(place))

    def spin(self, about: Vector, own: int) -> int:
        """ω·n + θ̇: how fast sections turn about an axis."""
        t = self.velocities.tape
        return t.add(self.velocities.motion.w(self.member.frame).dot_index(about.on(t)), own)

    # ---- energies ----------------------------------------------------------------------------

    def kinetic(self) -> int:
        """½ρA v·v + ½ρI (ω·n + v̇′)² + ½ρI_p (ω·e_x + φ̇)²      Source: Bar00 (62), corrected."""
        m, here = self.member, self.places[0]
        v = self.velocity(here)
        parts = [(m.density, v.dot_index(v))] if m.density is not None else []
        for k, rho_I in enumerate(m.rotary):
            parts.append((rho_I, self._square(self.spin(m.across[k], self.turn(k, here, dots=1)))))
        if m.polar is not None:
            parts.append((m.polar, self._square(self.spin(m.along, self.value("phi", here, dots=1)))))
        return self._half(parts)

    def strain(self) -> int:
        """½EI v″² + ½kGA (v′ − ψ)² + ½EA u′² + ½GJ φ′² + ½N₀ v′² + N (½v′² − s′)"""
        t, m, here = self.velocities.tape, self.member, self.places[0]
        slopes = [self.value(name, here, 1) for name, _ in zip("vw", m.bending, strict=False)]
        parts = [(EI, self._square(self.turn(k, here, 1))) for k, EI in enumerate(m.stiffness)]
        parts += [(kGA, self._square(t.sub(slopes[k], self.turn(k, here)))) for k, kGA in enumerate(m.shear)]
        parts += [(e, self._square(self.value(n, here, 1))) for e, n in ((m.axial, "u"), (m.torsion, "phi")) if e is not None]
        parts += [(m.tension, self._square(slope)) for slope in slopes if m.tension is not None]
        total = self._half(parts)
        if m.shortening:
            total = t.add(total, t.mul(self.value(FORCE, here), t.sub(self.drawn_in(), self.value(SHORTENING, here, 1))))
        return total

    def drawn_in(self) -> int:
        """½(v′² + w′²): by how much bending shortens the member, per length."""
        t = self.velocities.tape
        slopes = (self.value(name, self.places[0], 1) for name, _ in zip("vw", self.member.bending, strict=False))
        return t.mul(t.div(t.one, t.const(2)), self._sum(self._square(slope) for slope in slopes))

    def weight(self, place: Place, mass: Scalar | None) -> int:
        """−ρA g·r"""
        t, g = self.velocities.tape, self.gravity
        if g is None or mass is None:
            return t.zero
        height = g.dot_index(self.offset(place))
        P: Point | None = self.member.at
        while P is not None:
            height = t.add(height, g.dot_index(P.r.on(t)))
            P = P.parent
        return t.neg(t.mul(mass.i, height))

    def end_kinetic(self, end: End, place: Place) -> int:
        """½m v·v + ½J (ω·n + v̇′)² of what sits on an end."""
        v = self.velocity(place)
        parts = [(end.mass, v.dot_index(v))] if end.mass is not None else []
        if end.inertia is not None:
            turning = [(n, self.turn(k, place, dots=1)) for k, n in enumerate(self.member.across)]
            # what sits on the end of a shaft turns with its twist
            turning = turning or [(self.member.along, self.value("phi", place, dots=1))]
            parts += [(end.inertia, self._square(self.spin(n, rate))) for n, rate in turning]
        return self._half(parts)

    def end_potential(self, end: End, place: Place) -> int:
        """½k v² + ½κ v′² + … of the springs at an end, and the weight of its mass."""
        bent = range(len(self.member.bending))
        parts: list[tuple[Scalar, int]] = []
        if end.spring is not None:
            parts += [(end.spring, self._square(self.value("vw"[k], place))) for k in bent]
        if end.turning_spring is not None:
            parts += [(end.turning_spring, self._square(self.turn(k, place))) for k in bent]
        parts += [
            (k, self._square(self.value(name, place)))
            for k, name in ((end.axial_spring, "u"), (end.twisting_spring, "phi"))
            if k is not None
        ]
        return self.velocities.tape.add(self._half(parts), self.weight(place, end.mass))

    # ---- loads -------------------------------------------------------------------------------

    def load_seeds(self) -> dict[int, int]:
        """The load per length against the velocity it moves with, component by component."""
        return {} if self.member.load is None else self._seeds(self.velocity(self.places[0]), self.member.load)

    def end_seeds(self, end: End, place: Place) -> dict[int, int]:
        """Force, moment and damper of an end against the velocities they move with."""
        t, m = self.velocities.tape, self.member
        seeds = {} if end.force is None else self._seeds(self.velocity(place), end.force)
        if end.moment is not None:
            self._add_moment(seeds, end.moment, place)
        if end.damper is not None:
            # across a member that bends, along a bar, against the twist of a shaft
            for name in m.rigidities:
                rate = self.value(name, place, dots=1)
                seeds[rate] = t.sub(seeds.get(rate, t.zero), t.mul(end.damper.i, rate))
        return {rate: load for rate, load in seeds.items() if load != t.zero and t.value(rate) is None}

    def _add_moment(self, seeds: dict[int, int], moment: Vector, place: Place) -> None:
        """The moment about every axis the section turns about by itself; what is left of it turns the frame."""
        t, m = self.velocities.tape, self.member
        turning = [(n, self.turn(k, place, dots=1)) for k, n in enumerate(m.across)]
        turning.append((m.along, self.value("phi", place, dots=1)))
        M = rest = self.velocities.vector(moment)
        for axis, own in turning:
            part = M.dot_index(axis.on(t))
            rest = rest - axis.on(t).scaled(part)
            rate = self.spin(axis, own)
            seeds[rate] = t.add(seeds.get(rate, t.zero), part)
        for rate, load in self._seeds(self.velocities.motion.w(m.frame), rest).items():
            seeds[rate] = t.add(seeds.get(rate, t.zero), load)

    def _seeds(self, velocity: Vector, load: Vector) -> dict[int, int]:
        t = self.velocities.tape
        force = self.velocities.vector(load)
        seeds: dict[int, int] = {}
        for F, components in velocity.parts.items():
            for v, f in zip(components, force.components(F), strict=True):
                seeds[v] = t.add(seeds.get(v, t.zero), f)
        return seeds

    # ---- sums --------------------------------------------------------------------------------

    def _square(self, e: int) -> int:
        return self.velocities.tape.mul(e, e)

    def _sum(self, terms: Iterator[int]) -> int:
        t = self.velocities.tape
        total = t.zero
        for e in terms:
            total = t.add(total, e)
        return total

    def _half(self, parts: list[tuple[Scalar, int]]) -> int:
        t = self.velocities.tape
        return t.mul(t.div(t.one, t.const(2)), self._sum(t.mul(k.i, e) for k, e in parts))


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
