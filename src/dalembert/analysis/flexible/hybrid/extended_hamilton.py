"""δ∫(T − V) dt + ∫δW dt = 0: Hamilton's extended principle, for systems of rigid bodies and
continua.

Rigid variables give ordinary equations with integrals over the members, fields give partial
differential equations, and the boundary terms give the boundary conditions: geometric where the
support says so, natural where the variation is free.

Source: Bar00 (60)–(62) and the text after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import chain
from operator import add, sub
from typing import Final, Literal

from dalembert.analysis.flexible.hybrid.energy_densities import (
    SHORTENING,
    Continuum,
    Station,
    continuum,
)
from dalembert.analysis.flexible.hybrid.field_variation import (
    Variation,
    VariationTerms,
    vary_density,
    vary_end_energy,
)
from dalembert.analysis.flexible.hybrid.hybrid_equations import (
    BoundaryCondition,
    FieldEquation,
    HybridEquations,
    OrdinaryEquation,
)
from dalembert.analysis.flexible.hybrid.lagrange_operators import (
    BoltzmannHamelOperator,
    LagrangeOperator,
    RigidOperator,
)
from dalembert.errors import NotApplicable, NotASystem
from dalembert.mechanics.equations import principle_statements
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, equation
from dalembert.mechanics.model.flexible_member import Member
from dalembert.mechanics.model.registry import used_nodes
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Principle
from dalembert.symbolic.algebra import formula as f
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, Substitution, symbols_of
from dalembert.symbolic.algebra.formula import Name, Symbol
from dalembert.symbolic.algebra.printing.symbol_names import unicode_name
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column

PRINCIPLE: Final = Principle(
    "extended-hamilton",
    "Hamilton's extended principle",
    principle_statements.EXTENDED_HAMILTON,
    "Bar00 (60)–(62)",
    "kinetic energy",
    "scalar",
    "u",
)


def extended_hamilton(system: System, *, speeds: bool | None = None) -> HybridEquations:
    """The hybrid equations of a system that carries members.

    speeds   write the ordinary equations along the speeds (quasi-velocities) rather than along the
             coordinates; by default where speeds are declared
    """
    if not isinstance(system, System):
        msg = f"extended_hamilton: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    if not system.members:
        msg = (
            "the system carries no string, bar, shaft or beam: declare one with s.beam(...), or "
            "use lagrange for rigid bodies"
        )
        raise NotApplicable(msg)
    continuous = continuum_system(system)
    chosen = bool(continuous.speed_list) if speeds is None else speeds
    return hybrid_equations(
        Kinematics(continuous, complete=False).fork(), continuous.members, speeds=chosen
    )


def hybrid_equations(
    kin: Kinematics, members: Mapping[str, Member], *, speeds: bool
) -> HybridEquations:
    """The principle for rigid bodies and some of the members of a system."""
    velocities: RigidOperator = BoltzmannHamelOperator(kin) if speeds else LagrangeOperator(kin)
    gravity = None if kin.system.gravity_field is None else kin.system.gravity_field.g
    continua = {
        name: continuum(m, velocities, len(members) > 1, gravity) for name, m in members.items()
    }
    return _HamiltonDerivation(kin, velocities, continua).equations()


class _HamiltonDerivation:
    """The principle applied once: energies, variations, integration by parts, conditions."""

    def __init__(
        self, kin: Kinematics, velocities: RigidOperator, continua: dict[str, Continuum]
    ) -> None:
        self.kin, self.velocities, self.continua = kin, velocities, continua
        self.tape = kin.tape
        self.rigid = (velocities.T.with_letter("T", "R"), velocities.of.V.with_letter("V", "R"))
        self.ends = {
            (n, p): (c.end_kinetic(c.member.ends[k], p), c.end_potential(k, p))
            for n, k, p, c in self._ends()
        }
        self.lines = {
            n: (
                c.kinetic_energy_density().as_step(*_KINETIC),
                c.potential_energy_density().as_step(*_STRAIN),
            )
            for n, c in continua.items()
        }
        self.L_hat = {
            n: (T - V).with_symbol(continua[n].per_length("L")).as_step(*_DENSITY)
            for n, (T, V) in self.lines.items()
        }
        self.varied = {n: vary_density(c.fields, self.L_hat[n]) for n, c in continua.items()}

    def _ends(self) -> Iterator[tuple[str, Literal[0, 1], Station, Continuum]]:
        for name, c in self.continua.items():
            yield from ((name, 0, c.stations[1], c), (name, 1, c.stations[2], c))

    def equations(self) -> HybridEquations:
        v = self.velocities
        statement, ordinary = self._ordinary() if v.names else (None, ())
        partial = {
            name: self._field_residuals(c, self.varied[name]) for name, c in self.continua.items()
        }
        ends = [self._conditions(name, c, side, place) for name, side, place, c in self._ends()]
        boundary = list(chain.from_iterable(ends))
        sections = {
            name: self._section_forces(c, self.varied[name]) for name, c in self.continua.items()
        }
        terms = [*self._motion(), *self._energies(), *self._loads(), *v.extra_terms]
        terms += [] if statement is None else [statement]
        terms += [
            a for part in (partial, sections) for each in part.values() for a in each.values()
        ]
        terms += [a for _, a in boundary if a is not None]
        forces = {n: {key: a.value.i for key, a in each.items()} for n, each in sections.items()}
        return HybridEquations(
            PRINCIPLE,
            self.kin,
            tuple(terms),
            v.along,
            ordinary,
            _field_equations(partial),
            tuple(b for b, _ in boundary),
            self.continua,
            tuple(v.accelerations),
            forces,
            tuple(self._massless_directions(ordinary)),
        )

    def _massless_directions(self, ordinary: Sequence[OrdinaryEquation]) -> Iterator[str]:
        """Say where a straight member leaves an acceleration without inertia: Bar00 (62) does so
        for ω̇ₓ at v = 0.
        """
        t = self.tape
        straight = Substitution(t, dict.fromkeys(self._field_values(ordinary), t.zero))
        linear = LinearCoefficients(t, self.velocities.accelerations)
        rows = [linear(straight(o.residual))[1] for o in ordinary]
        for k, name in enumerate(self.velocities.names):
            if all(provably_zero(t, [row.get(k, t.zero) for row in rows])):
                yield (
                    f"While the members are straight, nothing resists a change of "
                    f"{unicode_name(name)}: a line has no moment of inertia about its axis. Give "
                    "the member polar=…, its moment of inertia per length about its "
                    "axis, or start with a bent shape."
                )

    def _field_values(self, ordinary: Sequence[OrdinaryEquation]) -> Iterator[int]:
        for i in symbols_of(self.tape, [o.residual for o in ordinary]):
            name = str(self.tape.nodes[i][1])
            if name.startswith("∫") or any(
                name.startswith(f"{f}{mark}")
                for c in self.continua.values()
                for f in c.fields.names
                for mark in "(′"
            ):
                yield i

    # ---- derivation steps -------------------------------------------------------------------

    def _motion(self) -> Iterator[Quantity]:
        for c in self.continua.values():
            here = c.stations[0]
            yield c.offset(here).as_step(*_POINT)
            yield c.velocity(here).as_step(*_VELOCITY)
            if c.member.shortening:
                yield c.shortening_rate.as_step(*_SHORTENING)

    def _energies(self) -> Iterator[Quantity]:
        """T̂, V̂ and L̂ of every member, what is rigid, and all together."""
        for name, lines in self.lines.items():
            yield from (*lines, self.L_hat[name])
        yield from (
            a.as_step("What is rigid", "", "") for each in self._lumped_energies for a in each
        )
        for k, letter in enumerate("TV"):
            inside = [c.integral(self.lines[n][k]) for n, c in self.continua.items()]
            yield (
                reduce(add, [*self._lumped_energies[k], *inside])
                .with_letter(letter)
                .as_step("The energies", "", _ENERGIES)
            )

    @cached_property
    def _lumped_energies(self) -> tuple[list[Quantity], list[Quantity]]:
        """T and V of what is rigid and of what sits on the ends"""
        T, V = (
            [a for a in each if a.value.i != self.tape.zero]
            for each in zip(self.rigid, *self.ends.values(), strict=True)
        )
        return T, V

    def _loads(self) -> Iterator[Quantity]:
        for c in self.continua.values():
            yield from (
                load.as_step("A load that does virtual work", "", _LOADS)
                for place in c.stations
                for load, _ in c.loads(place)
            )

    # ---- rigid variables ---------------------------------------------------------------------

    def _lumped_terms(self) -> list[Quantity]:
        """What bodies, loads and the ends of members add outside the integrals."""
        v, total = self.velocities, next(iter(self.continua.values())).total
        T, V = self._lumped_energies
        terms = [v.lagrange(total([*T, *(-a for a in V)]).with_letter("L", "R"))] if T or V else []
        if any(e != self.tape.zero for e in v.generalized_forces.value):
            terms.append(-v.generalized_forces)
        terms += [
            -a for _, _, place, c in self._ends() for a in c.power_gradients(place, v.directions)
        ]
        return terms

    def _ordinary(self) -> tuple[Quantity, tuple[OrdinaryEquation, ...]]:
        """What multiplies the variations of the rigid variables: outside, and in integrals over
        the members.
        """
        v, parts = self.velocities, self._lumped_terms()
        inside = {}
        for n, c in self.continua.items():
            inside[n] = v.impose_rows(
                reduce(
                    sub, c.power_gradients(c.stations[0], v.directions), v.lagrange(self.L_hat[n])
                )
            )
        outside = v.impose_rows(reduce(add, parts)) if parts else None
        whole = reduce(
            add,
            [
                *([] if outside is None else [outside]),
                *(self.continua[n].integral(a) for n, a in inside.items()),
            ],
        )
        zeros = [self.tape.zero] * len(v.names)
        rigid = zeros if outside is None else outside.value.nodes
        ordinary = tuple(
            OrdinaryEquation(
                name,
                rigid[r],
                {n: a.value.nodes[r] for n, a in inside.items()},
                whole.value.nodes[r],
            )
            for r, name in enumerate(v.names)
        )
        return replace(equation(whole), row_labels=tuple(map(Name, v.names))).as_step(
            *_RIGID
        ), ordinary

    # ---- fields ------------------------------------------------------------------------------

    def _field_residuals(self, c: Continuum, parts: VariationTerms) -> dict[str, Quantity]:
        """−E − p·∂ṙ/∂v̇ = 0 for every field"""
        residuals = {}
        for symbol in c.fields.names:
            left = parts.domain.get(symbol) or c.total([])
            whole = reduce(
                sub,
                c.power_gradients(c.stations[0], c.fields.named(c.fields.symbol(symbol, 0, 1))),
                left,
            )
            residuals[symbol] = self._as_equation(whole, f.Variation(Name(symbol))).as_step(
                *_INSIDE
            )
        return residuals

    def _as_equation(self, a: Quantity, variation: f.Formula) -> Quantity:
        """a = 0, where the rows hold: what multiplies one variation"""
        imposed = self.velocities.impose_rows(a)
        return replace(
            equation(imposed), value=Column(self.tape, [imposed.value.i]), row_labels=(variation,)
        )

    def _section_forces(self, c: Continuum, parts: VariationTerms) -> dict[Variation, Quantity]:
        named = {
            key: Name(str(self.tape.nodes[c.fields.symbol(*key)][1])) for key in parts.boundary
        }
        return {
            key: a.with_symbol(Symbol("B", (named[key],))).as_step(*_SECTION)
            for key, a in parts.boundary.items()
        }

    @staticmethod
    def _end_load(
        c: Continuum, place: Station, key: tuple[str, int], at_end: list[Quantity]
    ) -> Quantity:
        """What is at the end, with the loads and dampers there, along one variation."""
        symbol, order = key
        rate = c.fields.named(c.fields.symbol(symbol, order, 1, place.label))
        dampers = c.damping_forces(place, symbol) if not order else ()
        return c.total([*at_end, *c.power_gradients(place, rate), *dampers])

    def _conditions(
        self, name: str, c: Continuum, side: Literal[0, 1], place: Station
    ) -> Iterator[tuple[BoundaryCondition, Quantity | None]]:
        """The coefficient of every variation at one end, unless the support makes that variation
        zero.
        """
        T, V = self.ends[name, place]
        held = self._geometric_conditions(c, side)
        section_forces = {
            key: self._end_value(c, B, place)
            for key, B in self._section_forces(c, self.varied[name]).items()
        }
        own = vary_end_energy(c.fields, T if V.value.i == self.tape.zero else T - V, place.label)
        for symbol in c.fields.names:
            for order in range(4):
                key, varies = (
                    (symbol, order),
                    c.fields.named(c.fields.symbol(symbol, order, 0, place.label)),
                )
                if key in held:
                    yield (
                        BoundaryCondition(name, symbol, order, side, "geometric", varies.value.i),
                        None,
                    )
                    continue
                at_end = [part[key] for part in (section_forces, own) if key in part]
                total = self._end_load(c, place, key, at_end)
                # written as a book does: what pulls at the end, then what sits on it
                condition = self._as_equation(
                    total if side else -total, f.Variation(varies.ref)
                ).as_step(*_AT_END)
                (residual,) = condition.value.nodes
                if not provably_zero(self.tape, [residual])[0]:
                    yield (
                        BoundaryCondition(name, symbol, order, side, "natural", residual),
                        condition,
                    )

    def _end_value(self, c: Continuum, B: Quantity, place: Station) -> Quantity:
        """B(L), and −B(0) where the member begins"""
        value = Scalar(self.tape, c.fields.at(B.value.i, place.label, place.x.value.i))
        at = Quantity(f.Function(B.ref, (place.x.ref,)), value, (B, place.x))
        return at if place is c.stations[2] else -at

    def _geometric_conditions(self, c: Continuum, side: int) -> set[Variation]:
        held = {
            (c.symbols[f.symbol], k)
            for f in c.member.fields
            for end, k in c.member.essential_conditions(f)
            if end == side
        }
        if c.member.shortening and side == 0:
            held.add((c.symbols[SHORTENING], 0))
        return held


# ---- texts of the derivation: title, source, why
# ---------------------------------------------------

_POINT: Final = (
    "A point of the member",
    "Bar00 (60)",
    "Measured from the frame that carries the member: rigid motion and deflection are separated.",
)
_VELOCITY: Final = (
    "Its velocity",
    "Bar00 (61)",
    "The frame rotates while the deflection changes, so both enter.",
)
_SHORTENING: Final = (
    "Shortening per length",
    "",
    "The axial force N enforces s′ = ε: it is the multiplier of this condition in V̂.",
)
_KINETIC: Final = (
    "Kinetic energy per length",
    "Bar00 (62)",
    (
        "With the factor ½ that is missing in print, and the rotary inertia of the sections where "
        "given."
    ),
)
_STRAIN: Final = ("Potential energy per length", "", "")
_DENSITY: Final = ("Lagrangian per length", "Bar00 (62)", "")
_ENERGIES: Final = "The energies that the principle needs, of rigid bodies and members together."
_LOADS: Final = "Loads without a potential enter by their work through the variations."
_RIGID: Final = (
    "Coefficients of the variations of the rigid variables",
    "after Bar00 (62)",
    (
        "The integral over a member and the derivatives are interchanged, so that one operator "
        "serves both parts."
    ),
)
_INSIDE: Final = (
    "Integration by parts: coefficient of the variation inside",
    "after Bar00 (62)",
    ("Derivatives are taken off the variation, which is arbitrary inside: its factor vanishes ."),
)
_SECTION: Final = (
    "Boundary terms at a section",
    "after Bar00 (62)",
    (
        "It multiplies the variation there: the shear force with a deflection, the bending moment "
        "with a slope."
    ),
)
_AT_END: Final = (
    "Coefficient of the variation at an end",
    "after Bar00 (62)",
    (
        "Where the support lets a slope or a deflection vary, its coefficient vanishes (natural "
        "condition); elsewhere the variation vanishes (geometric condition)."
    ),
)


def continuum_system(system: System) -> System:
    """Σ φ_i q_i → v(x, t): the same description with every member a continuum

    Without amplitudes, and without the masses and energies in them.
    """
    if not system.expansions:
        return system
    new = system.snapshot()
    t = system.space.tape
    gone = {
        id(element) for elements in system.discretised_elements.values() for element in elements
    }
    amplitudes = {
        q.i: str(q.name)
        for e in system.expansions.values()
        for each in e.amplitudes.values()
        for q in each
    }
    rates = {t.rate(q) for q in amplitudes}
    new.bodies = [b for b in system.bodies if id(b) not in gone]
    new.loads = [x for x in system.loads if id(x) not in gone]
    new.potentials = [p for p in system.potentials if id(p) not in gone]
    new.dissipations = [d for d in system.dissipations if id(d) not in gone]
    new.speed_list = [s for s in system.speed_list if s.definition.i not in rates]
    dropped = {
        *amplitudes.values(),
        *(s.name for s in system.speed_list if s.definition.i in rates),
    }
    new.symbols = {name: s for name, s in system.symbols.items() if name not in dropped}
    new.expansions, new.discretised_elements = {}, {}
    left = [amplitudes[i] for i in symbols_of(t, list(used_nodes(new))) if i in amplitudes]
    if left:
        msg = (
            f"{left[0]} moves something else as well: a body, load or constraint is attached to a "
            f"point of the expanded member;"
            " describe it as what sits on the member's end, s.end(...), to have hybrid equations"
        )
        raise NotApplicable(msg)
    return new


def _field_equations(partial: Mapping[str, Mapping[str, Quantity]]) -> tuple[FieldEquation, ...]:
    """Of every member, the residual of every field."""
    return tuple(
        FieldEquation(member, name, a.value.nodes[0])
        for member, each in partial.items()
        for name, a in each.items()
    )
