"""Is it zero? Yes with a bound of at most 10⁻³⁰, no with a state that shows it, or undecided with
the reason.
Keywords: identity test.

An expression that vanishes at random points of prime fields vanishes identically (Schwartz–Zippel):
"is it zero?" and "do these agree?" need no simplification. Rows are evaluated at random points of
random prime fields; u̇ and the like are solved for at each point. Primes grow until a nonzero row
hardly vanishes by chance; every pattern of the signs in a row is run, or as many are drawn as the
bound takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.symbolic.algebra.exact.finite_field import SIZES, BadPoint, Element, NoRoot
from dalembert.symbolic.algebra.exact.verdict import (
    ROW_TARGET,
    Decision,
    DegreeBound,
    RandomPoints,
    StructurallySingular,
    TimeLimit,
    Undecided,
    draws_for,
    error_after_draws,
    error_after_points,
    points_for,
    prime_bits_for,
    process_seed,
)
from dalembert.symbolic.algebra.expression_graph import (
    functions_in,
    is_structurally_nonzero,
    nodes_depending_on,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import Tape

# most questions of a run are answered by the form of an expression, without a random point
if TYPE_CHECKING:
    from dalembert.symbolic.algebra.exact.branches import BranchAnalysis, BranchCount
    from dalembert.symbolic.algebra.exact.degree_bound import DegreeBounds
    from dalembert.symbolic.algebra.exact.linear_algebra import nullspace_mod, rank_mod, solve_mod
    from dalembert.symbolic.algebra.exact.sample_point import SamplePoint

__all__ = [
    "BadPoint",
    "NoRoot",
    "RandomPoints",
    "SamplePoint",
    "StructurallySingular",
    "Undecided",
    "ZeroTest",
    "decide_all_zero",
    "decide_zero",
    "nullspace_mod",
    "provably_zero",
    "rank_mod",
    "solve_mod",
]

# {name: the module of this folder that has it}
_HOME: Final = {
    "SamplePoint": "sample_point",
    "nullspace_mod": "linear_algebra",
    "rank_mod": "linear_algebra",
    "solve_mod": "linear_algebra",
}


def __getattr__(name: str) -> Any:
    """What is exported from here and imported when it is first asked for."""
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    home = import_module(f"{__package__}.{_HOME[name]}")
    globals()[name] = value = getattr(home, name)
    return value


# with more than this, more points do not help as much as larger primes
_WORST_CHANCE: Final = 1e-12
_MOST_PATTERNS: Final = 8
# number of points that keep their solved unknowns
_KEPT: Final = 4
# signs that depend on one another show it in this number of draws, except with probability 2⁻¹²⁰
_DRAWS_FOR_RELATIONS: Final = 120


@dataclass
class ZeroTest:
    """Rows on one tape, in which `unknowns` solve `residuals` = 0 at each point, after `start`
    has prepared it.
    """

    tape: Tape
    residuals: Sequence[int] = ()
    unknowns: Sequence[int] = ()
    start: Callable[[SamplePoint], SamplePoint] | None = None
    seed: int | None = None
    clock: TimeLimit = field(default_factory=TimeLimit)
    # whether "not zero" is to be shown at a real state where a field does not keep all relations
    confirm: bool = True

    def __post_init__(self) -> None:
        self._seed = process_seed() if self.seed is None else self.seed
        self._solved: dict[tuple[int, int], SamplePoint] = {}
        self._trials: dict[int, RandomPoints] = {}
        self._given: dict[int, tuple[int, int]] | None = None
        self._degrees: DegreeBounds | None = None
        # what points are drawn for
        self._targets: Sequence[int] = ()
        self._free: dict[int, SamplePoint] = {}

    # ---- points ------------------------------------------------------------------------------

    def _solve_at(self, point: SamplePoint) -> SamplePoint:
        if self.start is not None:
            point = self.start(point)
        if self.residuals:
            from dalembert.symbolic.algebra.exact.linear_algebra import solve_unknowns

            x = solve_unknowns(point, self.residuals, self.unknowns)
            point = point.on(self.tape, dict(zip(self.unknowns, x, strict=True)))
        return point

    def trials(self, bits: int) -> RandomPoints:
        """The points with primes of that size."""
        points = self._trials.get(bits)
        if points is None:
            points = self._trials[bits] = RandomPoints(self.tape, 2, self._seed, bits=bits)
        points.outs, points.check = self._targets, self.clock.check
        return points

    def at(self, k: int, bits: int, rows: Sequence[int]) -> tuple[list[Element], SamplePoint]:
        """The values of rows at the k-th point, and the point with its unknowns."""
        known = self._solved.get((k, bits))
        if known is not None:
            try:
                return known.values(rows), known
            except BadPoint:
                pass

        def work(point: SamplePoint) -> tuple[list[Element], SamplePoint]:
            there = self._solve_at(point)
            return there.values(rows), there

        values, there = self.trials(bits).at(k, work)
        if k < _KEPT:
            self._solved[k, bits] = there
        return values, there

    @property
    def first_point(self) -> SamplePoint | None:
        """The first point, with its unknowns, once a test was made."""
        return self._solved.get((0, SIZES[0]))

    def _unconditioned_point(self, k: int) -> SamplePoint:
        """Points of one prime at which nothing was redrawn for the sake of roots."""
        self.clock.check()
        point = self._free.get(k)
        if point is None:
            from dalembert.symbolic.algebra.exact.sample_point import SamplePoint

            prime = self._free[0].prime if self._free else None
            point = self._free[k] = SamplePoint(
                self.tape, self._seed + k, prime, outs=self._targets, redraw=False
            )
        return point

    # ---- verdicts ----------------------------------------------------------------------------

    def decide(self, rows: Sequence[int]) -> Decision:
        """Which rows vanish identically."""
        suspects = [r for r in dict.fromkeys(rows) if r != self.tape.zero]
        if not suspects:
            return Decision((True,) * len(rows))
        self._targets = (*suspects, *self.residuals)
        try:
            return self._decide_nontrivial(rows, suspects)
        except Undecided as reason:
            return Decision(
                tuple(r == self.tape.zero or None for r in rows), (1.0,), why=str(reason)
            )

    def _decide_nontrivial(self, rows: Sequence[int], suspects: list[int]) -> Decision:
        constants = self._zero_constants(suspects)
        if constants:
            rows = [self.tape.zero if r in constants else r for r in rows]
            suspects = [r for r in suspects if r not in constants]
            if not suspects:
                return Decision((True,) * len(rows))
        run = _ZeroProof(self, suspects)
        for k in range(2):
            run.test_point(k, SIZES[0])
        if run.candidates:
            run.prove()
        refuted = self._confirm_nonzero(run.nonzero)
        zero = tuple(
            True if r == self.tape.zero or r in run.candidates else False if r in refuted else None
            for r in rows
        )
        why = "" if None not in zero else _no_real_state()
        first = next((r for r in run.nonzero if r in refuted), None)
        witness = None if first is None else (list(rows).index(first), *run.nonzero[first])
        chances = tuple(run.chances.get(r, 0.0) for r in rows)
        return Decision(zero, chances, run.points, run.bits, why, witness)

    def _zero_constants(self, suspects: Sequence[int]) -> set[int]:
        """Those without symbols that a separation bound proves to be zero."""
        fixed = [
            r for r in suspects if functions_in(self.tape, (r,)) and not symbols_of(self.tape, (r,))
        ]
        if not fixed:
            return set()
        # flint is opened only for these
        from dalembert.symbolic.algebra.exact.constant_zero import decide_constant_zero

        return {r for r in fixed if decide_constant_zero(self.tape, r)}

    def _confirm_nonzero(self, gone: Mapping[int, object]) -> set[int]:
        """Those that are certainly not zero: where a field does not keep all relations, balls
        must confirm it.
        """
        loose = (
            [r for r in gone if self._needs_real_check(r)]
            if self.confirm and self.start is None
            else []
        )
        if not loose:
            return set(gone)
        # numpy is opened only for these
        from dalembert.symbolic.algebra.exact.nonzero_witness import find_nonzero

        confirmed = find_nonzero(self.tape, loose, self._seed, self.residuals, self.unknowns)
        return set(gone) - {r for r, sure in zip(loose, confirmed, strict=True) if not sure}

    def _needs_real_check(self, row: int) -> bool:
        return bool(functions_in(self.tape, (row, *self.residuals)))

    def unknown_degrees(self) -> dict[int, tuple[int, int]]:
        """The degrees of the unknowns: quotients of determinants of order n and n − 1."""
        if self._given is None:
            from dalembert.symbolic.algebra.exact.degree_bound import degrees

            residual_degrees = (
                degrees(self.tape, self.residuals, self.first_point) if self.residuals else []
            )
            degree = len(self.unknowns) * max(map(sum, residual_degrees), default=0)
            self._given = dict.fromkeys(self.unknowns, (degree, degree)) if self.residuals else {}
        return self._given

    def row_degrees(self, rows: Sequence[int]) -> list[DegreeBound]:
        """The degrees of rows; what was found for earlier ones at the same point is kept."""
        from dalembert.symbolic.algebra.exact.degree_bound import DegreeBounds, row_degrees

        point, given = self.first_point, self.unknown_degrees()
        if point is None:
            return row_degrees(self.tape, rows, None, given)
        if self._degrees is None or self._degrees.point is not point:
            self._degrees = DegreeBounds(point, given)
        return self._degrees.rows(rows)

    @cached_property
    def _branches(self) -> BranchAnalysis:
        from dalembert.symbolic.algebra.exact.branches import BranchAnalysis

        return BranchAnalysis(self.tape, self._unconditioned_point)

    def branchings(self, rows: Sequence[int]) -> dict[int, BranchCount]:
        """The branches of each row with all that its unknowns depend on."""
        if not functions_in(self.tape, (*rows, *self.residuals)):
            from dalembert.symbolic.algebra.exact.branches import BranchCount

            return dict.fromkeys(rows, BranchCount())
        return {row: self._branches.of((row, *self.residuals)) for row in rows}


class _ZeroProof:
    """The rows of one decision that have vanished so far, and what it takes to call them zero."""

    def __init__(self, test: ZeroTest, rows: list[int]) -> None:
        self.test, self.candidates = test, rows
        self.nonzero: dict[int, tuple[object, int]] = {}
        self.chances: dict[int, float] = {}
        self.points, self.bits = 0, SIZES[0]

    def test_point(
        self, k: int, bits: int, rows: Sequence[int] | None = None
    ) -> SamplePoint | None:
        """Keep what vanishes at the k-th point as well."""
        asked = self.candidates if rows is None else [r for r in rows if r in self.candidates]
        if not asked:
            return None
        self.test.clock.check()
        values, there = self.test.at(k, bits, asked)
        self.points = max(self.points, k + 1)
        self.bits = max(self.bits, bits)
        for r, v in zip(asked, values, strict=True):
            if v:
                self.nonzero[r] = v, there.prime
        self.candidates = [r for r in self.candidates if r not in self.nonzero]
        return there

    def prove(self) -> None:
        """Points and primes until the bound is small, signs until every pattern has been met."""
        test = self.test
        rows = dict(zip(self.candidates, test.row_degrees(self.candidates), strict=True))
        branchings = test.branchings(self.candidates)
        plain = [
            r for r in self.candidates if not branchings[r].atoms and not branchings[r].related
        ]
        self._prove_unbranched({r: rows[r] for r in plain})
        for r, b in branchings.items():
            if r not in plain and r in self.candidates:
                self._prove_branches(r, rows[r], b)

    def _size(self, rows: Sequence[DegreeBound], worst: float) -> tuple[int, int]:
        point = self.test.first_point
        torsion = 24 if point is None else -(-point.prime // point.generators.spread)
        bits = prime_bits_for(rows, torsion, worst)
        if bits is None:
            degree = max(row.above for row in rows)
            msg = (
                f"a degree of 10^{len(str(degree)) - 1} is too large for primes of {SIZES[-1]} bits"
            )
            raise Undecided(msg)
        return bits, (1 << bits - 1) // torsion

    def _prove_unbranched(self, rows: Mapping[int, DegreeBound]) -> None:
        if not rows:
            return
        bits, values = self._size(list(rows.values()), _WORST_CHANCE)
        t = points_for(list(rows.values()), values)
        for k in range(t):
            if bits != SIZES[0] or k >= 2:
                self.test_point(k, bits, list(rows))
        self.chances |= {
            r: error_after_points(row, values, t) for r, row in rows.items() if r in self.candidates
        }

    # ---- rows with branches ------------------------------------------------------------------

    def _prove_branches(self, r: int, row: DegreeBound, b: BranchCount) -> None:
        point = self.test.first_point
        if b.dependent and point is not None and point.in_extension:
            msg = "roots that depend on one another and share their symbols"
            raise Undecided(msg)
        chance = 0.0
        if b.atoms and len(b.atoms) <= _MOST_PATTERNS:
            # one point for each pattern is enough where the prime is large
            bits, values = self._size([row], ROW_TARGET)
            self._cover_sign_patterns(r, b.atoms, bits)
            chance = error_after_points(row, values, 1)
        signs = b.related + (b.degree if len(b.atoms) > _MOST_PATTERNS else 0)
        if signs and r in self.candidates:
            bits, values = self._size([row], _WORST_CHANCE)
            draws = draws_for(signs, row.zero_probability(values))
            if draws is None:
                msg = f"{signs} signs that would all have to coincide for an error to show"
                raise Undecided(msg)
            for k in range(draws):
                self.test_point(k, bits, [r])
            chance += error_after_draws(row, values, signs, draws)
        if r in self.candidates:
            self.chances[r] = chance

    def _cover_sign_patterns(self, r: int, atoms: tuple[int, ...], bits: int) -> None:
        """Points until every pattern of the signs that can occur has been run."""
        test, seen, k = self.test, set[int](), 0
        # signs of what is solved for are only known where it is
        later = not nodes_depending_on(test.tape, atoms, test.unknowns).isdisjoint(atoms)
        while r in self.candidates:
            if later or self._predicted_pattern(k, bits, atoms) not in seen:
                there = self.test_point(k, bits, [r])
                if there is not None:
                    seen.add(_pattern(there, atoms))
            k += 1
            free = _affine_rank(seen)
            if len(seen) == 1 << free and (
                free == len(atoms) or k > _DRAWS_FOR_RELATIONS + len(atoms)
            ):
                break

    def _predicted_pattern(self, k: int, bits: int, atoms: tuple[int, ...]) -> int:
        start = self.test.start
        return self.test.trials(bits).at(
            k, lambda point: _pattern(point if start is None else start(point), atoms)
        )


def _no_real_state() -> str:
    """Why a row that is not zero in a field is not called so, with the region that was sampled."""
    from dalembert.symbolic.algebra.exact.nonzero_witness import sampled_region

    low, high = sampled_region()
    return (
        "not zero in a prime field, but no real state shows it: a relation that the field does not "
        f"keep, or a difference where some symbol lies outside the sampled region, {low:g} to "
        f"{high:g}"
    )


def _pattern(point: SamplePoint, atoms: tuple[int, ...]) -> int:
    """The signs as bits."""
    return sum((point.sign(a) < 0) << j for j, a in enumerate(atoms))


def _affine_rank(patterns: set[int]) -> int:
    from dalembert.symbolic.algebra.exact.branches import rank_gf2

    first, *others = patterns
    return rank_gf2(v ^ first for v in others)


def decide_zero(tape: Tape, outs: Sequence[int]) -> Decision:
    """Which of the expressions vanish identically: shown to, shown not to, or undecided."""
    if all(tape.nodes[i][0] == "const" for i in outs):
        return Decision(tuple(i == tape.zero for i in outs))
    return ZeroTest(tape).decide(outs)


def provably_zero(tape: Tape, outs: Sequence[int]) -> list[bool]:
    """Which of the expressions were shown to vanish identically.

    For those that leave out what vanishes and are right with it as well; nothing may be claimed of
    the others.
    """
    unclear = [i for i in outs if not is_structurally_nonzero(tape, i)]
    zero = dict(zip(unclear, decide_zero(tape, unclear).zero, strict=True)) if unclear else {}
    return [zero.get(i) is True for i in outs]


def decide_all_zero(tape: Tape, outs: Sequence[int], question: str) -> bool:
    """Whether all of the expressions vanish identically; where neither answer was shown,
    Undecided, with the question.
    """
    if any(is_structurally_nonzero(tape, i) for i in outs):
        return False
    verdict = decide_zero(tape, outs).verdict
    if verdict.holds is None:
        msg = f"{question}: undecided ({verdict.why}); write it in another form"
        raise Undecided(msg)
    return verdict.holds
