"""EI v⁗ = p(x): the shape of a member at rest under its loads, its frame held.

A uniform member without axial force under loads that are polynomials in x has a polynomial for its shape; it is found exactly, in the
symbols of the description. Every other member is solved by collocation, with the degree raised until the shape stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.columns import solution, total
from dalembert.algebra.folds import Linear, symbols_of
from dalembert.algebra.normal_form.forms import Form as Expanded
from dalembert.algebra.normal_form.forms import to_scalar
from dalembert.algebra.normal_form.normal import normal_form
from dalembert.algebra.scalar import Scalar
from dalembert.algebra.tape import Tape
from dalembert.errors import IllPosed
from dalembert.flexible.member.boundary_problem import Problem
from dalembert.flexible.member.characteristic import determinant
from dalembert.flexible.member.collocation import DEGREES, Collocation
from dalembert.flexible.member.shapes import ChebyshevShape, chosen, fitted
from dalembert.flexible.member.small_motion import LinearForm, SmallMotion, small_motion
from dalembert.model.member import Member
from dalembert.model.system import System
from dalembert.notebook import Typeset

if TYPE_CHECKING:
    from os import PathLike

STANDS: Final = 1e-13


@dataclass(frozen=True)
class Deflection(Typeset):
    """The static shape of a member: expressions where it is a polynomial, series where numbers are given."""

    member: Member
    expressions: dict[str, Scalar]
    shapes: dict[str, ChebyshevShape] = field(repr=False)
    # by how much the shapes can be wrong, as a part of their size; 0 where the expression is exact
    error: float
    remarks: tuple[str, ...] = ()

    def at(self, x: Any, name: str | None = None) -> Any:
        """The deflection at one place, or at an array of places."""
        return chosen(self.shapes, name)(x)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} = {e}" for name, e in self.expressions.items()) or ", ".join(self.shapes)
        return f"Deflection({self.member.name!r}: {shown})"

    def __str__(self) -> str:
        from dalembert.flexible.modes.tables import deflection_table

        return deflection_table(self)

    def plot(self, path: str | PathLike[str]) -> None:
        """The static shape, as an image."""
        from dalembert.flexible.modes.plotting import save_deflection

        save_deflection(self, path)


def member_deflection(system: System, member: str | Member | None = None, *, values: Mapping[Any, Any] | None = None) -> Deflection:
    """The static shape of a member under its weight, its loads, and the forces and moments at its ends."""
    expressions: dict[str, Scalar] = {}
    shapes: dict[str, ChebyshevShape] = {}
    error, remarks = 0.0, []
    for motion in small_motion(system, member, values=values):
        if all(form.load == motion.tape.zero for form in (*motion.equations.values(), *(e.form for e in motion.ends))):
            continue
        exact = _polynomial(motion)
        problem = Problem(motion, "rest")
        if exact is not None:
            expressions |= {name: Scalar(motion.tape, e) for name, e in exact.items()}
            if _has_numbers(problem, exact):
                shapes |= {name: _sampled(problem, e) for name, e in exact.items()}
            continue
        found, change, degree = _collocated(problem)
        shapes |= found
        error = max(error, change)
        remarks.append(
            f"{', '.join(motion.fields)}: polynomials of degree {degree}; change since the degree before {change:.0e} of the size"
        )
    remarks.insert(0, "exact" if expressions and not error else "" if expressions or shapes else "nothing loads it: it stays straight")
    return Deflection(motion.member, expressions, shapes, error, tuple(r for r in remarks if r))


# ---- polynomials -----------------------------------------------------------------------------


def _polynomial(motion: SmallMotion) -> dict[str, int] | None:
    """The shapes as polynomials in x; None where they are none."""
    t = motion.tape
    if not motion.is_uniform or not _only_zero_roots(motion):
        return None
    degree = _degree_of_loads(motion)
    if degree is None:
        return None
    return _Ansatz(motion, t, degree + sum(motion.order.values())).solved()


def _only_zero_roots(motion: SmallMotion) -> bool:
    """Whether det Σ c_i rⁱ = c rⁿ: no exponential solves the equations without load."""
    t = motion.tape.fork()
    r, none = Scalar(t, t.private_symbol("r")), Scalar(t, t.zero)
    rows = []
    for form in motion.equations.values():
        row = dict.fromkeys(motion.fields, none)
        for (name, i, j), c in form.coefficients.items():
            if j == 0:
                row[name] += Scalar(t, c) * r**i
        rows.append(list(row.values()))
    (expanded,) = normal_form(t, (determinant(none, rows).i,))
    name = str(r.name)
    powers = {next((k for a, k in term.powers if a.name == name), 0) for term in expanded.numerator}
    return powers == {sum(motion.order.values())}


def _degree_of_loads(motion: SmallMotion) -> int | None:
    """The highest power of x in the loads per length; None if one of them is no polynomial."""
    t, highest = motion.tape, 0
    x = str(t.nodes[motion.member.x.i][1])
    for form in motion.equations.values():
        (load,) = normal_form(t, (form.load,))
        hidden = any(x in [n for f in a.arguments for n in f.symbols()] for a in load.atoms())
        if hidden or any(a.name == x for term in load.denominator for a, _ in term.powers):
            return None
        highest = max([highest, *(k for term in load.numerator for a, k in term.powers if a.name == x)])
    return highest


class _Ansatz:
    """v = Σ a_k xᵏ: the coefficients from the equations, power by power, and from the conditions at the ends."""

    def __init__(self, motion: SmallMotion, tape: Tape, degree: int) -> None:
        self.motion, self.tape, self.degree = motion, tape, degree
        orders = range(degree + 1)
        self.unknowns = {(name, k): Scalar(tape, tape.private_symbol(f"a_{name}_{k}")) for name in motion.fields for k in orders}

    def solved(self) -> dict[str, int] | None:
        t = self.tape
        linear = Linear(t, [a.i for a in self.unknowns.values()])
        found = solution(t, (linear(e.i) for e in (*self._inside(), *self._at_ends())))
        if len(found) < len(self.unknowns):
            m = self.motion.member
            msg = f"{m.kind} {m.name!r}: its ends leave it loose, so it has no static shape; hold it or give it a spring"
            raise IllPosed(msg)
        x = Scalar(t, self.motion.member.x.i)
        terms = [(name, Scalar(t, found[place]) * x**k) for place, (name, k) in enumerate(self.unknowns)]
        shapes = {name: total(t, (e for own, e in terms if own == name)).i for name in self.motion.fields}
        return {name: to_scalar(normal_form(t, (e,))[0], t).i for name, e in shapes.items()}

    def _inside(self) -> list[Scalar]:
        """What multiplies each power of x in Σ c_i v⁽ⁱ⁾ − f."""
        t, found = self.tape, []
        x = str(t.nodes[self.motion.member.x.i][1])
        for form in self.motion.equations.values():
            by_power = dict.fromkeys(range(self.degree + 1), Scalar(t, t.zero))
            for (name, i, j), c in form.coefficients.items():
                for k in range(i, self.degree + 1) if j == 0 else ():
                    by_power[k - i] += _falling(k, i) * (Scalar(t, c) * self.unknowns[name, k])
            (load,) = normal_form(t, (form.load,))
            for term in load.numerator:
                n = next((k for a, k in term.powers if a.name == x), 0)
                rest = Expanded((term._replace(powers=tuple(p for p in term.powers if p[0].name != x)),), load.denominator)
                by_power[n] -= to_scalar(rest, t)
            found += [e for e in by_power.values() if e != 0]
        return found

    def _at_ends(self) -> list[Scalar]:
        t, found = self.tape, []
        for e in self.motion.ends:
            position, residual = Scalar(t, self.motion.member.length.i if e.side else t.zero), -Scalar(t, e.form.load)
            for (name, i, j), c in e.form.coefficients.items():
                for k in range(i, self.degree + 1) if j == 0 else ():
                    residual += Scalar(t, c) * (_falling(k, i) * position ** (k - i) * self.unknowns[name, k])
            found.append(residual)
        return found


def _falling(k: int, i: int) -> Fraction:
    """k (k − 1) … (k − i + 1)"""
    product = 1
    for n in range(k - i + 1, k + 1):
        product *= n
    return Fraction(product)


def _has_numbers(problem: Problem, exact: Mapping[str, int]) -> bool:
    known = {*problem.motion.numbers, problem.motion.member.x.i}
    return all(i in known for i in symbols_of(problem.tape, [*exact.values(), problem.motion.member.length.i]))


def _sampled(problem: Problem, e: int) -> ChebyshevShape:
    import math

    count = 24
    places = [problem.length * (1 + math.cos(math.pi * (2 * k + 1) / (2 * count))) / 2 for k in range(count)]
    return fitted([problem.numbers([e], x, Floats())[0] for x in places], problem.length)


# ---- collocation -----------------------------------------------------------------------------


def _collocated(problem: Problem) -> tuple[dict[str, ChebyshevShape], float, int]:
    import numpy as np

    before: dict[str, ChebyshevShape] = {}
    change = 1.0
    for degree in DEGREES:
        now = _solved(problem, degree)
        if before:
            x = np.linspace(0.0, problem.length, 201)
            size = max(float(np.max(np.abs(s(x)))) for s in now.values()) or 1.0
            change = max(float(np.max(np.abs(now[n](x) - before[n](x)))) for n in now) / size
            if change < STANDS:
                break
        before = now
    return now, change + 1e-16, degree


def _solved(problem: Problem, degree: int) -> dict[str, ChebyshevShape]:
    """A₀ c = f in balls, so that only the degree leaves an error."""
    import flint

    from dalembert.algebra.arithmetic import Balls

    c = Collocation(problem, degree)
    with flint.ctx.workdps(60):
        balls = Balls()
        A0, _ = c.matrices(balls)
        f = _loads(problem, c, balls)
        if _singular(A0):
            m = problem.motion.member
            msg = f"{m.kind} {m.name!r}: its ends leave it loose, or it buckles; it has no static shape"
            raise IllPosed(msg)
        solution = flint.arb_mat([[x.mid() for x in row] for row in A0]).solve(flint.arb_mat(len(f), 1, f))
    values = [float(x.mid()) for x in solution.entries()]
    width = degree + 1
    return {name: ChebyshevShape(tuple(values[g * width : (g + 1) * width]), problem.length) for g, name in enumerate(c.fields)}


def _singular(rows: list[list[Any]]) -> bool:
    import flint

    return bool(flint.arb_mat(rows).det().contains(0))


def _loads(problem: Problem, c: Collocation, balls: Any) -> list[Any]:
    (L,) = problem.numbers([problem.motion.member.length.i], balls.const(0), balls)
    found = []

    def value(form: LinearForm, z: Any) -> Any:
        return problem.numbers([form.load], L * (1 + z) / 2, balls)[0]

    for name, form in problem.motion.equations.items():
        found += [value(form, z) for z in c.points(name, balls)]
    return found + [value(e.form, balls.const(1 if e.side else -1)) for e in problem.motion.ends]
