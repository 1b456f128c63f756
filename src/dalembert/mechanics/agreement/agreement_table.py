"""Every principle on one system in one table, with the certificate that they agree and the audit of
what they share.

Exact evaluation is a proof that two derivations say the same. Both sets of equations are brought to
residuals along the independent speeds, functions of (q, u, u̇, t), and evaluated at random points
of random prime fields. Where the residuals coincide row by row the equations are the same; where
they do not, u̇ is taken from one and inserted in the other, which also admits forms that differ by
a factor or a combination. By Schwartz–Zippel a false agreement has at most the stated probability;
a disagreement is shown at a state, or not claimed.

v = ṙ, a = v̇, [ω]ₓ = Ṙ Rᵀ, α = ω̇: the kinematic audit. All principles share the kinematics, and a
wrong ω would make all of them agree. So positions and rotations, which come from the description
alone, are differentiated on the tape and compared, exactly, with what the
recursion gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Final, Protocol

from dalembert.errors import NotApplicable
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import Displayable
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.mechanics.equations.equations_of_motion import Equations
from dalembert.mechanics.geometry.frame import Frame
from dalembert.mechanics.geometry.point import Point
from dalembert.mechanics.geometry.rotation import cross_matrix, dot3, orthogonality_residuals
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.system import System
from dalembert.mechanics.principles.derivation import (
    Derivation,
    Derive,
    Principle,
    timed_derivation,
)
from dalembert.symbolic.algebra.exact.constrained_points import solvable_symbols, solve_point
from dalembert.symbolic.algebra.exact.linear_algebra import rank_in_unknowns
from dalembert.symbolic.algebra.exact.verdict import (
    Decision,
    RandomPoints,
    TimeLimit,
    Undecided,
    Verdict,
    is_proof,
    process_seed,
    union_bound,
)
from dalembert.symbolic.algebra.exact.zero_test import StructurallySingular, ZeroTest
from dalembert.symbolic.algebra.exact_number import PiNumber
from dalembert.symbolic.algebra.expression_graph import copy_expressions, dependencies
from dalembert.symbolic.algebra.sparse_matrix import Column
from dalembert.symbolic.algebra.tape import LEAVES, Triple


@dataclass(frozen=True)
class Difference:
    """Where two derivations part: row, what it leaves there, and modulo which prime."""

    row: int
    residue: object
    prime: int


@dataclass(frozen=True)
class Certificate(Verdict):
    """Whether two sets of equations have the same solutions, how surely, and if not, where they
    differ.
    """

    difference: Difference | None = None
    same_rows: bool = True
    points: int = 0
    bits: int = 0


_ON_POSITIONS: Final = (
    "the rows differ by terms that vanish at every sampled state that satisfies the position "
    "constraints; no bound is known for such states"
)
# of comparisons in one agreement
_SECONDS_IN_ALL: Final = 30.0


class ReferenceEquations:
    """One set of equations that others are compared with, on one tape and at the same points: what
    they share is evaluated once.
    """

    def __init__(
        self, reference: Equations, seed: int | None = None, positions: Sequence[int] = ()
    ) -> None:
        self.reference, self._seed = reference, seed
        self.tape = reference.tape.fork()
        # φ(q, t) of the holonomic constraints, on the tape of the reference
        self.positions = positions
        self._row_test = ZeroTest(self.tape, seed=seed, confirm=False)
        self._substitution_test = ZeroTest(
            self.tape, reference.residuals, reference.udot, seed=seed
        )
        # one limit for all that is compared: the whole of an agreement has an end
        self._clock = TimeLimit(_SECONDS_IN_ALL)

    def certificate(self, other: Equations) -> Certificate:
        """Do the two have the same solutions u̇ for every state?"""
        theirs = Column(self.tape, copy_expressions(other.tape, self.tape, other.residuals))
        differences = (Column(self.tape, self.reference.residuals) - theirs).nodes
        self._row_test.clock = self._substitution_test.clock = self._clock
        try:
            same = self._row_test.decide(differences)
            if same.all_zero is not False:
                return _certificate(same, same_rows=True)
            decision = self._substitution_test.decide(theirs.nodes)
            if decision.all_zero is False and self._vanish_on_positions(theirs.nodes):
                return Certificate(holds=None, bound=1.0, why=_ON_POSITIONS, same_rows=False)
            rank = self._rank(theirs.nodes) if decision.all_zero else len(self.reference.udot)
            if rank < len(self.reference.udot):
                return Certificate(
                    holds=False, why=f"DIFFERS: its rows have rank {rank}", same_rows=False
                )
            return _certificate(decision, same_rows=False)
        except (StructurallySingular, Undecided) as problem:
            # rows that differ while the mass matrix determines no accelerations to insert: they may
            # still have the same solutions
            return Certificate(holds=None, bound=1.0, why=str(problem), same_rows=False)

    def _rank(self, rows: Sequence[int]) -> int:
        """Rank of rows in u̇: those of the reference determine all of them, so others must."""
        udot = self.reference.udot
        points = RandomPoints(self.tape, 2, self._seed, outs=rows, check=self._clock.check)
        return max(points.at_all(lambda point: rank_in_unknowns(point, rows, udot)))

    def _vanish_on_positions(self, rows: Sequence[int]) -> bool:
        """Whether rows that differ in general vanish at states that satisfy the constraints."""
        for constants_first in (True, False) if self.positions else ():
            chosen = solvable_symbols(self.tape, self.positions, constants_first=constants_first)
            if chosen is None:
                continue
            start = partial(solve_point, tape=self.tape, chosen=chosen)
            reference = self.reference
            test = ZeroTest(self.tape, reference.residuals, reference.udot, start, self._seed)
            test.clock = self._clock
            try:
                return test.decide(rows).all_zero is True
            except StructurallySingular:
                # these symbols make a denominator vanish
                continue
        return False


def certify_equal(reference: Equations, other: Equations, seed: int | None = None) -> Certificate:
    """Do the two have the same solutions u̇ for every state?"""
    return ReferenceEquations(reference, seed).certificate(other)


def _certificate(decision: Decision, *, same_rows: bool) -> Certificate:
    difference = None if decision.witness is None else Difference(*decision.witness)
    return Certificate(
        decision.all_zero,
        decision.bound,
        decision.why,
        difference,
        same_rows,
        decision.points,
        decision.bits,
    )


# ---- audit --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IdentityCheck:
    """One identity for one body, and whether it holds; None where that is undecided."""

    what: str
    where: str
    holds: bool | None


# what it says, and nodes that must vanish
Identity = tuple[str, list[int]]


def audit_kinematics(
    kin: Kinematics, seed: int | None = None
) -> tuple[tuple[IdentityCheck, ...], Decision]:
    """Every identity for every body and every loaded point, decided exactly, and how surely."""
    kin = kin.fork()
    places = [(b.name, b.G) for b in kin.system.bodies] + [
        (load.name, P) for load in kin.system.loads for _, P in load.forces
    ]
    frames = {b.frame: b.name for b in kin.system.bodies if b.frame is not None}
    identities = [(name, i) for name, P in places for i in _point_identities(kin, P)]
    identities += [(name, i) for F, name in frames.items() for i in _frame_identities(kin, F)]
    # one set of points for all, so that every node is evaluated once
    decision = ZeroTest(kin.tape, seed=seed).decide(
        [d for _, (_, differences) in identities for d in differences]
    )
    zero = iter(decision.zero)
    return tuple(
        IdentityCheck(what, where, _all_or_none(islice(zero, len(d))))
        for where, (what, d) in identities
    ), decision


def _all_or_none(zero: Iterable[bool | None]) -> bool | None:
    answers = tuple(zero)
    return False if False in answers else None if None in answers else True


def _component_differences(kin: Kinematics, a: Triple, b: Triple) -> list[int]:
    return list(Column(kin.tape, a) - Column(kin.tape, b))


def _component_rates(rate: Callable[[int], int], c: Triple) -> Triple:
    return rate(c[0]), rate(c[1]), rate(c[2])


def _in_N(kin: Kinematics, v: Vector) -> Triple:
    return v.on(kin.tape).components(kin.system.N)


def _point_identities(kin: Kinematics, P: Point) -> list[Identity]:
    N = kin.system.N
    r = _in_N(kin, P - kin.system.O)
    v = kin.v(P).components(N)
    a = kin.a(P).components(N)
    return [
        ("v = dr/dt", _component_differences(kin, v, _component_rates(kin.rate, r))),
        ("a = dv/dt", _component_differences(kin, a, _component_rates(kin.rate, v))),
    ]


def _frame_identities(kin: Kinematics, F: Frame) -> list[Identity]:
    t, N = kin.tape, kin.system.N
    R = F.dcm_nodes(t)
    Rd = [_component_rates(kin.rate, row) for row in R]
    w = kin.w(F).components(N)
    alpha = kin.alpha(F).components(N)
    # [ω]ₓ = Ṙ Rᵀ: all nine entries
    w_x = cross_matrix(t, w)
    spin = [t.sub(w_x[i][j], dot3(t, Rd[i], R[j])) for i in range(3) for j in range(3)]
    return [
        ("R Rᵀ = 1", orthogonality_residuals(t, R)),
        ("[ω]ₓ = Ṙ Rᵀ", spin),
        ("α = dω/dt", _component_differences(kin, alpha, _component_rates(kin.rate, w))),
    ]


# ---- table --------------------------------------------------------------------------------------


class ExternalCheck(Protocol):
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
class Agreement(Displayable):
    """The table of principles, the exactness statement and the kinematic audit."""

    system: str
    rows: tuple[AgreementRow, ...]
    audit: tuple[IdentityCheck, ...]
    # an upper bound on the probability that any of the agreements is false, or that an identity of
    # the audit does not hold
    bound: float
    # how many points were drawn, with primes of how many bits, from which seed
    points: int
    bits: int
    seed: int
    # the check of the compiled route, where one was made
    compiled: ExternalCheck | None = None
    # checks by other programs with the same system
    external_checks: tuple[ExternalCheck, ...] = ()
    # typed numbers that were read as multiples of π: "1.5707963267948966 is read as π/2"
    read_as_pi: tuple[str, ...] = ()

    @property
    def agree(self) -> bool:
        """Whether every applicable principle agrees and every identity of the audit holds, all
        of it shown.
        """
        return not self.disagree and not self.undecided

    @property
    def holds(self) -> bool | None:
        """True, False or None: agree, disagree or undecided."""
        return False if self.disagree else None if self.undecided else True

    def __bool__(self) -> bool:
        if self.holds is None:
            msg = f"{self.undecided}; ask .holds, which is True, False or None"
            raise Undecided(msg)
        return self.holds

    @property
    def disagree(self) -> bool:
        """Whether a principle was shown to differ, an identity not to hold, or native code not
        to follow the equations.
        """
        wrong = any(r.agrees is False for r in self.rows) or any(
            f.holds is False for f in self.audit
        )
        return wrong or not all(
            c.agrees for c in (self.compiled, *self.external_checks) if c is not None
        )

    @property
    def undecided(self) -> str:
        """Why nothing is claimed, or an empty text."""
        open_rows = [f"{r.principle.title}: {r.verdict}" for r in self.rows if r.agrees is None]
        open_rows += [f"{f.what} for {f.where}" for f in self.audit if f.holds is None]
        if not open_rows and not is_proof(self.bound):
            open_rows = [
                f"the chance of a false agreement is only known to be below {self.bound:.0e}"
            ]
        return "; ".join(open_rows)

    @property
    def count_text(self) -> str:
        """11, or 4 of 11 where some do not apply."""
        count = sum(r.applicable for r in self.rows)
        return str(count) if count == len(self.rows) else f"{count} of {len(self.rows)}"

    @property
    def statement(self) -> str:
        """What was shown, and how surely."""
        count = self.count_text
        how = (
            f"at {self.points} random points of random {self.bits}-bit prime fields (seed "
            f"{self.seed})"
        )
        if self.disagree:
            return f"DISAGREEMENT found {how}"
        if self.undecided:
            return f"UNDECIDED {how}: {self.undecided}"
        if not self.bound:
            return f"{count} principles give identical expressions"
        return (
            f"{count} principles agree exactly, {how}; chance of a false agreement < "
            f"{self.bound:.0e}"
        )

    def __str__(self) -> str:
        lines = [f"{self.system}: {self.statement}"]
        for r in self.rows:
            about = r.verdict if r.applicable else f"not applicable: {r.why_not}"
            lines.append(
                f"  {r.principle.title:28} {r.principle.family:16} {r.operations:6} operations "
                f"{1e3 * r.seconds:8.1f} ms  {about}"
            )
        failed = [f for f in self.audit if not f.holds]
        lines.append(
            f"  audit: {len(self.audit) - len(failed)} of {len(self.audit)} kinematic identities "
            f"hold"
        )
        lines += [
            f"    {'FAILED' if f.holds is False else 'UNDECIDED'} {f.what} for {f.where}"
            for f in failed
        ]
        lines += [f"  {note}" for note in self.read_as_pi]
        lines += [f"  {c}" for c in (self.compiled, *self.external_checks) if c is not None]
        return "\n".join(lines)


def agreement(
    system: System,
    principles: Sequence[tuple[Principle, Derive]] = PRINCIPLES,
    seed: int | None = None,
    on_progress: Callable[[int, str], None] | None = None,
) -> Agreement:
    """Derive by every principle, compare each with the first that applies, and audit the
    kinematics.

    `seed` draws the points of an earlier run once more. `on_progress` is called with the number of
    principles that are done and the name of the next step.
    """
    show = on_progress or (lambda _done, _step: None)
    kin, seed = kinematics(system), process_seed() if seed is None else seed
    rows, certificates = _compare_principles(kin, principles, seed, show)
    show(len(principles), "kinematics")
    findings, decision = audit_kinematics(kin, seed)
    bound = union_bound(
        [*(v.bound for v in certificates if v.holds), decision.bound if decision.all_zero else 0.0]
    )
    points, bits = (
        max([decision.points, *(v.points for v in certificates)]),
        max([decision.bits, *(v.bits for v in certificates)]),
    )
    notes = tuple(
        f"{x!r} is read as {PiNumber(Fraction(0), k)}" for x, k in kin.tape.read_as_pi.items()
    )
    return Agreement(
        system.name, tuple(rows), findings, bound, points, bits, seed, read_as_pi=notes
    )


def _compare_principles(
    kin: Kinematics,
    principles: Sequence[tuple[Principle, Derive]],
    seed: int,
    show: Callable[[int, str], None],
) -> tuple[list[AgreementRow], list[Certificate]]:
    """A row for each principle, and how each compares with the first that applies."""
    reference: ReferenceEquations | None = None
    rows: list[AgreementRow] = []
    certificates: list[Certificate] = []
    for k, (principle, derive) in enumerate(principles):
        show(k, principle.title)
        try:
            d, seconds = timed_derivation(derive, kin)
        except NotApplicable as reason:
            rows.append(AgreementRow(principle, applicable=False, why_not=str(reason)))
            continue
        if reference is None:
            phi = [row.phi for row in kin.rows if row.holonomic and row.phi is not None]
            positions = copy_expressions(kin.tape, d.equations.tape, phi)
            reference = ReferenceEquations(d.equations, seed, positions)
        else:
            show(k, f"comparing {principle.title}")
            certificates.append(reference.certificate(d.equations))
        rows.append(_agreement_row(d, certificates[-1] if certificates else None, seconds))
    return rows, certificates


def _agreement_row(d: Derivation, result: Certificate | None, seconds: float) -> AgreementRow:
    native = d.native
    unknowns = len(native.accelerations) + len(native.multipliers)
    variables = "speeds u" if native.along == "u" else "rates q̇"
    agrees, verdict, bound = (
        (True, "reference", 0.0)
        if result is None
        else (result.holds, _verdict_text(d, result), result.bound)
    )
    return AgreementRow(
        d.principle,
        True,
        "",
        variables,
        unknowns,
        count_operations(d),
        seconds,
        agrees,
        verdict,
        bound,
    )


def _verdict_text(d: Derivation, result: Certificate) -> str:
    if result.holds is None:
        return f"undecided: {result.why}"
    return "agrees" if result.holds else result.why or _difference_text(d, result.difference)


def _difference_text(d: Derivation, difference: Difference | None) -> str:
    if difference is None:
        return "DIFFERS"
    name = d.kinematics.name(d.kinematics.u[difference.row])
    return (
        f"DIFFERS in row {difference.row + 1} (along {name}), by {difference.residue} modulo "
        f"{difference.prime}"
    )


def count_operations(d: Derivation) -> int:
    """How many operations the native form takes."""
    nodes = d.tape.nodes
    return sum(nodes[i][0] not in LEAVES for i in dependencies(d.tape, d.native.residuals))
