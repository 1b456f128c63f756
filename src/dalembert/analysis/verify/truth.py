"""R(q, u, t, u̇, λ) = 0: the true equations of a system, which an answer is judged against.

All rates and accelerations are written in the independent speeds u and u̇, so that an answer may
use
any of them. Multipliers λ and quantities such as T are added when an answer names them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

from dalembert.analysis.verify.names import Names
from dalembert.analysis.verify.quantities import CONSTANTS, MechanicalQuantities
from dalembert.analysis.verify.reading import Reader
from dalembert.errors import DalembertError, NotApplicable
from dalembert.foundation.caching import PerOwnerCache
from dalembert.mechanics.agreement.principle_registry import (
    derive_equations_of_motion,
    load_principle,
)
from dalembert.mechanics.equations.equations_of_motion import check_regular
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.mechanics.model.registry import symbols_by_name
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.exact.constrained_points import solvable_symbols, solve_point
from dalembert.symbolic.algebra.exact.linear_algebra import rank_mod, solve_unknowns
from dalembert.symbolic.algebra.exact.sample_point import SamplePoint
from dalembert.symbolic.algebra.exact.verdict import Decision, TimeLimit
from dalembert.symbolic.algebra.exact.zero_test import BadPoint, StructurallySingular, ZeroTest
from dalembert.symbolic.algebra.expression_graph import (
    Derivative,
    LinearCoefficients,
    Substitution,
    copy_expressions,
)
from dalembert.symbolic.algebra.tape import Tape

# a tape that answers have made longer than this is given up for a new one
_LONGEST: Final = 400_000
_ATTEMPTS: Final = 400


class Truth:
    """The equations of one system on one tape, with everything that an answer may name."""

    def __init__(self, system: System) -> None:
        derivation = derive_equations_of_motion(kinematics(system))
        self.system = system
        self.kin = kin = derivation.kinematics.fork(derivation.tape)
        self.tape: Tape = kin.tape
        self.equations = derivation.equations
        check_regular(self.equations)
        self.udot = kin.udot
        self.along_u: tuple[int, ...] = tuple(self.equations.residuals)
        self.multipliers: tuple[int, ...] = ()
        self.along_q: tuple[int, ...] = ()
        self._lagrange: tuple[int, ...] = ()
        self._meaning = self._in_speeds()
        self._rewrite = Substitution(self.tape, self._meaning)
        self._tests: dict[object, ZeroTest] = {}
        # what later steps compute once for this system
        self.kept: dict[object, Any] = {}
        self.quantities = MechanicalQuantities(kin)
        # symbols that stand for a quantity: {node: what it is, in q̇ and q̈}
        self.opaque: dict[int, int] = {}

    # ---- in speeds -----------------------------------------------------------------------------

    def _in_speeds(self) -> dict[int, int]:
        """{q̇, q̈, dependent speeds and their rates: the same in u and u̇}"""
        kin, t = self.kin, self.tape
        new = dict(zip((*kin.qdot, *kin.qddot), (*kin.qdot_of_u, *kin.qddot_of_u), strict=True))
        for speed in kin.system.speed_list:
            i = speed.scalar.i
            if i not in kin.u:
                new[i] = kin.in_speeds(i)
                rate = t.rate(i)
                if rate is not None:
                    new[rate] = kin.rate(new[i])
        return {a: b for a, b in new.items() if a != b}

    def in_u(self, node: int) -> int:
        """The node with every rate in u and u̇, and every quantity as it truly is."""
        return self._rewrite(node)

    @cached_property
    def _renames(self) -> Substitution:
        """θ̇ → u₂ where a speed is nothing but a rate."""
        variables = {*self.kin.u, *self.udot}
        pairs = ((x, self.in_u(x)) for x in (*self.kin.qdot, *self.kin.qddot))
        return Substitution(self.tape, {x: e for x, e in pairs if e in variables and e != x})

    def renamed(self, node: int) -> int:
        """The node with one name for each variable."""
        return self._renames(node)

    def contracted(self) -> tuple[int, ...]:
        """Σ_k W_kr R_k: Lagrange's rows along the speeds, in q̈, without multipliers."""
        if "contracted" not in self.kept:
            self.add_multipliers()
            t = self.tape
            linear = LinearCoefficients(t, self.multipliers)
            free = [linear(r)[0] for r in self.along_q]
            rows = []
            for r in range(self.kin.n_u):
                total = t.zero
                for k, (_, W) in enumerate(self.kin.WX):
                    total = t.add(total, t.mul(W.get(r, t.zero), free[k]))
                rows.append(total)
            self.kept["contracted"] = tuple(rows)
        rows_: tuple[int, ...] = self.kept["contracted"]
        return rows_

    def define(self, name: str, node: int) -> int:
        """A symbol that stands for a quantity of the system."""
        i = self.tape.private_symbol(name)
        if i not in self.opaque:
            self.opaque[i] = node
            self._meaning[i] = self.in_u(node)
            self._rewrite = Substitution(self.tape, self._meaning)
        return i

    @property
    def dependent(self) -> list[int]:
        """Rates of coordinates and speeds that follow from u."""
        speeds = (s.scalar.i for s in self.kin.system.speed_list)
        return [a for a in dict.fromkeys((*self.kin.qdot, *speeds)) if self.in_u(a) != a]

    @property
    def accelerations(self) -> list[int]:
        """u̇ and q̈"""
        return list(dict.fromkeys((*self.kin.udot, *self.kin.qddot)))

    @property
    def residuals(self) -> tuple[int, ...]:
        """R, as many as unknowns."""
        return (*self.along_u, *self._lagrange)

    @property
    def unknowns(self) -> tuple[int, ...]:
        """y = (u̇, λ)"""
        return (*self.udot, *self.multipliers)

    def rows_for(self, *, multipliers: bool) -> tuple[int, ...]:
        """The true rows that an answer is a combination of: Lagrange's where it contains
        multipliers.
        """
        if multipliers and len(self.along_q) == len(self.unknowns):
            return tuple(self.in_u(r) for r in self.along_q)
        return self.residuals

    def add_multipliers(self) -> None:
        """λ_j as further unknowns, from as many of Lagrange's rows as determine them."""
        if self.multipliers or not self.kin.rows:
            return
        derivation = load_principle("lagrange")[1](kinematics(self.system))
        native, t = derivation.native, self.tape
        self.multipliers = tuple(copy_expressions(derivation.tape, t, native.multipliers))
        self.along_q = tuple(copy_expressions(derivation.tape, t, native.residuals))
        rows = [self.in_u(i) for i in self.along_q]
        linear = LinearCoefficients(t, self.multipliers)
        point = SamplePoint(t, 7)
        forms = [linear(r)[1] for r in rows]
        values = [
            [point(k[j]) if j in k else 0 for j in range(len(self.multipliers))] for k in forms
        ]
        self._lagrange = tuple(rows[k] for k in rank_mod(values, point.prime).independent)

    # ---- names ---------------------------------------------------------------------------------

    def names(self, let: dict[str, str] | None = None) -> Names:
        """What an answer may contain."""
        t = self.tape
        known = {name: e.i for name, e in symbols_by_name(self.kin.system).items()}
        for x in (*self.kin.u, *self.kin.q):
            name = str(t.nodes[x][1])
            if not name.endswith("'"):
                known.setdefault(name, x)
        known.setdefault("pi", t.pi)
        moving = [name for name, i in known.items() if i in t.moving]
        return Names(known, moving, self.is_quantity, let)

    def reader(self, let: dict[str, str] | None = None) -> Reader:
        """Texts as rows on this tape."""
        return Reader(
            self.tape, self.names(let), self.quantity, self.slope, Derivative(self.tape, self.rate)
        )

    def is_quantity(self, name: str) -> bool:
        """Whether a word that is no symbol names a multiplier or a quantity."""
        return self._multiplier(name) is not None or self.quantities.is_name(name)

    def _multiplier(self, name: str) -> int | None:
        """lambda_2, lam2, λ₂ → 1; λ alone where there is one."""
        stem = name.replace("λ", "lambda").replace("_", "")
        number = stem.removeprefix("lambda" if stem.startswith("lambda") else "lam")
        if number == stem or not self.kin.rows:
            return None
        if not number:
            return 0 if len(self.kin.rows) == 1 else None
        return (
            int(number) - 1 if number.isdigit() and 0 < int(number) <= len(self.kin.rows) else None
        )

    def quantity(self, name: str) -> int | None:
        """The symbol that stands for a quantity."""
        place = self._multiplier(name)
        if place is not None:
            self.add_multipliers()
            return self.multipliers[place]
        if name in CONSTANTS or name.startswith("δ"):
            return self.tape.private_symbol(name)
        try:
            node = self.quantities.node(name)
        except DalembertError as problem:
            msg = f"{name} is not available for this system: {problem}"
            raise NotApplicable(msg) from problem
        return None if node is None else self.define(name, node)

    def rate(self, x: int) -> int | None:
        """dx/dt of a symbol; that of a quantity is a quantity again."""
        if x not in self.opaque:
            return self.tape.rate(x)
        along = Derivative(self.tape, self.tape.rate)
        return self.define(f"d/dt {self.tape.nodes[x][1]}", along(self.opaque[x]))

    def slope(self, of: int, by: str) -> int:
        """∂(quantity)/∂x, by a coordinate, a rate or a speed."""
        from dalembert.symbolic.algebra.expression_graph import gradient

        x = self.tape.names[by]
        inside = Substitution(self.tape, self.opaque)(of)
        expression = self.in_u(inside) if x in self.kin.u and x not in self.kin.qdot else inside
        return self.define(
            f"∂({self.tape.nodes[of][1]})/∂{by}",
            gradient(self.tape, {expression: self.tape.one}, [x])[0],
        )

    # ---- tests ---------------------------------------------------------------------------------

    def solve_at(self, point: SamplePoint) -> SamplePoint:
        """The point with u̇ and λ from the true equations."""
        x = solve_unknowns(point, self.residuals, self.unknowns)
        return point.on(self.tape, dict(zip(self.unknowns, x, strict=True)))

    def zero(self, rows: list[int], *, free: bool = False) -> Decision:
        """Which rows vanish at every admissible state; `free` where u̇ need not solve the
        equations.
        """
        key = (free, self.multipliers)
        test = self._tests.get(key)
        if test is None:
            start = self._start(self._nonlinear_rows()) if self.kin.nonlinear else None
            given = ((), ()) if free else (self.residuals, self.unknowns)
            test = self._tests[key] = ZeroTest(self.tape, *given, start)
        # a cached test keeps its clock: each question gets its own
        test.clock = TimeLimit()
        return test.decide([self.in_u(r) for r in rows])

    def _start(self, rows: dict[int, int]) -> Callable[[SamplePoint], SamplePoint]:
        return lambda point: solve_point(point, self.tape, rows)

    def _nonlinear_rows(self) -> dict[int, int]:
        chosen: dict[int, int] = {}
        for row in self.kin.nonlinear_rows:
            u = next(
                self.kin.u[r] for r in sorted(row.A, reverse=True) if self.kin.u[r] not in chosen
            )
            chosen[u] = row.e
        return chosen

    @property
    def positions(self) -> list[int]:
        """φ(q, t) of the holonomic constraint equations."""
        return [row.phi for row in self.kin.rows if row.holonomic and row.phi is not None]

    def zero_on_positions(self, rows: list[int]) -> Decision | None:
        """The same at states that satisfy the holonomic equations; None where no symbol can be
        solved for.
        """
        for constants_first in (True, False):
            chosen = solvable_symbols(self.tape, self.positions, constants_first=constants_first)
            if chosen is None:
                continue
            key = ("positions", self.multipliers, constants_first)
            test = self._tests.get(key)
            if test is None:
                test = self._tests[key] = ZeroTest(
                    self.tape, self.residuals, self.unknowns, self._start(chosen)
                )
            test.clock = TimeLimit()
            try:
                return test.decide([self.in_u(r) for r in rows])
            except StructurallySingular:
                # these symbols make a denominator vanish
                continue
        return None

    def sample(self, seeds: range, prime: int | None, outs: tuple[int, ...]) -> SamplePoint:
        """The first random point of a prime field at which the equations have a solution."""
        for seed in seeds:
            try:
                return self.solve_at(
                    SamplePoint(self.tape, seed, prime, outs=None if prime else outs)
                )
            except BadPoint:
                continue
        msg = "the equations of motion are singular at every random state"
        raise NotApplicable(msg)


_TRUTHS: Final = PerOwnerCache[Truth]()


def truth_of(system: System) -> Truth:
    """The truth about a system, computed once until something is declared."""
    kin = kinematics(system)
    truth = _TRUTHS(kin, None, lambda: Truth(system))
    if len(truth.tape) > _LONGEST:
        kin.cached_results.pop(_TRUTHS, None)
        truth = _TRUTHS(kin, None, lambda: Truth(system))
    return truth
