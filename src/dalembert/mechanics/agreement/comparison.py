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
from dalembert.mechanics.principles.derivation import Derive, Principle

Approach = Literal["vector", "scalar"]
Variables = Literal["q̇", "u"]

APPROACHES: Final[tuple[Approach, ...]] = ("vector", "scalar")
COLUMNS: Final[dict[Variables, str]] = {"q̇": "generalized velocities", "u": "generalized speeds"}
# the best of as many runs is what a derivation costs
REPETITIONS: Final = 3


@dataclass(frozen=True)
class Route(Displayable):
    """One principle on one system: the size of its native form and what it costs to derive, or
    why it does not apply.
    """

    principle: Principle
    why_not: str = ""
    unknowns: int = 0
    operations: int = 0
    seconds: float = 0.0

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
    """The routes of one system, each in its cell of Bar00 Table 1; Gauss's principle stands in
    both rows (footnote 2).
    """

    system: str
    routes: tuple[Route, ...]

    def __bool__(self) -> bool:
        msg = (
            "a comparison of what the principles cost is neither true nor false; "
            "da.agreement(s).agree tells whether they agree"
        )
        raise TypeError(msg)

    def cell(self, approach: Approach, variables: Variables) -> tuple[Route, ...]:
        """The routes of one kind, in the order of the catalogue."""
        return tuple(r for r in self.routes if r.belongs_to(approach, variables))

    def table_rows(self, approach: Approach) -> Iterator[tuple[Route | None, Route | None]]:
        """One row of the table: its two cells side by side, the shorter one filled up."""
        yield from zip_longest(self.cell(approach, "q̇"), self.cell(approach, "u"))

    @property
    def statement(self) -> str:
        """Which native form is the smallest, and which is derived fastest."""
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
    return Route(
        principle,
        "",
        len(d.native.accelerations) + len(d.native.multipliers),
        count_operations(d),
        min(times),
    )
