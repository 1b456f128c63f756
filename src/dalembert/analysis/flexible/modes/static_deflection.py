"""EI v⁗ = p(x): the shape of a member at rest under its loads, its frame held.

A uniform member without axial force under loads that are polynomials in x has a polynomial for its
shape; it is found exactly, in the symbols of the description. Every other member is solved by
collocation, with the degree raised until the shape stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import perm
from typing import TYPE_CHECKING, Any, Final

from dalembert.analysis.flexible.assumed_modes.polynomials import polynomial_coefficients
from dalembert.analysis.flexible.linear_vibration.boundary_value_problem import BoundaryValueProblem
from dalembert.analysis.flexible.linear_vibration.characteristic_equation import determinant
from dalembert.analysis.flexible.linear_vibration.chebyshev_collocation import DEGREES, Collocation
from dalembert.analysis.flexible.linear_vibration.linearization import (
    LinearForm,
    LinearMemberEquations,
    linearize_member,
    member_title,
)
from dalembert.analysis.flexible.linear_vibration.mode_shapes import (
    ChebyshevShape,
    chebyshev_fit,
    chebyshev_points,
    save_shapes,
    select_shape,
)
from dalembert.errors import IllPosed
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.display import NotebookDisplay
from dalembert.mechanics.model.flexible_member import Member
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.arithmetic import BallArithmetic, FloatArithmetic
from dalembert.symbolic.algebra.elimination import solve_rows
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, Substitution, symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import to_scalar
from dalembert.symbolic.algebra.printing.symbol_names import unicode_name
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import sum_scalars
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from os import PathLike

CONVERGED: Final = 1e-13


@dataclass(frozen=True)
class Deflection(NotebookDisplay):
    """The static shape of a member: expressions where it is a polynomial, series where numbers
    are given.
    """

    member: Member
    expressions: dict[str, Scalar]
    shapes: dict[str, ChebyshevShape] = field(repr=False)
    # bound of the relative error of the shapes; 0 where the expression is exact
    error: float
    remarks: tuple[str, ...] = ()

    def at(self, x: Any, name: str | None = None) -> Any:
        """The deflection at one place, or at an array of places."""
        return select_shape(self.shapes, name)(x)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} = {e}" for name, e in self.expressions.items()) or ", ".join(
            self.shapes
        )
        return f"Deflection({self.member.name!r}: {shown})"

    def __str__(self) -> str:
        lines = [member_title(self.member, "at rest")]
        lines += [f"  {unicode_name(name)}(x) = {e}" for name, e in self.expressions.items()]
        for name, shape in self.shapes.items():
            x, value = shape.peak()
            end = shape(shape.length)
            far = 0.0 if abs(end) < 1e-13 * abs(value) else end
            lines.append(
                f"  largest {unicode_name(name)}: {value:.13g} at x = {x:.6g}; at the far end "
                f"{far:.13g}"
            )
        return "\n".join([*lines, *self.remarks])

    def plot(self, path: str | PathLike[str]) -> None:
        """The static shape, as an image."""
        save_shapes(list(self.shapes.items()), f"{self.member.name}: at rest", "deflection", path)


def _coefficient_rows(
    motion: LinearMemberEquations, x: Scalar, a: Mapping[str, Sequence[Scalar]]
) -> list[int]:
    """The equations at rest, power by power of x, and the conditions at the ends."""
    t, m = motion.tape, motion.member
    inside = [
        e.i
        for form in motion.equations.values()
        for e in (polynomial_coefficients(_residual(form, t, x, a), x) or {}).values()
    ]
    at_ends = [
        Substitution(t, {x.i: m.length.i if e.side else t.zero})(_residual(e.form, t, x, a).i)
        for e in motion.ends
    ]
    return [*inside, *at_ends]


def _residual(form: LinearForm, tape: Tape, x: Scalar, a: Mapping[str, Sequence[Scalar]]) -> Scalar:
    """Σ c_i v⁽ⁱ⁾ − f at rest, where v = Σ a_k xᵏ"""
    still = [
        (a[name], i, Scalar(tape, c)) for (name, i, j), c in form.coefficients.items() if j == 0
    ]
    terms = (
        c * (perm(k, i) * x ** (k - i) * a_k)
        for each, i, c in still
        for k, a_k in enumerate(each)
        if k >= i
    )
    return sum_scalars(tape, terms) - Scalar(tape, form.load)


def _is_unloaded(motion: LinearMemberEquations) -> bool:
    forms = (*motion.equations.values(), *(e.form for e in motion.ends))
    return all(form.load == motion.tape.zero for form in forms)


def member_deflection(
    system: System, member: str | Member | None = None, *, values: Mapping[Any, Any] | None = None
) -> Deflection:
    """The static shape of a member under its weight, its loads, and the forces and moments at
    its ends.
    """
    expressions: dict[str, Scalar] = {}
    shapes: dict[str, ChebyshevShape] = {}
    error, remarks = 0.0, []
    for motion in linearize_member(system, member, values=values):
        if _is_unloaded(motion):
            continue
        exact = _polynomial_deflection(motion)
        problem = BoundaryValueProblem(motion, "rest")
        if exact is not None:
            expressions |= {name: Scalar(motion.tape, e) for name, e in exact.items()}
            if _is_numeric(problem, exact):
                shapes |= {name: _chebyshev_shape(problem, e) for name, e in exact.items()}
            continue
        field_shapes, change, degree = _collocation_deflection(problem)
        shapes |= field_shapes
        error = max(error, change)
        remarks.append(
            f"{', '.join(motion.fields)}: polynomials of degree {degree}; change since the degree "
            f"before {change:.0e} of the size"
        )
    if expressions and not error:
        remarks.insert(0, "exact")
    elif not expressions and not shapes:
        remarks.insert(0, "nothing loads it: it stays straight")
    return Deflection(motion.member, expressions, shapes, error, tuple(remarks))


# ---- polynomials -----------------------------------------------------------------------------


def _polynomial_deflection(motion: LinearMemberEquations) -> dict[str, int] | None:
    """The shapes as polynomials in x; None where they are none.

    v = Σ a_k xᵏ, with the coefficients from the equations, power by power, and from the conditions
    at the ends.
    """
    t, m = motion.tape, motion.member
    degree = (
        _load_degree(motion) if motion.is_uniform and _has_polynomial_solutions(motion) else None
    )
    if degree is None:
        return None
    x, orders = Scalar(t, m.x.i), range(degree + sum(motion.order.values()) + 1)
    a = {
        name: [Scalar(t, t.private_symbol(f"a_{name}_{k}")) for k in orders]
        for name in motion.fields
    }

    unknowns = [a_k for each in a.values() for a_k in each]
    rows = _coefficient_rows(motion, x, a)
    coefficients = solve_rows(t, map(LinearCoefficients(t, [a_k.i for a_k in unknowns]), rows))
    if len(coefficients) < len(unknowns):
        msg = (
            f"{m.kind} {m.name!r}: its supports allow a rigid motion, so it has no static "
            f"shape; support it or give it a spring"
        )
        raise IllPosed(msg)
    known = Substitution(t, {a_k.i: coefficients[place] for place, a_k in enumerate(unknowns)})
    shapes = {
        name: known(sum_scalars(t, (a_k * x**k for k, a_k in enumerate(each))).i)
        for name, each in a.items()
    }
    return {name: to_scalar(normal_form(t, (e,))[0], t).i for name, e in shapes.items()}


def _has_polynomial_solutions(motion: LinearMemberEquations) -> bool:
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
    return set(polynomial_coefficients(determinant(none, rows), r) or ()) == {
        sum(motion.order.values())
    }


def _load_degree(motion: LinearMemberEquations) -> int | None:
    """The highest power of x in the loads per length; None if one of them is no polynomial."""
    t = motion.tape
    powers = [
        polynomial_coefficients(Scalar(t, form.load), Scalar(t, motion.member.x.i))
        for form in motion.equations.values()
    ]
    return None if None in powers else max(n for each in powers for n in (0, *(each or ())))


def _is_numeric(problem: BoundaryValueProblem, exact: Mapping[str, int]) -> bool:
    known = {*problem.motion.numbers, problem.motion.member.x.i}
    return all(
        i in known
        for i in symbols_of(problem.tape, [*exact.values(), problem.motion.member.length.i])
    )


def _chebyshev_shape(problem: BoundaryValueProblem, e: int) -> ChebyshevShape:
    places = [problem.length * (1 + z) / 2 for z in chebyshev_points(24)]
    return chebyshev_fit(
        [problem.numbers([e], x, FloatArithmetic())[0] for x in places], problem.length
    )


# ---- collocation -----------------------------------------------------------------------------


def _collocation_deflection(
    problem: BoundaryValueProblem,
) -> tuple[dict[str, ChebyshevShape], float, int]:
    import numpy as np

    before: dict[str, ChebyshevShape] = {}
    change = 1.0
    for degree in DEGREES:
        now = _solve_collocation(problem, degree)
        if before:
            x = np.linspace(0.0, problem.length, 201)
            size = max(float(np.max(np.abs(s(x)))) for s in now.values()) or 1.0
            change = max(float(np.max(np.abs(now[n](x) - before[n](x)))) for n in now) / size
            if change < CONVERGED:
                break
        before = now
    return now, change + 1e-16, degree


def _solve_collocation(problem: BoundaryValueProblem, degree: int) -> dict[str, ChebyshevShape]:
    """A₀ c = f in balls, so that only the degree leaves an error."""
    import flint

    c = Collocation(problem, degree)
    with flint.ctx.workdps(60):
        balls = BallArithmetic()
        A0, _ = c.matrices(balls)
        L = problem.length_as(balls)
        f = [problem.numbers([form.load], L * (1 + z) / 2, balls)[0] for form, z in c.rows(balls)]
        if flint.arb_mat(A0).det().contains(0):
            m = problem.motion.member
            msg = (
                f"{m.kind} {m.name!r}: its supports allow a rigid motion, or it buckles; it has "
                "no static shape"
            )
            raise IllPosed(msg)
        solution = flint.arb_mat([[x.mid() for x in row] for row in A0]).solve(
            flint.arb_mat(len(f), 1, f)
        )
    return c.shapes_by_field(solution)
