"""δ∫(T − V) dt + ∫δW dt = 0: Hamilton's extended principle, for systems of rigid bodies and continua.

Rigid variables give ordinary equations with integrals over the members, fields give partial differential equations, and what is left
at the ends gives the boundary conditions: geometric where the support says so, natural where the variation is free.

Source: Bar00 (60)–(62) and the text after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from dalembert.algebra.columns import gathered
from dalembert.algebra.exact.field import shown_zero
from dalembert.algebra.folds import Linear, Rewrite, gradient, symbols_of
from dalembert.algebra.printing.names import unicode_name
from dalembert.algebra.scalar import Scalar
from dalembert.equations import statements
from dalembert.errors import NotApplicable, NotASystem
from dalembert.flexible.hybrid.continuum import SHORTENING, Continuum, Place, continuum
from dalembert.flexible.hybrid.equations import BoundaryCondition, FieldEquation, HybridEquations, OrdinaryEquation
from dalembert.flexible.hybrid.steps import HybridEnergies, recorded
from dalembert.flexible.hybrid.undiscretised import undiscretised
from dalembert.flexible.hybrid.variation import Variation, varied, varied_at
from dalembert.flexible.hybrid.velocities import HybridInSpeeds, InRates, Velocities
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.kinetics.energies import kinetic_energy
from dalembert.kinetics.fields import potential_energy
from dalembert.model.member import End, Member
from dalembert.model.system import System
from dalembert.principles.base import Principle

PRINCIPLE: Final = Principle(
    "extended-hamilton",
    "Hamilton's extended principle",
    statements.EXTENDED_HAMILTON,
    "Bar00 (60)–(62)",
    "kinetic energy",
    "scalar",
    "u",
)


def extended_hamilton(system: System, *, speeds: bool | None = None) -> HybridEquations:
    """The hybrid equations of a system that carries members.

    speeds   write the ordinary equations along the speeds (quasi-velocities) rather than along the coordinates; by default
             where speeds are declared
    """
    if not isinstance(system, System):
        msg = f"extended_hamilton: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    if not system.members:
        msg = "the system carries no string, bar, shaft or beam: declare one with s.beam(...), or use lagrange for rigid bodies"
        raise NotApplicable(msg)
    continuous = undiscretised(system)
    chosen = bool(continuous.speed_list) if speeds is None else speeds
    return hybrid_equations(Kinematics(continuous, complete=False).fork(), continuous.members, speeds=chosen)


def hybrid_equations(kin: Kinematics, members: Mapping[str, Member], *, speeds: bool) -> HybridEquations:
    """The principle for rigid bodies and some of the members of a system."""
    velocities: Velocities = HybridInSpeeds(kin) if speeds else InRates(kin)
    gravity = None if kin.system.field is None else kin.system.field.g
    continua = {name: continuum(m, velocities, len(members) > 1, gravity) for name, m in members.items()}
    return _Derivation(kin, velocities, continua).equations()


class _Derivation:
    """The principle applied once: energies, variations, integration by parts, conditions."""

    def __init__(self, kin: Kinematics, velocities: Velocities, continua: dict[str, Continuum]) -> None:
        self.kin, self.velocities, self.continua = kin, velocities, continua
        self.tape = kin.tape
        motion = velocities.motion
        self.T = kinetic_energy(kin, motion.v, motion.w)
        self.V = kin.scalar(velocities.written(potential_energy(kin).i))
        self.T_ends, self.V_ends = {}, {}
        self.sections: dict[str, dict[Variation, int]] = {}
        for name, c in continua.items():
            for end, place in _ends(c):
                self.T_ends[name, place] = c.end_kinetic(end, place)
                self.V_ends[name, place] = c.end_potential(end, place)
                self.T, self.V = self.T + self.T_ends[name, place], self.V + self.V_ends[name, place]
        self.T_hat = {name: c.kinetic() for name, c in continua.items()}
        self.V_hat = {n: c.strain() + c.weight(c.places[0], c.member.density) for n, c in continua.items()}
        self.energies = HybridEnergies(self.T, self.V, self.T_hat, self.V_hat)

    def equations(self) -> HybridEquations:
        ordinary = tuple(self._ordinary())
        partial, boundary = [], []
        for name, c in self.continua.items():
            fields, conditions = self._of_member(name, c)
            partial += fields
            boundary += conditions
        steps = tuple(recorded(self.continua, self.energies, partial, boundary))
        v = self.velocities
        found = tuple(partial), tuple(boundary), self.continua, tuple(v.accelerations), self.sections
        return HybridEquations(PRINCIPLE, self.kin, steps, v.along, ordinary, *found, tuple(self._remarks(ordinary)))

    def _remarks(self, ordinary: Sequence[OrdinaryEquation]) -> Iterator[str]:
        """Say where a straight member leaves an acceleration without inertia: Bar00 (62) does so for ω̇ₓ at v = 0."""
        t = self.tape
        straight = Rewrite(t, dict.fromkeys(self._field_values(ordinary), t.zero))
        linear = Linear(t, self.velocities.accelerations)
        rows = [linear(straight(o.residual))[1] for o in ordinary]
        for k, name in enumerate(self.velocities.names):
            if all(shown_zero(t, [row.get(k, t.zero) for row in rows])):
                yield (
                    f"As long as the members are straight nothing resists a change of {unicode_name(name)}: a line has no inertia about"
                    " itself. Give the member polar=…, its moment of inertia per length about its axis, or do not start straight."
                )

    def _field_values(self, ordinary: Sequence[OrdinaryEquation]) -> Iterator[int]:
        for i in symbols_of(self.tape, [o.residual for o in ordinary]):
            name = str(self.tape.nodes[i][1])
            if name.startswith("∫") or any(
                name.startswith(f"{f}{mark}") for c in self.continua.values() for f in c.fields.names for mark in "(′"
            ):
                yield i

    # ---- rigid variables ---------------------------------------------------------------------

    def _ordinary(self) -> Iterator[OrdinaryEquation]:
        t, v = self.tape, self.velocities
        at_ends = (pair for c in self.continua.values() for end, place in _ends(c) for pair in c.end_seeds(end, place).items())
        outside = v.lagrange(self.T - self.V) - (v.loads + v.work(gathered(t, at_ends)))
        inside = {n: v.lagrange(self.T_hat[n] - self.V_hat[n]) - v.work(c.load_seeds()) for n, c in self.continua.items()}
        for r, name in enumerate(v.names):
            rigid = v.constraints_imposed(outside.nodes[r])
            densities = {n: v.constraints_imposed(column.nodes[r]) for n, column in inside.items()}
            integrals = (Scalar(t, self.continua[n].integrals(density)) for n, density in densities.items())
            yield OrdinaryEquation(name, rigid, densities, sum(integrals, Scalar(t, rigid)).i)

    # ---- fields ------------------------------------------------------------------------------

    def _of_member(self, name: str, c: Continuum) -> tuple[list[FieldEquation], list[BoundaryCondition]]:
        t, v = self.tape, self.velocities
        _, start, end = c.places
        found = varied(c.fields, self.T_hat[name] - self.V_hat[name], end.x.i, end.label)
        self.sections[name] = found.section
        work = self._work(c, c.load_seeds(), c.places[0])
        equations = []
        for symbol in c.fields.names:
            residual = v.constraints_imposed((-Scalar(t, found.inside[symbol]) - Scalar(t, work.get((symbol, 0), t.zero))).i)
            equations.append(FieldEquation(name, symbol, residual))
        conditions: list[BoundaryCondition] = []
        for side, place, left in ((0, start, found.start), (1, end, found.end)):
            conditions += self._conditions(name, c, side, place, left)  # type: ignore[arg-type]
        return equations, conditions

    def _work(self, c: Continuum, seeds: Mapping[int, int], place: Place) -> dict[Variation, int]:
        """Σ F·∂v/∂v̇⁽ⁱ⁾: what loads contribute to the variation of every field and slope at a place."""
        keys = [(symbol, order) for symbol in c.fields.names for order in range(2)]
        rates = [c.fields.symbol(symbol, order, 1, place.label) for symbol, order in keys]
        work = gradient(self.tape, seeds, rates) if seeds else []
        return {key: w for key, w in zip(keys, work, strict=False) if w != self.tape.zero}

    def _conditions(
        self, name: str, c: Continuum, side: Literal[0, 1], place: Place, left: Mapping[Variation, int]
    ) -> Iterator[BoundaryCondition]:
        """The coefficient of every variation at one end, unless the support makes that variation zero."""
        t, v = self.tape, self.velocities
        end = c.member.ends[side]
        held = self._held(c, side)
        own = varied_at(c.fields, self.T_ends[name, place] - self.V_ends[name, place], place.label)
        work = self._work(c, c.end_seeds(end, place), place)
        for key in sorted({*held, *left, *own, *work}, key=lambda k: (c.fields.names.index(k[0]), k[1])):
            symbol, order = key
            if key in held:
                yield BoundaryCondition(name, symbol, order, side, "geometric", c.fields.symbol(symbol, order, 0, place.label))
                continue
            pull, at_end, load = (Scalar(t, part.get(key, t.zero)) for part in (left, own, work))
            whole = pull + (at_end + load)
            # written as a book does: what pulls at the end, then what sits on it
            residual = v.constraints_imposed((whole if side else -whole).i)
            if not shown_zero(t, [residual])[0]:
                yield BoundaryCondition(name, symbol, order, side, "natural", residual)

    def _held(self, c: Continuum, side: int) -> set[Variation]:
        held = {(c.symbols[f.symbol], k) for f in c.member.fields for end, k in c.member.geometric(f) if end == side}
        if c.member.shortening and side == 0:
            held.add((c.symbols[SHORTENING], 0))
        return held


def _ends(c: Continuum) -> Iterator[tuple[End, Place]]:
    yield from zip(c.member.ends, c.places[1:], strict=True)
