"""dI/dt ≡ 0 along every motion: decided exactly, with u̇ from the equations of motion.

An expression in (q, u, u̇, t) is evaluated at random points of random prime fields, where u̇ solves M u̇ = f. One that
vanishes at all of them vanishes identically (Schwartz–Zippel); one that does not is not zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dalembert.algebra.exact.degree import degrees, error_bound
from dalembert.algebra.exact.field import BadPoint, NoRoot, PrimePoint, StructurallySingular, Trials
from dalembert.algebra.folds import Rewrite, depends_on, needed, transplant
from dalembert.algebra.tape import Tape
from dalembert.equations.form import Equations
from dalembert.equations.pointwise import accelerations
from dalembert.errors import BadExpression
from dalembert.kinematics.rows import VelocityRow

TRIALS: Final = 4
_TRIALS_WITH_BRANCHES: Final = 16
# of a row in one speed
_LARGEST_DEGREE: Final = 8
_BRANCHING: Final = frozenset({"sign", "abs", "sqrt"})


class OnTheMotion:
    """Which expressions of a tape vanish on every motion of the equations M u̇ = f.

    A motion also satisfies the rows that are not linear in the speeds; those that are were used up by the speeds.
    """

    def __init__(self, tape: Tape, equations: Equations, rows: Sequence[VelocityRow] = ()) -> None:
        self.tape, self.u, self.udot = tape, equations.u, equations.udot
        self.rows = rows
        self.residuals = transplant(equations.tape, tape, equations.residuals)
        # points with u̇ that solves the residuals, by the residuals and the number of the trial
        self._points: dict[tuple[int, tuple[int, ...]], PrimePoint] = {}

    def vanish(self, outs: Sequence[int], where: Mapping[int, int] | None = None) -> list[bool]:
        """For each expression whether it is identically zero, with the symbols `where` replaced."""
        insert = Rewrite(self.tape, where or {})
        rewritten = [insert(e) for e in outs]
        suspects = [e for e in dict.fromkeys(rewritten) if e != self.tape.zero]
        moving = depends_on(self.tape, suspects, self.udot)
        residuals = [insert(r) for r in self.residuals] if any(e in moving for e in suspects) else []
        for k in range(self._trials(suspects)):
            suspects = self._survivors(suspects, residuals, k)
        return [e == self.tape.zero or e in suspects for e in rewritten]

    def vanishes(self, e: int, where: Mapping[int, int] | None = None) -> bool:
        """Whether one expression is identically zero."""
        return self.vanish([e], where)[0]

    def error_bound(self, outs: Sequence[int], where: Mapping[int, int] | None = None) -> float:
        """How likely it is at most that any of these was taken for zero and is not.

        u̇ is a quotient of determinants of order p and p − 1.
        """
        insert = Rewrite(self.tape, where or {})
        claimed = [e for e in dict.fromkeys(insert(e) for e in outs) if e != self.tape.zero]
        if not claimed:
            return 0.0
        residuals = [insert(r) for r in self.residuals]
        degree = len(self.udot) * max(sum(d) for d in degrees(self.tape, residuals))
        return error_bound(self.tape, claimed, self._trials(claimed), given=dict.fromkeys(self.udot, (degree, degree)))

    def admits(self, where: Mapping[int, int]) -> bool:
        """Whether M stays regular where the symbols are replaced: no mass is lost with them."""
        try:
            insert = Rewrite(self.tape, where)
            residuals = [insert(r) for r in self.residuals]
            Trials(self.tape, 1).at(0, lambda point: accelerations(point, residuals, self.udot))
        except (BadExpression, StructurallySingular):
            return False
        return True

    def _trials(self, suspects: Sequence[int]) -> int:
        """|x| = x holds at half of all points, so what contains it is asked more often."""
        nodes = self.tape.nodes
        branches = any(nodes[i][0] in _BRANCHING and self.tape.value(nodes[i][1]) is None for i in needed(self.tape, suspects))
        return _TRIALS_WITH_BRANCHES if branches else TRIALS

    def _survivors(self, suspects: list[int], residuals: list[int], k: int) -> list[int]:
        """Those that vanish at the k-th point as well."""
        if not suspects:
            return suspects

        found = self._at_known_point(suspects, residuals, k) or Trials(self.tape, 1, seed=k + 1).at(
            0, lambda point: self._on_motion(self.on_rows(point), residuals, k).values(suspects)
        )
        return [e for e, v in zip(suspects, found, strict=True) if not v]

    def _on_motion(self, point: PrimePoint, residuals: list[int], k: int) -> PrimePoint:
        """The point with u̇ from the equations, kept for the next question."""
        if not residuals:
            return point
        udot = accelerations(point, residuals, self.udot)
        found = self._points[k, tuple(residuals)] = point.on(self.tape, dict(zip(self.udot, udot, strict=True)))
        return found

    def on_rows(self, point: PrimePoint) -> PrimePoint:
        """The point with one speed of each row that is not linear changed so that the row holds."""
        given: dict[int, int] = {}
        for row in self.rows:
            u = next(self.u[r] for r in sorted(row.A, reverse=True) if self.u[r] not in given)
            given[u] = _root(point.on(self.tape, given), row.e, u)
        return point.on(self.tape, given) if given else point

    def _at_known_point(self, suspects: list[int], residuals: list[int], k: int) -> list[int] | None:
        known = self._points.get((k, tuple(residuals)))
        try:
            return None if known is None else known.values(suspects)
        except BadPoint:
            return None


def _root(point: PrimePoint, e: int, u: int) -> int:
    """A value of the symbol u at which e, a polynomial in u, vanishes; NoRoot where this field has none."""
    from flint import nmod_poly

    p = point.prime
    nodes = range(_LARGEST_DEGREE + 1)
    values = [point.on(point.tape, {u: x})(e) for x in nodes]
    f = nmod_poly([0], p)
    for k, value in enumerate(values):
        basis = nmod_poly([value], p)
        for j in nodes:
            if j != k:
                basis *= nmod_poly([-j % p, 1], p) * pow(k - j, -1, p)
        f += basis
    linear = [factor for factor, _ in f.factor()[1] if factor.degree() == 1] if f.degree() > 0 else []
    if not linear or point.on(point.tape, {u: _LARGEST_DEGREE + 7})(e) != int(f(_LARGEST_DEGREE + 7)):
        msg = "a row that no speed satisfies at this point"
        raise NoRoot(msg)
    return int(-linear[0][0] / linear[0][1])
