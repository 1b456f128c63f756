"""E_Z, E, 𝓗, H, K + 𝒰, K + U: the six energy integrals of a system, and which of them are constant.

Each is decided twice: whether dI/dt ≡ 0 on every motion, and whether the condition holds that the
book's table calls sufficient. Their values depend on the chosen speeds wherever v_t ≠ 0, so the
speeds are named with the verdicts.

Source: Mit22 34.1 and its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Final

from dalembert.analysis.integrals.classical_potential import REASONS
from dalembert.analysis.integrals.conservative_loads import LoadVerdict
from dalembert.analysis.integrals.conservative_terms import TermPotential
from dalembert.analysis.integrals.energies import Energies
from dalembert.analysis.integrals.first_integrals import FirstIntegral, first_integrals
from dalembert.analysis.integrals.identity_test import (
    MotionIdentityTest,
    VanishingCondition,
    condition_text,
    minimal_conditions,
)
from dalembert.errors import Unknown
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable, Explanation
from dalembert.foundation.late_imports import late_module
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.equations.equations_of_motion import Equations, derivative_bindings
from dalembert.mechanics.geometry.frame import Frame
from dalembert.runtime.states.run_values import RunValues
from dalembert.symbolic.algebra.exact.verdict import is_proof
from dalembert.symbolic.algebra.expression_graph import copy_expressions
from dalembert.symbolic.algebra.formula import Equation, Formula, Function, Rate, Symbol, Words
from dalembert.symbolic.algebra.printing.formula_layout import formula_text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.units.quantities import label_with_unit

K, K2, K0, U, U_general, H_general = (
    Symbol("K"),
    Symbol("K", ("2",)),
    Symbol("K", ("0",)),
    *map(Symbol, ("U", "𝒰", "𝓗")),
)
# a longer expression is left to those who ask for it
_MAX_CHARACTERS: Final = 160
LEVELS: Final = ["full", "teach"]
sigma, sigma_R, P, P_nc, P_in = (
    Symbol("σ"),
    Symbol("σ", ("R",)),
    Symbol("𝒫"),
    Symbol("𝒫", ("nc",)),
    Symbol("P", ("in",)),
)


@dataclass(frozen=True)
class EnergyIntegral:
    """One energy integral: whether it exists, whether it is constant, and what would make it so.

    `constant` is decided on the motion, `sufficient` by the table; `conditions` lists the smallest
    sets of coefficients whose vanishing makes it constant, whatever the prescribed motions and the
    other constants are.
    """

    symbol: str
    name: str
    # symbol = formula
    left: Formula
    formula: Formula
    expression: Scalar | None = field(repr=False)
    # None where these are undecided
    exists: bool | None
    constant: bool | None
    sufficient: bool | None
    always: bool
    conditions: tuple[VanishingCondition, ...]
    source: str

    @property
    def condition(self) -> str:
        """Ω̇ = 0 and b = 0, or …"""
        return ", or ".join(condition_text(c) for c in self.conditions)

    @property
    def statement(self) -> str:
        """The verdict in words."""
        if self.always:
            return "constant"
        if self.constant is None or self.exists is None:
            return "UNDECIDED"
        if self.constant:
            return f"constant, because {self.condition}" if self.conditions else "constant"
        head = "not constant" if self.exists else "does not exist"
        return f"{head}; would be constant if {self.condition}" if self.conditions else head


@dataclass(frozen=True)
class EnergyIntegrals(Displayable):
    """Energies, powers and energy integrals of a system in its independent speeds."""

    system: str
    speeds: tuple[str, ...]
    K: Scalar = field(repr=False)
    K0: Scalar = field(repr=False)
    K1: Scalar = field(repr=False)
    K2: Scalar = field(repr=False)
    generalized_potential: Scalar = field(repr=False)
    sigma_R: Scalar = field(repr=False)
    sigma: Scalar = field(repr=False)
    conservative_power: Scalar = field(repr=False)
    nonconservative_power: Scalar = field(repr=False)
    Z_dot: Scalar = field(repr=False)
    power_fed_in: Scalar = field(repr=False)
    verdicts: tuple[EnergyIntegral, ...]
    # U, the classical potential energy, and 𝒰, solely a function of configuration: None where
    # undecided, and what is in the way
    potential_exists: bool | None
    why_no_potential: str
    # U where it exists, and why H is not defined though U exists
    potential: Scalar | None = field(repr=False)
    why_no_hamiltonian: str
    generalized_potential_exists: bool | None
    why_no_generalized_potential: str
    # each load declared as a force: whether it has a potential
    loads: tuple[LoadVerdict, ...]
    # terms of loads that have a potential while the whole load has none
    split_terms: tuple[TermPotential, ...]
    # each identity of the chapter that was checked on the motion, and whether it holds
    identities: tuple[tuple[Formula, bool | None], ...]
    first: tuple[FirstIntegral, ...]
    # the largest probability that a quantity called constant is not
    bound: float
    # why something is undecided, or an empty text
    undecided: str = ""
    # energies are in J and powers in W
    has_units: bool = False
    # the quantities as expressions on one tape, from which the steps are shown
    energies: Energies = field(repr=False, compare=False, kw_only=True)

    @property
    def steps(self) -> tuple[Any, ...]:
        """The steps that `explain` shows, each with title, formula, items, source and reason."""
        steps: tuple[Any, ...] = late_module("report").steps(self)
        return steps

    def explain(self, level: str = "teach", frame: Frame | str = "") -> Explanation:
        """How the integrals follow: v_R and v_t of each body, K₂, K₁, K₀, σ_R, σ, the power of
        every load, K̇₂ + σ_R = 𝒫, E_Z; "full", or "teach" with the reasons.
        """
        name = frame if isinstance(frame, str) else frame.name
        frames = [F.name for F in self.energies.kin.system.space.frames]
        for option, given, known in (("level", level, LEVELS), ("frame", name, ["", *frames])):
            if given not in known:
                msg = (
                    f"explain: {option}={given!r}: {suggest_name(given, known) or 'unknown'} "
                    f"({option}= takes {', '.join(filter(None, known))})"
                )
                raise Unknown(msg)
        return Explanation(self, level, name)

    def __bool__(self) -> bool:
        msg = (
            "energy integrals have no single truth value; use .constant, which names those that "
            "are, "
            "or ['E_Z'].constant"
        )
        raise TypeError(msg)

    def __getitem__(self, symbol: str) -> EnergyIntegral:
        """The verdict on "E_Z", "E", "𝓗", "H", "K + 𝒰" or "K + U"."""
        return next(v for v in self.verdicts if v.symbol == symbol)

    @property
    def constant(self) -> tuple[str, ...]:
        """The symbols of those that are constant."""
        return tuple(v.symbol for v in self.verdicts if v.constant)

    def __str__(self) -> str:
        lines = [
            f"{self.system}: energy integrals in the speeds {', '.join(self.speeds)}",
            *self._quantity_lines(),
            "",
        ]
        formulas = [formula_text(v.formula) for v in self.verdicts]
        width = max(map(len, formulas))
        lines += [
            f"  {v.symbol:7} = {shown:{width}}  {v.statement}"
            for v, shown in zip(self.verdicts, formulas, strict=True)
        ]
        lines += self._absence_lines()
        lines += [f"  {load}" for load in self.loads if load.closed is not False]
        lines += [f"  {part}" for part in self.split_terms]
        failed = [formula_text(identity) for identity, holds in self.identities if holds is False]
        known = ", ".join(formula_text(identity) for identity, holds in self.identities if holds)
        checked = f"FAILED: {', '.join(failed)}" if failed else f"checked exactly: {known}"
        lines.append(f"  {checked}")
        lines += [
            f"  constant as well: {f.name} = {'𝓗' if f.is_H else _abbreviate(f.expression)} "
            f"({f.why})"
            for f in self.first
        ]
        if self.undecided:
            lines.append(f"  UNDECIDED in part: {self.undecided}")
        elif self.bound:
            lines.append(f"  probability that a reported constant is wrong: below {self.bound:.0e}")
        return "\n".join(lines)

    def _absence_lines(self) -> list[str]:
        """Which of U, H and 𝒰 do not exist, and why."""
        absent = (
            (self.potential_exists is False, "potential energy U", self.why_no_potential),
            (bool(self.why_no_hamiltonian), "Hamiltonian H", self.why_no_hamiltonian),
            (
                self.generalized_potential_exists is False,
                "generalized potential energy 𝒰",
                self.why_no_generalized_potential,
            ),
        )
        return [f"  no {what}: {why}" for missing, what, why in absent if missing]

    def potential_rows(self) -> tuple[tuple[str, str, Scalar], ...]:
        """U, where it exists and is not 𝒰."""
        U = self.potential
        if U is None or str(U) == str(self.generalized_potential):
            return ()
        return (("U", "J", U),)

    def _quantity_lines(self) -> list[str]:
        """K₂ = …, one a line."""
        rows: tuple[tuple[str, str, Scalar], ...] = (
            ("K₂", "J", self.K2),
            ("K₁", "J", self.K1),
            ("K₀", "J", self.K0),
            ("𝒰", "J", self.generalized_potential),
            *self.potential_rows(),
            ("σ_R", "W", self.sigma_R),
            ("σ", "W", self.sigma),
            ("𝒫_nc", "W", self.nonconservative_power),
            ("Ż", "W", self.Z_dot),
        )
        named = [
            (label_with_unit(name, unit if self.has_units else ""), e) for name, unit, e in rows
        ]
        width = max(5, *(len(name) for name, _ in named))
        return [f"  {name:{width}} = {_abbreviate(e)}" for name, e in named]


def _unproved_reason(bound: float) -> str:
    """Why a verdict is no proof; empty where it is one."""
    return "" if is_proof(bound) else f"an error is only known to be less likely than {bound:.0e}"


def _abbreviate(e: Scalar) -> str:
    written = str(e)
    return (
        written
        if len(written) <= _MAX_CHARACTERS and "\n" not in written
        else f"{written[:_MAX_CHARACTERS].splitlines()[0]} …"
    )


def known_substitutions(E: Energies, setting: RunValues) -> dict[int, int]:
    """Motions by their expressions, with all rates on E's tape; constants that are zero by zero.

    The other constants stay symbols, so a verdict holds whatever their values are.
    """
    base = [s.scalar.i for s in E.kin.system.symbols.values() if s.kind in ("specified", "input")]
    # a recorded signal is any function of time
    tables = {E.kin.system.symbols[each.name].scalar.i for each in setting.table_inputs}
    bound = [x for x in base if x in setting.bindings and x not in tables]
    nodes = copy_expressions(setting.kin.tape, E.t, [setting.bindings[x] for x in bound])
    # these make every rate of a motion that any of the energies and powers needs
    _ = E.sigma, E.sigma_R, E.P_in, E.P_in_by_vectors, E.P_nonconservative
    _ = E.classical.conditions, E.classical.explicit_rate
    substitutions = {i: E.t.zero for i, x in setting.numbers.items() if x == 0.0}
    return substitutions | derivative_bindings(
        E.t, {x: Scalar(E.t, i) for x, i in zip(bound, nodes, strict=True)}
    )


def energy_integrals(
    E: Energies, equations: Equations, where: Mapping[int, int] | None = None
) -> EnergyIntegrals:
    """Compute and decide all six; `where` replaces symbols of E's tape by what they are bound
    to.
    """
    return _IntegralDecision(E, equations, dict(where or {})).result()


class _IntegralDecision:
    def __init__(self, E: Energies, equations: Equations, where: dict[int, int]) -> None:
        self.E, self.where = E, where
        self.motion = MotionIdentityTest(E.t, equations, E.kin.nonlinear_rows)
        rate = E.rate
        self.K0_dot, self.K1_dot, self.K2_dot, self.V_dot = (
            rate(E.K0),
            rate(E.K1),
            rate(E.K2),
            rate(E.V),
        )
        self.E_dot = self.K2_dot + self.V_dot
        self.H_dot = self.E_dot - self.K0_dot
        self.C_dot = self.E_dot + self.K1_dot + self.K0_dot

    def result(self) -> EnergyIntegrals:
        """All verdicts, with the quantities that they are about."""
        E = self.E
        potential_exists, why = self._potential_exists()
        general_exists, why_not_general = self._generalized_potential_exists()
        why_no_H = self._hamiltonian_exists()[1] if potential_exists else ""
        verdicts = self._verdicts(potential_exists=potential_exists)
        first, checked = self._first_integrals_and_identities()
        bound = self._error_bound(verdicts, first)
        return EnergyIntegrals(
            system=E.kin.system.name,
            speeds=tuple(str(E.kin.scalar(u)) for u in E.kin.u),
            K=E.K,
            K0=E.K0,
            K1=E.K1,
            K2=E.K2,
            generalized_potential=E.V,
            sigma_R=E.sigma_R,
            sigma=E.sigma,
            conservative_power=E.P - E.P_of_loads,
            nonconservative_power=E.P_nonconservative,
            Z_dot=E.Z_dot,
            power_fed_in=E.P_in,
            verdicts=verdicts,
            potential_exists=potential_exists,
            why_no_potential=why,
            potential=E.classical.U if potential_exists else None,
            why_no_hamiltonian=why_no_H,
            generalized_potential_exists=general_exists,
            why_no_generalized_potential=why_not_general,
            loads=E.loads,
            split_terms=_split_terms(E),
            identities=checked,
            first=first,
            bound=bound,
            undecided=self.motion.undecided_reason or _unproved_reason(bound),
            has_units=E.kin.system.has_units,
            energies=E,
        )

    def _first_integrals_and_identities(
        self,
    ) -> tuple[tuple[FirstIntegral, ...], tuple[tuple[Formula, bool | None], ...]]:
        """Each with the whole time that such tests may take."""
        self.motion.restart_clock()
        first = first_integrals(self.E, self.motion, self.where)
        self.motion.restart_clock()
        return first, identities(self.E, self.motion)

    def _error_bound(
        self, verdicts: tuple[EnergyIntegral, ...], first: tuple[FirstIntegral, ...]
    ) -> float:
        """The error probability of everything that is called constant, taken together."""
        rates = {
            "E_Z": self.E_dot + self.E.Z_dot,
            "E": self.E_dot,
            "𝓗": self.H_dot,
            "K + 𝒰": self.C_dot,
        }
        claimed = [rates[v.symbol] for v in verdicts if v.constant and v.symbol in rates]
        if verdicts[-1].constant:
            claimed += self.E.classical.conditions
        return self.motion.error_bound(
            [*claimed, *(self.E.rate(f.expression) for f in first)], self.where
        )

    # ---- the six -----------------------------------------------------------------------------

    def _verdicts(self, *, potential_exists: bool | None) -> tuple[EnergyIntegral, ...]:
        E = self.E
        P_nc, still = E.P_nonconservative, [E.P_nonconservative, E.sigma, self.K0_dot, self.K1_dot]
        return (
            self._verdict("E_Z", None, self.E_dot + E.Z_dot, []),
            self._verdict("E", E.E, self.E_dot, [P_nc, E.sigma_R]),
            self._verdict("𝓗", E.E - E.K0, self.H_dot, [P_nc, E.sigma]),
            self._classical_verdict(
                "H",
                E.K2 - E.K0 + E.classical.U,
                [*E.classical.conditions, *self.same_potential],
                [self.H_dot],
                [P_nc, E.sigma],
                exists=_all_or_none(potential_exists, self._hamiltonian_exists()[0]),
            ),
            self._verdict("K + 𝒰", E.K + E.V, self.C_dot, still),
            # K + U changes by the powers whose vanishing makes U exist
            self._classical_verdict(
                "K + U",
                E.K + E.classical.U,
                [*E.classical.conditions],
                [],
                [*still, *self.same_potential],
                exists=potential_exists,
            ),
        )

    def _verdict(
        self, symbol: str, expression: Scalar | None, rate: Scalar, sufficient: list[Scalar]
    ) -> EnergyIntegral:
        self.motion.restart_clock()
        always = self.motion.is_zero(rate) is True
        constant = always or self.motion.is_zero(rate, self.where)
        table = _all_or_none(*self.motion.are_zero(sufficient, self.where))
        conditions_found = (
            () if always else minimal_conditions(self.E.kin, self.motion, [rate], sufficient)
        )
        return EnergyIntegral(
            symbol,
            *_NAMES[symbol],
            expression,
            True,
            constant,
            table,
            always,
            conditions_found,
            _SOURCES[symbol],
        )

    def _classical_verdict(
        self,
        symbol: str,
        expression: Scalar,
        defining: list[Scalar],
        rates: list[Scalar],
        causes: list[Scalar],
        *,
        exists: bool | None,
    ) -> EnergyIntegral:
        """An integral with U, which exists where `defining` vanish, and is constant where `rates`
        vanish too.
        """
        self.motion.restart_clock()
        always = _all_or_none(*self.motion.are_zero([*defining, *rates])) is True
        constant = _all_or_none(exists, *self.motion.are_zero(rates, self.where))
        table = _all_or_none(exists, *self.motion.are_zero(causes, self.where))
        conditions = (
            ()
            if always
            else minimal_conditions(
                self.E.kin, self.motion, [*defining, *rates], [*causes, *defining]
            )
        )
        return EnergyIntegral(
            symbol,
            *_NAMES[symbol],
            expression if exists else None,
            exists,
            constant,
            table,
            always,
            conditions,
            _SOURCES[symbol],
        )

    # ---- U -------------------------------------------------------------------------------------

    def _potential_exists(self) -> tuple[bool | None, str]:
        """Whether U exists, and which of the three conditions fail.

        V_q·X does not enter: which speeds were chosen does not change the work of a force.

        Source: Mit22 34.2, footnote 2, and 34.7.
        """
        given = bool(self.E.kin.system.given_kinetic_energies)
        reasons = (*REASONS[:2], "(iii) what makes T or a constraint depend on time has power")
        return self._all_zero(
            *zip(self.E.classical.conditions, reasons if given else REASONS, strict=True)
        )

    @cached_property
    def same_potential(self) -> tuple[Scalar, Scalar]:
        """∂_tU at fixed coordinates and d/dt (U − 𝒰): both vanish where H is defined."""
        U = self.E.classical.U
        return self.E.classical.explicit_rate, self.E.rate(U) - self.V_dot

    def _hamiltonian_exists(self) -> tuple[bool | None, str]:
        """Whether U is a function of the coordinates alone and equals 𝒰, so that (8) defines H.

        Source: Mit22 (8).
        """
        reasons = ("U depends on time in these coordinates", "U ≠ 𝒰")
        return self._all_zero(*zip(self.same_potential, reasons, strict=True))

    def _generalized_potential_exists(self) -> tuple[bool | None, str]:
        """Whether 𝒰 = V is solely a function of configuration along the speeds; where it is not, V
        stands for it.

        Source: Mit22 (17), (28).
        """
        return self._all_zero(
            (
                self.E.explicit_potential_rate,
                (
                    "V_q·X + ∂_tV ≠ 0, so V is none by (17) and (28); here it stands for 𝒰, "
                    "with that "
                    "power in 𝒫_nc"
                ),
            )
        )

    def _all_zero(self, *reasons: tuple[Scalar, str]) -> tuple[bool | None, str]:
        zero = self.motion.are_zero([e for e, _ in reasons], self.where)
        why = "; ".join(
            reason for (_, reason), vanishes in zip(reasons, zero, strict=True) if vanishes is False
        )
        return _all_or_none(*zero), why


def _split_terms(E: Energies) -> tuple[TermPotential, ...]:
    """The potentials of terms of loads of which something is left."""
    return tuple(part for part in E.split.parts if not E.split.whole.issuperset(part.loads))


def _all_or_none(*holds: bool | None) -> bool | None:
    """Whether all hold; None where that is undecided."""
    return False if False in holds else None if None in holds else True


def identities(E: Energies, motion: MotionIdentityTest) -> tuple[tuple[Formula, bool | None], ...]:
    """K̇₂ + σ_R = 𝒫 and what follows from it, each checked on the motion.

    Source: Mit22 (4), (7), (12), (56).
    """
    K2_dot, K0_dot = E.rate(E.K2), E.rate(E.K0)
    E_dot = K2_dot + E.rate(E.V)
    known = {
        Equation(Symbol("K", ("2",), dots=1) + sigma_R, P): K2_dot + E.sigma_R - E.P,
        Equation(sigma, sigma_R + Symbol("K", ("0",), dots=1)): E.sigma - (E.sigma_R + K0_dot),
        Equation(Rate(K2 + U_general), P_nc - sigma_R): E_dot - (E.P_nonconservative - E.sigma_R),
        Equation(Rate(H_general), P_nc - sigma): E_dot - K0_dot - (E.P_nonconservative - E.sigma),
        Equation(
            Function(P_in, (Words("by energies"),)), Function(P_in, (Words("by vectors"),))
        ): E.P_in - E.P_in_by_vectors,
    }
    if E.kin.system.given_kinetic_energies:
        # σ was defined by the second, and without bodies there are no vectors for the last
        known = dict(list(known.items())[i] for i in (0, 2, 3))
    return tuple(zip(known, motion.are_zero(list(known.values())), strict=True))


_NAMES = {
    "E_Z": ("generalized dissipative energy", Symbol("E", ("Z",)), K2 + U_general + Symbol("Z")),
    "E": ("generalized energy", Symbol("E"), K2 + U_general),
    "𝓗": ("generalized Hamiltonian", H_general, K2 - K0 + U_general),
    "H": ("Hamiltonian", Symbol("H"), K2 - K0 + U),
    "K + 𝒰": ("kinetic and generalized potential energy", K + U_general, K + U_general),
    "K + U": ("mechanical energy", K + U, K + U),
}
_SOURCES = {
    "E_Z": "Mit22 (2)",
    "E": "Mit22 (5)",
    "𝓗": "Mit22 (6)",
    "H": "Mit22 (8)",
    "K + 𝒰": "Mit22 (9)",
    "K + U": "Mit22 (10)",
}
