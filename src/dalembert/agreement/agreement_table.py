"""Every principle on one system, side by side, with the certificate that they agree and the audit of what they share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dalembert.agreement.audit import Finding, audit
from dalembert.agreement.catalogue import PRINCIPLES
from dalembert.agreement.certificate import TRIALS, Difference, compare
from dalembert.algebra.folds import needed
from dalembert.algebra.tape import LEAVES
from dalembert.errors import NotApplicable
from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System
from dalembert.notebook import Shown
from dalembert.principles.base import Derivation, Derive, Principle


class Checked(Protocol):
    """A comparison made elsewhere."""

    @property
    def agrees(self) -> bool: ...


@dataclass(frozen=True)
class Row:
    """One principle: whether it applies, what it costs, and whether it agrees with the first."""

    principle: Principle
    applicable: bool
    why_not: str = ""
    variables: str = ""
    unknowns: int = 0
    operations: int = 0
    seconds: float = 0.0
    agrees: bool = True
    verdict: str = ""
    bound: float = 0.0


@dataclass(frozen=True)
class Agreement(Shown):
    """The table of principles, the exactness statement and the kinematic audit."""

    system: str
    rows: tuple[Row, ...]
    audit: tuple[Finding, ...]
    trials: int
    # the check of the compiled route, where one was made
    compiled: Checked | None = None
    # other programs that know the same system, and were asked
    witnesses: tuple[Checked, ...] = ()

    @property
    def agree(self) -> bool:
        """Whether every applicable principle agrees and every identity of the audit holds."""
        checked = all(c.agrees for c in (self.compiled, *self.witnesses) if c is not None)
        return checked and all(r.agrees for r in self.rows) and all(f.holds for f in self.audit)

    @property
    def bound(self) -> float:
        """An upper bound on the probability that any of the agreements is false."""
        return sum(r.bound for r in self.rows)

    @property
    def statement(self) -> str:
        """What was shown, and how surely."""
        count = sum(r.applicable for r in self.rows)
        if count < 2:
            return "only one principle applies: nothing to compare"
        how = f"at {self.trials} random points of random 62-bit prime fields"
        if not self.agree:
            return f"DISAGREEMENT found {how}"
        if not self.bound:
            return f"{count} principles give identical expressions"
        return f"{count} principles agree exactly, {how}; chance of a false agreement < {self.bound:.0e}"

    def __str__(self) -> str:
        lines = [f"{self.system}: {self.statement}"]
        for r in self.rows:
            about = r.verdict if r.applicable else f"not applicable: {r.why_not}"
            lines.append(f"  {r.principle.title:28} {r.principle.family:16} {r.operations:6} operations {1e3 * r.seconds:8.1f} ms  {about}")
        failed = [f for f in self.audit if not f.holds]
        lines.append(f"  audit: {len(self.audit) - len(failed)} of {len(self.audit)} kinematic identities hold")
        lines += [f"    FAILED {f.what} for {f.where}" for f in failed]
        lines += [f"  {c}" for c in (self.compiled, *self.witnesses) if c is not None]
        return "\n".join(lines)


def agreement(system: System, principles: Sequence[tuple[Principle, Derive]] = PRINCIPLES) -> Agreement:
    """Derive by every principle, compare each with the first that applies, and audit the kinematics."""
    kin = kinematics(system)
    reference: Derivation | None = None
    rows: list[Row] = []
    for principle, derive in principles:
        start = time.process_time()
        try:
            d = derive(kin)
        except NotApplicable as reason:
            rows.append(Row(principle, applicable=False, why_not=str(reason)))
            continue
        seconds = time.process_time() - start
        rows.append(_row(d, reference, seconds))
        reference = reference or d
    return Agreement(system.name, tuple(rows), audit(kin), TRIALS)


def _row(d: Derivation, reference: Derivation | None, seconds: float) -> Row:
    native = d.native
    unknowns = len(native.accelerations) + len(native.multipliers)
    variables = "speeds u" if native.along == "u" else "rates q̇"
    agrees, verdict, bound = True, "reference", 0.0
    if reference is not None:
        result = compare(reference.equations, d.equations)
        agrees, bound = result.agrees, result.bound
        verdict = "agrees" if agrees else result.singular or _where(d, result.difference)
    return Row(d.principle, True, "", variables, unknowns, operations(d), seconds, agrees, verdict, bound)


def _where(d: Derivation, difference: Difference | None) -> str:
    if difference is None:
        return "DIFFERS"
    name = d.kinematics.name(d.kinematics.u[difference.row])
    return f"DIFFERS in row {difference.row + 1} (along {name}), by {difference.residue} modulo {difference.prime}"


def operations(d: Derivation) -> int:
    """How many operations the native form takes."""
    nodes = d.tape.nodes
    return sum(nodes[i][0] not in LEAVES for i in needed(d.tape, d.native.residuals))
