"""Every principle on one system, side by side, with the certificate that they agree and the audit of what they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dalembert.agreement.catalogue import PRINCIPLES
from dalembert.agreement.certificate import Certificate, Difference, Finding, ReferenceEquations, audit
from dalembert.algebra.exact.verdict import enough, run_seed, together
from dalembert.algebra.folds import needed
from dalembert.algebra.pi import PiNumber
from dalembert.algebra.tape import LEAVES
from dalembert.errors import NotApplicable
from dalembert.kinematics.system_kinematics import kinematics
from dalembert.model.system import System
from dalembert.notebook import Shown
from dalembert.principles.base import Derivation, Derive, Principle, timed


class Checked(Protocol):
    """A comparison made elsewhere."""

    @property
    def agrees(self) -> bool: ...


@dataclass(frozen=True)
class AgreementRow:
    """One principle: whether it applies, what it costs, and whether it agrees with the first."""

    principle: Principle
    applicable: bool
    why_not: str = ""
    variables: str = ""
    unknowns: int = 0
    operations: int = 0
    seconds: float = 0.0
    # None where it is undecided
    agrees: bool | None = True
    verdict: str = ""
    bound: float = 0.0


@dataclass(frozen=True)
class Agreement(Shown):
    """The table of principles, the exactness statement and the kinematic audit."""

    system: str
    rows: tuple[AgreementRow, ...]
    audit: tuple[Finding, ...]
    # an upper bound on the probability that any of the agreements is false, or that an identity of the audit does not hold
    bound: float
    # how many points were drawn, with primes of how many bits, from which seed
    points: int
    bits: int
    seed: int
    # the check of the compiled route, where one was made
    compiled: Checked | None = None
    # other programs that know the same system, and were asked
    witnesses: tuple[Checked, ...] = ()
    # typed numbers that were read as multiples of π: "1.5707963267948966 is read as π/2"
    read_as_pi: tuple[str, ...] = ()

    @property
    def agree(self) -> bool:
        """Whether every applicable principle agrees and every identity of the audit holds, all of it shown."""
        return not self.disagree and not self.undecided

    @property
    def holds(self) -> bool | None:
        """True, False or None: agree, disagree or undecided."""
        return False if self.disagree else None if self.undecided else True

    @property
    def disagree(self) -> bool:
        """Whether a principle was shown to differ, an identity not to hold, or native code not to follow the equations."""
        wrong = any(r.agrees is False for r in self.rows) or any(f.holds is False for f in self.audit)
        return wrong or not all(c.agrees for c in (self.compiled, *self.witnesses) if c is not None)

    @property
    def undecided(self) -> str:
        """Why nothing is claimed, or an empty text."""
        open_rows = [f"{r.principle.title}: {r.verdict}" for r in self.rows if r.agrees is None]
        open_rows += [f"{f.what} for {f.where}" for f in self.audit if f.holds is None]
        if not open_rows and not enough(self.bound):
            open_rows = [f"the chance of a false agreement is only known to be below {self.bound:.0e}"]
        return "; ".join(open_rows)

    @property
    def counted(self) -> str:
        """11, or 4 of 11 where some do not apply."""
        count = sum(r.applicable for r in self.rows)
        return str(count) if count == len(self.rows) else f"{count} of {len(self.rows)}"

    @property
    def statement(self) -> str:
        """What was shown, and how surely."""
        count = self.counted
        how = f"at {self.points} random points of random {self.bits}-bit prime fields (seed {self.seed})"
        if self.disagree:
            return f"DISAGREEMENT found {how}"
        if self.undecided:
            return f"UNDECIDED {how}: {self.undecided}"
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
        lines += [f"    {'FAILED' if f.holds is False else 'UNDECIDED'} {f.what} for {f.where}" for f in failed]
        lines += [f"  {note}" for note in self.read_as_pi]
        lines += [f"  {c}" for c in (self.compiled, *self.witnesses) if c is not None]
        return "\n".join(lines)


def agreement(system: System, principles: Sequence[tuple[Principle, Derive]] = PRINCIPLES, seed: int | None = None) -> Agreement:
    """Derive by every principle, compare each with the first that applies, and audit the kinematics.

    `seed` draws the points of an earlier run once more.
    """
    kin, seed = kinematics(system), run_seed() if seed is None else seed
    reference: ReferenceEquations | None = None
    rows: list[AgreementRow] = []
    found: list[Certificate] = []
    for principle, derive in principles:
        try:
            made = timed(derive, kin)
        except NotApplicable as reason:
            rows.append(AgreementRow(principle, applicable=False, why_not=str(reason)))
            continue
        d, seconds = made.derivation, made.seconds
        if reference is None:
            reference = ReferenceEquations(d.equations, seed)
        else:
            found.append(reference.certificate(d.equations))
        rows.append(_row(d, found[-1] if found else None, seconds))
    findings, decision = audit(kin, seed)
    bound = together([*(v.bound for v in found if v.holds), decision.bound if decision.all_zero else 0.0])
    points, bits = max([decision.points, *(v.points for v in found)]), max([decision.bits, *(v.bits for v in found)])
    notes = tuple(f"{x!r} is read as {PiNumber(Fraction(0), k)}" for x, k in kin.tape.read_as_pi.items())
    return Agreement(system.name, tuple(rows), findings, bound, points, bits, seed, read_as_pi=notes)


def _row(d: Derivation, result: Certificate | None, seconds: float) -> AgreementRow:
    native = d.native
    unknowns = len(native.accelerations) + len(native.multipliers)
    variables = "speeds u" if native.along == "u" else "rates q̇"
    agrees, verdict, bound = (True, "reference", 0.0) if result is None else (result.holds, _words(d, result), result.bound)
    return AgreementRow(d.principle, True, "", variables, unknowns, operations(d), seconds, agrees, verdict, bound)


def _words(d: Derivation, result: Certificate) -> str:
    if result.holds is None:
        return f"undecided: {result.why}"
    return "agrees" if result.holds else result.why or _where(d, result.difference)


def _where(d: Derivation, difference: Difference | None) -> str:
    if difference is None:
        return "DIFFERS"
    name = d.kinematics.name(d.kinematics.u[difference.row])
    return f"DIFFERS in row {difference.row + 1} (along {name}), by {difference.residue} modulo {difference.prime}"


def operations(d: Derivation) -> int:
    """How many operations the native form takes."""
    nodes = d.tape.nodes
    return sum(nodes[i][0] not in LEAVES for i in needed(d.tape, d.native.residuals))
