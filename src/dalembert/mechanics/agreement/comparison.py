"""Vector or scalar, generalized velocities or generalized speeds: the choices of Bar00 Table 1,
measured on one system.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, Literal

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.agreement.agreement_table import count_operations
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import Derivation, Derive, Principle
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import operation_count
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, Term
from dalembert.symbolic.algebra.printing import readable_form
from dalembert.symbolic.algebra.tape import Tape

Approach = Literal["vector", "scalar"]
Variables = Literal["q̇", "u"]

APPROACHES: Final[tuple[Approach, ...]] = ("vector", "scalar")
COLUMNS: Final[dict[Variables, str]] = {"q̇": "generalized velocities", "u": "generalized speeds"}
# the best of as many runs is what a derivation costs
REPETITIONS: Final = 3


@dataclass(frozen=True)
class IntegrationEffort(Displayable):
    """How easily the equations of one principle are integrated: steps of one run to a tolerance.

    `state` is what is integrated; λ next to it where multipliers are solved for in every
    evaluation. `violation` is the largest |φ| or |A q̇ + b| at the end of the run, without
    projection; the projected numbers are None where there is nothing to project onto.
    """

    state: str
    steps: int
    evaluations: int
    violation: float
    complete: bool = True
    projected_steps: int | None = None
    projected_violation: float | None = None

    @property
    def steps_text(self) -> str:
        """The steps, or how many a run had taken when it was given up."""
        return str(self.steps) if self.complete else f"> {self.steps}"

    def __str__(self) -> str:
        text = (
            f"{self.state}: {self.steps_text} steps, {self.evaluations} evaluations, "
            f"constraint violation {self.violation:.0e}"
        )
        if self.projected_steps is None:
            return text
        return (
            f"{text}; with projection {self.projected_steps} steps, {self.projected_violation:.0e}"
        )


@dataclass(frozen=True)
class Route(Displayable):
    """One principle on one system: the size of its native form and what it costs to derive, or
    why it does not apply.
    """

    principle: Principle
    why_not: str = ""
    # accelerations, multipliers and reactions that the equations contain
    unknowns: int = 0
    # of the equations as the principle prints them
    operations: int = 0
    seconds: float = 0.0
    equations: int = 0
    # of the equations in the independent speeds, without multipliers
    reduced_operations: int = 0
    # of one evaluation of the equations by compiled code
    evaluation: int = 0
    # of a run with these equations, where one was made
    integration: IntegrationEffort | None = None

    @property
    def applicable(self) -> bool:
        """Whether the principle can treat the system."""
        return not self.why_not

    def belongs_to(self, approach: Approach, variables: Variables) -> bool:
        """Whether it belongs into this cell of the table; the momenta p belong to the
        generalized velocities.
        """
        own = "u" if self.principle.variables == "u" else "q̇"
        return variables == own and self.principle.approach in (approach, "both")

    def __str__(self) -> str:
        if not self.applicable:
            return f"{self.principle.title:26} not applicable"
        return (
            f"{self.principle.title:26}{self.operations:6} operations{1e3 * self.seconds:8.1f} ms"
        )


@dataclass(frozen=True)
class Comparison(Displayable):
    """The routes of one system, each in its cell of Bar00 Table 1; Gauss's principle belongs to
    both rows (footnote 2).
    """

    system: str
    routes: tuple[Route, ...]

    def __bool__(self) -> bool:
        msg = (
            "a comparison of costs has no truth value; "
            "da.agreement(s).agree reports whether they agree"
        )
        raise TypeError(msg)

    def cell(self, approach: Approach, variables: Variables) -> tuple[Route, ...]:
        """The routes of one kind, in the order of the catalogue."""
        return tuple(r for r in self.routes if r.belongs_to(approach, variables))

    def table_rows(self, approach: Approach) -> Iterator[tuple[Route | None, Route | None]]:
        """One row of the table: its two cells, the shorter one filled up."""
        yield from zip_longest(self.cell(approach, "q̇"), self.cell(approach, "u"))

    @property
    def integration_efforts(self) -> list[tuple[IntegrationEffort, list[str]]]:
        """Each form in which equations are integrated, with the principles that give it."""
        forms: dict[str, tuple[IntegrationEffort, list[str]]] = {}
        for r in self.routes:
            if r.integration is not None:
                _, titles = forms.setdefault(r.integration.state, (r.integration, []))
                titles.append(r.principle.title)
        return list(forms.values())

    @property
    def statement(self) -> str:
        """Which equations have the fewest operations as they are printed, and which are derived
        fastest.
        """
        known = [r for r in self.routes if r.applicable]
        if not known:
            return "no principle applies"
        small, fast = min(known, key=lambda r: r.operations), min(known, key=lambda r: r.seconds)
        size = f"fewest operations: {small.principle.title} ({small.operations})"
        return f"{size}; derived fastest: {fast.principle.title} ({1e3 * fast.seconds:.1f} ms)"

    def __str__(self) -> str:
        width = 2 + max((len(str(r)) for r in self.routes), default=0)
        lines = [
            f"{self.system}: {self.statement}",
            f"  {'':8}{COLUMNS['q̇']:{width}}{COLUMNS['u']}",
        ]
        for approach in APPROACHES:
            for number, (left, right) in enumerate(self.table_rows(approach)):
                cells = (
                    f"{'' if left is None else str(left):{width}}{'' if right is None else right}"
                )
                lines.append(f"  {'' if number else approach:8}{cells}".rstrip())
        lines += [
            f"  {effort} ({', '.join(titles)})" for effort, titles in self.integration_efforts
        ]
        lines += [
            f"  {r.principle.title} does not apply: {r.why_not}"
            for r in self.routes
            if not r.applicable
        ]
        return "\n".join(lines)


def comparison(
    system: System, principles: Sequence[tuple[Principle, Derive]] = PRINCIPLES
) -> Comparison:
    """Every principle on one system, by approach and by velocity variables, with the measured
    effort of each.

    Source: Bar00 Table 1, footnote 2.
    """
    kin = kinematics(system)
    return Comparison(
        system.name,
        tuple(_measure_route(kin, principle, derive) for principle, derive in principles),
    )


def _measure_route(kin: Kinematics, principle: Principle, derive: Derive) -> Route:
    times = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        try:
            d = derive(kin)
        except NotApplicable as reason:
            return Route(principle, why_not=str(reason))
        times.append(time.process_time() - start)
    printed = d.native.printed or d.native.residuals
    rows = [row for row in d.kinematics.rows if d.native.multipliers]
    return Route(
        principle,
        "",
        _unknowns(d, printed),
        printed_operations(d.tape, printed),
        min(times),
        len(printed) + len(rows),
        printed_operations(d.equations.tape, d.equations.residuals),
        count_operations(d),
    )


def _unknowns(d: Derivation, printed: Sequence[int]) -> int:
    """Accelerations, multipliers and reactions in the equations as they are printed."""
    kin = d.kinematics
    coordinates = {kin.name(i) for i in (*kin.q, *kin.qdot, *kin.u)}
    present = symbols_of(d.tape, tuple(printed))
    accelerations = {*kin.qddot, *kin.udot}
    private = {i for name, i in d.tape.private.items() if name[:1] in ("l", "f", "m")}
    return sum(
        i in accelerations or i in private for i in present if kin.name(i) not in coordinates
    )


def printed_operations(tape: Tape, residuals: Sequence[int]) -> int:
    """Additions, products, powers, divisions and functions of equations in normal form.

    The normal form does not depend on how speeds and positions were typed. What is too long for a
    normal form is counted as it was computed.
    """
    forms = [readable_form(tape, e) for e in residuals]
    long = tuple(e for e, form in zip(residuals, forms, strict=True) if form is None)
    readable = [form for form in forms if form is not None]
    functions = {a for form in readable for a in form.atoms() if a.arguments}
    inside = sum(1 + sum(map(_form_operations, a.arguments)) for a in functions)
    return sum(map(_form_operations, readable)) + inside + operation_count(tape, long)


def _form_operations(form: RationalForm) -> int:
    if form.is_zero:
        return 0
    sums = [form.numerator, *([] if form.is_polynomial else [form.denominator])]
    return sum(len(terms) - 1 + sum(map(_term_operations, terms)) for terms in sums) + (
        len(sums) - 1
    )


def _term_operations(term: Term) -> int:
    factors = len(term.powers) + (abs(term.coefficient) != 1)
    return max(factors - 1, 0) + sum(k > 1 for _, k in term.powers)
