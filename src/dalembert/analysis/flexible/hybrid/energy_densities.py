"""T = ½∫ρA v·v dx + …, V = ½∫EI v″² dx + …: the energies of a member as densities in its fields.

r = r_P + (x + u − s) e_x + v e_y + w e_z. Where bending shortens the member, s is a field of its own with the condition s′ = ½(v′² + w′²),
kept by a multiplier N: the axial force. So no integral stands inside an integral, and N comes out as what it is.

Source: Bar00 (60)–(62), with the ½ and the polar inertia.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from itertools import chain
from operator import add

from dalembert.analysis.flexible.assumed_modes.member_properties import end_springs, turning
from dalembert.analysis.flexible.hybrid.field_variation import Fields, Integrals
from dalembert.analysis.flexible.hybrid.lagrange_operators import Velocities
from dalembert.errors import IllPosed
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.system_quantities import axial
from dalembert.mechanics.model.flexible_member import End, Member
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.expression_graph import gradient
from dalembert.symbolic.algebra.formula import Formula, Symbol
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gathered

SHORTENING, FORCE = "s", "N"


@dataclass(frozen=True)
class Place:
    """Somewhere on a member: x itself, or one of its ends."""

    label: str
    x: Quantity = field(compare=False)


@dataclass(frozen=True, eq=False)
class Continuum:
    """A member on the tape of a derivation: its fields, the motion of its points, its energies."""

    member: Member
    velocities: Velocities = field(repr=False)
    # the symbol of each field of the member on this tape, by the field's own name
    symbols: dict[str, str]
    gravity: Vector | None = field(repr=False)
    # the name of the member, where there are several
    mark: tuple[str, ...] = ()

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
        from dalembert.symbolic.algebra.printing import text

        t, length = self.velocities.tape, self.member.length
        label = text(length)
        label = "L" if set(label) & set("()′'") else label
        end = f.Words(label) if length.name is None else f.Name(length.name)
        ends = (("0", f.ZERO, t.zero), (label, end, length.i))
        start, last = (Place(name, Quantity(symbol, Scalar(t, i), symbol=symbol)) for name, symbol, i in ends)
        return Place("", self.fields.named(self.member.x.i)), start, last

    # ---- symbols -----------------------------------------------------------------------------

    def letter(self, letter: str, place: Place | None = None, *below: str, dots: int = 0) -> Formula:
        """ρA, ṙ(L): a letter of this member, at a place."""
        symbol = Symbol(letter, (*below, *self.mark), (), dots)
        return f.Function(symbol, (place.x.ref,)) if place is not None and place.label else symbol

    def per_length(self, letter: str) -> Formula:
        """T̂"""
        return Symbol(letter, self.mark, hat=True)

    def given(self, letter: str, value: Scalar | Vector, *below: str, place: Place | None = None) -> Quantity:
        """What the description gives."""
        symbol = self.letter(letter, place, *below)
        return Quantity(symbol, value, symbol=symbol)

    def value(self, name: str, place: Place, along: int = 0, dots: int = 0) -> Quantity | None:
        """A field or one of its derivatives at a place; None if the member has no such field."""
        symbol = self.symbols.get(name)
        return None if symbol is None else self.fields.named(self.fields.symbol(symbol, along, dots, place.label))

    def turn(self, k: int, place: Place, along: int = 0, dots: int = 0) -> Quantity | None:
        """The angle by which sections turn in the k-th direction of bending: v′, or ψ in Timoshenko's beam."""
        name, order = turning(self.member, k)
        return self.value(name, place, along + order, dots)

    def _bent(self, letter: str, k: int, value: Scalar | Vector) -> Quantity:
        """EI, or EI_v and EI_w where the member bends both ways."""
        return self.given(letter, value, *("vw"[k] if len(self.member.bending) > 1 else ""))

    # ---- motion ------------------------------------------------------------------------------

    @cached_property
    def r_P(self) -> Quantity:
        """Where the member hangs"""
        P, r = self.member.at, Vector(self.velocities.tape, {})
        while P.parent is not None:
            P, r = P.parent, P.r.on(r.tape) + r
        return self.given("r", r, "P")

    @cached_property
    def w(self) -> Quantity:
        """ω of the frame that carries the member"""
        return Quantity(axial(f.Rate(Symbol("R"))), self.velocities.motion.w(self.member.frame), symbol=self.letter("ω", None, "P"))

    def offset(self, place: Place) -> Quantity:
        """r − r_P = (x + u − s) e_x + v e_y + w e_z"""
        t, m, x = self.velocities.tape, self.member, place.x
        u, s = self.value("u", place), self.value(SHORTENING, place)
        x = x if u is None else x + u
        r = (x if s is None else x - s) * self.given("e", m.along.on(t), "x")
        for name, axis, e in zip("vw", "yz", m.bending, strict=False):
            if (v := self.value(name, place)) is not None:
                r += v * self.given("e", e.on(t), axis)
        symbol = self.letter("r") - self.r_P.ref
        return r.standing_as(f.Function(symbol, (place.x.ref,)) if place.label else symbol)

    def position(self, place: Place) -> Quantity:
        """r(x) = r_P + (x + u − s) e_x + v e_y + w e_z"""
        return (self.r_P + self.offset(place).spelled).standing_as(f.Function(self.letter("r"), (place.x.ref,)))

    def velocity(self, place: Place) -> Quantity:
        """ṙ = v_P + d(r − r_P)/dt      Source: Bar00 (61)."""
        motion, offset = self.velocities.motion, self.offset(place)
        v_P = Quantity(f.Rate(self.r_P.ref), motion.v(self.member.at), (self.r_P, *self.velocities.rates), self.letter("v", None, "P"))
        moved = Quantity(f.Rate, motion.derivative(offset.value), (offset,))
        return (v_P + moved).standing_as(self.letter("r", place, dots=1))

    def spin(self, about: Quantity, own: Quantity | None) -> Quantity:
        """ω·n + θ̇: how fast sections turn about an axis."""
        return self.w @ about if own is None else self.w @ about + own

    def _turning(self, place: Place) -> Iterator[tuple[Quantity, Quantity | None]]:
        """(n, θ̇) of every axis that sections turn about by bending."""
        t = self.velocities.tape
        for k, n in enumerate(self.member.across):
            yield self._bent("n", k, n.on(t)), self.turn(k, place, dots=1)

    def _twisting(self, place: Place) -> tuple[Quantity, Quantity | None]:
        """(e_x, φ̇)"""
        return self.given("e", self.member.along.on(self.velocities.tape), "x"), self.value("phi", place, dots=1)

    # ---- energies ----------------------------------------------------------------------------

    def half(self, k: Quantity, a: Quantity) -> Quantity:
        """½ k a"""
        return self.velocities.of.half * k * a

    def kinetic(self) -> Quantity:
        """½ρA v·v + ½ρI (ω·n + v̇′)² + ½ρI_p (ω·e_x + φ̇)²      Source: Bar00 (62), corrected."""
        m, here = self.member, self.places[0]
        v = self.velocity(here)
        parts = [] if m.density is None else [self.half(self.given("ρA", m.density), v @ v)]
        for k, (rho_I, axis) in enumerate(zip(m.rotary, self._turning(here), strict=False)):
            parts.append(self.half(self._bent("ρI", k, rho_I), squared(self.spin(*axis))))
        if m.polar is not None:
            parts.append(self.half(self.given("ρI", m.polar, "p"), squared(self.spin(*self._twisting(here)))))
        return self.total(parts).standing_as(self.per_length("T"))

    def strain(self) -> Quantity:
        """½EI v″² + ½kGA (v′ − ψ)² + ½EA u′² + ½GJ φ′² + ½N₀ v′² + N (½v′² − s′) − ρA g·r"""
        m, here = self.member, self.places[0]
        slopes = self._slopes
        parts = [self.half(self._bent("EI", k, EI), squared(v)) for k, EI in enumerate(m.stiffness) if (v := self.turn(k, here, 1))]
        sheared = ((k, kGA, psi) for k, kGA in enumerate(m.shear) if (psi := self.turn(k, here)))
        parts += [self.half(self._bent("kGA", k, kGA), squared(slopes[k] - psi)) for k, kGA, psi in sheared]
        stretched = (("EA", m.axial, "u"), ("GJ", m.torsion, "phi"))
        parts += [self.half(self.given(n, e), squared(a)) for n, e, name in stretched if e is not None and (a := self.value(name, here, 1))]
        parts += [self.half(self.given("N", m.tension, "0"), squared(slope)) for slope in slopes if m.tension is not None]
        N, s = self.value(FORCE, here), self.value(SHORTENING, here, 1)
        if N is not None and s is not None:
            parts.append(N * (self.drawn_in - s))
        return self.total([*parts, *self.weight(here, "ρA", m.density)]).standing_as(self.per_length("V"))

    @cached_property
    def _slopes(self) -> list[Quantity]:
        """v′, w′"""
        found = (self.value(name, self.places[0], 1) for name, _ in zip("vw", self.member.bending, strict=False))
        return [slope for slope in found if slope is not None]

    @cached_property
    def drawn_in(self) -> Quantity:
        """ε = ½(v′² + w′²): by how much bending shortens the member, per length."""
        return self.total([self.velocities.of.half * squared(slope) for slope in self._slopes]).standing_as(self.letter("ε"))

    def weight(self, place: Place, letter: str, mass: Scalar | None) -> Iterator[Quantity]:
        """−ρA g·r, where there is gravity."""
        if self.gravity is not None and mass is not None:
            g = Quantity(Symbol("g"), self.gravity, symbol=Symbol("g"))
            yield -(self.given(letter, mass, place=place) * (g @ self.position(place)))

    def end_kinetic(self, end: End, place: Place) -> Quantity:
        """½m v·v + ½J (ω·n + v̇′)² of what sits on an end."""
        v = self.velocity(place)
        parts = [] if end.mass is None else [self.half(self.given("m", end.mass, place=place), v @ v)]
        if end.inertia is not None:
            # what sits on the end of a shaft turns with its twist
            turning = list(self._turning(place)) or [self._twisting(place)]
            parts += [self.half(self.given("J", end.inertia, place=place), squared(self.spin(*axis))) for axis in turning]
        return self.total(parts).standing_as(self.letter("T", place))

    def end_potential(self, side: int, place: Place) -> Quantity:
        """½k v² + ½κ v′² + … of the springs at an end, and the weight of its mass."""
        parts = []
        for k, name, order, letters in end_springs(self.member, side):
            if (v := self.value(name, place, order)) is not None:
                parts.append(self.half(self.given(letters[0], k, *letters[1:], place=place), squared(v)))
        weight = self.weight(place, "m", self.member.ends[side].mass)
        return self.total([*parts, *weight]).standing_as(self.letter("V", place))

    def total(self, parts: list[Quantity]) -> Quantity:
        """Σ of what there is"""
        return reduce(add, parts) if parts else Quantity(f.ZERO, Scalar(self.velocities.tape, self.velocities.tape.zero))

    def integral(self, a: Quantity) -> Quantity:
        """∫ a dx over the member"""
        return a.map(partial(f.IntegralOver, by=self.places[0].x.ref), self.integrals)

    # ---- loads -------------------------------------------------------------------------------

    def loads(self, place: Place) -> list[tuple[Quantity, Quantity]]:
        """(p, ṙ), (F(L), ṙ(L)), (M(L), ω(L)): what acts at a place, and the velocity it does work along."""
        if not place.label:
            load = self.member.load
            return [] if load is None else [(self.given("p", self.velocities.vector(load)), self.velocity(place))]
        end = self.member.ends[place is self.places[2]]
        found = []
        if end.force is not None:
            found.append((self.given("F", self.velocities.vector(end.force), place=place), self.velocity(place)))
        if end.moment is not None:
            found.append((self.given("M", self.velocities.vector(end.moment), place=place), self._section_w(place)))
        return found

    def _section_w(self, place: Place) -> Quantity:
        """ω of a section: that of the frame, and what it turns by itself"""
        turns = [own * axis for axis, own in (*self._turning(place), self._twisting(place)) if own is not None]
        return reduce(add, turns, self.w).standing_as(self.letter("ω", place)) if turns else self.w

    def work(self, place: Place, x: Quantity) -> Iterator[Quantity]:
        """p·∂ṙ/∂x of all that acts at a place, along velocities of the rigid variables or of the fields"""
        t = self.velocities.tape
        for load, v in self.loads(place):
            parts = (zip(c, load.value.components(F), strict=True) for F, c in v.value.parts.items())
            seeds = {a: b for a, b in gathered(t, chain.from_iterable(parts)).items() if b != t.zero and t.value(a) is None}
            single = isinstance(x.value, Scalar)
            along = gradient(t, seeds, [x.value.i] if single else x.value.nodes) if seeds else []
            if any(e != t.zero for e in along):
                yield Quantity(_power, Scalar(t, along[0]) if single else Column(t, along), (load, v, x), index=x.index)

    def dragged(self, place: Place, field: str) -> Iterator[Quantity]:
        """−c v̇ at an end: across a member that bends, along a bar, against the twist of a shaft"""
        end = self.member.ends[place is self.places[2]]
        if end.damper is not None:
            rates = (self.value(name, place, dots=1) for name in self.member.rigidities if self.symbols[name] == field)
            yield from (-(self.given("c", end.damper, place=place) * rate) for rate in rates if rate is not None)


def squared(a: Quantity) -> Quantity:
    """a²"""
    return Quantity(f.Squared, a.value**2, (a,))


def _power(load: Formula, v: Formula, x: Formula) -> Formula:
    return load.dot(f.Partial(v, x))


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
    return Continuum(member, velocities, symbols, g, (member.name,) if others else ())
