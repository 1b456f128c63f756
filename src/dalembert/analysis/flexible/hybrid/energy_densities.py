"""T = ½∫ρA v·v dx + …, V = ½∫EI v″² dx + …: the energies of a member as densities in its fields.

r = r_P + (x + u − s) e_x + v e_y + w e_z. Where bending shortens the member, s is a field of its
own with the condition s′ = ½(v′² + w′²), kept by a multiplier N: the axial force. So no integral
stands inside an integral, and N comes out as what it is.

Source: Bar00 (60)–(62), with the ½ and the polar inertia.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property, partial, reduce
from itertools import chain
from operator import add

from dalembert.analysis.flexible.assumed_modes.member_properties import (
    end_springs,
    section_rotation_field,
)
from dalembert.analysis.flexible.hybrid.field_variation import Fields, MemberIntegrals
from dalembert.analysis.flexible.hybrid.lagrange_operators import RigidOperator
from dalembert.errors import IllPosed
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.mechanics.kinetics.system_quantities import axial_vector
from dalembert.mechanics.model.flexible_member import End, Member
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.expression_graph import gradient
from dalembert.symbolic.algebra.formula import Formula, Symbol
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, sum_by_key

SHORTENING, FORCE = "s", "N"


@dataclass(frozen=True)
class Station:
    """Somewhere on a member: x itself, or one of its ends."""

    label: str
    x: Quantity = field(compare=False)


@dataclass(frozen=True, eq=False)
class Continuum:
    """A member on the tape of a derivation: its fields, the motion of its points, its energies."""

    member: Member
    velocities: RigidOperator = field(repr=False)
    # the symbol of each field of the member on this tape, by the field's own name
    symbols: dict[str, str]
    gravity: Vector | None = field(repr=False)
    # the name of the member, where there are several
    mark: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> Fields:
        """The fields and their derivatives."""
        return Fields(
            self.velocities.tape, self.member.x.i, list(self.symbols.values()), self.velocities.rate
        )

    @cached_property
    def integrals(self) -> MemberIntegrals:
        """Integrals over this member."""
        return MemberIntegrals(self.fields, self.member.length.i)

    @cached_property
    def stations(self) -> tuple[Station, Station, Station]:
        """Anywhere, x = 0, x = length."""
        from dalembert.symbolic.algebra.printing import text

        t, length = self.velocities.tape, self.member.length
        label = text(length)
        label = "L" if set(label) & set("()′'") else label
        end = f.Words(label) if length.name is None else f.Name(length.name)
        ends = (("0", f.ZERO, t.zero), (label, end, length.i))
        start, last = (
            Station(name, Quantity(symbol, Scalar(t, i), symbol=symbol)) for name, symbol, i in ends
        )
        return Station("", self.fields.named(self.member.x.i)), start, last

    # ---- symbols -----------------------------------------------------------------------------

    def letter(
        self, letter: str, place: Station | None = None, *below: str, dots: int = 0
    ) -> Formula:
        """ρA, ṙ(L): a letter of this member, at a place."""
        symbol = Symbol(letter, (*below, *self.mark), (), dots)
        return f.Function(symbol, (place.x.ref,)) if place is not None and place.label else symbol

    def per_length(self, letter: str) -> Formula:
        """T̂"""
        return Symbol(letter, self.mark, hat=True)

    def parameter(
        self, letter: str, value: Scalar | Vector, *below: str, place: Station | None = None
    ) -> Quantity:
        """What the description gives."""
        symbol = self.letter(letter, place, *below)
        return Quantity(symbol, value, symbol=symbol)

    def value(self, name: str, place: Station, along: int = 0, dots: int = 0) -> Quantity | None:
        """A field or one of its derivatives at a place; None if the member has no such field."""
        symbol = self.symbols.get(name)
        return (
            None
            if symbol is None
            else self.fields.named(self.fields.symbol(symbol, along, dots, place.label))
        )

    def section_rotation(
        self, k: int, place: Station, along: int = 0, dots: int = 0
    ) -> Quantity | None:
        """The angle by which sections turn in the k-th direction of bending: v′, or ψ in
        Timoshenko's beam.
        """
        name, order = section_rotation_field(self.member, k)
        return self.value(name, place, along + order, dots)

    def _bending_parameter(self, letter: str, k: int, value: Scalar | Vector) -> Quantity:
        """EI, or EI_v and EI_w where the member bends both ways."""
        return self.parameter(letter, value, *("vw"[k] if len(self.member.bending) > 1 else ""))

    # ---- motion ------------------------------------------------------------------------------

    @cached_property
    def root_position(self) -> Quantity:
        """Where the member hangs"""
        P, r = self.member.at, Vector(self.velocities.tape, {})
        while P.parent is not None:
            P, r = P.parent, P.r.on(r.tape) + r
        return self.parameter("r", r, "P")

    @cached_property
    def w(self) -> Quantity:
        """ω of the frame that carries the member"""
        return Quantity(
            axial_vector(f.Rate(Symbol("R"))),
            self.velocities.motion.w(self.member.frame),
            symbol=self.letter("ω", None, "P"),
        )

    def offset(self, place: Station) -> Quantity:
        """r − r_P = (x + u − s) e_x + v e_y + w e_z"""
        t, m, x = self.velocities.tape, self.member, place.x
        u, s = self.value("u", place), self.value(SHORTENING, place)
        x = x if u is None else x + u
        r = (x if s is None else x - s) * self.parameter("e", m.along.on(t), "x")
        for name, axis, e in zip("vw", "yz", m.bending, strict=False):
            if (v := self.value(name, place)) is not None:
                r += v * self.parameter("e", e.on(t), axis)
        symbol = self.letter("r") - self.root_position.ref
        return r.with_symbol(f.Function(symbol, (place.x.ref,)) if place.label else symbol)

    def position(self, place: Station) -> Quantity:
        """r(x) = r_P + (x + u − s) e_x + v e_y + w e_z"""
        return (self.root_position + self.offset(place).by_formula).with_symbol(
            f.Function(self.letter("r"), (place.x.ref,))
        )

    def velocity(self, place: Station) -> Quantity:
        """ṙ = v_P + d(r − r_P)/dt      Source: Bar00 (61)."""
        motion, offset = self.velocities.motion, self.offset(place)
        v_P = Quantity(
            f.Rate(self.root_position.ref),
            motion.v(self.member.at),
            (self.root_position, *self.velocities.rates),
            self.letter("v", None, "P"),
        )
        moved = Quantity(f.Rate, motion.derivative(offset.value), (offset,))
        return (v_P + moved).with_symbol(self.letter("r", place, dots=1))

    def section_spin(self, about: Quantity, own: Quantity | None) -> Quantity:
        """ω·n + θ̇: how fast sections turn about an axis."""
        return self.w @ about if own is None else self.w @ about + own

    def _bending_rotations(self, place: Station) -> Iterator[tuple[Quantity, Quantity | None]]:
        """(n, θ̇) of every axis that sections turn about by bending."""
        t = self.velocities.tape
        for k, n in enumerate(self.member.bending_axes):
            yield self._bending_parameter("n", k, n.on(t)), self.section_rotation(k, place, dots=1)

    def _twist(self, place: Station) -> tuple[Quantity, Quantity | None]:
        """(e_x, φ̇)"""
        return self.parameter("e", self.member.along.on(self.velocities.tape), "x"), self.value(
            "phi", place, dots=1
        )

    # ---- energies ----------------------------------------------------------------------------

    def half_product(self, k: Quantity, a: Quantity) -> Quantity:
        """½ k a"""
        return self.velocities.of.half * k * a

    def kinetic_energy_density(self) -> Quantity:
        """½ρA v·v + ½ρI (ω·n + v̇′)² + ½ρI_p (ω·e_x + φ̇)²      Source: Bar00 (62), corrected."""
        m, here = self.member, self.stations[0]
        v = self.velocity(here)
        parts = (
            [] if m.density is None else [self.half_product(self.parameter("ρA", m.density), v @ v)]
        )
        for k, (rho_I, axis) in enumerate(
            zip(m.rotary, self._bending_rotations(here), strict=False)
        ):
            parts.append(
                self.half_product(
                    self._bending_parameter("ρI", k, rho_I), square(self.section_spin(*axis))
                )
            )
        if m.polar is not None:
            parts.append(
                self.half_product(
                    self.parameter("ρI", m.polar, "p"),
                    square(self.section_spin(*self._twist(here))),
                )
            )
        return self.total(parts).with_symbol(self.per_length("T"))

    def potential_energy_density(self) -> Quantity:
        """½EI v″² + ½kGA (v′ − ψ)² + ½EA u′² + ½GJ φ′² + ½N₀ v′² + N (½v′² − s′) − ρA g·r"""
        m, here = self.member, self.stations[0]
        slopes = self._slopes
        parts = [
            self.half_product(self._bending_parameter("EI", k, EI), square(v))
            for k, EI in enumerate(m.stiffness)
            if (v := self.section_rotation(k, here, 1))
        ]
        sheared = (
            (k, kGA, psi)
            for k, kGA in enumerate(m.shear)
            if (psi := self.section_rotation(k, here))
        )
        parts += [
            self.half_product(self._bending_parameter("kGA", k, kGA), square(slopes[k] - psi))
            for k, kGA, psi in sheared
        ]
        stretched = (("EA", m.axial, "u"), ("GJ", m.torsion, "phi"))
        parts += [
            self.half_product(self.parameter(n, e), square(a))
            for n, e, name in stretched
            if e is not None and (a := self.value(name, here, 1))
        ]
        parts += [
            self.half_product(self.parameter("N", m.tension, "0"), square(slope))
            for slope in slopes
            if m.tension is not None
        ]
        N, s = self.value(FORCE, here), self.value(SHORTENING, here, 1)
        if N is not None and s is not None:
            parts.append(N * (self.shortening_rate - s))
        return self.total([*parts, *self.weight(here, "ρA", m.density)]).with_symbol(
            self.per_length("V")
        )

    @cached_property
    def _slopes(self) -> list[Quantity]:
        """v′, w′"""
        slopes = (
            self.value(name, self.stations[0], 1)
            for name, _ in zip("vw", self.member.bending, strict=False)
        )
        return [slope for slope in slopes if slope is not None]

    @cached_property
    def shortening_rate(self) -> Quantity:
        """ε = ½(v′² + w′²): by how much bending shortens the member, per length."""
        return self.total(
            [self.velocities.of.half * square(slope) for slope in self._slopes]
        ).with_symbol(self.letter("ε"))

    def weight(self, place: Station, letter: str, mass: Scalar | None) -> Iterator[Quantity]:
        """−ρA g·r, where there is gravity."""
        if self.gravity is not None and mass is not None:
            g = Quantity(Symbol("g"), self.gravity, symbol=Symbol("g"))
            yield -(self.parameter(letter, mass, place=place) * (g @ self.position(place)))

    def end_kinetic(self, end: End, place: Station) -> Quantity:
        """½m v·v + ½J (ω·n + v̇′)² of what sits on an end."""
        v = self.velocity(place)
        parts = (
            []
            if end.mass is None
            else [self.half_product(self.parameter("m", end.mass, place=place), v @ v)]
        )
        if end.inertia is not None:
            # what sits on the end of a shaft turns with its twist
            turning = list(self._bending_rotations(place)) or [self._twist(place)]
            parts += [
                self.half_product(
                    self.parameter("J", end.inertia, place=place), square(self.section_spin(*axis))
                )
                for axis in turning
            ]
        return self.total(parts).with_symbol(self.letter("T", place))

    def end_potential(self, side: int, place: Station) -> Quantity:
        """½k v² + ½κ v′² + … of the springs at an end, and the weight of its mass."""
        parts = []
        for k, name, order, letters in end_springs(self.member, side):
            if (v := self.value(name, place, order)) is not None:
                parts.append(
                    self.half_product(
                        self.parameter(letters[0], k, *letters[1:], place=place), square(v)
                    )
                )
        weight = self.weight(place, "m", self.member.ends[side].mass)
        return self.total([*parts, *weight]).with_symbol(self.letter("V", place))

    def total(self, parts: list[Quantity]) -> Quantity:
        """Σ of what there is"""
        return (
            reduce(add, parts)
            if parts
            else Quantity(f.ZERO, Scalar(self.velocities.tape, self.velocities.tape.zero))
        )

    def integral(self, a: Quantity) -> Quantity:
        """∫ a dx over the member"""
        return a.map(partial(f.IntegralOver, by=self.stations[0].x.ref), self.integrals)

    # ---- loads -------------------------------------------------------------------------------

    def loads(self, place: Station) -> list[tuple[Quantity, Quantity]]:
        """(p, ṙ), (F(L), ṙ(L)), (M(L), ω(L)): what acts at a place, and the velocity it does
        work along.
        """
        if not place.label:
            load = self.member.load
            return (
                []
                if load is None
                else [(self.parameter("p", self.velocities.vector(load)), self.velocity(place))]
            )
        end = self.member.ends[place is self.stations[2]]
        end_loads = []
        if end.force is not None:
            end_loads.append(
                (
                    self.parameter("F", self.velocities.vector(end.force), place=place),
                    self.velocity(place),
                )
            )
        if end.moment is not None:
            end_loads.append(
                (
                    self.parameter("M", self.velocities.vector(end.moment), place=place),
                    self._section_w(place),
                )
            )
        return end_loads

    def _section_w(self, place: Station) -> Quantity:
        """ω of a section: that of the frame, and what it turns by itself"""
        turns = [
            own * axis
            for axis, own in (*self._bending_rotations(place), self._twist(place))
            if own is not None
        ]
        return reduce(add, turns, self.w).with_symbol(self.letter("ω", place)) if turns else self.w

    def power_gradients(self, place: Station, x: Quantity) -> Iterator[Quantity]:
        """p·∂ṙ/∂x of all that acts at a place, along velocities of the rigid variables or of the
        fields
        """
        t = self.velocities.tape
        for load, v in self.loads(place):
            parts = (
                zip(c, load.value.components(F), strict=True) for F, c in v.value.parts.items()
            )
            seeds = {
                a: b
                for a, b in sum_by_key(t, chain.from_iterable(parts)).items()
                if b != t.zero and t.value(a) is None
            }
            single = isinstance(x.value, Scalar)
            along = gradient(t, seeds, [x.value.i] if single else x.value.nodes) if seeds else []
            if any(e != t.zero for e in along):
                yield Quantity(
                    _power,
                    Scalar(t, along[0]) if single else Column(t, along),
                    (load, v, x),
                    row_labels=x.row_labels,
                )

    def damping_forces(self, place: Station, field: str) -> Iterator[Quantity]:
        """−c v̇ at an end: across a member that bends, along a bar, against the twist of a shaft"""
        end = self.member.ends[place is self.stations[2]]
        if end.damper is not None:
            rates = (
                self.value(name, place, dots=1)
                for name in self.member.damped_fields
                if self.symbols[name] == field
            )
            yield from (
                -(self.parameter("c", end.damper, place=place) * rate)
                for rate in rates
                if rate is not None
            )


def square(a: Quantity) -> Quantity:
    """a²"""
    return Quantity(f.Square, a.value**2, (a,))


def _power(load: Formula, v: Formula, x: Formula) -> Formula:
    return load.dot(f.Partial(v, x))


def continuum(
    member: Member, velocities: RigidOperator, needs_suffix: bool, gravity: Vector | None
) -> Continuum:
    """A member on the tape of a derivation; its fields get names that the system does not use
    otherwise.
    """
    t = velocities.tape
    wanted = [f.symbol for f in member.fields] + [SHORTENING, FORCE] * member.shortening
    if not wanted:
        msg = f"{member.kind} {member.name!r}: nothing in it can move; give it a stiffness"
        raise IllPosed(msg)
    taken = set(t.names)
    symbols = {
        name: f"{name}_{member.name}" if needs_suffix or name in taken else name for name in wanted
    }
    if not needs_suffix and "x" not in taken | set(t.displays.values()):
        t.displays[f"x_{member.name}"] = "x"
    g = None if gravity is None else gravity.on(t)
    return Continuum(member, velocities, symbols, g, (member.name,) if needs_suffix else ())
