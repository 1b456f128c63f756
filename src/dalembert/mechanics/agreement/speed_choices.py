"""u = Ψ q̇ + ψ, chosen in several ways: which speeds give short equations.

Two descriptions of one system that differ in their speeds have the same motion, and equations of
different size: with body components of ω the equations of a rigid body are Euler's, with rates of
angles they are long, and their rates divide by what may vanish.

Source: Bar00, after (30); Gre03 4.1.
"""

from __future__ import annotations

from dataclasses import replace

from dalembert.errors import BadDescription
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.agreement.comparison import printed_operations
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation
from dalembert.mechanics.principles.kane import kane
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm
from dalembert.symbolic.algebra.printing import ranking_for, readable_form
from dalembert.symbolic.algebra.printing.term_layout import Printer, symbol_namer
from dalembert.symbolic.algebra.printing.unicode_notation import Text


@dataclass(frozen=True)
class SpeedAlternative(Displayable):
    """One choice of speeds and what it costs."""

    name: str
    speeds: tuple[str, ...]
    # of the equations of motion, and of q̇ = W u + X, as they are printed
    equation_operations: int
    rate_operations: int
    # entries of the mass matrix next to its diagonal that do not vanish
    coupling: int
    # what the rates are divided by and may vanish
    divisors: tuple[str, ...]
    # what the speeds are, where the choice is a proposal
    definitions: tuple[str, ...] = ()

    @property
    def operations(self) -> int:
        """Of the equations of motion and of the rates together."""
        return self.equation_operations + self.rate_operations

    def __str__(self) -> str:
        divided = f", singular where {' or '.join(self.divisors)} = 0" if self.divisors else ""
        return (
            f"{self.name}: {self.equation_operations} operations in the equations, "
            f"{self.rate_operations} in the rates, {self.coupling} couplings{divided}"
        )


@dataclass(frozen=True)
class SpeedComparison(Displayable):
    """Choices of speeds and their costs, in the order in which they were given."""

    choices: tuple[SpeedAlternative, ...]

    @property
    def proposal(self) -> SpeedAlternative:
        """The choice with the fewest operations; of equal ones, that with the fewest divisors."""
        return min(self.choices, key=lambda c: (c.operations, len(c.divisors), c.coupling))

    def __str__(self) -> str:
        best = self.proposal
        lines = [*map(str, self.choices), f"proposal: {best.name} ({', '.join(best.speeds)})"]
        lines += [
            f"  {name} = {text}" for name, text in zip(best.speeds, best.definitions, strict=False)
        ]
        return "\n".join(lines)


def compare_speeds(system: System | None = None, /, **choices: System) -> SpeedComparison:
    """Compare descriptions of one system that differ in their speeds: `compare_speeds(rates=s,
    body_axes=s2)`; or `compare_speeds(s)`, which also tries components of angular velocities and of
    velocities of mass centres and contact points along the frames of the system.

    The number of operations of the equations of motion and of the rates, the couplings in the mass
    matrix, and where a choice is singular. The proposal is the choice with the fewest operations.
    """
    if system is not None:
        return _compare_with_proposals(system, choices)
    if len(choices) < 2:
        msg = (
            "compare_speeds: give one system without declared speeds, compare_speeds(s), or two or "
            "more by name, compare_speeds(rates=s1, body=s2)"
        )
        raise BadDescription(msg)
    derived = {name: kane(kinematics(s)) for name, s in choices.items()}
    _check_same_coordinates(derived)
    _check_same_energies(derived)
    return SpeedComparison(tuple(_measure(name, d) for name, d in derived.items()))


def _compare_with_proposals(system: System, choices: dict[str, System]) -> SpeedComparison:
    """The rates as speeds, the given choices, and proposals from the description."""
    from dalembert.mechanics.agreement.speed_proposals import propose_speeds

    proposals = {p.name: p for p in propose_speeds(system)}
    systems = {"rates": system, **choices, **{name: p.system for name, p in proposals.items()}}
    derived = {name: kane(kinematics(s)) for name, s in systems.items()}
    _check_same_coordinates(derived)
    if choices:
        _check_same_energies(derived)
    measured = [_measure(name, d) for name, d in derived.items()]
    return SpeedComparison(
        tuple(
            replace(m, definitions=proposals[m.name].definitions) if m.name in proposals else m
            for m in measured
        )
    )


def _check_same_coordinates(derived: dict[str, Derivation]) -> None:
    (first, expected), *others = (
        (name, [d.kinematics.name(q) for q in d.kinematics.q]) for name, d in derived.items()
    )
    for name, found in others:
        if set(found) != set(expected):
            msg = (
                f"compare_speeds: {first!r} has the coordinates {', '.join(expected)}, {name!r} "
                f"has {', '.join(found)}; describe one system with different speeds"
            )
            raise BadDescription(msg)


def _check_same_energies(derived: dict[str, Derivation]) -> None:
    """Refuse systems whose T or V, written in q and q̇, differ."""
    energies = {
        name: [readable_form(d.tape, e.value.i) for e in (x.rates.T, x.V)]
        for name, d in derived.items()
        for x in (Quantities(d.kinematics),)
    }
    (first, expected), *others = energies.items()
    for name, found in others:
        for letter, a, b in zip("TV", expected, found, strict=True):
            if a is not None and b is not None and not a.same_terms(b):
                msg = (
                    f"compare_speeds: {first!r} and {name!r} differ in {letter}; describe one "
                    f"system with different speeds"
                )
                raise BadDescription(msg)


def _measure(name: str, d: Derivation) -> SpeedAlternative:
    kin, e = d.kinematics, d.equations
    rates = [x for q, x in zip(kin.qdot, kin.qdot_of_u, strict=True) if q != x]
    M = [[x.i for x in row] for row in e.mass_matrix()]
    off = [x for i, row in enumerate(M) for k, x in enumerate(row) if i < k]
    return SpeedAlternative(
        name,
        tuple(kin.name(u) for u in kin.u),
        printed_operations(e.tape, e.residuals),
        printed_operations(d.tape, rates),
        sum(not zero for zero in provably_zero(e.tape, off)),
        _divisors(kin, rates),
    )


def _divisors(kin: Kinematics, nodes: list[int]) -> tuple[str, ...]:
    """What rates are divided by, where it contains a coordinate."""
    t = kin.tape
    moving = {kin.name(q) for q in kin.q}
    found: dict[str, None] = {}
    for node in nodes:
        form = readable_form(t, node)
        if form is None or form.is_polynomial:
            continue
        below = RationalForm(form.denominator)
        varying = [
            a for a in below.atoms() if moving & set(RationalForm(below.numerator).symbols())
        ]
        if varying:
            found[Text()(Printer(symbol_namer(t), ranking_for(t, below)).form(below))] = None
    return tuple(found)
