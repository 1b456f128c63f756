"""Ṗ_r − ∂T̄/∂π_r + Σ_s P_s Γ_sr = U_r with T̄ reduced too early: constraint rows inserted into the
kinetic energy before it is differentiated.

The reduced T̄(q, u₁ … u_p) has no momenta along the rows. With nonholonomic rows these momenta are
not zero, although the speeds of the rows are, and their terms P_s Γ_sr are missing. The wrong
equations are derived here as the wrong procedure gives them, and the difference to the right ones
is compared exactly with the missing terms.

Source: Bar00 (56)–(58); with all n speeds kept, (39)–(40).
"""

from __future__ import annotations

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quantity import Quantity, diff
from dalembert.mechanics.kinetics.system_quantities import Quantities
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.boltzmann_hamel import boltzmann_hamel
from dalembert.mechanics.principles.derivation import Derivation
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.formula import Symbol
from dalembert.symbolic.algebra.printing import equation_text, text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column


@dataclass(frozen=True)
class PrematureConstraints(Displayable):
    """The equations that follow from a kinetic energy with the constraint rows inserted, and
    their missing terms.
    """

    system: str
    rows: tuple[str, ...]
    # T̄ with the rows inserted
    kinetic_energy: Scalar
    wrong: tuple[str, ...]
    right: tuple[str, ...]
    # right − wrong, one for each independent speed
    missing: tuple[Scalar, ...]
    # of the rows, whose speeds are zero
    momenta: tuple[Scalar, ...]

    @property
    def harmless(self) -> bool:
        """Whether nothing is missing, as for rows that integrate to rows on positions."""
        return all(self.missing[0].tape.zero == e.i for e in self.missing)

    def __str__(self) -> str:
        title = f"{self.system}: constraint rows inserted into T before differentiation"
        lines = [f"{title} (Bar00 (56)–(58))", f"  T̄ = {text(self.kinetic_energy)}"]
        if self.harmless:
            return "\n".join([*lines, "  Nothing is missing: the equations are right."])
        lines += [f"  wrong  {e}" for e in self.wrong]
        lines += [f"  right  {e}" for e in self.right]
        lines += [
            f"  missing on the left of equation {r}: {text(e)}"
            for r, e in enumerate(self.missing, 1)
            if e.i != e.tape.zero
        ]
        lines += [
            f"  why: the speed of '{row}' is zero, its momentum is not: P = {text(P)}"
            for row, P in zip(self.rows, self.momenta, strict=True)
            if P.i != P.tape.zero
        ]
        return "\n".join(lines)


def premature_constraints(system: System | Kinematics) -> PrematureConstraints:
    """The errors that follow from inserting the constraint rows into T before differentiation."""
    d = boltzmann_hamel(system)
    kin, t = d.kinematics, d.tape
    if not kin.rows:
        msg = f"{kin.system.name!r} has no constraint rows that could be inserted too early"
        raise NotApplicable(msg)
    T, wrong = _reduced_equations(d)
    right = Column(t, d.native.residuals)
    missing = _exact_zeros(right - wrong)
    _check_explained(d, missing)
    return PrematureConstraints(
        kin.system.name,
        tuple(row.name for row in kin.rows),
        Scalar(t, T.value.i),
        tuple(equation_text(t, e, kin.udot, kin.u) for e in wrong),
        tuple(equation_text(t, e, kin.udot, kin.u) for e in right),
        tuple(Scalar(t, e) for e in missing),
        tuple(Scalar(t, e) for e in _exact_zeros(Column(t, _momenta(d)[kin.n_u :]))),
    )


def _reduced_equations(d: Derivation) -> tuple[Quantity, Column]:
    """T̄ in the independent speeds, and Ṗ_r − Σ_i W_ir ∂T̄/∂q_i + Σ_{s≤p} P_s Γ_sr − U_r of it"""
    x = Quantities(d.kinematics)
    T = x.speeds.T
    P = diff(T, x.u)
    slopes = x.W.T @ diff(T, x.q)
    carried, n = _hamel_terms(d), x.kin.n_q
    own = Column(
        x.tape,
        (_sum(d, carried[r * n : r * n + x.kin.n_u]) for r in range(x.kin.n_u)),
    )
    return T, x.speeds.d_dt(P).value - slopes.value + own - Column(x.tape, _quantity(d, "U", "r"))


def _check_explained(d: Derivation, missing: Column) -> None:
    """Refuse a difference that is not Σ_{s>p} P_s Γ_sr."""
    carried, n, p = _hamel_terms(d), d.kinematics.n_q, d.kinematics.n_u
    lost = Column(d.tape, (_sum(d, carried[r * n + p : (r + 1) * n]) for r in range(p)))
    if not all(provably_zero(d.tape, (missing - lost).nodes)):
        msg = "the difference could not be shown to be the terms of the momenta of the rows"
        raise NotApplicable(msg)


def _quantity(d: Derivation, letter: str, index: str) -> tuple[int, ...]:
    wanted = Symbol(letter, (index,))
    nodes: tuple[int, ...] = next(
        a.value.nodes
        for a in d.quantities
        if isinstance(a, Quantity) and a.title and a.symbol == wanted
    )
    return nodes


def _momenta(d: Derivation) -> tuple[int, ...]:
    """P_s of all n speeds"""
    return _quantity(d, "P", "s")


def _hamel_terms(d: Derivation) -> tuple[int, ...]:
    """P_s Γ_sr, equation after equation"""
    nodes: tuple[int, ...] = next(
        a.value.nodes
        for a in d.quantities
        if isinstance(a, Quantity) and a.row_labels and str(a.row_labels[0]).startswith("from P")
    )
    return nodes


def _sum(d: Derivation, nodes: tuple[int, ...]) -> int:
    total = d.tape.zero
    for node in nodes:
        total = d.tape.add(total, node)
    return total


def _exact_zeros(column: Column) -> Column:
    t = column.tape
    gone = provably_zero(t, column.nodes)
    return Column(t, (t.zero if z else e for e, z in zip(column.nodes, gone, strict=True)))
